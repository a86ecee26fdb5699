"""Accesses of one tensor at every level: what its tiles bring, what bypassing does, and what zeros spare."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from mapper.arch.hierarchy import HierarchyMachine
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.sim.hierarchy.loop import Loop, shift, tile, unrolled
from mapper.sim.hierarchy.sharing import Crossing, array, crossing
from mapper.sim.hierarchy.walk import brought, turns
from mapper.workloads.nest.loop_nest import LoopNest, Operand


@dataclass(frozen=True)
class Traffic:
    """Of one tensor at one level: words of its tile, and of each of ``instances`` the words read, filled, updated."""

    words: int
    reads: int
    fills: int
    updates: int
    instances: int

    @property
    def together(self) -> dict[str, int]:
        """Words of all instances."""
        counts = {"reads": self.reads, "fills": self.fills, "updates": self.updates}
        return {name: count * self.instances for name, count in counts.items()}


@dataclass(frozen=True)
class Layout:
    """A nest under a mapping: all loops, and for each level those above it, in space right below it, and inside it."""

    nest: LoopNest
    loops: tuple[Loop, ...]
    levels: int

    def above(self, level: int) -> list[Loop]:
        """The loops in time that turn while one tile of what is below ``level`` follows another."""
        return [loop for loop in self.loops if loop.level <= level and not loop.axis]

    def below(self, level: int) -> list[Loop]:
        """The loops in space right below ``level``."""
        return [loop for loop in self.loops if loop.level == level and loop.axis]

    def inside(self, level: int) -> list[Loop]:
        """The loops of ``level`` and of all inside it."""
        return [loop for loop in self.loops if loop.level >= level]

    def instances(self, level: int) -> int:
        """How many of ``level`` are used."""
        return math.prod(loop.trips for loop in self.loops if loop.level < level and loop.axis)

    def words(self, operand: Operand, inside: Sequence[Loop]) -> int:
        """Words of the tile that these loops turn within."""
        return math.prod(tile(self.nest, operand, inside).size)


def layout(nest: LoopNest, mapping: HierarchyMapping) -> Layout:
    return Layout(nest, unrolled(mapping), len(mapping.levels))


def traffic(
    own: Layout, operand: Operand, kept: Sequence[bool], machine: HierarchyMachine
) -> list[Traffic | None]:
    """What ``operand`` costs each level, outer to inner; None at levels that it bypasses."""
    crossings = [_crossing(own, operand, level, machine) for level in range(own.levels)]
    fans = [math.prod(loop.trips for loop in own.below(level)) for level in range(own.levels)]
    served = _served(crossings, fans, kept)
    outermost = kept.index(True)
    # What neighbours hand on to each other spares the level outside, whose children they are; one that is bypassed
    # hands nothing on.
    handed = [
        crossings[level].handed if level >= outermost and level + 1 < own.levels and kept[level + 1] else 0
        for level in range(own.levels)
    ]
    share = _share(own, operand)
    found: list[Traffic | None] = []
    for level in range(own.levels):
        if not kept[level]:
            found.append(None)
            continue
        taken = Fraction(crossings[level - 1].arriving, fans[level - 1]) if level > outermost else Fraction(0)
        passed = Fraction(handed[level - 1], own.instances(level)) if level else Fraction(0)
        counts = _counted(operand, machine, (served[level], taken, passed), share[level], level == outermost)
        found.append(Traffic(own.words(operand, own.inside(level)), *counts, own.instances(level)))
    return found


def _crossing(own: Layout, operand: Operand, level: int, machine: HierarchyMachine) -> Crossing:
    """What the boundary below an instance of ``level`` sees in the whole run."""
    fanout, space, time = machine.levels[level].fanout, own.below(level), own.above(level)
    size = tile(own.nest, operand, own.inside(level + 1)).size
    comes = brought(
        size,
        [shift(operand, loop) for loop in time],
        _turns(tuple(loop.trips for loop in time), own.nest.name),
        keeps=level + 1 < own.levels,
    )
    instances = array(space, [shift(operand, loop) for loop in space], len(size), (fanout.x, fanout.y))
    shared = fanout.reduction if operand.writes else fanout.multicast
    return crossing(comes, instances, shared, machine.rules.link_transfers)


@lru_cache(maxsize=64)
def _turns(trips: tuple[int, ...], what: str) -> list[int]:
    return turns(trips, what)


def _served(crossings: Sequence[Crossing], fans: Sequence[int], kept: Sequence[bool]) -> list[Fraction]:
    """Words that an instance of each level serves. What a bypassed level would have served, its instances ask of the
    level outside, which serves as many of them at once as it does with its own tiles."""
    served = [Fraction(sum(one.served.values())) for one in crossings]
    for level in range(len(kept) - 1, 0, -1):
        if not kept[level]:
            asked = served[level] * fans[level - 1]
            outside = crossings[level - 1]
            served[level - 1] = (
                asked * sum(outside.served.values()) / outside.arriving if outside.arriving else Fraction(0)
            )
    return served


def _share(own: Layout, operand: Operand) -> list[int]:
    """Words of the whole tensor that one instance of each level is alone in charge of."""
    found = [own.words(operand, own.loops)]
    for level in range(1, own.levels):
        inner = own.words(operand, own.inside(level))
        around = own.words(operand, [*own.below(level - 1), *own.inside(level)])
        found.append(found[-1] * inner // around)
    return found


def _counted(
    operand: Operand,
    machine: HierarchyMachine,
    words: tuple[Fraction, Fraction, Fraction],
    share: int,
    outermost: bool,
) -> tuple[int, int, int]:
    """Reads, fills and updates of words served inside, taken from outside, and passed on by neighbours."""
    served, taken, passed = words
    if not operand.writes:
        return _nearest(served + passed), math.floor(taken + passed), 0
    zero, rules = operand.zero_initialised, machine.rules
    # Every partial sum is read before it is updated, but not while it is known to be zero.
    spared = share if zero and rules.first_read == "elided" else 0
    unfilled = share if zero and rules.first_fill == "elided" and not outermost else None
    # A share may hold gaps between tiles, which nobody reads or fills in any case.
    filled = math.floor(taken + passed) if unfilled is None else max(0, _nearest(taken + passed - unfilled))
    return max(0, _nearest(served + passed - spared)), filled, _nearest(served)


def _nearest(count: Fraction) -> int:
    """The nearest integer, halves upwards."""
    return math.floor(count + Fraction(1, 2))
