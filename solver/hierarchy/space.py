"""The space of mappings as searches walk it: slots for trips, factorisations, orders, tensors that may be kept."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations, product

from mapper.formulations.hierarchy.problem import Axis, HierarchyProblem
from mapper.models.hierarchy.imperfect.digit import with_last_passes
from mapper.models.hierarchy.mapping import Axis as SpatialAxis
from mapper.models.hierarchy.mapping import HierarchyMapping, LevelMapping, SpatialLoop, TemporalLoop

Slot = tuple[int, Axis]
Factors = tuple[int, ...]
"""The trips of one loop at each slot."""


@dataclass(frozen=True)
class Space:
    """The mappings of a problem; ``slots`` are levels in time and axes in space, outer to inner."""

    problem: HierarchyProblem

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        found: list[Slot] = []
        for place in range(len(self.problem.machine.levels)):
            axes: tuple[Axis, ...] = ("temporal", "x", "y")
            for axis in axes:
                if any(self.problem.most(place, axis, loop) > 1 for loop in self.problem.nest.loops):
                    found.append((place, axis))
        return tuple(found)

    @cached_property
    def limits(self) -> dict[str, tuple[int, ...]]:
        """The most trips of each loop at each slot."""
        return {
            loop: tuple(self.problem.most(place, axis, loop) for place, axis in self.slots)
            for loop in self.problem.nest.loops
        }

    def factorisations(self, loop: str) -> Iterator[Factors]:
        """Every way to spread the bound of a loop over the slots."""
        if self.problem.pins.imperfect:
            yield from (row for row in self.cuts(loop) if self.keeps_given(loop, row))
            return

        def spread(rest: int, slot: int) -> Iterator[Factors]:
            if slot == len(self.slots):
                if rest == 1:
                    yield ()
                return
            for trips in divisors(rest):
                if trips <= self.limits[loop][slot]:
                    for others in spread(rest // trips, slot + 1):
                        yield (trips, *others)

        for factors in spread(self.problem.bounds[loop], 0):
            if self.keeps_given(loop, factors):
                yield factors

    @cached_property
    def inwards(self) -> tuple[int, ...]:
        """The slots as mappings have their loops, outer to inner: Y is outside X."""
        axes = ("temporal", "y", "x")
        return tuple(
            sorted(range(len(self.slots)), key=lambda k: (self.slots[k][0], axes.index(self.slots[k][1])))
        )

    def cuts(self, loop: str) -> Iterator[Factors]:
        """Every way to cut a loop whose last passes may be smaller: whole passes as the slots say, from the innermost
        outwards, until one slot takes all that is left."""
        bound, order = self.problem.bounds[loop], self.inwards
        row = [1] * len(self.slots)

        def cut(place: int, chunk: int) -> Iterator[Factors]:
            if chunk >= bound:
                yield tuple(row)
                return
            if place < 0:
                return
            slot = order[place]
            for trips in range(1, min(self.limits[loop][slot], -(-bound // chunk)) + 1):
                row[slot] = trips
                yield from cut(place - 1, chunk * trips)
            row[slot] = 1

        yield from cut(len(order) - 1, 1)

    def keeps_given(self, loop: str, factors: Factors) -> bool:
        """Whether factors are those that are given, in time and in space at each level."""
        for place in range(len(self.problem.machine.levels)):
            at = [
                (axis, trips) for (own, axis), trips in zip(self.slots, factors, strict=True) if own == place
            ]
            time = math.prod(trips for axis, trips in at if axis == "temporal")
            space = math.prod(trips for axis, trips in at if axis != "temporal")
            if self.problem.exact(place, "temporal", loop) not in (None, time):
                return False
            if self.problem.exact(place, "x", loop) not in (None, space):
                return False
        return True

    def keeps(self) -> Iterator[tuple[tuple[str, ...], ...]]:
        """Every choice of tensors to keep at the levels."""
        names = [operand.name for operand in self.problem.nest.operands]
        options = []
        for place in range(len(self.problem.machine.levels)):
            must, may = self.problem.kept(place)
            free = [name for name in names if name in may - must]
            own = []
            for chosen in product((True, False), repeat=len(free)):
                kept = must | {name for name, keep in zip(free, chosen, strict=True) if keep}
                own.append(tuple(name for name in names if name in kept))
            options.append(own)
        yield from product(*options)

    def orders(self, place: int, moving: Sequence[str]) -> Iterator[tuple[str, ...]]:
        """Every order, outer to inner, of loops that run more than once in time at a level."""
        inner = [loop for loop in self.problem.order(place) if loop in moving]
        for outer in permutations(loop for loop in moving if loop not in inner):
            yield (*outer, *reversed(inner))

    def moving(self, factors: Mapping[str, Factors], place: int) -> list[str]:
        """Loops that run more than once in time at a level."""
        if (place, "temporal") not in self.slots:
            return []
        slot = self.slots.index((place, "temporal"))
        return [loop for loop in self.problem.nest.loops if factors[loop][slot] > 1]

    def laid_out(self, mapping: HierarchyMapping) -> Iterator[HierarchyMapping]:
        """A mapping with its loops in space in every order along each axis, which matters where neighbours hand words
        on."""
        if not self.problem.machine.rules.link_transfers:
            yield mapping
            return
        options = []
        for level in mapping.levels:
            x, y = ({one.loop: one.trips for one in level.spatial if one.axis == axis} for axis in ("x", "y"))
            options.append([replace(level, spatial=row) for row in in_rows(x, y)])
        for levels in product(*options):
            yield replace(mapping, levels=levels)

    def mapping(
        self,
        factors: Mapping[str, Factors],
        orders: Sequence[Sequence[str]],
        keep: Sequence[Sequence[str]],
    ) -> HierarchyMapping:
        """The mapping of these choices; ``orders`` outer to inner, by level."""
        levels = []
        for place, memory in enumerate(self.problem.machine.levels):
            at: dict[Axis, dict[str, int]] = {"temporal": {}, "x": {}, "y": {}}
            for slot, (own, axis) in enumerate(self.slots):
                if own == place:
                    at[axis] = {loop: row[slot] for loop, row in factors.items() if row[slot] > 1}
            levels.append(
                LevelMapping(
                    memory.name,
                    tuple(keep[place]),
                    tuple(TemporalLoop(loop, at["temporal"][loop]) for loop in orders[place]),
                    next(in_rows(at["x"], at["y"])),
                )
            )
        found = HierarchyMapping(tuple(levels), self.problem.pins.padded)
        return with_last_passes(found, self.problem.bounds) if self.problem.pins.imperfect else found


def in_rows(x: Mapping[str, int], y: Mapping[str, int]) -> Iterator[tuple[SpatialLoop, ...]]:
    """Every order of the loops in space along each axis, rows outside; the first one is by their names."""
    axes: tuple[tuple[SpatialAxis, Mapping[str, int]], ...] = (("y", y), ("x", x))
    rows = [
        [SpatialLoop(loop, trips, axis) for loop, trips in sorted(own.items()) if trips > 1]
        for axis, own in axes
    ]
    yield from ((*down, *wide) for down, wide in product(*map(permutations, rows)))


def divisors(number: int) -> tuple[int, ...]:
    """The divisors of a number, ascending."""
    small = [one for one in range(1, math.isqrt(number) + 1) if number % one == 0]
    return (*small, *(number // one for one in reversed(small) if one * one < number))


def prime_factors(number: int) -> tuple[int, ...]:
    """The prime factors of a number, ascending, each as often as it divides."""
    found, prime = [], 2
    while prime * prime <= number:
        while number % prime == 0:
            found.append(prime)
            number //= prime
        prime += 1
    return (*found, number) if number > 1 else tuple(found)
