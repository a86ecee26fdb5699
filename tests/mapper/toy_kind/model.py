"""What a mapping is, how it is read, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mapper.workloads.document import InputError
from tests.mapper.toy_kind.machine import PackingMachine
from tests.mapper.toy_kind.workload import Jobs


@dataclass(frozen=True)
class Packing:
    """The worker of each job, None for a job that is left out."""

    worker: tuple[int | None, ...]


@dataclass(frozen=True)
class PackingCost:
    """``worth`` of the jobs that are done, and the cycles of each worker."""

    worth: int
    busy: tuple[int, ...]

    @property
    def cycles(self) -> int:
        """Cycles until the last worker ends."""
        return max(self.busy)


def evaluate(jobs: Jobs, machine: PackingMachine, packing: Packing) -> PackingCost:
    """What ``packing`` costs and is worth."""
    pairs = list(zip(jobs.jobs, packing.worker, strict=True))
    busy = (sum(job.cycles for job, own in pairs if own == at) for at in range(len(machine.cycles)))
    return PackingCost(sum(job.worth for job, own in pairs if own is not None), tuple(busy))


def packing_document(jobs: Jobs, packing: Packing) -> dict[str, Any]:
    """The document that reads back as ``packing``."""
    return {"workers": {job.name: own for job, own in zip(jobs.jobs, packing.worker, strict=True)}}


def packing_from_document(fields: Mapping[str, Any], jobs: Jobs, workers: int, source: str) -> Packing:
    """A packing from a document.

    Raises: InputError if it is none of these jobs on so many workers.
    """
    listed = fields.get("workers")
    if not isinstance(listed, dict) or set(listed) != {job.name for job in jobs.jobs}:
        raise InputError(source, "workers", "must give each job a worker, or null")
    for name, own in listed.items():
        if own is not None and (type(own) is not int or not 0 <= own < workers):
            raise InputError(
                source, f"workers.{name[:40]}", f"must be a worker from 0 to {workers - 1}, or null"
            )
    return Packing(tuple(listed[job.name] for job in jobs.jobs))
