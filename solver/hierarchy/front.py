"""The trade-offs of energy and latency, in one search: a branch is left when some point found so far has no more energy
than the branch's bound, and takes no more cycles than it must take."""

from __future__ import annotations

import math
from bisect import bisect_right, insort
from dataclasses import replace
from typing import Any

import numpy as np

from mapper.formulations.hierarchy.infeasible import why_infeasible
from mapper.formulations.hierarchy.problem import ROUNDING, HierarchyProblem
from mapper.formulations.hierarchy.referee.verify import verify
from mapper.models.hierarchy.cost import HierarchyCost, evaluate
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.solver.front import Front
from mapper.solver.hierarchy.exact.branch import Branch
from mapper.solver.hierarchy.exact.branch_and_bound import Search
from mapper.solver.method import Effort
from mapper.solver.outcome import Outcome

Array = Any


class FrontSearch(Search):
    """A search for all points that no other is better than. Energies count as equal within `ROUNDING`, as
    everywhere."""

    def __init__(self, problem: HierarchyProblem, effort: Effort) -> None:
        super().__init__(replace(problem, objective="energy"), effort)
        self.asked = problem
        self.cycles: list[int] = []
        self.points: dict[int, tuple[int, HierarchyMapping, HierarchyCost]] = {}

    @property
    def limit(self) -> float:
        return math.inf

    @property
    def front(self) -> Array:
        rows = [(cycles, self._limit_at(cycles)) for cycles in self.cycles]
        return np.array(rows, np.float64).reshape(-1, 2)

    def _limit_at(self, cycles: int) -> float:
        return (self.points[cycles][2].energy_pj or 0.0) * (1 - ROUNDING)

    def wants(self, bound: float, cycles: float) -> bool:
        place = bisect_right(self.cycles, cycles)
        return bound < (self._limit_at(self.cycles[place - 1]) if place else math.inf)

    def _promises(self, branch: Branch) -> bool:
        """Every arrangement may have a point that no other has, which then spares others."""
        return True

    def _take(self, mapping: HierarchyMapping, least: float, handed: bool) -> None:
        verdict = verify(self.problem, mapping)
        if verdict.cost is None or verdict.broken:
            return
        self.trials.take(mapping)
        cost = verdict.cost
        energy, cycles = cost.energy_steps or 0, cost.cycles
        if handed and least < (cost.energy_pj or 0.0) * (1 - ROUNDING):
            self.loose.append(least)
        place = bisect_right(self.cycles, cycles)
        if place and self.points[self.cycles[place - 1]][0] <= energy:
            return
        for beaten in [one for one in self.cycles if one >= cycles and self.points[one][0] >= energy]:
            self.cycles.remove(beaten)
            del self.points[beaten]
        insort(self.cycles, cycles)
        self.points[cycles] = (energy, mapping, cost)

    def found(self) -> Front[HierarchyMapping]:
        """The points, ascending by energy."""
        self.run()
        waiting = self.heap[0][0] if self.heap else math.inf
        open_from = min(waiting, self.undecided, self.ahead, *self.loose)
        points = tuple(self._outcome(cycles, open_from) for cycles in reversed(self.cycles))
        return Front(points, self.stop is None and open_from == math.inf)

    def _outcome(self, cycles: int, open_from: float) -> Outcome[HierarchyMapping]:
        """A point with its value in the objective that was asked for. It is proven if whatever is still open takes more
        energy, however early the search has ended."""
        _, mapping, cost = self.points[cycles]
        value, tried = self.asked.value(cost), self.trials.tried
        if (cost.energy_pj or 0.0) < open_from:
            return Outcome.optimal(mapping, value, stop=self.stop or "complete", evaluations=tried)
        return Outcome.bounded(mapping, value, None, self.stop or "complete", evaluations=tried)


def front(problem: HierarchyProblem, effort: Effort) -> Front[HierarchyMapping]:
    """All points that no other is better than in energy or cycles and as good as in both, ascending by energy.

    If the effort ends first, or neighbours may hand words on, what was found is not proven to be all there is; points
    of less energy than anything that was left open are proven nevertheless.
    """
    if why_infeasible(problem) is not None:
        return Front((), True)
    return FrontSearch(problem, effort).found()


def criteria(problem: HierarchyProblem, mapping: HierarchyMapping) -> tuple[int, int]:
    """Energy in the model's steps, and cycles, both of which least is best."""
    cost = evaluate(problem.nest, problem.machine, mapping)
    return cost.energy_steps or 0, cost.cycles
