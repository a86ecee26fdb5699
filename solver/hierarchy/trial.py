"""Mappings as searches try them: judged by the referee, the best one kept."""

from __future__ import annotations

from mapper.formulations.hierarchy.bound import bound_of
from mapper.formulations.hierarchy.problem import HierarchyProblem
from mapper.formulations.hierarchy.referee.verify import verify
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.solver.certificate import Stop
from mapper.solver.method import Effort, Progress
from mapper.solver.outcome import Outcome

Rank = tuple[tuple[int, ...], str]


class Trials:
    """Mappings that were tried; of equal ones the lexicographically least stays."""

    def __init__(self, problem: HierarchyProblem, effort: Effort) -> None:
        self.problem, self.effort = problem, effort
        self.tried = 0
        self.best: HierarchyMapping | None = None
        self.value: int | float | None = None
        self._rank: Rank | None = None
        self.bound = bound_of(problem)
        start = effort.known_mapping(problem)
        if start is not None:
            self.take(start)

    def take(self, mapping: HierarchyMapping) -> int | float | None:
        """The value of a mapping, None if it breaks a rule; the best one is kept."""
        self.tried += 1
        if not self._fits(mapping):
            return None
        verdict = verify(self.problem, mapping)
        if verdict.broken or verdict.cost is None:
            return None
        value = self.problem.value(verdict.cost)
        rank = (self.problem.rank(verdict.cost), repr(mapping.to_json()))
        if self._rank is None or rank < self._rank:
            better = self._rank is None or rank[0] < self._rank[0]
            self.best, self.value, self._rank = mapping, value, rank
            if better:
                self.effort.report(Progress(value, self.bound, self.tried))
        return value

    def _fits(self, mapping: HierarchyMapping) -> bool:
        """Whether tiles and fan-outs fit, before anything is costed."""
        tile = dict.fromkeys(self.problem.nest.loops, 1)
        for level, memory in zip(
            reversed(mapping.levels), reversed(self.problem.machine.levels), strict=True
        ):
            used = {"x": 1, "y": 1}
            for space in level.spatial:
                used[space.axis] *= space.trips
                tile[space.loop] *= space.trips
            for time in level.temporal:
                tile[time.loop] *= time.trips
            if used["x"] > memory.fanout.x or used["y"] > memory.fanout.y:
                return False
            kept = [one for one in self.problem.nest.operands if one.name in level.keep]
            size = {loop: min(trips, self.problem.largest(loop)) for loop, trips in tile.items()}
            if memory.capacity is not None and sum(one.words(size) for one in kept) > memory.capacity:
                return False
        return True

    def ended(self, stop: Stop) -> Outcome[HierarchyMapping]:
        """What a search that proves nothing found."""
        if self.best is None:
            return Outcome.unknown(stop, self.bound, evaluations=self.tried)
        if self.value == self.bound:
            return Outcome.optimal(self.best, self.value, evaluations=self.tried)
        return Outcome.bounded(self.best, self.value, self.bound, stop, evaluations=self.tried)
