"""The tensors of a loop nest as they lie in memory, and seeded integers to fill them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mapper.workloads.document import InputError
from mapper.workloads.nest.loop_nest import AffineIndex, LoopNest, Operand

# A linear congruential generator modulo 2^32, which C repeats in two lines.
MULTIPLIER = 1664525
INCREMENT = 1013904223
LEAST, LARGEST = -8, 7
BLOCK = 1 << 16


@dataclass(frozen=True)
class Tensor:
    """One tensor: per dimension the least index any access touches, and the words from there on (the last
    dimension contiguous); the positions of its operands, and whether one of them writes it."""

    name: str
    low: tuple[int, ...]
    shape: tuple[int, ...]
    operands: tuple[int, ...]
    written: bool

    @property
    def words(self) -> int:
        return math.prod(self.shape)

    def place_in(self, larger: Tensor) -> tuple[int, ...]:
        """Where this tensor begins, per dimension, in the same one of a nest with larger bounds."""
        return tuple(low - least for low, least in zip(self.low, larger.low, strict=True))


def tensors(nest: LoopNest) -> tuple[Tensor, ...]:
    """The tensors of ``nest`` in the order of their first operands; accesses of one name share a tensor.

    Raises: InputError if not exactly one operand is written, if accesses of a tensor differ in rank, or if a
    tensor is written and read through expressions that differ by more than a constant, so that copies of it
    cannot be kept coherent.
    """
    if sum(operand.writes for operand in nest.operands) != 1:
        raise InputError(nest.name, "operands", "exactly one operand must be written")
    positions: dict[str, list[int]] = {}
    for position, operand in enumerate(nest.operands):
        positions.setdefault(operand.tensor or operand.name, []).append(position)
    return tuple(_tensor(nest, name, members) for name, members in positions.items())


def _tensor(nest: LoopNest, name: str, members: Sequence[int]) -> Tensor:
    accesses = [nest.operands[position] for position in members]
    if len({len(operand.index) for operand in accesses}) > 1:
        raise InputError(nest.name, name, "is accessed with different numbers of dimensions; name them apart")
    written = any(operand.writes for operand in accesses)
    if written and len({_linear_part(operand) for operand in accesses}) > 1:
        remedy = "is written and read through expressions that differ by more than a constant; copy it first"
        raise InputError(nest.name, name, remedy)
    ranges = [
        [bounds_of(dimension, nest.trip_counts) for dimension in along]
        for along in zip(*(operand.index for operand in accesses), strict=True)
    ]
    low = tuple(min(least for least, _ in along) for along in ranges)
    high = tuple(max(most for _, most in along) for along in ranges)
    shape = tuple(most - least + 1 for least, most in zip(low, high, strict=True))
    return Tensor(name, low, shape, tuple(members), written)


def bounds_of(dimension: AffineIndex, trip_counts: Mapping[str, int]) -> tuple[int, int]:
    """Least and largest value of an index expression while its loops run from 0."""
    ends = [factor * (trip_counts[loop] - 1) for loop, factor in dimension.coefficients]
    constant = dimension.constant
    return constant + sum(min(0, end) for end in ends), constant + sum(max(0, end) for end in ends)


def _linear_part(operand: Operand) -> tuple[Any, ...]:
    return tuple(dimension.coefficients for dimension in operand.index)


def first_state(seed: int, stream: int) -> int:
    """State from which the ``stream``-th tensor of a nest is drawn (32 bits)."""
    return (seed * 2654435761 + stream * 2246822519 + 3266489917) % 2**32


def seeded_integers(count: int, seed: int, stream: int) -> NDArray[np.int8]:
    """``count`` integers from -8 to 7: of every next state the upper four bits, less 8."""
    size = min(BLOCK, max(count, 1))
    multipliers, increments = np.empty(size, np.uint32), np.empty(size, np.uint32)
    multipliers[0], increments[0] = MULTIPLIER, INCREMENT
    done = 1
    while done < size:
        step = slice(done, min(2 * done, size))
        width = step.stop - done
        multipliers[step] = multipliers[:width] * multipliers[done - 1]
        increments[step] = increments[:width] * multipliers[done - 1] + increments[done - 1]
        done = step.stop
    values = np.empty(count, np.int8)
    state = np.uint32(first_state(seed, stream))
    for start in range(0, count, size):
        states = multipliers * state + increments
        drawn = (states >> np.uint32(28)).astype(np.int8) + np.int8(LEAST)
        values[start : start + size] = drawn[: count - start]
        state = states[-1]
    return values
