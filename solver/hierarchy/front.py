"""The trade-offs of energy and latency, in one search: a branch is left when some point found so far has no more energy
than the branch's bound, and takes no more cycles than it must take."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from mapper.formulations.hierarchy.infeasible import why_infeasible
from mapper.formulations.hierarchy.problem import ROUNDING, HierarchyProblem
from mapper.formulations.hierarchy.referee.verify import verify
from mapper.models.hierarchy.cost import evaluate
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.solver.front import Front
from mapper.solver.hierarchy.exact.branch import Branch
from mapper.solver.hierarchy.exact.branch_and_bound import Search
from mapper.solver.hierarchy.imperfect.front import cut_front
from mapper.solver.hierarchy.imperfect.method import first_quarter
from mapper.solver.hierarchy.points import Points
from mapper.solver.method import Effort

Array = Any


class FrontSearch(Search):
    """A search for all points that no other is better than."""

    def __init__(self, problem: HierarchyProblem, effort: Effort) -> None:
        super().__init__(replace(problem, objective="energy"), effort)
        self.asked = problem
        self.points = Points()

    @property
    def limit(self) -> float:
        return math.inf

    @property
    def front(self) -> Array:
        return self.points.limits()

    def wants(self, bound: float, cycles: float) -> bool:
        return self.points.wants(bound, cycles)

    def _promises(self, branch: Branch) -> bool:
        """Every arrangement may have a point that no other has, which then spares others."""
        return True

    def _take(self, mapping: HierarchyMapping, least: float, handed: bool) -> None:
        verdict = verify(self.problem, mapping)
        if verdict.cost is None or verdict.broken:
            return
        self.trials.take(mapping)
        if handed and least < (verdict.cost.energy_pj or 0.0) * (1 - ROUNDING):
            self.loose.append((least, mapping))
        self.points.take(mapping, verdict.cost)

    def try_out(self, mapping: HierarchyMapping) -> None:
        self._take(mapping, math.inf, False)

    def found(self) -> Front[HierarchyMapping]:
        """The points, ascending by energy."""
        self.run()
        waiting = self.heap[0][0] if self.heap else math.inf
        open_from = min(waiting, self.undecided, self.ahead, *(least for least, _ in self.loose))
        return self.points.front(self.asked, open_from, self.stop, self.trials.tried)


def front(problem: HierarchyProblem, effort: Effort) -> Front[HierarchyMapping]:
    """All points that no other is better than in energy or cycles and as good as in both, ascending by energy.

    If the effort ends first, or neighbours may hand words on, what was found is not proven to be all there is; points
    of less energy than anything that was left open are proven nevertheless.
    """
    if why_infeasible(problem) is not None:
        return Front((), True)
    if not problem.pins.imperfect:
        return FrontSearch(problem, effort).found()
    perfect = front(problem.as_it_is(), first_quarter(effort))
    return cut_front(problem, effort, [one.mapping for one in perfect.points if one.mapping is not None])


def criteria(problem: HierarchyProblem, mapping: HierarchyMapping) -> tuple[int, int]:
    """Energy in the model's steps, and cycles, both of which least is best."""
    cost = evaluate(problem.nest, problem.machine, mapping)
    return cost.energy_steps or 0, cost.cycles
