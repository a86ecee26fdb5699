"""The problem as a value, and why it has no mapping."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.mapper.toy_kind.machine import PackingMachine
from tests.mapper.toy_kind.workload import Jobs


@dataclass(frozen=True)
class PackingProblem:
    """The most worth of ``jobs`` on ``machine``; ``pins``: workers of jobs that are decided, by the job's place."""

    jobs: Jobs
    machine: PackingMachine
    pins: Mapping[int, int] = field(default_factory=dict)


def why_infeasible(problem: PackingProblem) -> str | None:
    """The worker whose pinned jobs take more cycles than it has, None if there is none."""
    for worker, cycles in enumerate(problem.machine.cycles):
        pinned = [problem.jobs.jobs[at] for at, own in problem.pins.items() if own == worker]
        needed = sum(job.cycles for job in pinned)
        if needed > cycles:
            names = ", ".join(job.name for job in pinned)
            return f"{names} take {needed} cycles of worker {worker}, which has {cycles}; unpin one"
    return None
