"""Layers that take turns on one PE: whether every position is ended in its time."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from typing import NamedTuple


class Job(NamedTuple):
    """A position: it begins, must have been worked on for ``work`` cycles by ``deadline``."""

    begin: int
    deadline: int
    work: int


def lateness(jobs: Iterable[Job]) -> int:
    """Cycles by which the latest job misses its deadline, the PE working in every cycle on the one that is due first.

    That order misses no deadline if any does; PEs switch between programs from cycle to cycle.
    """
    waiting: list[tuple[int, int]] = []
    now = late = 0
    for job in [*sorted(jobs), None]:
        while waiting and (job is None or now < job.begin):
            deadline, work = heapq.heappop(waiting)
            done = work if job is None else min(work, job.begin - now)
            now += done
            if done < work:
                heapq.heappush(waiting, (deadline, work - done))
            else:
                late = max(late, now - deadline)
        if job is not None:
            now = max(now, job.begin)
            heapq.heappush(waiting, (job.deadline, job.work))
    return late
