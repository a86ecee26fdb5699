"""Value and bound over time of the exact methods and annealing on one layer, drawn and printed."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from matplotlib.figure import Figure

from bench.measure import layer_problems, show
from mapper.solver.method import Effort, Progress
from mapper.solver.tiling.exact.branch_and_bound import BRANCH_AND_BOUND
from mapper.solver.tiling.heuristic.annealing import ANNEALING
from mapper.solver.tiling.program.bounded_table import BOUNDED_TABLE
from mapper.solver.tiling.program.constraint_program import CONSTRAINT_PROGRAM

PICTURE = Path("build") / "bench" / "gap_over_time.svg"
SECONDS = 120.0


def main() -> None:
    """Print one line per method and draw all of them."""
    layer = sys.argv[1] if len(sys.argv) > 1 else "conv5_2"
    problem = layer_problems("edp")[layer]
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    lines = []
    for method in (BRANCH_AND_BOUND, CONSTRAINT_PROGRAM, BOUNDED_TABLE, ANNEALING):
        method.prepare()
        events: list[tuple[float, Progress]] = []
        began, cpu = time.perf_counter(), time.process_time()

        def note(
            progress: Progress, began: float = began, events: list[tuple[float, Progress]] = events
        ) -> None:
            events.append((time.perf_counter() - began, progress))

        outcome = method.search(problem, Effort(deadline=time.monotonic() + SECONDS, workers=2, report=note))
        wall = time.perf_counter() - began
        events.append((wall, Progress(outcome.value, outcome.bound, 0)))
        for label, points in (
            ("value", [(at, p.value) for at, p in events if p.value is not None]),
            ("bound", [(at, p.bound) for at, p in events if p.bound]),
        ):
            style = "-" if label == "value" else "--"
            axes.step(
                [x for x, _ in points],
                [y for _, y in points],
                style,
                where="post",
                label=f"{method.name} {label}",
            )
        gap = None if not outcome.value or outcome.bound is None else 1 - outcome.bound / outcome.value
        lines.append(
            [
                method.name,
                f"{outcome.value}",
                "–" if gap is None else f"{gap:.2%}",
                "yes" if outcome.proven else "no",
                f"{wall:.2f}",
                f"{time.process_time() - cpu:.2f}",
            ]
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("seconds")
    axes.set_ylabel("EDP (pJ x cycles)")
    axes.legend(fontsize="small")
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURE)
    show(
        f"{layer}, EDP, {SECONDS:.0f} s at the most:",
        ["method", "value", "gap", "proven", "wall s", "CPU s"],
        lines,
    )
    print(f"drawn: {PICTURE}")


if __name__ == "__main__":
    main()
