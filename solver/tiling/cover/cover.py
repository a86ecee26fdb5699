"""The factors of one loop that cover its bound, as few of them as an optimum can need.

Four factors (DRAM, scratch-pad, register file, space) cover a bound B if their product is B at least. With the same
loops running at every level, a cost grows with each factor; a factor that can be lowered by one with B still covered
is never needed (2 cannot become 1 then: the product stays below 2B, and half of it below B). What is left are the
*least covers*. They are listed in classes by the trips t = ceil(B/b) that an array tile b = r*s needs at least: within
a class any (r, s) that covers ceil(B/t) goes with any (p, d) that covers t.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from mapper.formulations.tiling.array_axes import ArrayAxes, LoopAxes
from mapper.formulations.tiling.problem import TilingProblem
from mapper.models.tiling.mapping import LEVELS
from mapper.models.tiling.tile import rf_words

Pair = tuple[int, int]


@dataclass(frozen=True)
class Level:
    """The factors that a loop may have at one level: ``least``, that one alone where it is ``pinned``, else all from
    there on."""

    least: int
    pinned: bool

    def allows(self, factor: int) -> bool:
        return factor == self.least if self.pinned else factor >= self.least

    def from_on(self, factor: int) -> int | None:
        """The least allowed factor that is ``factor`` or more."""
        if self.pinned:
            return self.least if factor <= self.least else None
        return max(factor, self.least)


ALONG_ONE = LoopAxes((True, False), (False, False))


@dataclass(frozen=True)
class Sides:
    """The array in space: its ``size`` (rows, columns), and where a loop may and must run; without ``loop`` axes are
    alike, and all PEs stand in one row."""

    size: Pair
    loop: LoopAxes = ALONG_ONE

    def divisions(self, factor: int) -> list[Pair]:
        """Of a factor in space between the axes."""
        if self.loop == ALONG_ONE:
            return [(factor, 1)] if factor <= self.size[0] else []
        return [way for way in self.loop.ways(factor) if way[0] <= self.size[0] and way[1] <= self.size[1]]

    def covering(self, need: int) -> set[int]:
        """Factors in space that cover ``need``, of which on some division neither part can be lowered."""
        if not self.loop.may[1]:
            return {need}
        parts = {1, 2, *_rounded_quotients(need)}
        ways = {(one, max(least, -(-need // one))) for one in parts for least in (1, 2)}
        return {one * other for one, other in ways} | {max(need, 2)}

    def is_needed(self, factor: int, level: Level, rest: int, least: int) -> bool:
        """Whether on some division no part of ``factor`` can be lowered by one, with ``rest`` beside it covering
        ``least``."""

        def can_be_lowered(way: Pair, side: int) -> bool:
            fewer = factor // way[side] * (way[side] - 1)
            kept = way[side] > (2 if self.loop.must[side] else 1)
            return kept and level.allows(fewer) and rest * fewer >= least

        return any(
            not can_be_lowered(way, 0) and not can_be_lowered(way, 1) for way in self.divisions(factor)
        )


@dataclass(frozen=True)
class CoverClass:
    """The covers whose array tile needs ``trips`` at least: ``inner`` are pairs (r, s) of register file and space,
    ``outer`` pairs (p, d) of scratch-pad and DRAM; ``needed[i][o]``: whether the two together are a least cover.
    ``tile`` is the smallest array tile."""

    trips: int
    tile: int
    inner: tuple[Pair, ...]
    outer: tuple[Pair, ...]
    needed: tuple[tuple[bool, ...], ...]


def classes_of(problem: TilingProblem, loop: str, backwards: frozenset[str]) -> tuple[CoverClass, ...]:
    """The classes of covers of ``loop`` by falling trips; empty if pins leave none. Loops along which a dependence
    runs ``backwards`` stay whole in the register file."""
    least, most = problem.padding.range_of(loop, problem.nest.trip_counts[loop])
    levels = [_level(problem, loop, level, backwards) for level in LEVELS]
    if None in levels:
        return ()
    dram, spm, rf, spatial = (level for level in levels if level is not None)
    axes, place = ArrayAxes.of(problem), problem.nest.loops.index(loop)
    sides = Sides((problem.machine.pes, 1)) if axes is None else Sides(axes.size, axes.loops[place])
    return least_covers(least, most, rf, spatial, spm, dram, sides)


def least_words(problem: TilingProblem, covers: tuple[tuple[CoverClass, ...], ...]) -> int:
    """Words that a register file holds at least, with the covers of all loops (of each there is one)."""
    least = {
        loop: min(r for one in classes for r, _ in one.inner)
        for loop, classes in zip(problem.nest.loops, covers, strict=True)
    }
    words: int = rf_words(problem.nest, least)
    return words


def _level(problem: TilingProblem, loop: str, level: str, backwards: frozenset[str]) -> Level | None:
    """What pins and dependences leave; None if nothing."""
    still = (level == "spatial" and loop in problem.nest.sequential_loops) or (
        level != "rf" and loop in backwards
    )
    pins = {factor for name, at, factor in problem.pins.factors if (name, at) == (loop, level)}
    if len(pins) > 1:
        return None
    given = next(iter(pins), None)
    if given is None:
        pin = next((one for one in (1, 2) if problem.pins.allows(loop, level, one)), 1)
        one_alone = not problem.pins.allows(loop, level, 2)
        found = Level(pin, one_alone)
    else:
        found = Level(given, True)
        if not problem.pins.allows(loop, level, given):
            return None
    if still:
        return Level(1, True) if found.allows(1) else None
    return found


@lru_cache(maxsize=1024)
def least_covers(
    least: int, most: int, rf: Level, spatial: Level, spm: Level, dram: Level, sides: Sides
) -> tuple[CoverClass, ...]:
    found = []
    for trips, tile in _trips_and_tiles(least, most):
        exact = least == most
        inner = tuple(
            (r, s)
            for r, s in _inner_pairs(tile, rf, spatial, exact, sides)
            if sides.divisions(s) and r * s <= most and (exact or -(-least // (r * s)) == trips)
        )
        outer = tuple(_pairs(trips, spm, dram, exact))
        needed = tuple(
            tuple(
                _is_needed(least, most, ((r, rf), (p, spm), (d, dram)), s)
                and sides.is_needed(s, spatial, r * p * d, least)
                for p, d in outer
            )
            for r, s in inner
        )
        keep = [place for place, row in enumerate(needed) if any(row)]
        if keep:
            inner, needed = tuple(inner[place] for place in keep), tuple(needed[place] for place in keep)
            found.append(CoverClass(trips, min(r * s for r, s in inner), inner, outer, needed))
    return tuple(found)


def _trips_and_tiles(least: int, most: int) -> Iterator[Pair]:
    """Trips of an array tile and the least tile with them: divisors where the bound is given, else all that round up
    to it."""
    if least == most:
        for trips in sorted(_divisors(least), reverse=True):
            yield trips, least // trips
        return
    tile = 1
    while True:
        trips = -(-least // tile)
        tile = -(-least // trips)
        yield trips, tile
        if trips == 1:
            return
        # The least tile with fewer trips.
        tile = -(-least // (trips - 1))


def _pairs(size: int, first: Level, second: Level, exact: bool) -> Iterator[Pair]:
    """Pairs of allowed factors whose product is ``size`` (``exact``), or that cover it with neither to be lowered."""
    if exact:
        for one in sorted(_divisors(size)):
            if first.allows(one) and second.allows(size // one):
                yield one, size // one
        return
    # A factor that cannot be lowered is what the other one leaves, rounded up, or the least that is allowed.
    candidates = {first.least}
    if not first.pinned:
        candidates |= {first.from_on(-(-size // other)) or 0 for other in _rounded_quotients(size)}
        candidates |= {max(first.least, -(-size // second.least))}
    for one in sorted(candidates):
        other = second.from_on(-(-size // one))
        if other is not None and not (first.allows(one - 1) and (one - 1) * other >= size):
            yield one, other


def _inner_pairs(size: int, rf: Level, spatial: Level, exact: bool, sides: Sides) -> Iterator[Pair]:
    """Pairs of register file and space as in ``_pairs``, where those in space cover on the axes of the array."""
    if exact or not sides.loop.may[1]:
        yield from _pairs(size, rf, spatial, exact)
        return
    registers = {rf.least} if rf.pinned else {rf.from_on(one) or 0 for one in (1, *_rounded_quotients(size))}
    for one in sorted(registers):
        need = -(-size // one)
        spaces = {spatial.least} if spatial.pinned else sides.covering(need)
        for other in sorted(spaces):
            covers = spatial.allows(other) and one * other >= size
            if covers and not (rf.allows(one - 1) and (one - 1) * other >= size):
                yield one, other


@lru_cache(maxsize=4096)
def _rounded_quotients(size: int) -> tuple[int, ...]:
    """One number for each value that ceil(size / number) takes."""
    small = range(1, min(math.isqrt(size) + 1, size) + 1)
    return tuple(sorted({*small, *(-(-size // one) for one in small), size}))


def _is_needed(least: int, most: int, factors: tuple[tuple[int, Level], ...], in_space: int) -> bool:
    """Whether no factor, but the one ``in_space``, can be lowered by one, with pins kept and the bound covered."""
    product = in_space * math.prod(factor for factor, _ in factors)
    if not least <= product <= most:
        return False
    return not any(
        level.allows(factor - 1) and product // factor * (factor - 1) >= least for factor, level in factors
    )


def _divisors(number: int) -> Iterator[int]:
    for one in range(1, math.isqrt(number) + 1):
        if number % one == 0:
            yield one
            if one * one != number:
                yield number // one


Covers = Callable[[str], tuple[CoverClass, ...]]
