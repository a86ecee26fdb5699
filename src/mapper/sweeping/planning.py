"""The cost of a sweep before it starts: its problems are counted exactly, and a sample of them is timed."""

from __future__ import annotations

import json
import math
import re
import resource
import statistics
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mapper.api.contradicting import documented
from mapper.api.part.search import solve_part
from mapper.api.problem import PosedProblem
from mapper.api.search import Search
from mapper.api.solving import method_named
from mapper.arch.source import machine_to_document
from mapper.kind.kind import AnyPart
from mapper.kind.part import Options
from mapper.models.plain import on_disk
from mapper.solver.contradiction import ContradictionError
from mapper.store import StoreError, part_contents, problem_key, version_key
from mapper.sweeping.sweep import grid

SECONDS_OF_SAMPLING = 2.0
"""Core seconds that the sample may take, but for the last of its problems."""
LEAST_SAMPLED = 3
SECONDS_OF_SAMPLE = 5.0
"""How long one problem of the sample is solved at the most."""
GOLDEN = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True)
class Plan:
    """The cost of a sweep. ``machines``: those of the grid; ``stored`` of them are already proven in the store and need
    no task. ``points``: machines times layers (or other parts). ``problems``: distinct problems that remain to be
    solved. ``core_seconds``: the estimated time to solve them; ``core_seconds_error``: its standard error (None if
    fewer than two problems were ``sampled``). ``cut``: how many of the sample did not end in time, which makes the
    estimate too low. ``peak_bytes``: the memory that this process has used."""

    machines: int
    stored: int
    points: int
    problems: int
    sampled: int
    cut: int
    core_seconds: float
    core_seconds_error: float | None
    peak_bytes: int

    @property
    def tasks(self) -> int:
        """Machines with something left to be solved: each is a task of a cluster."""
        return self.machines - self.stored

    def to_json(self) -> dict[str, Any]:
        return {
            "schema": "mapper.plan/1",
            "machines": self.machines,
            "stored": self.stored,
            "tasks": self.tasks,
            "points": self.points,
            "problems": self.problems,
            "sampled": self.sampled,
            "cut": self.cut,
            "core_seconds": self.core_seconds,
            "core_seconds_error": self.core_seconds_error,
            "peak_bytes": self.peak_bytes,
        }


def plan(
    workload: str | None,
    arch: str | None,
    vary: Mapping[str, Sequence[Any]],
    objective: str | None = None,
    options: Options | None = None,
    search: Search | None = None,
) -> Plan:
    """Count what the sweep would solve, and solve some of it, spread over machines and layers, for an estimate.

    Raises: InputError and ContradictionError as ``sweep``.
    """
    _, problems = grid(workload, arch, vary, objective, options)
    search = search or Search()
    stored = _stored(problems, search)
    left = [problem for place, problem in enumerate(problems) if place not in stored]
    different = list(_different(left))
    seconds, cut = _sampled(different, search)
    error = None
    if len(seconds) > 1:
        error = statistics.stdev(seconds) / math.sqrt(len(seconds)) * len(different)
        if len(seconds) == len(different):
            error = 0.0
    return Plan(
        machines=len(problems),
        stored=len(stored),
        points=sum(len(problem.parts) for problem in problems),
        problems=len(different),
        sampled=len(seconds),
        cut=cut,
        core_seconds=statistics.fmean(seconds) * len(different) if seconds else 0.0,
        core_seconds_error=error,
        peak_bytes=_peak_bytes(),
    )


def _peak_bytes() -> int:
    """The most memory that this program has had. What Linux says of a process's resources begins with those of the
    program that started it: its own are in ``/proc``."""
    try:
        found = re.search(r"^VmHWM:\s*(\d+) kB$", Path("/proc/self/status").read_text("ascii"), re.MULTILINE)
    except OSError:
        found = None
    if found is not None:
        return int(found[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _different(problems: Sequence[PosedProblem]) -> Iterator[tuple[PosedProblem, AnyPart]]:
    """Every part of every problem, but for those that are the same problem as one before."""
    seen = set()
    for problem in problems:
        machine = json.dumps(machine_to_document(problem.machine), sort_keys=True) if problem.machine else ""
        for part in problem.parts:
            if (machine, part.key) not in seen:
                seen.add((machine, part.key))
                yield problem, part


def _stored(problems: Sequence[PosedProblem], search: Search) -> frozenset[int]:
    """The places of problems of which the store has proven every part."""
    if search.store is None or not search.store.path.exists():
        return frozenset()
    try:
        entries = search.store.entries()
    except StoreError as error:
        search.complain(f"{error}; continuing without it")
        return frozenset()
    proven = {entry.problem for entry in entries if entry.proven and entry.version == version_key()}
    if not proven:
        return frozenset()
    return frozenset(
        place for place, problem in enumerate(problems) if _is_in(problem, proven, search.method)
    )


def _is_in(problem: PosedProblem, proven: set[str], method: str) -> bool:
    return all(problem_key(content, method) in proven for content in part_contents(problem))


def _sampled(problems: Sequence[tuple[PosedProblem, AnyPart]], search: Search) -> tuple[list[float], int]:
    """Core seconds of some of the problems, and how many of them were cut."""
    if not problems:
        return [], 0
    method = method_named(problems[0][0], search.method)
    on_disk(method.prepare)
    seconds: list[float] = []
    cut, began = 0, time.process_time()
    for place in _spread(len(problems)):
        if len(seconds) >= LEAST_SAMPLED and time.process_time() - began > SECONDS_OF_SAMPLING:
            break
        posed, part = problems[place]
        own = replace(search, store=None, time_limit=SECONDS_OF_SAMPLE, workers=1, started=time.monotonic())
        processor = time.process_time()
        try:
            answer = solve_part(posed.kind, method, part, own, 1, most=posed.objective.most)
        except ContradictionError as error:
            raise documented(posed, part, error, method.name) from None
        seconds.append(time.process_time() - processor)
        cut += answer.certificate.stop == "time_limit"
    return seconds, cut


def _spread(count: int) -> Iterator[int]:
    """All places below ``count``, each beginning of them spread evenly: multiples of a step near the golden section."""
    step = max(1, round(count * GOLDEN))
    while math.gcd(step, count) != 1:
        step += 1
    for place in range(count):
        yield (count // 2 + place * step) % count
