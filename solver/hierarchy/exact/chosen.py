"""What branch and bound chose, as a mapping of the nest's own loops."""

from __future__ import annotations

import math
from typing import Any

from mapper.models.hierarchy.mapping import HierarchyMapping, LevelMapping, SpatialLoop, TemporalLoop
from mapper.solver.hierarchy.exact.arrangement import Keep
from mapper.solver.hierarchy.exact.group import Groups
from mapper.solver.hierarchy.exact.in_space import SpaceTrips, UnitTrips

Array = Any


def mapping_of(groups: Groups, keep: Keep, space: SpaceTrips, f: Array, orders: Array) -> HierarchyMapping:
    """The mapping in which groups make trips ``f`` at each level, in ``orders``, innermost first. What loops do
    together goes to them as far as it divides what is left of each, first in space and then in time."""
    problem = groups.problem
    left = dict(problem.bounds)
    across = [_in_space(*trips, left) for trips in space]
    levels = []
    for place, memory in enumerate(problem.machine.levels):
        time = [
            TemporalLoop(loop, trips)
            for j in reversed([int(one) for one in orders[place] if one >= 0])
            for loop, trips in _shared(int(f[place, j]), groups.loops[j], left)
        ]
        levels.append(LevelMapping(memory.name, keep[place], tuple(time), across[place]))
    return HierarchyMapping(tuple(levels), problem.pins.padded)


def _in_space(x: UnitTrips, y: UnitTrips, left: dict[str, int]) -> tuple[SpatialLoop, ...]:
    down = [one for unit, trips in y.items() for one in _shared(trips, unit, left)]
    wide = [one for unit, trips in x.items() for one in _shared(trips, unit, left)]
    return (
        *(SpatialLoop(loop, trips, "y") for loop, trips in sorted(down)),
        *(SpatialLoop(loop, trips, "x") for loop, trips in sorted(wide)),
    )


def _shared(trips: int, loops: tuple[str, ...], left: dict[str, int]) -> list[tuple[str, int]]:
    found = []
    for loop in loops:
        own = math.gcd(trips, left[loop])
        if own > 1:
            found.append((loop, own))
            left[loop] //= own
            trips //= own
    return found
