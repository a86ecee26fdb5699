"""What is proven of PBQP instances that no elimination takes apart, beside toulbar2 in the same time.

``python -m bench.pbqp.gap [--seconds 60] [--only grid] [--no-peer] [--vac]``. Costs are uniform integers from 0 to 100;
gaps are (value - bound) / value; ``before`` are those after 60 s of branch and bound alone. ``--vac``: toulbar2 moves
costs by virtual arc consistency first, which it does not do unless asked.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from bench.measure import measure, show
from bench.pbqp.random_instance import cells, dense_blocks, grid, layered
from mapper.formulations.pbqp.problem import PbqpProblem
from mapper.solver.method import Effort
from mapper.solver.pbqp.catalogue import METHODS
from mapper.workloads.pbqp.instance import PbqpInstance


@dataclass(frozen=True)
class Case:
    """``make`` an instance; its gap ``before`` and ``to_reach``, in percent."""

    make: Callable[[], PbqpInstance]
    before: str
    to_reach: float


CASES = {
    "blocks 4x25 d=3": Case(lambda: dense_blocks(4, 25, 3, 3, 1), "24.0", 12),
    "grid 40x40 d=4": Case(lambda: grid(40, 40, 4, 1), "1.7", 0.8),
    "layered n=300 window 20 d=4": Case(lambda: layered(300, 20, 2, 4, 1), "4.9", 2.4),
    "denser layered n=300 window 20 d=4": Case(lambda: layered(300, 20, 3, 4, 1), "8.9", 4.4),
    "cells n=300 blocks 5 d=5": Case(lambda: cells(300, 5, 5, 1), "-", 0),
    "cells n=300 blocks 15 d=5": Case(lambda: cells(300, 15, 5, 1), "-", 0),
}


def _toulbar2(name: str, seconds: float, vac: bool) -> str:
    """The best value and gap that toulbar2 tells of within the time."""
    command = [sys.executable, "-m", "bench.pbqp.gap", "--peer", name, "--seconds", f"{seconds:g}"]
    command += ["--vac"] * vac
    try:
        told = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False).stdout
    except subprocess.TimeoutExpired as late:
        told = (late.stdout or b"").decode()
    if "No module" in told:
        return "not installed"
    optimal = re.findall(r"^Optimum: (\d+)", told, re.MULTILINE)
    if optimal:
        return f"{optimal[-1]}, proven"
    found = re.findall(r"New solution: (\d+)", told)
    gaps = re.findall(r"Optimality gap: \[(\d+), ?(\d+)\]", told)
    if not gaps:
        return f"{found[-1]}, no bound" if found else "nothing"
    low, high = (int(number) for number in gaps[-1])
    return f"{high}, gap {100 * (high - low) / high:.2f} %"


def _peer(name: str, seconds: float, vac: bool) -> None:
    """Solve by toulbar2, which tells its progress on standard output."""
    try:
        import pytoulbar2  # type: ignore[import-untyped]
    except ImportError:
        print("No module")
        return
    given = CASES[name].make()
    above = int(given.vertex_cost.sum() + given.edge_cost.sum()) + 1
    network = pytoulbar2.CFN(ubinit=above, vac=int(vac), verbose=0)
    for vertex in range(given.vertices):
        network.AddVariable(f"x{vertex}", range(given.choices_of(vertex)))
        network.AddFunction([f"x{vertex}"], given.costs(vertex).tolist())
    for edge in range(given.edges):
        u, v = given.edge_end[edge].tolist()
        network.AddFunction([f"x{u}", f"x{v}"], given.matrix(edge).reshape(-1).tolist())
    found = network.Solve(showSolutions=0, timeLimit=int(seconds))
    if found is not None and network.GetDDualBound() >= found[1]:
        print(f"Optimum: {found[1]:.0f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--only", default="")
    parser.add_argument("--no-peer", action="store_true")
    parser.add_argument("--vac", action="store_true")
    parser.add_argument("--peer", choices=[*CASES])
    asked = parser.parse_args()
    if asked.peer:
        _peer(asked.peer, asked.seconds, asked.vac)
        return
    auto = METHODS["auto"]
    auto.prepare()
    lines = []
    for name, case in CASES.items():
        if asked.only not in name:
            continue
        problem = PbqpProblem(case.make())
        effort = Effort(deadline=time.monotonic() + asked.seconds)
        done = measure(lambda problem=problem, effort=effort: auto.search(problem, effort))  # type: ignore[misc]
        found = done.result
        assert found.value is not None and found.bound is not None
        gap = 100 * (found.value - found.bound) / found.value
        reached = "proven" if found.proven else f"{gap:.3f}"
        peer = "-" if asked.no_peer else _toulbar2(name, asked.seconds, asked.vac)
        lines.append(
            [name, case.before, f"{case.to_reach:g}", reached, f"{found.value}", f"{found.bound}",
             f"{done.wall:.1f}", f"{done.cpu:.1f}", peer]
        )  # fmt: skip
    heading = ["instance", "gap before, %", "to reach", "gap, %", "value", "bound", "s", "CPU s", "toulbar2"]
    show("PBQP that no elimination takes apart", heading, lines)


if __name__ == "__main__":
    main()
