"""Trade-offs of a problem: the points of its Pareto front, each with cost and certificate."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from mapper.judging import judged
from mapper.kind.kind import Options, Part
from mapper.models.limit import UnfinishedError, limited
from mapper.models.plain import in_time
from mapper.posing import Posed, pose
from mapper.solution import as_document
from mapper.solver.certificate import Certificate
from mapper.solver.front import Front
from mapper.solver.method import Outcome, Progress
from mapper.solving import Search, effort_of
from mapper.workloads.document import InputError


@dataclass(frozen=True)
class TradeOff:
    """The points of a front as parts of solutions; ``complete``: there are no other points."""

    posed: Posed
    points: tuple[Part, ...]
    complete: bool

    def to_json(self) -> dict[str, Any]:
        return as_document(
            {
                "schema": "mapper.front/1",
                "problem": self.posed.to_json(),
                "points": [
                    {
                        "mapping": None if point.mapping is None else point.mapping.to_json(),
                        "cost": point.cost,
                        "certificate": point.certificate.to_json(),
                    }
                    for point in self.points
                ],
                "complete": self.complete,
            }
        )


def front(
    workload: str | None = None,
    arch: str | None = None,
    objective: str | None = None,
    options: Options | None = None,
    search: Search | None = None,
) -> TradeOff:
    """All trade-offs of a problem that has one part.

    Raises: InputError if the problem cannot be posed or has no trade-offs.
    """
    search = search or Search()
    posed = in_time(lambda: pose(workload, arch, objective, options), search.stopped)
    part = posed.parts[0]
    if len(posed.parts) > 1:
        raise InputError(
            "--pareto", "", f"{posed.workload} has {len(posed.parts)} parts; give one, NAME/PART"
        )

    def report(progress: Progress) -> None:
        search.listener(part.name, progress)

    began, processor = time.perf_counter(), time.process_time()
    effort = effort_of(search, 1, report)
    try:
        with limited(effort.stopped, search.compiling):
            found = posed.kind.front(part.problem, effort)
    except UnfinishedError:
        found = Front((), False)
    seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - processor
    share = max(1, len(found.points))

    def certified(outcome: Outcome[Any]) -> Part:
        certificate = Certificate(
            stop=outcome.stop,
            found=outcome.mapping is not None,
            value=outcome.value,
            bound=outcome.bound,
            proven=outcome.proven,
            method=outcome.method or "front",
            restrictions=outcome.restrictions,
            seconds=seconds / share,
            cpu_seconds=cpu_seconds / share,
            seed=search.seed,
            workers=search.used_workers,
        )
        return judged(posed.kind, part, outcome.mapping, certificate)

    return TradeOff(posed, tuple(certified(outcome) for outcome in found.points), found.complete)
