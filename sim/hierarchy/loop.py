"""The loops of a mapping in the order in which they run, and where they take the tiles of a tensor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mapper.models.hierarchy.mapping import HierarchyMapping, SpatialLoop
from mapper.workloads.nest.loop_nest import LoopNest, Operand
from mapper.workloads.nest.tensor import bounds_of

Place = tuple[int, ...]
"""Words along each dimension of a tensor."""


@dataclass(frozen=True)
class Loop:
    """A loop of a level: how often it turns, on which axis of the fan-out (empty: in time), and by how many iterations
    of the nest's loop each turn takes it further."""

    level: int
    name: str
    trips: int
    axis: str
    stride: int


def unrolled(mapping: HierarchyMapping) -> tuple[Loop, ...]:
    """All loops that turn, outer to inner."""
    found: list[Loop] = []
    stride: dict[str, int] = {}
    for number, level in reversed(list(enumerate(mapping.levels))):
        for one in reversed(level.loops):
            axis = one.axis if isinstance(one, SpatialLoop) else ""
            if one.trips > 1:
                found.append(Loop(number, one.loop, one.trips, axis, stride.get(one.loop, 1)))
            stride[one.loop] = stride.get(one.loop, 1) * one.trips
    return tuple(reversed(found))


def shift(operand: Operand, loop: Loop) -> Place:
    """By how much a turn of ``loop`` moves what ``operand`` touches."""
    return tuple(
        sum(factor * loop.stride for name, factor in dimension.coefficients if name == loop.name)
        for dimension in operand.index
    )


@dataclass(frozen=True)
class Tile:
    """The words that an operand touches before the first turn of all loops outside: from ``low`` on, ``size`` of them
    along each dimension."""

    low: Place
    size: Place


def tile(nest: LoopNest, operand: Operand, inside: Sequence[Loop]) -> Tile:
    """What ``operand`` touches while the loops ``inside`` turn."""
    counts = _counts(nest, inside)
    ranges = [bounds_of(dimension, counts) for dimension in operand.index]
    return Tile(tuple(least for least, _ in ranges), tuple(most - least + 1 for least, most in ranges))


def _counts(nest: LoopNest, loops: Sequence[Loop]) -> Mapping[str, int]:
    counts = dict.fromkeys(nest.loops, 1)
    for loop in loops:
        counts[loop.name] *= loop.trips
    return counts
