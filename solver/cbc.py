"""Running CBC, which comes with PuLP, on an integer linear program: limits, interruption and bounds.

CBC runs as a separate process that reads the program from a file, so a limit or an interrupt can end it at once.
Gaps are zero and it uses one thread, so equal programs get equal answers unless a clock ends the search.
"""

from __future__ import annotations

import math
import re
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pulp

from mapper.solver.certificate import Stop
from mapper.solver.cp_sat import POLL_SECONDS, Answer
from mapper.solver.method import Effort
from mapper.workloads.process.child_process import Child, ask, child
from mapper.workloads.process.temporary import temporary_folder

GRACE_SECONDS = 2.0
"""How long past its deadline, or an interrupt, CBC may take to write down what it has."""
TOLERANCE = "1e-9"
"""How far from an integer a variable may be that counts as one; CBC's own is 1e-6."""
SLACK = 1e-6
"""Bounds below an integer by so little, relatively, are that integer: CBC computes in floating point."""


@dataclass(frozen=True)
class CbcResult:
    """``answer``, a lower ``bound`` of the objective without its constant (None: none), why the search stopped, and
    ``value_of``, which reads a variable or a linear expression of the best solution, rounded, if ``found``."""

    answer: Answer
    bound: int | None
    stop: Stop
    value_of: Callable[[Any], int]

    @property
    def found(self) -> bool:
        return self.answer in ("optimal", "feasible")


def run_cbc(model: pulp.LpProblem, effort: Effort, cuts: bool = True, nodes: int | None = None) -> CbcResult:
    """Minimise ``model``, whose objective takes whole values only, within ``effort``; without ``cuts`` by branch and
    bound alone. ``nodes`` ends it after so many of its tree, which repeats; the answer is then not final."""
    with temporary_folder() as folder:
        program, solution, log = (folder / name for name in ("program.mps", "solution", "log"))
        model.writeMPS(str(program))
        command = [pulp.PULP_CBC_CMD.pulp_cbc_path, str(program), "-ratio", "0", "-allow", "0"]
        command += ["-integerTolerance", TOLERANCE]
        if not cuts:
            command += ["-cuts", "off"]
        if nodes is not None:
            command += ["-maxNodes", str(nodes)]
        left = effort.seconds_left()
        if left is not None:
            command += ["-sec", f"{left:.2f}", "-timeMode", "elapsed"]
        command += ["-randomSeed", str(effort.seed), "-randomCbcSeed", str(effort.seed)]
        with log.open("w") as written:
            command += ["-solve", "-solution", str(solution)]
            with child(command, stdout=written, stderr=written, stdin=subprocess.DEVNULL) as process:
                _wait(process, effort)
        text = log.read_text(errors="replace")
        # What was killed may have written half of it.
        whole = process.returncode >= 0 and solution.exists()
        lines = solution.read_text().splitlines() if whole else []
    return _result(lines, text, effort)


def _wait(process: Child, effort: Effort) -> None:
    """Wait until it has ended or must be ended."""
    while True:
        with suppress(subprocess.TimeoutExpired):
            process.wait(POLL_SECONDS)
            return
        left = effort.seconds_left()
        if effort.interrupt.is_set():
            ask(process, signal.SIGINT)
            break
        if left is not None and left <= 0:
            break
    with suppress(subprocess.TimeoutExpired):
        process.wait(GRACE_SECONDS)


def _result(lines: list[str], log: str, effort: Effort) -> CbcResult:
    said = lines[0] if lines else ""
    values: dict[str, float] = {}
    for line in lines[1:]:
        fields = line.replace("**", "").split()
        values[fields[1]] = float(fields[2])

    def value_of(expression: Any) -> int:
        if isinstance(expression, pulp.LpVariable):
            return round(values.get(expression.name, 0.0))
        constant = round(expression.constant)
        total: int = constant + sum(int(c) * value_of(v) for v, c in expression.items())
        return total

    if said.startswith(("Infeasible", "Integer infeasible")):
        return CbcResult("infeasible", None, "complete", value_of)
    if said.startswith("Optimal"):
        return CbcResult("optimal", round(_objective(said)), "complete", value_of)
    found: Answer = (
        "feasible" if "objective value" in said and "no integer solution" not in said else "unknown"
    )
    return CbcResult(found, _bound(log), effort.stopped() or "time_limit", value_of)


def _objective(said: str) -> float:
    return float(said.split()[-1])


def _bound(log: str) -> int | None:
    """The last bound that CBC printed, rounded up to an integer."""
    printed = re.findall(r"Lower bound:\s+(-?[0-9.]+(?:e[+-]?[0-9]+)?)", log)
    if not printed:
        return None
    bound = float(printed[-1])
    return math.ceil(bound - SLACK * max(1.0, abs(bound))) if abs(bound) < 1e15 else None
