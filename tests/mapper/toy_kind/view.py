"""Packings for people."""

from __future__ import annotations

from mapper.kind.text_table import text_table
from tests.mapper.toy_kind.model import Packing, evaluate
from tests.mapper.toy_kind.problem import PackingProblem


def packing_lines(problem: PackingProblem, packing: Packing) -> list[str]:
    """A line for each worker, below headings."""
    busy = evaluate(problem.jobs, problem.machine, packing).busy
    rows = []
    for worker, (taken, cycles) in enumerate(zip(busy, problem.machine.cycles, strict=True)):
        names = [
            job.name for job, own in zip(problem.jobs.jobs, packing.worker, strict=True) if own == worker
        ]
        rows.append((worker, taken, cycles, ", ".join(names) or "–"))
    return [f"  {line}" for line in text_table(("worker", "busy", "cycles", "jobs"), rows, words={"jobs"})]
