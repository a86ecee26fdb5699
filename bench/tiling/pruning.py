"""The paper's pruning [Dave2019, Fig. 11]: tilings left by OPT 1 to 3, and what the pruned optimum loses."""

from __future__ import annotations

from functools import partial

from bench.measure import layer_problems, measure, show
from mapper.formulations.tiling.problem import TilingProblem
from mapper.solver.method import Effort
from mapper.solver.tiling.exact.branch_and_bound import BRANCH_AND_BOUND, branch_and_bound, count_tilings
from mapper.solver.tiling.exact.pruning import NO_PRUNING, pruning_of

STEPS = {
    "all": NO_PRUNING,
    "OPT1": pruning_of(True, False, False),
    "OPT1-2": pruning_of(True, True, False),
    "OPT1-3": pruning_of(True, True, True),
}
PAPER_REDUCTION = 9020


def counts_of(problem: TilingProblem) -> dict[str, int]:
    """Valid tilings left by each step of the pruning."""
    return {step: count_tilings(problem, pruning) for step, pruning in STEPS.items()}


def main() -> None:
    """Print the table."""
    BRANCH_AND_BOUND.prepare()
    totals = dict.fromkeys(STEPS, 0)
    values = {"all": 0.0, "OPT1-3": 0.0}
    lines = []
    seconds = 0.0
    for name, problem in layer_problems("edp").items():
        counted = measure(partial(counts_of, problem))
        seconds += counted.cpu
        optimum, pruned = (
            branch_and_bound(problem, Effort(), STEPS[step]).value or 0 for step in ("all", "OPT1-3")
        )
        for step, number in counted.result.items():
            totals[step] += number
        values["all"] += optimum
        values["OPT1-3"] += pruned
        counts = [f"{counted.result[step]:,}" for step in STEPS]
        lines.append([name, *counts, f"{optimum}", f"{pruned}", f"{pruned / optimum - 1:.2%}"])
    counts = [f"{totals[step]:,}" for step in STEPS]
    loss = values["OPT1-3"] / values["all"] - 1
    lines.append(["total", *counts, f"{values['all']:.6e}", f"{values['OPT1-3']:.6e}", f"{loss:.2%}"])
    show("Tilings, and least EDP:", ["layer", *STEPS, "optimum", "under OPT1-3", "loss"], lines)
    reduction = totals["all"] / totals["OPT1-3"]
    print(f"reduction {reduction:,.0f} times (the paper: {PAPER_REDUCTION}), counted in {seconds:.2f} CPU s")


if __name__ == "__main__":
    main()
