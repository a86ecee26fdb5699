"""Running HiGHS, which comes with OR-Tools, on an integer program: limits and interruption.

It computes in floating point and in a process of its own, since nothing ends it from within: a limit or an interrupt
kills the process. Nodes limit it where no clock does, so that equal programs get equal answers.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mapper.solver.method import Effort
from mapper.workloads.process.child_process import Child, child
from mapper.workloads.process.temporary import temporary_folder

POLL_SECONDS = 0.1


@dataclass(frozen=True)
class HighsLimit:
    """``gap``: how far from the program's own bound an answer may be; ``nodes`` of its tree at the most, and
    ``seconds`` (None: no clock)."""

    gap: float
    nodes: int
    seconds: float | None = None


def run_highs(program: Any, effort: Effort, limit: HighsLimit) -> tuple[float, ...] | None:
    """Values of all variables of a solution of ``program`` (a solver of pywraplp) within the gap; None if there was
    none within ``effort`` and ``limit``."""
    from ortools.linear_solver.linear_solver_pb2 import MPModelProto

    model = MPModelProto()
    program.ExportModelToProto(model)
    with temporary_folder() as folder:
        stated, solution = folder / "program", folder / "solution"
        stated.write_bytes(model.SerializeToString())
        files = (str(stated), str(solution))
        command = [sys.executable, "-P", "-m", __name__, *files, str(limit.gap), str(limit.nodes)]
        with child(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
            ended = _waited(process, effort, limit.seconds)
        if not ended or process.returncode or not solution.exists():
            return None
        return tuple(json.loads(solution.read_text(encoding="utf-8")))


def _waited(process: Child, effort: Effort, seconds: float | None) -> bool:
    """Whether it ended before it had to be ended."""
    began = time.monotonic()
    while effort.stopped() is None and (seconds is None or time.monotonic() - began < seconds):
        with suppress(subprocess.TimeoutExpired):
            process.wait(POLL_SECONDS)
            return True
    return False


def main(stated: Path, solution: Path, gap: str, nodes: str) -> None:
    """In the process of its own: solve the program, and write what the variables are if that is within the gap."""
    from ortools.linear_solver import pywraplp
    from ortools.linear_solver.linear_solver_pb2 import MPModelProto

    model = MPModelProto()
    model.ParseFromString(stated.read_bytes())
    solver = pywraplp.Solver.CreateSolver("HIGHS")
    solver.LoadModelFromProto(model)
    solver.SetSolverSpecificParametersAsString(
        f"output_flag=false,threads=1,mip_rel_gap={gap},mip_max_nodes={nodes}"
    )
    if solver.Solve() == pywraplp.Solver.OPTIMAL:
        values = [variable.solution_value() for variable in solver.variables()]
        solution.write_text(json.dumps(values), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])
