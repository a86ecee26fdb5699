"""The divisor lattice of a nest: every tile is a point, "fits into" is divisibility [Dave2019, sec. 4.1]."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mapper.workloads.nest.loop_nest import LoopNest

Integers = np.ndarray[Any, np.dtype[np.int64]]
Reals = np.ndarray[Any, np.dtype[np.float64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]


def prime_powers(number: int) -> list[tuple[int, int]]:
    """Primes of ``number`` with their exponents."""
    found = []
    prime = 2
    while prime * prime <= number:
        exponent, number = exponent_of(prime, number)
        if exponent:
            found.append((prime, exponent))
        prime += 1
    return [*found, (number, 1)] if number > 1 else found


def exponent_of(prime: int, number: int) -> tuple[int, int]:
    """The exponent of ``prime`` in ``number``, and what is left of it."""
    exponent = 0
    while number % prime == 0:
        exponent, number = exponent + 1, number // prime
    return exponent, number


@dataclass(frozen=True)
class Axis:
    """One prime of one loop's bound; a tile has an exponent from 0 to ``largest`` on it."""

    loop: str
    prime: int
    largest: int


@dataclass(frozen=True)
class Lattice:
    """Points are numbered in row-major order of their exponents, so that the number of a product of two
    tiles is the sum of their numbers; ``stride`` is what one more factor of an axis' prime adds."""

    loops: tuple[str, ...]
    axes: tuple[Axis, ...]

    @classmethod
    def of(cls, nest: LoopNest) -> Lattice:
        axes = [
            Axis(loop, prime, largest)
            for loop, bound in nest.bounds
            for prime, largest in prime_powers(bound)
        ]
        return cls(nest.loops, tuple(axes))

    @cached_property
    def shape(self) -> tuple[int, ...]:
        return tuple(axis.largest + 1 for axis in self.axes)

    @cached_property
    def size(self) -> int:
        return math.prod(self.shape)

    @cached_property
    def exponents(self) -> np.ndarray[Any, np.dtype[np.int16]]:
        """Exponents (axes, points)."""
        if not self.axes:
            return np.zeros((0, 1), dtype=np.int16)
        return np.asarray(np.unravel_index(np.arange(self.size), self.shape), dtype=np.int16)

    @cached_property
    def tiles(self) -> dict[str, Integers]:
        """Trip counts of every loop at every point."""
        tiles = {loop: np.ones(self.size, dtype=np.int64) for loop in self.loops}
        for axis, exponents in zip(self.axes, self.exponents, strict=True):
            powers = np.array([axis.prime**e for e in range(axis.largest + 1)], dtype=np.int64)
            tiles[axis.loop] = tiles[axis.loop] * powers[exponents]
        return tiles

    def at(self, points: Integers) -> dict[str, Integers]:
        """Trip counts of every loop at ``points``."""
        return {loop: counts[points] for loop, counts in self.tiles.items()}

    def trip_counts(self, point: int) -> dict[str, int]:
        return {loop: int(counts[point]) for loop, counts in self.tiles.items()}

    def least_over_divisors(self, values: Reals, loops: Collection[str], pinned: Mapping[str, int]) -> Reals:
        """At each point the least value of the points that divide it and agree with it outside ``loops``; in
        a ``pinned`` loop the quotient is given."""
        return self._swept(values, loops, pinned, upward=True)

    def least_over_multiples(self, values: Reals, pinned: Mapping[str, int]) -> Reals:
        """At each point the least value of the points it divides; in a ``pinned`` loop the quotient is
        given."""
        return self._swept(values, self.loops, pinned, upward=False)

    def _swept(self, values: Reals, loops: Collection[str], pinned: Mapping[str, int], upward: bool) -> Reals:
        left = dict(pinned)
        grid = values.reshape(self.shape)
        for place, axis in enumerate(self.axes):
            if axis.loop not in loops and axis.loop not in pinned:
                continue
            grid = np.moveaxis(grid, place, 0)
            grid = grid if upward else grid[::-1]
            if axis.loop in pinned:
                shift, left[axis.loop] = exponent_of(axis.prime, left[axis.loop])
                shift = min(shift, axis.largest + 1)
                grid = np.concatenate([np.full((shift, *grid.shape[1:]), np.inf), grid[: len(grid) - shift]])
            else:
                grid = np.minimum.accumulate(grid, axis=0)
            grid = grid if upward else grid[::-1]
            grid = np.moveaxis(grid, 0, place)
        if any(factor != 1 for factor in left.values()):
            return np.full(self.size, np.inf)
        return grid.reshape(-1)
