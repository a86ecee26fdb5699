"""The plan of a program: loops in the order in which they run, and for every operand its buffers and where they are
filled."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from mapper.models.hierarchy.mapping import HierarchyMapping, SpatialLoop
from mapper.workloads.nest.loop_nest import LoopNest, Operand
from mapper.workloads.nest.tensor import Tensor, bounds_of, tensors


@dataclass(frozen=True)
class Turn:
    """A loop: its level, the nest's loop, trips, its axis in space (empty: in time), and iterations of a trip."""

    level: int
    loop: str
    trips: int
    axis: str
    stride: int

    @property
    def variable(self) -> str:
        return f"{self.axis or 't'}{self.level}_{self.loop}"


@dataclass(frozen=True)
class Buffer:
    """The tiles of one operand at one level, one for each of ``units`` instances, from the least index ``low`` on."""

    level: int
    units: int
    low: tuple[int, ...]
    shape: tuple[int, ...]

    @property
    def words(self) -> int:
        return self.units * math.prod(self.shape)


@dataclass(frozen=True)
class Kept:
    """An operand, its tensor, and its buffers outer to inner, without the tensor itself."""

    operand: Operand
    tensor: Tensor
    buffers: tuple[Buffer, ...]

    @property
    def word(self) -> str:
        """C type of a word: tensors that are only read hold small integers."""
        return "int64_t" if self.tensor.written else "int32_t"

    def name(self, buffer: Buffer) -> str:
        return f"l{buffer.level}_{self.operand.name}"


@dataclass(frozen=True)
class Plan:
    """A nest, its loops outer to inner (those that run once are left out), and its operands with their buffers."""

    nest: LoopNest
    turns: tuple[Turn, ...]
    buffers: tuple[Kept, ...]

    @cached_property
    def written(self) -> int:
        return next(k for k, operand in enumerate(self.nest.operands) if operand.writes)

    def first(self, level: int) -> int:
        """How many loops are outside ``level``."""
        return sum(turn.level < level for turn in self.turns)

    def depth(self, operand: Operand, level: int) -> int:
        """How many loops are around the place where the tile at ``level`` is filled: up to the innermost one in time
        that moves it. Loops in space further inside are gone through there, so that every unit has its tile."""
        outside = enumerate(self.turns[: self.first(level)], start=1)
        return max(
            (place for place, turn in outside if not turn.axis and turn.loop in operand.loops), default=0
        )


def plan_of(nest: LoopNest, mapping: HierarchyMapping) -> Plan:
    """The plan of ``mapping``. A result that is written and not added to has no buffers: words between those of a tile
    must stay as they are."""
    turns = _turns(mapping)
    by_operand = {position: tensor for tensor in tensors(nest) for position in tensor.operands}
    kept = []
    for position, operand in enumerate(nest.operands):
        levels = [
            place
            for place, level in enumerate(mapping.levels)
            if place and operand.name in level.keep and operand.access != "write"
        ]
        buffers = tuple(_buffer(nest, operand, level, turns) for level in levels)
        kept.append(Kept(operand, by_operand[position], buffers))
    return Plan(nest, turns, tuple(kept))


def _turns(mapping: HierarchyMapping) -> tuple[Turn, ...]:
    found: list[Turn] = []
    stride: dict[str, int] = {}
    for number, level in reversed(list(enumerate(mapping.levels))):
        for one in reversed(level.loops):
            axis = one.axis if isinstance(one, SpatialLoop) else ""
            if one.trips > 1:
                found.append(Turn(number, one.loop, one.trips, axis, stride.get(one.loop, 1)))
            stride[one.loop] = stride.get(one.loop, 1) * one.trips
    return tuple(reversed(found))


def _buffer(nest: LoopNest, operand: Operand, level: int, turns: Sequence[Turn]) -> Buffer:
    counts = dict.fromkeys(nest.loops, 1)
    for turn in turns:
        counts[turn.loop] *= turn.trips if turn.level >= level else 1
    ranges = [bounds_of(dimension, counts) for dimension in operand.index]
    units = math.prod(turn.trips for turn in turns if turn.axis and turn.level < level)
    return Buffer(
        level,
        units,
        tuple(least for least, _ in ranges),
        tuple(most - least + 1 for least, most in ranges),
    )
