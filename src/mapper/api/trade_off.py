"""Trade-offs: the points of a problem's Pareto front, each with cost and certificate."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mapper.api.contradicting import between, broken, documented
from mapper.api.joint_front import PartFront, joint_points
from mapper.api.part.search import effort_of
from mapper.api.part.verification import verified
from mapper.api.problem import PosedProblem, pose
from mapper.api.search import Search
from mapper.api.solution import as_document, unanswered
from mapper.kind.cell import number, proof
from mapper.kind.kind import AnyPart
from mapper.kind.part import Options, Part
from mapper.kind.shown import Shown
from mapper.models.limit import UnfinishedError
from mapper.models.plain import in_time, limited
from mapper.solver.contradiction import ContradictionError
from mapper.solver.front import Front
from mapper.solver.method import Progress
from mapper.solver.outcome import Outcome
from mapper.store.recall import Recall
from mapper.workloads.document import InputError


@dataclass(frozen=True, repr=False)
class TradeOff(Shown):
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

    def in_rows(self) -> tuple[str, list[str], list[list[str]]]:
        keys = list(self.points[0].cost or {}) if self.points else []
        rows = [
            [*(number((point.cost or {}).get(key)) for key in keys), proof(point.certificate)]
            for point in self.points
        ]
        return str(self.posed), [*keys, "proof"], rows


def front(
    workload: str | None = None,
    arch: str | None = None,
    objective: str | None = None,
    options: Options | None = None,
    search: Search | None = None,
    fix: Mapping[str, Any] | None = None,
) -> TradeOff:
    """All trade-offs of a problem: of one part, or of several whose criteria add up.

    Raises: InputError if the problem cannot be posed or has no trade-offs, or too many; ContradictionError if two
    points, or one and what the store holds, cannot both hold; UnfinishedError if the time limit passes while the
    problem is read.
    """
    search = search or Search()
    posed = in_time(lambda: pose(workload, arch, objective, options, fix), search.stopped)
    if len(posed.parts) > 1 and not posed.kind.criteria_add:
        raise InputError(
            "--pareto", "", f"{posed.workload} has {len(posed.parts)} parts; give one, NAME/PART"
        )
    different = {part.key: part for part in reversed(posed.parts)}
    own = [part for part in posed.parts if different[part.key] is part]
    found = {part.key: front_of(posed, part, search) for part in own}
    if search.store is not None:
        known = Recall(search.store, posed, posed.kind.default_method, search.complain)
        known.known(tuple(own))
        for place, part in enumerate(own):
            known.refuse(place, _best(posed, part, found[part.key], search))
    fronts = [found[part.key] for part in posed.parts]
    if len(fronts) == 1:
        return TradeOff(posed, fronts[0].parts, fronts[0].complete)
    return TradeOff(posed, joint_points(posed, fronts), all(one.complete for one in fronts))


def front_of(posed: PosedProblem, part: AnyPart, search: Search) -> PartFront:
    """The front of one part, as the referee and the model judge it.

    Raises: ContradictionError if two points cannot both hold.
    """

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
        certificate = replace(
            outcome.certificate("front"),
            seconds=seconds / share,
            cpu_seconds=cpu_seconds / share,
            seed=search.seed,
            workers=search.used_workers,
        )
        return verified(posed.kind, part, outcome.mapping, certificate)

    points = [(certified(outcome), outcome.mapping) for outcome in found.points]
    rows = tuple(
        () if mapping is None else posed.kind.criteria(part.problem, mapping) for _, mapping in points
    )
    _refuse_beaten(posed, points, rows)
    return PartFront(tuple(point for point, _ in points), rows, found.complete)


def _refuse_beaten(
    posed: PosedProblem, points: Sequence[tuple[Part, Any]], rows: Sequence[tuple[int, ...]]
) -> None:
    """Refuse a point that is proven to be unbeaten although another point beats it by its row of criteria.

    Raises: ContradictionError with both documents.
    """
    sound = [(point, row) for (point, _), row in zip(points, rows, strict=True) if not broken(point)]
    for point, row in sound:
        if not point.certificate.proven:
            continue
        for other, better in sound:
            if better != row and all(one <= own for one, own in zip(better, row, strict=True)):
                reason = (
                    f"{point.name}: the point {row} is proven to be no worse than any, {better} is better"
                )
                raise between(posed, point, other, reason)


def _best(posed: PosedProblem, part: AnyPart, found: PartFront, search: Search) -> Part:
    """What a front says of the objective: its best point, and if there are no others that nothing is better."""
    points, complete = found.parts, found.complete
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
