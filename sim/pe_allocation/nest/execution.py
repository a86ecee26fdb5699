"""A tile's iterations in the order in which its PE executes them, a block at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mapper.models.pe_allocation.nest.mapping import NestMapping
from mapper.workloads.nest.loop_nest import LoopNest, Operand
from mapper.workloads.nest.tensor import Tensor

Numbers = NDArray[np.int64]
BLOCK = 1 << 18


@dataclass(frozen=True)
class Tile:
    """The tile of a PE: where it stands, its first iteration and how many of each loop it has, and when it starts."""

    pe: tuple[int, int]
    first: Mapping[str, int]
    sizes: Mapping[str, int]
    start: int


@dataclass(frozen=True)
class Block:
    """Some iterations of a tile: when each begins, and how far it is from the tile's first one along each loop."""

    times: Numbers
    offsets: Mapping[str, Numbers]


def tiles_of_array(nest: LoopNest, mapping: NestMapping) -> Iterator[Tile]:
    """All tiles, row by row."""
    counts = [
        1 if loop is None else -(-nest.trip_counts[loop] // mapping.tile_of[loop])
        for loop in (mapping.rows, mapping.columns)
    ]
    for row in range(counts[0]):
        for column in range(counts[1]):
            at = {mapping.rows: row, mapping.columns: column}
            first = {loop: at.get(loop, 0) * mapping.tile_of[loop] for loop in nest.loops}
            sizes = {loop: min(mapping.tile_of[loop], bound - first[loop]) for loop, bound in nest.bounds}
            start = sum(at.get(loop, 0) * mapping.outer_of[loop] for loop in nest.loops)
            yield Tile((row, column), first, sizes, start)


def blocks_of(mapping: NestMapping, tile: Tile) -> Iterator[Block]:
    """The tile's iterations as its loops run, outer to inner."""
    shape = [tile.sizes[loop] for loop in mapping.order]
    count = int(np.prod(shape, dtype=np.int64))
    for begin in range(0, count, BLOCK):
        numbers = np.arange(begin, min(begin + BLOCK, count))
        digits = dict(zip(mapping.order, np.unravel_index(numbers, shape), strict=True))
        times = np.full(len(numbers), tile.start, np.int64)
        for loop, digit in digits.items():
            step = digit // mapping.lanes if loop == mapping.order[-1] else digit
            times += mapping.inner_of[loop] * step
        yield Block(times, digits)


def addresses(
    operand: Operand, tensor: Tensor, first: Mapping[str, int], offsets: Mapping[str, Numbers]
) -> Numbers:
    """The word of its tensor that each iteration's access names."""
    count = len(next(iter(offsets.values())))
    found = np.zeros(count, np.int64)
    for dimension, low, extent in zip(operand.index, tensor.low, tensor.shape, strict=True):
        index = np.full(count, dimension.constant - low, np.int64)
        for loop, factor in dimension.coefficients:
            index += factor * (first[loop] + offsets[loop])
        found = found * extent + index
    return found
