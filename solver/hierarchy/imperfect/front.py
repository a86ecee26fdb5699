"""The trade-offs of energy and latency where factors need not divide: a node is left when some point has no more energy
than its bound, and takes no more cycles than it must take."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from mapper.formulations.hierarchy.problem import HierarchyProblem
from mapper.formulations.hierarchy.referee.verify import verify
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.solver.front import Front
from mapper.solver.hierarchy.imperfect.search import CutSearch
from mapper.solver.hierarchy.points import Points
from mapper.solver.method import Effort

Array = Any


class CutFront(CutSearch):
    """A search for all points that no other is better than."""

    def __init__(self, problem: HierarchyProblem, effort: Effort) -> None:
        super().__init__(replace(problem, objective="energy"), effort)
        self.asked = problem
        self.points = Points()

    @property
    def limit(self) -> float:
        return math.inf

    def wanted(self, bounds: Array, cycles: Array) -> Array:
        return self.points.wanted(bounds, cycles)

    def wants(self, bound: float, cycles: float) -> bool:
        return self.points.wants(bound, cycles)

    def take(self, mapping: HierarchyMapping) -> None:
        verdict = verify(self.problem, mapping)
        if verdict.cost is not None and not verdict.broken:
            self.trials.take(mapping)
            self.points.take(mapping, verdict.cost)

    def found(self) -> Front[HierarchyMapping]:
        """The points, ascending by energy."""
        self.gather()
        self.work()
        return self.points.front(
            self.asked, min(self.waiting.least, self.undecided), self.stop, self.trials.tried
        )


def cut_front(
    problem: HierarchyProblem, effort: Effort, known: Sequence[HierarchyMapping]
) -> Front[HierarchyMapping]:
    """All points of a feasible problem, ascending by energy, if some of its mappings are ``known``."""
    search = CutFront(problem, effort)
    for mapping in known:
        search.take(mapping)
    return search.found()
