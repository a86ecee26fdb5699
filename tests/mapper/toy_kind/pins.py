"""Pinned decisions, as ``--fix JOB=WORKER`` says them."""

from __future__ import annotations

from collections.abc import Mapping

from mapper.workloads.document import InputError
from mapper.workloads.text.number_text import whole_number
from tests.mapper.toy_kind.workload import Jobs


def read_fix(fix: Mapping[str, str], jobs: Jobs, workers: int) -> dict[int, int]:
    """The worker of each pinned job, by the job's place.

    Raises: InputError for a job or a worker that there is none of.
    """
    places = {job.name: place for place, job in enumerate(jobs.jobs)}
    pins = {}
    for name, value in fix.items():
        worker = whole_number(value, 0, workers - 1)
        if name not in places or worker is None:
            raise InputError("--fix", name[:40], f"write JOB=WORKER with a worker from 0 to {workers - 1}")
        pins[places[name]] = worker
    return pins
