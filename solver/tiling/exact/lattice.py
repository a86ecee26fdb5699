"""The divisor lattice of a nest, and what every tile in it takes of the machine.

A tile gives every loop a divisor of its bound. The tile of one PE (``r``), of the PE array (``b``) and of the
scratch-pad (``c``) are three points of this one lattice with r | b | c | bounds, and a tiling is such a chain.
All quantities of the model are functions of one or two of these points, so they are tabulated once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mapper.models.tiling import tile
from mapper.workloads.nest.loop_nest import LoopNest

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

LARGEST_LATTICE = 1_500_000


class LatticeTooLargeError(Exception):
    """The nest has more tiles, or orders, than can be tabulated."""


@dataclass(frozen=True)
class Lattice:
    """Tables over the tiles of a nest. J loops, K operands, L tiles, D divisors of a loop at most.

    ``divisors`` (J, D), padded with 0; ``counts`` (J,); ``strides`` (J,): the tile with divisor positions p is
    row sum(p * strides). ``quotients`` (J, D, D): position of the quotient, or -1. ``all_product`` (L,);
    ``own_product`` (K, L): product over the loops an operand depends on; ``words`` (K, L).
    """

    divisors: Integers
    counts: Integers
    strides: Integers
    quotients: Integers
    all_product: Integers
    own_product: Integers
    words: Integers

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(int(count) for count in self.counts)

    @property
    def size(self) -> int:
        return int(self.all_product.size)

    def axis(self, values: NDArray[Any], loop: int) -> NDArray[Any]:
        """A per-divisor table of one loop, shaped to broadcast over the lattice."""
        shape = [1] * len(self.counts)
        shape[loop] = len(values)
        return values.reshape(shape)

    def over(self, table: NDArray[Any]) -> NDArray[Any]:
        return table.reshape(self.shape)

    def factors(self, point: int) -> tuple[int, ...]:
        """The divisor of every loop at a row of the tables."""
        found = []
        for loop, count in enumerate(self.counts):
            found.append(int(self.divisors[loop, point // int(self.strides[loop]) % int(count)]))
        return tuple(found)

    def least_over_multiples(self, table: Floats) -> Floats:
        """For every tile the least of ``table`` over the tiles it divides, itself included."""
        grid = self.over(table)
        for loop, count in enumerate(self.counts):
            divisors = self.divisors[loop, :count]
            slices = [
                np.take(grid, np.flatnonzero(divisors % divisor == 0), axis=loop).min(axis=loop)
                for divisor in divisors
            ]
            grid = np.stack(slices, axis=loop)
        return np.ascontiguousarray(grid).reshape(-1)

    def sum_over_divisors(self, table: NDArray[Any]) -> NDArray[Any]:
        """For every tile the sum of ``table`` over the tiles that divide it, itself included."""
        grid = self.over(table)
        for loop, count in enumerate(self.counts):
            divisors = self.divisors[loop, :count]
            slices = [
                np.take(grid, np.flatnonzero(divisor % divisors == 0), axis=loop).sum(axis=loop)
                for divisor in divisors
            ]
            grid = np.stack(slices, axis=loop)
        return np.ascontiguousarray(grid).reshape(-1)


def divisors_of(number: int) -> list[int]:
    """All divisors, ascending."""
    small = [d for d in range(1, math.isqrt(number) + 1) if number % d == 0]
    return small + [number // d for d in reversed(small) if d * d != number]


def build_lattice(nest: LoopNest) -> Lattice:
    """Tabulate the lattice of ``nest``.

    Raises: LatticeTooLargeError beyond LARGEST_LATTICE tiles.
    """
    lists = [divisors_of(bound) for _, bound in nest.bounds]
    counts = [len(entries) for entries in lists]
    if math.prod(counts) > LARGEST_LATTICE:
        found = math.prod(counts)
        raise LatticeTooLargeError(
            f"the nest has {found} tiles, more than the {LARGEST_LATTICE} that are tabulated"
        )
    widest = max(counts)
    divisors = np.zeros((len(lists), widest), dtype=np.int64)
    quotients = np.full((len(lists), widest, widest), -1, dtype=np.int64)
    for loop, entries in enumerate(lists):
        divisors[loop, : len(entries)] = entries
        for big, large in enumerate(entries):
            for little, small in enumerate(entries):
                if large % small == 0:
                    quotients[loop, big, little] = entries.index(large // small)
    strides = np.asarray([math.prod(counts[loop + 1 :]) for loop in range(len(counts))], dtype=np.int64)
    grid = dict(
        zip(nest.loops, np.ix_(*[np.asarray(entries, dtype=np.int64) for entries in lists]), strict=True)
    )

    def table(values: Any) -> Integers:
        return np.ascontiguousarray(np.broadcast_to(values, counts)).reshape(-1).astype(np.int64)

    return Lattice(
        divisors=divisors,
        counts=np.asarray(counts, dtype=np.int64),
        strides=strides,
        quotients=quotients,
        all_product=table(tile.product(grid, nest.loops)),
        own_product=np.stack(
            [
                table(tile.product(grid, [loop for loop in nest.loops if loop in op.loops]))
                for op in nest.operands
            ]
        ),
        words=np.stack([table(tile.words(op, grid)) for op in nest.operands]),
    )
