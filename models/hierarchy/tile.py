"""Tiles of one tensor under a mapping: boxes at every level, and how far loops move them [Parashar2019, sec. V]."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.workloads.nest.loop_nest import Operand

Offset = tuple[int, ...]
Box = tuple[int, ...]


@dataclass(frozen=True)
class Step:
    """A loop as a tensor sees it: trips, and by how many words each dimension moves from one trip to the next."""

    trips: int
    offset: Offset
    axis: str = ""


@dataclass(frozen=True)
class Walk:
    """One tensor under a mapping, levels outer to inner. ``boxes`` are the tiles' extents at each level, and last that
    of one operation; ``spread`` the words that all instances below a level take together; ``temporal`` and ``spatial``
    its loops outer to inner."""

    boxes: tuple[Box, ...]
    spread: tuple[int, ...]
    temporal: tuple[tuple[Step, ...], ...]
    spatial: tuple[tuple[Step, ...], ...]

    def words(self, level: int) -> int:
        """Words of the tile at a level."""
        return math.prod(self.boxes[level])


def walk(operand: Operand, mapping: HierarchyMapping) -> Walk:
    """The tiles and steps of ``operand``."""
    dimensions = [dict(index.coefficients) for index in operand.index]
    strides: dict[str, int] = {}

    def box() -> Box:
        return tuple(
            1 + sum(abs(factor) * (strides.get(loop, 1) - 1) for loop, factor in dimension.items())
            for dimension in dimensions
        )

    def step(loop: str, trips: int, axis: str = "") -> Step:
        stride = strides.get(loop, 1)
        strides[loop] = stride * trips
        return Step(trips, tuple(dimension.get(loop, 0) * stride for dimension in dimensions), axis)

    boxes, spread = [box()], []
    temporal: list[tuple[Step, ...]] = []
    spatial: list[tuple[Step, ...]] = []
    for level in reversed(mapping.levels):
        space = [step(one.loop, one.trips, one.axis) for one in reversed(level.spatial) if one.trips > 1]
        spread.append(math.prod(box()))
        time = [step(one.loop, one.trips) for one in reversed(level.temporal) if one.trips > 1]
        boxes.append(box())
        spatial.append(tuple(reversed(space)))
        temporal.append(tuple(reversed(time)))
    return Walk(
        tuple(reversed(boxes)), tuple(reversed(spread)), tuple(reversed(temporal)), tuple(reversed(spatial))
    )
