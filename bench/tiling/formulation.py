"""Formulations of the constraint program of tiling on the paper's layers: value, bound, branches and conflicts.

Each leaves something out of the program in use; seconds are of processor time, for each formulation:
``python -m bench.tiling.formulation [SECONDS] [LAYER,...] [NAME,...]``.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

from ortools.sat.python import cp_model

from bench.measure import layer_problems, show
from mapper.formulations.tiling.problem import TilingProblem
from mapper.formulations.tiling.program.cp_sat import TilingProgram
from mapper.solver import cp_sat
from mapper.solver.method import Effort
from mapper.solver.tiling.program.constraint_program import CONSTRAINT_PROGRAM

SECONDS = 60.0


def without(*families: str) -> type[TilingProgram]:
    """The program in use without some of its families."""
    return type("Without", (TilingProgram,), {name: _nothing(name) for name in families})


def _nothing(name: str) -> Callable[[Any], None]:
    def left_out(program: TilingProgram) -> None: ...

    left_out.formulation_part = getattr(TilingProgram, name).formulation_part  # type: ignore[attr-defined]
    return left_out


FORMULATIONS: dict[str, tuple[type[TilingProgram], bool]] = {
    "products": (without("tangents", "pieces", "all_of_dma"), True),
    "no pieces": (without("pieces"), False),
    "linear": (TilingProgram, True),
    "in use": (TilingProgram, False),
}
"""Programs, and whether CP-SAT takes linear relaxations of them beside clauses: those of products are McCormick's."""


def measured(problem: TilingProblem, name: str, seconds: float) -> list[str]:
    """A row of the table."""
    program, linear = FORMULATIONS[name]
    counts = [0, 0]
    run, solve = cp_sat.run_cp_sat, cp_model.CpSolver.solve

    def run_so(*words: Any, **options: Any) -> Any:
        return run(*words, **options | {"clausal": not linear})

    def counting(solver: Any, *words: Any) -> Any:
        status = solve(solver, *words)
        counts[0] += solver.num_branches
        counts[1] += solver.num_conflicts
        return status

    effort, ended = Effort(workers=2), threading.Event()
    began = time.process_time()

    def watch() -> None:
        while not ended.wait(0.1):
            if time.process_time() - began > seconds:
                effort.interrupt.set()

    watching = threading.Thread(target=watch)
    with (
        patch("mapper.formulations.tiling.program.cp_sat.TilingProgram", program),
        patch("mapper.solver.cp_sat.run_cp_sat", run_so),
        patch.object(cp_model.CpSolver, "solve", counting),
    ):
        watching.start()
        outcome = CONSTRAINT_PROGRAM.search(problem, effort)
        ended.set()
        watching.join()
    value, bound = (f"{number:.4e}" if number else "–" for number in (outcome.value, outcome.bound))
    proven = "yes" if outcome.proven else "no"
    return [
        name,
        value,
        bound,
        proven,
        f"{time.process_time() - began:.1f}",
        f"{counts[0]:,}",
        f"{counts[1]:,}",
    ]


def main() -> None:
    """Print a table for each layer."""
    given = dict(enumerate(sys.argv))
    seconds = float(given.get(1, SECONDS))
    problems = layer_problems("edp")
    for layer in given[2].split(",") if 2 in given else problems:
        names = given[3].split(",") if 3 in given else list(FORMULATIONS)
        show(
            f"{layer}, least EDP, {seconds:.0f} s of processor time at the most:",
            ["formulation", "value", "bound", "proven", "CPU s", "branches", "conflicts"],
            [measured(problems[layer], name, seconds) for name in names],
        )


if __name__ == "__main__":
    main()
