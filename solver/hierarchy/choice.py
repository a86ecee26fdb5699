"""One point of the space as searches change it, and a first one without search, whose tiles are as small as can be."""

from __future__ import annotations

from dataclasses import dataclass

from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.solver.hierarchy.space import Factors, Space, divisors

MOST_TRIED = 10_000
"""Numbers of trips that are tried for one loop."""


@dataclass(frozen=True)
class Choice:
    """One point of the space: trips of each loop at each slot, an order of all loops and the tensors kept by level."""

    factors: dict[str, Factors]
    orders: tuple[tuple[str, ...], ...]
    keep: tuple[tuple[str, ...], ...]

    def mapping(self, space: Space) -> HierarchyMapping:
        """The mapping that it stands for."""
        orders = []
        for place, order in enumerate(self.orders):
            moving = space.moving(self.factors, place)
            inner = [loop for loop in space.problem.order(place) if loop in moving]
            outer = [loop for loop in order if loop in moving and loop not in inner]
            orders.append((*outer, *reversed(inner)))
        return space.mapping(self.factors, orders, self.keep)


def first_choice(space: Space) -> Choice | None:
    """All trips as far outside as they may be, levels keep what they must and nothing else; None where a loop finds no
    place. Whether tiles fit is not asked: they do, if any do, unless trips are given or limited."""
    problem = space.problem
    room = {
        slot: level.fanout.x if axis == "x" else level.fanout.y
        for slot, (place, axis) in enumerate(space.slots)
        for level in [problem.machine.levels[place]]
        if axis != "temporal"
    }
    factors: dict[str, Factors] = {}
    # Loops that have the fewest places to go to first.
    for loop in sorted(problem.nest.loops, key=lambda one: sum(most > 1 for most in space.limits[one])):
        row = _outermost(space, loop, room)
        if row is None:
            return None
        factors[loop] = row
        for slot in room:
            room[slot] //= row[slot]
    keep = []
    for place in range(len(problem.machine.levels)):
        must, _ = problem.kept(place)
        keep.append(tuple(one.name for one in problem.nest.operands if one.name in must))
    loops = problem.nest.loops
    return Choice({loop: factors[loop] for loop in loops}, (loops,) * len(keep), tuple(keep))


def _outermost(space: Space, loop: str, room: dict[int, int]) -> Factors | None:
    """The trips of a loop: in time the most first, from the outermost level inwards; in space the fewest first."""
    tried = 0

    def placed(rest: int, slot: int, row: Factors) -> Factors | None:
        nonlocal tried
        if slot == len(row_limits):
            return row if rest == 1 and space.keeps_given(loop, row) else None
        if rest > reach[slot]:
            return None
        own = [one for one in divisors(rest) if one <= row_limits[slot]]
        place, axis = space.slots[slot]
        given = space.problem.exact(place, axis, loop)
        if axis == "temporal":
            own = [one for one in reversed(own) if given in (None, one)]
        for trips in own:
            tried += 1
            found = placed(rest // trips, slot + 1, (*row, trips)) if tried < MOST_TRIED else None
            if found is not None:
                return found
        return None

    row_limits = [min(most, room.get(slot, most)) for slot, most in enumerate(space.limits[loop])]
    reach = [1] * (len(row_limits) + 1)
    for slot in reversed(range(len(row_limits))):
        reach[slot] = reach[slot + 1] * row_limits[slot]
    return placed(space.problem.bounds[loop], 0, ())
