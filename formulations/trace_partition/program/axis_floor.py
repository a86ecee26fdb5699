"""Rows or columns of a layer cut into tiles of every size: what all tiles of a size load and compute."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from mapper.models.trace_partition.lowering.layer import TraceLayer
from mapper.models.trace_partition.tile.geometry import AxisTiling, axis_of, axis_tiling

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class AxisFloor:
    """Per size of tiles: their ``count``; positions of the tensor that all of them bring (``inputs``) and that the
    ``first`` one and the ``second`` (0 if there is none) do; positions that Buf has to hold (``held``); outputs of the
    ``last`` tile; of each unit: outputs in all (``work``), at the ``most`` and in the last tile (``last_work``),
    positions of the window that lie on the map or its filled edge, in all (``taps``). ``widths``: how many outputs have
    windows with so many positions left, where units do not share."""

    count: Integers
    inputs: Integers
    first: Integers
    second: Integers
    held: Integers
    last: Integers
    work: Integers
    most: Integers
    last_work: Integers
    taps: Integers
    widths: tuple[tuple[int, int], ...]

    def along(self, dimension: int) -> AxisFloor:
        """The same with its numbers along one of four dimensions."""
        shape = [1, 1, 1, 1]
        shape[dimension] = -1
        turned: dict[str, Any] = {
            name: column.reshape(shape)
            for name, column in vars(self).items()
            if isinstance(column, np.ndarray)
        }
        return replace(self, **turned)


@lru_cache(maxsize=256)
def axis_floor(
    layer: TraceLayer, which: int, whole: bool, part: tuple[int, int], sizes: tuple[int, ...], shared: bool
) -> AxisFloor:
    """Rows (``which`` 0) or columns (1), a ``part`` of them (the first, how many), in tiles of each of ``sizes``;
    ``whole``: all of the map is held; ``shared``: by the four units."""
    axis, (start, outputs) = axis_of(layer, which, whole), part
    rows = [_counted(axis_tiling(axis, start, outputs, size, shared)) for size in sizes]
    columns = np.array(rows, dtype=np.int64).reshape(len(sizes), 10).T
    widths: dict[int, int] = {}
    for tile in axis_tiling(axis, start, outputs, outputs, False).tiles:
        for window in tile.ranges:
            width = max(0, window.end - window.begin)
            widths[width] = widths.get(width, 0) + window.count
    count, inputs, first, second, held, last, work, most, last_work, taps = columns
    left = tuple(sorted(widths.items()))
    return AxisFloor(count, inputs, first, second, held, last, work, most, last_work, taps, left)


def _counted(tiling: AxisTiling) -> tuple[int, ...]:
    often = np.bincount(tiling.kinds, minlength=len(tiling.tiles)).tolist() if tiling.kinds else []
    brought = [sum(piece.count for piece in tile.pieces) for tile in tiling.tiles]
    taps = [sum(part.count * max(0, part.end - part.begin) for part in tile.ranges) for tile in tiling.tiles]
    work = [tile.unit_outputs for tile in tiling.tiles]

    def total(of: list[int]) -> int:
        return sum(times * value for times, value in zip(often, of, strict=True))

    return (
        len(tiling.starts),
        total(brought),
        brought[tiling.kinds[0]] if tiling.kinds else 0,
        brought[tiling.kinds[1]] if len(tiling.kinds) > 1 else 0,
        tiling.held,
        tiling.tiles[tiling.kinds[-1]].outputs if tiling.kinds else 0,
        total(work),
        max(work, default=0),
        work[tiling.kinds[-1]] if tiling.kinds else 0,
        total(taps),
    )
