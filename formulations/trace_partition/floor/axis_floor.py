"""Rows or columns of a layer cut into tiles of every size: what all tiles of a size load and compute."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from mapper.formulations.trace_partition.floor.span import Integers, Span, spanned
from mapper.models.trace_partition.lowering.layer import TraceLayer
from mapper.models.trace_partition.tile.geometry import Axis, AxisTiling, axis_of, axis_tiling

Counts = Any
"""Integers, or a span of them."""


@dataclass(frozen=True)
class AxisFloor:
    """Per size of tiles: their ``count``; positions of the tensor that all of them bring (``inputs``) and that the
    ``first`` one and the ``second`` (0 if there is none) do; positions that Buf has to hold (``held``); outputs of the
    ``last`` tile and of the first (``first_outputs``); of each unit: outputs in all (``work``), those whose windows
    have any position (``live``), at the ``most`` and in the last tile (``last_work``), positions of the window that lie
    on the map or its filled edge, in all (``taps``). ``widths``: how many outputs have windows with so many positions
    left, where units do not share."""

    count: Integers
    inputs: Counts
    first: Counts
    second: Counts
    held: Counts
    last: Counts
    first_outputs: Counts
    work: Counts
    live: Counts
    most: Counts
    last_work: Counts
    taps: Counts
    widths: tuple[tuple[int, int], ...]

    @property
    def live_once(self) -> int:
        """Outputs whose windows have any position, however the axis is cut."""
        return sum(often for width, often in self.widths if width)

    def along(self, dimension: int) -> AxisFloor:
        """The same with its numbers along one of four dimensions."""
        shape = [1, 1, 1, 1]
        shape[dimension] = -1
        turned: dict[str, Any] = {
            name: column.along(dimension) if isinstance(column, Span) else column.reshape(shape)
            for name, column in vars(self).items()
            if name != "widths"
        }
        return replace(self, **turned)

    def spanned(self, starts: Integers) -> AxisFloor:
        """The same for boxes of sizes that give one number of tiles: that number, and intervals of all else."""
        columns: dict[str, Any] = {
            name: column[starts] if name == "count" else spanned(column, starts)
            for name, column in vars(self).items()
            if name != "widths"
        }
        return replace(self, **columns)


def axis_floor(
    layer: TraceLayer, which: int, whole: bool, part: tuple[int, int], sizes: tuple[int, ...], shared: bool
) -> AxisFloor:
    """Rows (``which`` 0) or columns (1), a ``part`` of them (the first, how many), in tiles of each of ``sizes``;
    ``whole``: all of the map is held; ``shared``: by the four units."""
    return _of_axis(axis_of(layer, which, whole), part, sizes, shared)


@lru_cache(maxsize=512)
def _of_axis(axis: Axis, part: tuple[int, int], sizes: tuple[int, ...], shared: bool) -> AxisFloor:
    """Kept by axis: most layers of a network have those of others."""
    start, outputs = part
    rows = [_counted(axis_tiling(axis, start, outputs, size, shared)) for size in sizes]
    columns = np.array(rows, dtype=np.int64).reshape(len(sizes), 12).T
    widths: dict[int, int] = {}
    for tile in axis_tiling(axis, start, outputs, outputs, False).tiles:
        for window in tile.ranges:
            width = max(0, window.end - window.begin)
            widths[width] = widths.get(width, 0) + window.count
    count, inputs, first, second, held, last, begun, work, live, most, last_work, taps = columns
    left = tuple(sorted(widths.items()))
    return AxisFloor(count, inputs, first, second, held, last, begun, work, live, most, last_work, taps, left)


def _counted(tiling: AxisTiling) -> tuple[int, ...]:
    often = np.bincount(tiling.kinds, minlength=len(tiling.tiles)).tolist() if tiling.kinds else []
    brought = [sum(piece.count for piece in tile.pieces) for tile in tiling.tiles]
    taps = [sum(part.count * max(0, part.end - part.begin) for part in tile.ranges) for tile in tiling.tiles]
    work = [tile.unit_outputs for tile in tiling.tiles]
    live = [sum(part.count for part in tile.ranges if part.begin < part.end) for tile in tiling.tiles]

    def total(of: list[int]) -> int:
        return sum(times * value for times, value in zip(often, of, strict=True))

    return (
        len(tiling.starts),
        total(brought),
        brought[tiling.kinds[0]] if tiling.kinds else 0,
        brought[tiling.kinds[1]] if len(tiling.kinds) > 1 else 0,
        tiling.held,
        tiling.tiles[tiling.kinds[-1]].outputs if tiling.kinds else 0,
        tiling.tiles[tiling.kinds[0]].outputs if tiling.kinds else 0,
        total(work),
        total(live),
        max(work, default=0),
        work[tiling.kinds[-1]] if tiling.kinds else 0,
        total(taps),
    )
