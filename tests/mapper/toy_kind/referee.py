"""The rules that a packing must keep; a closed room."""

from __future__ import annotations

from mapper.formulations.verdict import BrokenRule, Verdict
from tests.mapper.toy_kind.model import Packing, PackingCost, evaluate
from tests.mapper.toy_kind.problem import PackingProblem


def verify(problem: PackingProblem, packing: Packing) -> Verdict[PackingCost]:
    """The rules that ``packing`` breaks, and what it costs."""
    broken = []
    left = list(problem.machine.cycles)
    for job, worker in zip(problem.jobs.jobs, packing.worker, strict=True):
        if worker is not None:
            left[worker] -= job.cycles
    for worker, cycles in enumerate(left):
        if cycles < 0:
            broken.append(BrokenRule("in time", f"worker {worker}", -cycles))
    for place, pinned in problem.pins.items():
        if packing.worker[place] != pinned:
            broken.append(BrokenRule("pinned", problem.jobs.jobs[place].name, 1))
    return Verdict(tuple(broken), evaluate(problem.jobs, problem.machine, packing))
