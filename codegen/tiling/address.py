"""Addresses of tiles: strides, boxes and origins of operands in a memory, in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from mapper.workloads.nest.loop_nest import Operand
from mapper.workloads.nest.tensor import bounds_of

Dim = tuple[int, int, int]
"""A count, and the words between neighbours in the larger and in the smaller memory."""


def pitches_of(shape: Sequence[int]) -> tuple[int, ...]:
    return tuple(math.prod(shape[place + 1 :]) for place in range(len(shape)))


def step_of(operand: Operand, pitches: Sequence[int], loop: str) -> int:
    """Words by which an operand moves in a memory of ``pitches`` if ``loop`` counts one further."""
    return sum(
        factor * pitch
        for dimension, pitch in zip(operand.index, pitches, strict=True)
        for own, factor in dimension.coefficients
        if own == loop
    )


def box_of(
    operand: Operand, counts: Mapping[str, int], larger: Sequence[int], smaller: Sequence[int]
) -> tuple[Dim, ...]:
    """A tile's words from its least to its largest index."""
    sizes = [
        most - least + 1 for least, most in (bounds_of(dimension, counts) for dimension in operand.index)
    ]
    return tuple(zip(sizes, larger, smaller, strict=True))


def touched_of(
    operand: Operand, counts: Mapping[str, int], larger: Sequence[int], smaller: Sequence[int]
) -> tuple[Dim, ...]:
    """The words of a tile that iterations name."""
    return tuple(
        (count, step_of(operand, larger, loop), step_of(operand, smaller, loop))
        for loop, count in counts.items()
        if loop in operand.loops
    )


def origin_of(operand: Operand, low: Sequence[int], shape: Sequence[int]) -> int:
    """Where the word of the iteration whose loops are all 0 lies in a memory that begins at index ``low``."""
    places = zip(operand.index, low, pitches_of(shape), strict=True)
    return sum((dimension.constant - first) * pitch for dimension, first, pitch in places)
