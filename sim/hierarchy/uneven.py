"""Traffic of mappings whose last passes are smaller: every moment of every instance, one after another.

A loop in time turns if it may, whether or not anything is left for an instance to do; an instance that has nothing left
takes nothing. Tiles end where the nest ends.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mapper.arch.hierarchy import HierarchyMachine
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.sim.hierarchy.loop import Loop, shift, unrolled
from mapper.workloads.document import InputError
from mapper.workloads.nest.loop_nest import LoopNest, Operand

Array = NDArray[Any]
MOST_TURNS = 1 << 27
"""Moments of all instances at one level that are walked through at most."""
BLOCK = 1 << 18


@dataclass(frozen=True)
class Passage:
    """A tensor's tiles on their way from level ``outer`` to ``inner``, where ``keeps`` says whether a tile stays."""

    nest: LoopNest
    operand: Operand
    loops: tuple[Loop, ...]
    outer: int
    inner: int
    shared: tuple[bool, ...]
    keeps: bool

    @cached_property
    def time(self) -> list[Loop]:
        return [one for one in self.loops if one.level < self.inner and not one.axis]

    @cached_property
    def space(self) -> list[Loop]:
        return [one for one in self.loops if one.level < self.inner and one.axis]

    @cached_property
    def whole(self) -> dict[str, int]:
        """Iterations of a whole tile."""
        found = dict.fromkeys(self.nest.loops, 1)
        for one in self.loops:
            found[one.name] *= one.trips if one.level >= self.inner else 1
        return found

    @cached_property
    def _uneven(self) -> set[str]:
        """Loops that move the tensor and have passes of several sizes."""
        trips = {name: math.prod(one.trips for one in self.loops if one.name == name) for name in self.whole}
        return {name for name in self.operand.loops if trips[name] != self.nest.trip_counts[name]}

    def _digits(self, loops: Sequence[Loop], numbers: Array) -> list[Array]:
        found = []
        for one in reversed(loops):
            numbers, own = np.divmod(numbers, one.trips)
            found.append(own)
        return list(reversed(found))

    def run(self) -> tuple[Array, Array]:
        """Words that leave for each instance of the outer level, and that arrive at each of the inner one.

        Raises: InputError if there are too many moments.
        """
        moments = math.prod(one.trips for one in self.time)
        instances = math.prod(one.trips for one in self.space)
        outside = math.prod(one.trips for one in self.space if one.level < self.outer)
        if moments * instances > MOST_TURNS:
            remedy = f"{moments * instances} turns of all instances, more than {MOST_TURNS}; lower the bounds"
            raise InputError("simulate", self.nest.name, remedy)
        left, arrived = np.zeros(outside, np.int64), np.zeros(instances, np.int64)
        step = max(1, BLOCK // instances)
        for begin in range(0, moments, step):
            clock = np.arange(begin, min(moments, begin + step))
            words, sizes = self._words(clock)
            arrived += words.sum(axis=0)
            left += self._leaving(words, sizes)
        return left, arrived

    def _words(self, clock: Array) -> tuple[Array, dict[str, Array]]:
        """New words of each moment and instance, and the iterations of its tile."""
        times, spaces = self._digits(self.time, clock), self._digits(self.space, self._all)
        sizes = {}
        for name, bound in self.nest.bounds:
            start = np.zeros((len(clock), len(self._all)), np.int64)
            for loop, digits in zip(self.time, times, strict=True):
                start += digits[:, None] * (loop.stride if loop.name == name else 0)
            for loop, digits in zip(self.space, spaces, strict=True):
                start += digits[None, :] * (loop.stride if loop.name == name else 0)
            sizes[name] = np.clip(bound - start, 0, self.whole[name])
        runs = np.all([one > 0 for one in sizes.values()], axis=0)
        box = self._box(sizes)
        words = np.prod(box, axis=0)
        # The loop that has just turned: the innermost one whose digit is not zero.
        turned = np.full(len(clock), -1)
        for place, digits in enumerate(times):
            turned[digits > 0] = place
        for place, kept in enumerate(self._kept(sizes, box)):
            rows = turned == place
            words[rows] -= kept[rows]
        return np.where(runs, words, 0), sizes

    @cached_property
    def _all(self) -> Array:
        return np.arange(math.prod(one.trips for one in self.space))

    def _box(self, sizes: Mapping[str, Array]) -> list[Array]:
        one = next(iter(sizes.values()))
        return [
            1 + sum((abs(by) * (sizes[name] - 1) for name, by in index.coefficients), np.zeros_like(one))
            for index in self.operand.index
        ]

    def _kept(self, sizes: Mapping[str, Array], box: Sequence[Array]) -> list[Array]:
        """Words that a tile still has after each loop in time has turned."""
        none = np.zeros_like(box[0])
        if not self.keeps or not self.time:
            return [none for _ in self.time]
        by = [shift(self.operand, one) for one in self.time]
        found = []
        for place, own in enumerate(by):
            back = [sum(inner[axis] for inner in by[place + 1 :]) for axis in range(len(own))]
            moved = tuple(one - other for one, other in zip(own, back, strict=True))
            begun = {one.name for one in self.time[place:]}
            if moved != by[-1] or self._uneven & (begun - {self.time[place].name}):
                # What lay one step behind may have been smaller, if other loops that move the tile begin again.
                found.append(none)
                continue
            old = self._box(
                {
                    name: np.full_like(one, self.whole[name]) if name in begun else one
                    for name, one in sizes.items()
                }
            )
            both = [
                np.maximum(0, np.minimum(now, then - abs(far)))
                for now, then, far in zip(box, old, moved, strict=True)
            ]
            found.append(np.prod(both, axis=0))
        return found

    def _leaving(self, words: Array, sizes: Mapping[str, Array]) -> Array:
        """Words that leave for each outer instance; those that others take with it leave once."""
        spaces = self._digits(self.space, self._all)
        outside = np.zeros_like(self._all)
        marks: list[Array] = []
        for level in range(self.inner):
            own = [(loop, at) for loop, at in zip(self.space, spaces, strict=True) if loop.level == level]
            for loop, at in own:
                if level < self.outer:
                    outside = outside * loop.trips + at
                elif not self.shared[level]:
                    marks.append(at)
            if level >= self.outer and self.shared[level]:
                for axis in range(len(self.operand.index)):
                    moved = sum(
                        (at * shift(self.operand, loop)[axis] for loop, at in own), np.zeros_like(outside)
                    )
                    marks.append(moved)
        number = int(outside.max(initial=0)) + 1
        rows, columns = np.nonzero(words)
        keys = [rows, outside[columns], *(mark[columns] for mark in marks), words[rows, columns]]
        keys += [sizes[name][rows, columns] for name in self.nest.loops if name in self.operand.loops]
        once = np.unique(np.stack(keys, axis=1), axis=0)
        found: Array = np.bincount(
            once[:, 1], weights=once[:, 2 + len(marks)].astype(np.float64), minlength=number
        )
        return found.astype(np.int64)


@dataclass(frozen=True)
class Uneven:
    """Of one tensor at one level: words of a whole tile, and words read, filled and updated by each instance."""

    words: int
    reads: Array
    fills: Array
    updates: Array

    @property
    def instances(self) -> int:
        return len(self.reads)

    @property
    def together(self) -> dict[str, int]:
        """Words of all instances."""
        own = {"reads": self.reads, "fills": self.fills, "updates": self.updates}
        return {name: int(counts.sum()) for name, counts in own.items()}


def uneven_traffic(
    nest: LoopNest, mapping: HierarchyMapping, operand: Operand, machine: HierarchyMachine
) -> list[Uneven | None]:
    """What ``operand`` costs each level, outer to inner; None at levels that it bypasses."""
    loops, levels = unrolled(mapping), machine.levels
    at = [number for number, level in enumerate(mapping.levels) if operand.name in level.keep]
    shared = tuple(one.fanout.reduction if operand.writes else one.fanout.multicast for one in levels)
    found: list[Uneven | None] = [None] * len(levels)
    taken: Array | None = None
    for outer, inner in zip(at, [*at[1:], len(levels)], strict=True):
        way = Passage(nest, operand, loops, outer, inner, shared, inner < len(levels))
        served, arrived = way.run()
        fills = np.zeros_like(served) if taken is None else taken
        reads, updates = served, np.zeros_like(served)
        if operand.writes:
            updates = served
            own = _charge_of(nest, operand, loops, outer) if operand.zero_initialised else 0
            if machine.rules.first_read == "elided":
                reads = np.maximum(0, reads - own)
            if machine.rules.first_fill == "elided" and taken is not None:
                fills = np.maximum(0, fills - own)
        size = math.prod(one for one in _extent(nest, operand, loops, outer))
        found[outer] = Uneven(size, reads, fills, updates)
        taken = arrived
    return found


def _extent(nest: LoopNest, operand: Operand, loops: Sequence[Loop], level: int) -> list[int]:
    whole = dict.fromkeys(nest.loops, 1)
    for one in loops:
        whole[one.name] *= one.trips if one.level >= level else 1
    whole = {name: min(bound, whole[name]) for name, bound in nest.bounds}
    return [
        1 + sum(abs(by) * (whole[name] - 1) for name, by in index.coefficients) for index in operand.index
    ]


def _charge_of(nest: LoopNest, operand: Operand, loops: Sequence[Loop], level: int) -> Array:
    """Words of the sum that each instance of a level is in charge of: those that its iterations reach."""
    space = [one for one in loops if one.axis and one.level < level]
    numbers = np.arange(math.prod(one.trips for one in space))
    digits = []
    for one in reversed(space):
        numbers, own = np.divmod(numbers, one.trips)
        digits.append((one, own))
    words = np.ones(len(numbers), np.int64)
    for name, bound in nest.bounds:
        if name not in operand.loops:
            continue
        reach = np.zeros(len(numbers), np.int64)
        for iteration in range(bound):
            mine = np.ones(len(numbers), np.bool_)
            for one, own in digits:
                if one.name == name:
                    mine &= (iteration // one.stride) % one.trips == own
            reach += mine
        words *= reach
    return words


def instances_alike(kept: Sequence[Uneven]) -> list[list[tuple[int, int, int, int]]]:
    """Instances of a level that do the same, as rows by tensor: how many, and words read, filled and updated."""
    columns = [counts for one in kept for counts in (one.reads, one.fills, one.updates)]
    rows, many = np.unique(np.stack(columns, axis=1), axis=0, return_counts=True)
    return [
        [(int(number), *map(int, row[at : at + 3])) for at in range(0, len(row), 3)]  # type: ignore[misc]
        for row, number in zip(rows, many, strict=True)
    ]


def moments(nest: LoopNest, mapping: HierarchyMapping) -> int:
    """Moments at which the first unit of all, which never has less to do than others, computes."""
    loops = [one for one in unrolled(mapping) if not one.axis]
    total, found = math.prod(one.trips for one in loops), 0
    for begin in range(0, total, BLOCK):
        numbers = np.arange(begin, min(total, begin + BLOCK))
        start = {name: np.zeros_like(numbers) for name in nest.loops}
        for one in reversed(loops):
            numbers, own = np.divmod(numbers, one.trips)
            start[one.name] += own * one.stride
        found += int(np.all([start[name] < bound for name, bound in nest.bounds], axis=0).sum())
    return found
