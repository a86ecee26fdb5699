"""Every choice of loops in space, as arrays: below each level the trips of loops along X and along Y."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mapper.formulations.hierarchy.problem import Axis, HierarchyProblem
from mapper.solver.hierarchy.exact.group import Groups
from mapper.solver.hierarchy.space import divisors
from mapper.solver.method import Effort

Array = Any
Unit = tuple[str, ...]
"""Loops that go into space together: their trips are those of all of them."""
UnitTrips = dict[Unit, int]
SpaceTrips = tuple[tuple[UnitTrips, UnitTrips], ...]
"""Below each level, trips along X and along Y."""
MOST_CHOICES = 4_000_000
AT_ONCE = 1 << 20
"""Choices that are looked at together."""


class Spaces:
    """The choices, one row of ``chosen`` each: for every level a number among what loops may do below it. Of those
    whose groups have the same trips everywhere, and of splits into X and Y that take the same loops, there is one. Not
    ``complete`` if there are too many, or time was over."""

    def __init__(self, problem: HierarchyProblem, groups: Groups, effort: Effort) -> None:
        self.groups, self.padded = groups, problem.pins.padded
        self.units = [unit for group in groups.loops for unit in _units(problem, group)]
        bounds = {unit: math.prod(problem.bounds[loop] for loop in unit) for unit in self.units}
        self.fans = [_fans(problem, level, bounds) for level in range(len(problem.machine.levels))]
        self.complete = True
        self.chosen = np.zeros((1, 0), np.int32)
        flat = [
            np.array([x.get(unit, 1) * y.get(unit, 1) for x, y in fans for unit in self.units], np.int64)
            for fans in self.fans
        ]
        self._trips = [own.reshape(-1, len(self.units)) for own in flat]
        self._choose(np.array(list(bounds.values()), np.int64), effort)
        if len(self.units) > len(groups.loops):
            self._leave_out_same()

    def __len__(self) -> int:
        return len(self.chosen)

    def space(self, row: int) -> SpaceTrips:
        """What loops do in space by a choice."""
        return tuple(fans[place] for fans, place in zip(self.fans, self.chosen[row], strict=True))

    def trips(self, rows: slice) -> Array:
        """Trips in space of choices, by level and group."""
        chosen = self.chosen[rows]
        found = np.ones((len(chosen), len(self.fans), len(self.groups.loops)), np.int64)
        for level, own in enumerate(self._trips):
            for place, unit in enumerate(self.units):
                group = next(j for j, loops in enumerate(self.groups.loops) if unit[0] in loops)
                found[:, level, group] *= own[chosen[:, level], place]
        return found

    def _choose(self, bounds: Array, effort: Effort) -> None:
        """Level by level, whatever divides the bounds together with what the levels outside have taken."""
        taken = np.ones((1, len(self.units)), np.int64)
        for own in self._trips:
            rows, places, products = [], [], []
            count, step = 0, max(1, AT_ONCE // max(1, len(own)))
            for begin in range(0, len(taken), step):
                product = taken[begin : begin + step, None, :] * own[None, :, :]
                row, place = np.nonzero((bounds % product == 0).all(axis=2))
                rows.append(row + begin)
                places.append(place)
                products.append(product[row, place])
                count += len(row)
                if count > MOST_CHOICES or effort.is_over():
                    self.complete = False
                    break
            taken = np.concatenate([*products, taken[:0]])
            row = np.concatenate([*rows, np.zeros(0, np.int64)])
            place = np.concatenate([*places, np.zeros(0, np.int64)])
            self.chosen = np.concatenate([self.chosen[row], place[:, None].astype(np.int32)], axis=1)

    def _leave_out_same(self) -> None:
        trips = self.trips(slice(None)).reshape(len(self.chosen), -1)
        _, first = np.unique(trips, axis=0, return_index=True)
        self.chosen = self.chosen[np.sort(first)]


def _units(problem: HierarchyProblem, group: tuple[str, ...]) -> list[Unit]:
    """A group as it goes into space: together where fan-outs treat its loops alike, else each loop by itself."""
    axes: tuple[Axis, ...] = ("x", "y")
    for level in range(len(problem.machine.levels)):
        for axis in axes:
            fanout = problem.machine.levels[level].fanout
            width = fanout.x if axis == "x" else fanout.y
            most = {problem.most(level, axis, loop) for loop in group}
            shut = most == {1}
            given = {problem.exact(level, axis, loop) for loop in group}
            free = all(problem.most(level, axis, loop) >= min(width, problem.bounds[loop]) for loop in group)
            if not given <= {None, 1} or len(given) > 1 or not (shut or free):
                return [(loop,) for loop in group]
    return [group]


def _fans(
    problem: HierarchyProblem, level: int, bounds: dict[Unit, int]
) -> list[tuple[UnitTrips, UnitTrips]]:
    """What loops may do in space below a level: trips along X and along Y."""
    fanout = problem.machine.levels[level].fanout
    found: dict[tuple[tuple[Unit, int], ...], tuple[UnitTrips, UnitTrips]] = {}

    def most(axis: Axis, unit: Unit) -> int:
        together = len(unit) > 1 and problem.most(level, axis, unit[0]) > 1
        return bounds[unit] if together else problem.most(level, axis, unit[0])

    widest = {unit: min(fanout.x, most("x", unit)) for unit in bounds}
    highest = {unit: min(fanout.y, most("y", unit)) for unit in bounds}
    given = {unit: problem.exact(level, "x", unit[0]) for unit in bounds}

    def grow(units: list[Unit], x: UnitTrips, y: UnitTrips, wide: int, high: int) -> None:
        if not units:
            together = {unit: x.get(unit, 1) * y.get(unit, 1) for unit in (*x, *y)}
            found.setdefault(tuple(sorted(together.items())), (x, y))
            return
        unit, rest = units[0], units[1:]
        for across in divisors(bounds[unit]):
            if across > min(wide, widest[unit]):
                break
            for down in divisors(bounds[unit] // across):
                if down > min(high, highest[unit]):
                    break
                if given[unit] not in (None, across * down):
                    continue
                own_x, own_y = ({unit: across} if across > 1 else {}), ({unit: down} if down > 1 else {})
                grow(rest, {**x, **own_x}, {**y, **own_y}, wide // across, high // down)

    grow(list(bounds), {}, {}, fanout.x, fanout.y)
    return list(found.values())
