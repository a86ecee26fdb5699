"""Trade-offs: the points of a problem's Pareto front, each with cost and certificate."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mapper.api.contradicting import between, broken, documented
from mapper.api.part.search import effort_of
from mapper.api.part.verification import verified
from mapper.api.problem import PosedProblem, pose
from mapper.api.solution import as_document, unanswered
from mapper.api.solving import Search
from mapper.kind.kind import Options, Part
from mapper.models.limit import UnfinishedError
from mapper.models.plain import in_time, limited
from mapper.solver.certificate import Certificate
from mapper.solver.contradiction import ContradictionError
from mapper.solver.front import Front
from mapper.solver.method import Progress
from mapper.solver.outcome import Outcome
from mapper.store.recall import Recall
from mapper.workloads.document import InputError


@dataclass(frozen=True)
class TradeOff:
    """The points of a front as parts of solutions; ``complete``: there are no other points."""

    posed: PosedProblem
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
    fix: Mapping[str, Any] | None = None,
) -> TradeOff:
    """All trade-offs of a problem that has one part.

    Raises: InputError if the problem cannot be posed or has no trade-offs; ContradictionError if two points, or one and
    what the store holds, cannot both hold; UnfinishedError if the time limit passes while the problem is read.
    """
    search = search or Search()
    posed = in_time(lambda: pose(workload, arch, objective, options, fix), search.stopped)
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
    except ContradictionError as error:
        raise documented(posed, part, error, "front") from None
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
        return verified(posed.kind, part, outcome.mapping, certificate)

    certified_points = [(certified(outcome), outcome.mapping) for outcome in found.points]
    _refuse_beaten(posed, certified_points)
    points = tuple(point for point, _ in certified_points)
    if search.store is not None:
        known = Recall(search.store, posed, posed.kind.default_method, search.complain)
        known.known((part,))
        known.refuse(0, _best(posed, points, found.complete, search))
    return TradeOff(posed, points, found.complete)


def _refuse_beaten(posed: PosedProblem, points: Sequence[tuple[Part, Any]]) -> None:
    """Refuse a point that is proven to be unbeaten although another point beats it.

    Raises: ContradictionError with both documents.
    """
    problem = posed.parts[0].problem
    sound = [(point, posed.kind.criteria(problem, mapping)) for point, mapping in points if not broken(point)]
    for point, row in sound:
        if not point.certificate.proven:
            continue
        for other, better in sound:
            if better != row and all(one <= own for one, own in zip(better, row, strict=True)):
                reason = (
                    f"{point.name}: the point {row} is proven to be no worse than any, {better} is better"
                )
                raise between(posed, point, other, reason)


def _best(posed: PosedProblem, points: Sequence[Part], complete: bool, search: Search) -> Part:
    """What a front says of the objective: its best point, and if there are no others that nothing is better."""
    part = posed.parts[0]
    sound = [point for point in points if not broken(point) and point.certificate.value is not None]
    if not sound:
        blank = unanswered(
            part, "front", "complete" if complete else search.stopped() or "heuristic", search.seed
        )
        return replace(blank, certificate=replace(blank.certificate, proven=complete))
    pick = max if posed.objective.most else min
    best = pick(sound, key=lambda point: point.certificate.value or 0)
    bound = best.certificate.value if complete else None
    return replace(best, certificate=replace(best.certificate, bound=bound, proven=complete))
