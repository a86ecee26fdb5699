"""A limit on latency that the layers of a network share: the least objective of all together, within it.

What a layer's mapping brings to the whole is its energy and its cycles; a mapping that has less of neither serves no
objective better. So one point of every layer's front is enough, and which of them is a multiple-choice knapsack
(`solver/choice.py`). Three steps, of which each may end the search: every layer as fast as it can be shows whether
there is an answer at all, and how many cycles the others leave to each; every layer's own optimum within those is the
answer if the optima keep the limit together; else fronts are searched, and chosen from.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from mapper.api.part.search import searched_part
from mapper.api.part.verification import verified
from mapper.api.problem import PosedProblem
from mapper.api.search import Search
from mapper.api.solution import Solution, assemble, repeated, unanswered
from mapper.kind.kind import AnyPart
from mapper.kind.part import Part
from mapper.models.plain import limited
from mapper.solver.certificate import Certificate, Stop
from mapper.solver.choice import Option, choice
from mapper.workloads.document import InputError

AUTOMATIC = "auto"
FRONTS = "fronts"


@dataclass(frozen=True)
class _Known:
    """A mapping of a part as the referee judged it, and its energy and cycles."""

    part: Part
    row: tuple[int, int]


def solve_within(
    posed: PosedProblem, search: Search, finished: Callable[[Solution], None] | None = None
) -> Solution:
    """The least objective of all parts together within the latency that they share.

    Raises: InputError for a method that searches parts one by one.
    """
    if search.method not in (AUTOMATIC, posed.kind.default_method):
        remedy = "searches layers one by one, which share --max-latency; leave --method out, or give one, NAME/PART"
        raise InputError("--method", search.method, remedy)
    found = _Sharing(posed, search).solved()
    if finished is not None:
        finished(found)
    return found


class _Sharing:
    """The search of one network."""

    def __init__(self, posed: PosedProblem, search: Search) -> None:
        self.posed, self.search, self.kind = posed, search, posed.kind
        self.parts: dict[Hashable, AnyPart] = {}
        for part in posed.parts:
            self.parts.setdefault(part.key, part)
        limit = posed.kind.limit_of(posed.parts[0].problem)
        assert limit is not None
        self.limit = limit
        self.seconds: dict[Hashable, tuple[float, float]] = dict.fromkeys(self.parts, (0.0, 0.0))
        self.points: dict[Hashable, list[_Known]] = {key: [] for key in self.parts}
        self.turn = 0
        self.bounds: dict[Hashable, int | float | None] = dict.fromkeys(self.parts)

    def solved(self) -> Solution:
        fast = {key: self._searched(key, None, "latency") for key in self.parts}
        for key, one in fast.items():
            if one.proven and not one.found:
                return self._without(True, self._impossible(self.parts[key]))
        if not all(one.found for one in fast.values()):
            return self._without(False)
        least = sum(int(fast[part.key].value or 0) for part in self.posed.parts)
        if least > self.limit and all(one.proven for one in fast.values()):
            return self._without(True, self._too_slow(least))
        bounds = {key: int(one.bound or 0) for key, one in fast.items()}
        spare = self.limit - sum(bounds[part.key] for part in self.posed.parts)
        if spare < 0:
            return self._without(True, self._too_slow(self.limit - spare))
        room = {key: bounds[key] + spare for key in self.parts}
        own = {key: self._searched(key, room[key], self.posed.objective.name) for key in self.parts}
        self.bounds = {key: one.bound for key, one in own.items()}
        complete = all(one.proven and one.found for one in own.values()) and self._kept(own)
        if not complete:
            complete = all([self._front(key, room[key]) for key in self.parts])
        return self._chosen(complete)

    def _kept(self, own: Mapping[Hashable, Certificate]) -> bool:
        """Whether the own optima of all parts keep the limit together."""
        cycles = {key: self.points[key][-1].row[1] for key in own}
        return sum(cycles[part.key] for part in self.posed.parts) <= self.limit

    def _too_slow(self, least: int) -> str:
        costs = [one.part.cost or {} for points in self.points.values() for one in points[:1]]
        cycles, latency = (
            sum(cost["cycles"] for cost in costs),
            math.fsum(cost["latency_ms"] for cost in costs),
        )
        # Rounded up: the number is one that can be asked for.
        ms = math.ceil(least * latency / cycles * 10_000) / 10_000
        return f"all layers together take {least:,} cycles at least; raise --max-latency to {ms:,} ms"

    def _impossible(self, part: AnyPart) -> str:
        reason = self.kind.why_infeasible(self.kind.within(part.problem, None, None))
        return f"{part.name}: {reason or 'nothing fits; enlarge the machine or unpin decisions'}"

    def _share(self) -> Search:
        """Until the next of what is left to search must have its turn; what one leaves is the others'."""
        self.turn += 1
        return self.search.for_share(1 / max(1, 3 * len(self.parts) + 1 - self.turn))

    def _searched(self, key: Hashable, most: int | None, objective: str) -> Certificate:
        """What the kind's own method proves of a part alone, for an objective."""
        part = self.parts[key]
        method = self.kind.methods_of(self.posed.read.value)[self.kind.default_method]
        limited_part = replace(part, problem=self.kind.within(part.problem, most, objective))
        answer, mapping = searched_part(self.kind, method, limited_part, self._share(), 1, most=False)
        self._spent(key, answer.certificate)
        if mapping is not None:
            self._take(key, mapping, answer.certificate)
        return answer.certificate

    def _front(self, key: Hashable, most: int) -> bool:
        """Search the trade-offs of a part; whether these are all."""
        from mapper.api.trade_off import front_of

        part = self.parts[key]
        posed = replace(part, problem=self.kind.within(part.problem, most, None))
        found = front_of(self.posed, posed, self._share())
        for point, row in zip(found.parts, found.rows, strict=True):
            self._spent(key, point.certificate)
            if point.cost is not None and point.certificate.verified:
                self.points[key].append(_Known(point, (row[0], row[1])))
        return found.complete

    def _take(self, key: Hashable, mapping: Any, certificate: Certificate) -> None:
        part = self.parts[key]
        with limited(lambda: None):
            judged = verified(self.kind, part, mapping, certificate)
            energy, cycles = self.kind.criteria(part.problem, mapping)
        self.points[key].append(_Known(judged, (energy, cycles)))

    def _spent(self, key: Hashable, certificate: Certificate) -> None:
        wall, processor = self.seconds[key]
        self.seconds[key] = wall + certificate.seconds, processor + certificate.cpu_seconds

    def _stop(self) -> Stop:
        return self.search.stopped() or "heuristic"

    def _chosen(self, complete: bool) -> Solution:
        """The best choice of one point of every part."""
        groups = [[self._option(one.row) for one in self.points[part.key]] for part in self.posed.parts]
        places, exact = choice(groups, self.limit, self.search.stopped)
        if places is None:
            return self._without(False)
        proven = complete and exact
        taken: dict[Hashable, int] = {}
        parts = []
        for part, place in zip(self.posed.parts, places, strict=True):
            answer = self._answer(part.key, place, proven)
            first = self.parts[part.key]
            same = taken.setdefault(part.key, place) == place and part is not first
            other = repeated(answer, part.name, part.source, part.merged)
            parts.append(answer if part is first else other if same else replace(other, same_as=None))
        solution = assemble(self.posed, parts)
        if not solution.certificate.verified:
            return solution
        bounds = [self.bounds[part.key] for part in self.posed.parts]
        least = None if None in bounds else sum(bound for bound in bounds if bound is not None)
        bound = solution.certificate.value if proven else least
        return replace(solution, certificate=replace(solution.certificate, bound=bound))

    def _option(self, row: tuple[int, int]) -> Option:
        energy, cycles = row
        values = {"edp": energy * cycles, "energy": energy, "latency": cycles}
        return Option(values[self.posed.objective.name], cycles)

    def _answer(self, key: Hashable, place: int, proven: bool) -> Part:
        part, known = self.parts[key], self.points[key][place].part
        seconds, cpu_seconds = self.seconds[key]
        certificate = replace(
            known.certificate,
            stop="complete" if proven else self._stop(),
            bound=None,
            proven=proven,
            seconds=seconds,
            cpu_seconds=cpu_seconds,
        )
        return replace(
            known, name=part.name, source=part.source, merged=part.merged, certificate=certificate, history=()
        )

    def _without(self, proven: bool, reason: str | None = None) -> Solution:
        """No answer; whether it is proven that there is none, and why."""
        parts = []
        for part in self.posed.parts:
            first = self.parts[part.key]
            stop: Stop = "complete" if proven else self._stop()
            blank = unanswered(first, FRONTS, stop, self.search.seed, self.search.used_workers)
            seconds, cpu_seconds = self.seconds[part.key]
            certificate = replace(blank.certificate, proven=proven, seconds=seconds, cpu_seconds=cpu_seconds)
            answer = replace(blank, certificate=certificate)
            parts.append(answer if part is first else repeated(answer, part.name, part.source, part.merged))
        return replace(assemble(self.posed, parts), reason=reason)
