"""Packings for people."""

from __future__ import annotations

from tests.mapper.toy_kind.model import Packing, evaluate
from tests.mapper.toy_kind.problem import PackingProblem


def packing_lines(problem: PackingProblem, packing: Packing) -> list[str]:
    """A line for each worker, below headings."""
    busy = evaluate(problem.jobs, problem.machine, packing).busy
    lines = [f"  {'worker':8}{'busy':>8}{'cycles':>8}  jobs"]
    for worker, (taken, cycles) in enumerate(zip(busy, problem.machine.cycles, strict=True)):
        names = [
            job.name for job, own in zip(problem.jobs.jobs, packing.worker, strict=True) if own == worker
        ]
        lines.append(f"  {worker:<8}{taken:>8,}{cycles:>8,}  {', '.join(names) or '–'}")
    return lines
