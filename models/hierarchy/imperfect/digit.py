"""The digits of a loop whose factors do not divide it: which passes there are, and how large the last one is.

A loop of bound B is cut by the factors of its slots, outer to inner, as a number is written in a mixed radix: pass x of
the chunks below some level is the number whose digits say how often each slot outside has turned. The full chunk is the
product of the factors inside, there are N = ceil(B / chunk) of them, and those that exist are the numbers 0 to N - 1.
So the digits of N - 1 say all: a choice of some digits is reached if it, with zeros for all others, is at most N - 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, TypeVar

from mapper.models.hierarchy.mapping import HierarchyMapping, LevelMapping, SpatialLoop, TemporalLoop

AnyLoop = TypeVar("AnyLoop", TemporalLoop, SpatialLoop)
ALL, AGAIN, LOCAL = -1, -2, -3
"""What is asked of a digit, beside a given value: every value, every one but 0, or every one, as an instance."""


@dataclass(frozen=True)
class Digit:
    """A slot at which a loop turns: its level, its axis in space (empty: in time), its factor, its place among all
    loops of the nest that turn in time, outer to inner (-1 in space), and iterations that a turn goes on by."""

    level: int
    axis: str
    trips: int
    place: int
    stride: int


class State(NamedTuple):
    """``moments`` at which ``active`` instances run, the first ones in their order; ``ends``: the last of them runs the
    last chunk of the loop."""

    moments: int
    active: int
    ends: bool


@dataclass(frozen=True)
class Chain:
    """A loop of ``bound`` as its slots outside some level cut it, outer to inner."""

    bound: int
    digits: tuple[Digit, ...]
    chunk: int

    @property
    def rest(self) -> int:
        """Iterations of the last chunk."""
        return (self.bound - 1) % self.chunk + 1

    @cached_property
    def is_whole(self) -> bool:
        """Whether all passes are of one size."""
        return self.bound == self.chunk * math.prod(digit.trips for digit in self.digits)

    @cached_property
    def last(self) -> tuple[int, ...]:
        """The digits of the last chunk."""
        number, found = (self.bound - 1) // self.chunk, []
        for digit in reversed(self.digits):
            number, own = divmod(number, digit.trips)
            found.append(own)
        return tuple(reversed(found))

    @cached_property
    def _known(self) -> dict[tuple[int, ...], tuple[State, ...]]:
        return {}

    def states(self, asked: Sequence[int]) -> tuple[State, ...]:
        """How many instances run at the moments that are asked for, digit by digit."""
        key = tuple(asked)
        if key not in self._known:
            self._known[key] = tuple(self._states(key))
        return self._known[key]

    def _states(self, asked: tuple[int, ...]) -> list[State]:
        found: list[State] = []
        sure = 0
        for place, (digit, own, want) in enumerate(zip(self.digits, self.last, asked, strict=True)):
            later = range(place + 1, len(asked))
            moments = math.prod(
                self.digits[k].trips - (asked[k] == AGAIN) for k in later if asked[k] in (ALL, AGAIN)
            )
            inner = math.prod(self.digits[k].trips for k in later if asked[k] == LOCAL)
            if want == LOCAL:
                sure += own * inner
                continue
            if want >= 0:
                below, above, equal = int(want < own), int(want > own), want == own
            else:
                below, above, equal = own, digit.trips - 1 - own, True
                if want == AGAIN:
                    below, above, equal = (own - 1, above, True) if own else (0, above, False)
            found.append(State(below * moments, sure + inner, False))
            found.append(State(above * moments, sure, False))
            if not equal:
                break
        else:
            found.append(State(1, sure + 1, True))
        return [one for one in found if one.moments and one.active]

    def alike(self, level: int) -> list[tuple[int, dict[int, int]]]:
        """Instances of a level that have the same share of the loop, as how many there are and the digits in space
        of one of them; those of the first instance come first."""
        own = [k for k, digit in enumerate(self.digits) if digit.axis and digit.level < level]
        if self.is_whole:
            return [(math.prod(self.digits[k].trips for k in own), dict.fromkeys(own, 0))]
        found: list[tuple[int, dict[int, int]]] = []
        equal: dict[int, int] = {}
        for place, k in enumerate(own):
            inner = math.prod(self.digits[one].trips for one in own[place + 1 :])
            zeros = dict.fromkeys(own[place + 1 :], 0)
            found.append((self.last[k] * inner, equal | {k: 0} | zeros))
            found.append(
                ((self.digits[k].trips - 1 - self.last[k]) * inner, equal | {k: self.last[k] + 1} | zeros)
            )
            equal = equal | {k: self.last[k]}
        found.append((1, equal))
        return sorted((one for one in found if one[0]), key=lambda one: tuple(one[1].values()))


def chains(mapping: HierarchyMapping, bounds: Mapping[str, int], level: int) -> dict[str, Chain]:
    """Each loop of the nest as the slots of levels outside ``level`` cut it."""
    digits: dict[str, list[Digit]] = {loop: [] for loop in bounds}
    stride = dict.fromkeys(bounds, 1)
    chunk = dict.fromkeys(bounds, 1)
    place = sum(one.trips > 1 for own in mapping.levels for one in own.temporal)
    for number, own in reversed(list(enumerate(mapping.levels))):
        for one in reversed(own.loops):
            axis = one.axis if isinstance(one, SpatialLoop) else ""
            if one.trips == 1:
                continue
            place -= not axis
            if number < level:
                at = -1 if axis else place
                digits[one.loop].append(Digit(number, axis, one.trips, at, stride[one.loop]))
            else:
                chunk[one.loop] *= one.trips
            stride[one.loop] *= one.trips
    return {loop: Chain(bounds[loop], tuple(reversed(digits[loop])), chunk[loop]) for loop in bounds}


def moments(mapping: HierarchyMapping, bounds: Mapping[str, int]) -> int:
    """Moments at which at least one unit computes."""
    whole = chains(mapping, bounds, len(mapping.levels))
    return math.prod(
        sum(one.moments for one in own.states([0 if digit.axis else ALL for digit in own.digits]))
        for own in whole.values()
    )


def reached(mapping: HierarchyMapping, loop: str) -> int:
    """The iterations that factors and last passes of a loop make together."""
    total, chunk = 1, 1
    for own in reversed(mapping.levels):
        for one in reversed(own.loops):
            if one.loop == loop:
                last = one.trips if one.last is None else one.last
                total += (last - 1) * chunk
                chunk *= one.trips
    return total


def with_last_passes(mapping: HierarchyMapping, bounds: Mapping[str, int]) -> HierarchyMapping:
    """The mapping with the last passes that ``bounds`` leave, whatever it said of them. Of each loop the outermost slot
    turns as often as it must and no more."""
    left = {loop: bound - 1 for loop, bound in bounds.items()}
    levels: list[LevelMapping] = []
    for own in reversed(mapping.levels):
        space, time = _cut(own.spatial, left), _cut(own.temporal, left)
        levels.append(replace(own, temporal=time, spatial=space))
    return replace(mapping, levels=tuple(reversed(levels)))


def _cut(loops: tuple[AnyLoop, ...], left: dict[str, int]) -> tuple[AnyLoop, ...]:
    """The loops of a level, from the innermost outwards cut to the turns that are ``left`` of each, less one."""
    found: list[AnyLoop] = []
    for one in reversed(loops):
        rest, own = divmod(left[one.loop], one.trips)
        trips = one.trips if rest else own + 1
        left[one.loop] = rest
        if trips > 1:
            found.append(replace(one, trips=trips, last=own + 1 if own + 1 < trips else None))
    return tuple(reversed(found))
