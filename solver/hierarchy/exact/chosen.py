"""What branch and bound chose, as a mapping of the nest's own loops."""

from __future__ import annotations

import math
from typing import Any

from mapper.models.hierarchy.mapping import HierarchyMapping, LevelMapping, SpatialLoop, TemporalLoop
from mapper.solver.hierarchy.exact.arrangement import Keep, SpaceTrips
from mapper.solver.hierarchy.exact.group import Groups

Array = Any


def mapping_of(groups: Groups, keep: Keep, space: SpaceTrips, f: Array, orders: Array) -> HierarchyMapping:
    """The mapping in which groups make trips ``f`` at each level, in ``orders``, innermost first. The trips of a group
    go to its loops as far as they divide what is left of each."""
    problem = groups.problem
    left = {
        loop: bound // math.prod(x.get(loop, 1) * y.get(loop, 1) for x, y in space)
        for loop, bound in problem.bounds.items()
    }
    levels = []
    for place, memory in enumerate(problem.machine.levels):
        time: list[TemporalLoop] = []
        for j in reversed([int(one) for one in orders[place] if one >= 0]):
            time += _shared(int(f[place, j]), groups.loops[j], left)
        x, y = space[place]
        across = (
            *(SpatialLoop(loop, trips, "y") for loop, trips in sorted(y.items())),
            *(SpatialLoop(loop, trips, "x") for loop, trips in sorted(x.items())),
        )
        levels.append(LevelMapping(memory.name, keep[place], tuple(time), across))
    return HierarchyMapping(tuple(levels), problem.pins.padded)


def _shared(trips: int, loops: tuple[str, ...], left: dict[str, int]) -> list[TemporalLoop]:
    found = []
    for loop in loops:
        own = math.gcd(trips, left[loop])
        if own > 1:
            found.append(TemporalLoop(loop, own))
            left[loop] //= own
            trips //= own
    return found
