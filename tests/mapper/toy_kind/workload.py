"""Workloads: jobs, each with the cycles that it takes and what it is worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mapper.workloads.document import LARGEST_DOCUMENT_BYTES, InputError, parse_document, read_bytes, sha256
from mapper.workloads.network.network import InputFile

LARGEST = 1 << 30


@dataclass(frozen=True)
class Job:
    """``cycles`` of any worker, and ``worth`` in points."""

    name: str
    cycles: int
    worth: int


@dataclass(frozen=True)
class Jobs:
    """Jobs with different names, in the order of the file."""

    name: str
    jobs: tuple[Job, ...]


def read_jobs(text: str) -> tuple[Jobs, InputFile]:
    """The jobs in the file ``text``.

    Raises: InputError if it holds none.
    """
    data = read_bytes(Path(text), LARGEST_DOCUMENT_BYTES)
    return jobs_from_document(parse_document(data, text), text, text), InputFile(text, sha256(data))


def jobs_from_document(fields: Mapping[str, Any], name: str, source: str) -> Jobs:
    """Jobs as a document lists them: ``jobs: {filter: [4, 10]}`` takes 4 cycles and is worth 10 points.

    Raises: InputError if it does not.
    """
    listed = fields.get("jobs")
    if not isinstance(listed, dict) or not listed:
        raise InputError(source, "jobs", "must list jobs with their cycles and worth")
    for job, pair in listed.items():
        if not isinstance(pair, list) or len(pair) != 2 or not all(_is_count(one) for one in pair):
            raise InputError(
                source, f"jobs.{str(job)[:40]}", f"must be two whole numbers from 1 to {LARGEST}"
            )
    return Jobs(name, tuple(Job(str(job), *pair) for job, pair in listed.items()))


def jobs_document(value: Jobs) -> dict[str, Any]:
    """The document that reads back as ``value``."""
    return {"jobs": {job.name: [job.cycles, job.worth] for job in value.jobs}}


def _is_count(value: Any) -> bool:
    return type(value) is int and 1 <= value <= LARGEST
