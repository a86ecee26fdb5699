"""Points of energy and cycles of which none is better than another."""

from __future__ import annotations

import math
from bisect import bisect_right, insort
from typing import Any

import numpy as np

from mapper.formulations.hierarchy.problem import ROUNDING, HierarchyProblem
from mapper.models.hierarchy.cost import HierarchyCost
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.solver.certificate import Stop
from mapper.solver.front import Front
from mapper.solver.outcome import Outcome

Array = Any


class Points:
    """The mappings found so far of which none is better than another, by their ``cycles``, ascending; ``at`` these the
    energy in the model's steps, the mapping and its cost. Energies count as equal within `ROUNDING`, as everywhere."""

    def __init__(self) -> None:
        self.cycles: list[int] = []
        self.at: dict[int, tuple[int, HierarchyMapping, HierarchyCost]] = {}

    def _limit_at(self, cycles: int) -> float:
        return (self.at[cycles][2].energy_pj or 0.0) * (1 - ROUNDING)

    def limits(self) -> Array:
        """Cycles, and the pJ that a mapping of at least as many must lie below [points, 2]."""
        rows = [(cycles, self._limit_at(cycles)) for cycles in self.cycles]
        return np.array(rows, np.float64).reshape(-1, 2)

    def wants(self, bound: float, cycles: float) -> bool:
        """Whether no point has as little energy as ``bound`` pJ, and as few cycles."""
        place = bisect_right(self.cycles, cycles)
        return bound < (self._limit_at(self.cycles[place - 1]) if place else math.inf)

    def wanted(self, bounds: Array, cycles: Array) -> Array:
        """`wants` of many bounds at once."""
        limits = self.limits()
        below = np.concatenate([[math.inf], limits[:, 1]])
        found: Array = bounds < below[np.searchsorted(limits[:, 0], cycles, side="right")]
        return found

    def take(self, mapping: HierarchyMapping, cost: HierarchyCost) -> None:
        """Keep a mapping, unless a point is as good; points that are no better in anything are left out."""
        energy, cycles = cost.energy_steps or 0, cost.cycles
        place = bisect_right(self.cycles, cycles)
        if place and self.at[self.cycles[place - 1]][0] <= energy:
            return
        for beaten in [one for one in self.cycles if one >= cycles and self.at[one][0] >= energy]:
            self.cycles.remove(beaten)
            del self.at[beaten]
        insort(self.cycles, cycles)
        self.at[cycles] = (energy, mapping, cost)

    def front(
        self, problem: HierarchyProblem, open_from: float, stop: Stop | None, tried: int
    ) -> Front[HierarchyMapping]:
        """The points with their values in the problem's objective, ascending by energy. What is still open has at
        least ``open_from`` pJ (infinite: nothing is); points of less are proven, however early a search has ended."""
        points = []
        for cycles in reversed(self.cycles):
            _, mapping, cost = self.at[cycles]
            value = problem.value(cost)
            if (cost.energy_pj or 0.0) < open_from:
                found = Outcome.optimal(mapping, value, stop=stop or "complete", evaluations=tried)
            else:
                found = Outcome.bounded(mapping, value, None, stop or "complete", evaluations=tried)
            points.append(found)
        return Front(tuple(points), stop is None and open_from == math.inf)
