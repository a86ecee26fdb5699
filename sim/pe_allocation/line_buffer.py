"""Line buffers: pixels between the layer that makes them and the one that reads windows of them.

A pixel is known here by its number: that of the result it is, counted over all frames. What numbers it holds is filled
in afterwards (``numbers``), so that a wrong pixel gives a wrong result all the same.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mapper.models.pe_allocation.configuration.address import Affine
from mapper.models.pe_allocation.configuration.program import LayerProgram, Source
from mapper.sim.pe_allocation.data import Integers

Truths = NDArray[np.bool_]
OUTSIDE, EMPTY = -2, -1
"""In place of a pixel's number: it lies outside the image; nothing was written there."""


class Windows:
    """Which pixels each position reads, from the addresses that its generator makes.

    ``last``: the last pixel of a position's window, -1 if it lies outside the image as a whole; ``kept``: after a
    position, pixels before this one are read no more (per position, the next frame's first after the last).
    """

    def __init__(self, layer: LayerProgram, source: Source, pixels: int) -> None:
        self.maps = source.maps
        row, column, down, across, _ = (stride // source.maps for stride in source.read.strides)
        (high, wide), (taps_down, taps_across) = layer.output_size, layer.kernel
        self.wide = wide
        rows = np.arange(high)[:, None] * row + np.arange(taps_down)[None, :] * down
        columns = np.arange(wide)[:, None] * column + np.arange(taps_across)[None, :] * across
        base = source.read.base // source.maps
        if source.stretch == (1, 1):
            rows += base
        else:
            # Addresses are those of the larger map: its rows and columns, each of which is one of several here.
            above, left = divmod(-base, layer.size[1])
            rows = (rows // layer.size[1] - above) // source.stretch[0]
            rows *= layer.size[1] // source.stretch[1]
            columns = (columns - left) // source.stretch[1]
        self.rows, self.columns_tiled = rows, np.tile(columns, (1, taps_down))
        self.taps_across = taps_across
        self.row_inside, self.column_inside = (_inside(layer, axis) for axis in (0, 1))
        self.row_real, self.column_real = (self.row_inside, self.column_inside)
        if layer.spread != (1, 1):
            self.row_real, self.column_real = (_inside(layer, axis, layer.spread[axis]) for axis in (0, 1))
        rows_whole, columns_whole = (np.all(part, axis=1) for part in (self.row_real, self.column_real))
        self.all_inside: list[list[bool]] = (rows_whole[:, None] & columns_whole[None, :]).tolist()
        last = _extreme(rows, self.row_inside, True)[:, None] + _extreme(columns, self.column_inside, True)
        first = _extreme(rows, self.row_inside, False)[:, None] + _extreme(columns, self.column_inside, False)
        read = np.any(self.row_inside, axis=1)[:, None] & np.any(self.column_inside, axis=1)[None, :]
        self.last: list[int] = np.where(read, last, -1).ravel().tolist()
        first = np.where(read, first, pixels).ravel()
        kept = np.minimum.accumulate(first[::-1])[::-1]
        self.kept: list[int] = [*kept[1:].tolist(), pixels]

    def of(self, position: int) -> tuple[Integers, Truths | None]:
        """The pixels of a window in raster order of its taps, and which lie outside the image (None: none)."""
        r, c = divmod(position, self.wide)
        pixels: Integers = self.rows[r].repeat(self.taps_across) + self.columns_tiled[c]
        if self.all_inside[r][c]:
            return pixels, None
        outside = ~(self.row_real[r][:, None] & self.column_real[c]).ravel()
        pixels[outside] = 0
        return pixels, outside


def _inside(layer: LayerProgram, axis: int, step: int = 1) -> Truths:
    """Of every output row (column) and tap: whether it lies inside the image, in one of ``step`` rows (columns)."""
    places = (
        np.arange(layer.output_size[axis])[:, None] * layer.strides[axis]
        - layer.pads[axis]
        + np.arange(layer.kernel[axis])[None, :] * layer.dilations[axis]
    )
    return np.asarray((places >= 0) & (places < layer.size[axis]) & (places % step == 0))


def _extreme(places: Integers, inside: Truths, last: bool) -> Integers:
    far = np.iinfo(np.int32).max
    if last:
        return np.asarray(np.where(inside, places, -far).max(axis=1))
    return np.asarray(np.where(inside, places, far).min(axis=1))


class LineBuffer:
    """A ring of pixels with their maps; counts go on over frames.

    ``room`` in pixels, ``words`` what it was given; ``arrived`` and ``freed`` pixels so far; ``peak`` most words held.
    """

    def __init__(self, layer: LayerProgram, source: Source, write: Affine, words: int, pixels: int) -> None:
        self.windows = Windows(layer, source, pixels)
        self.maps, self.words, self.pixels = source.maps, words, pixels
        self.room = max(1, words // source.maps)
        self.content = np.full(self.room, EMPTY, dtype=np.int64)
        self.arrived = self.freed = self.peak = 0
        self.places: list[int] = (write.addresses()[:, :, 0] // source.maps).ravel().tolist()

    def is_full(self) -> bool:
        """Whether one more pixel would not find room."""
        return (self.arrived + 1 - self.freed) * self.maps > self.words

    def write(self, frame: int, position: int) -> None:
        """A pixel arrives."""
        first = frame * self.pixels
        self.content[(first + self.places[position]) % self.room] = first + position
        self.arrived += 1
        held = (self.arrived - self.freed) * self.maps
        if held > self.peak:
            self.peak = held

    def missing(self, frame: int, position: int) -> int:
        """Pixels of a position's window that have not arrived yet, counted up to its last."""
        last = self.windows.last[position]
        return 0 if last < 0 else max(0, frame * self.pixels + last + 1 - self.arrived)

    def read(self, frame: int, position: int) -> Integers:
        """The numbers of the pixels of a window, tap by tap."""
        pixels, outside = self.windows.of(position)
        pixels += frame * self.pixels
        found: Integers = self.content[pixels % self.room]
        if outside is not None:
            found[outside] = OUTSIDE
        return found

    def free(self, frame: int, position: int) -> None:
        """The position is made: pixels that no later one reads are given up."""
        kept = frame * self.pixels + self.windows.kept[position]
        if kept > self.freed:
            self.freed = kept


class FrameMemory:
    """The frames off the chip: every pixel is there, and nothing is held by a buffer."""

    def __init__(self, layer: LayerProgram, source: Source, pixels: int) -> None:
        self.pixels, self.peak = pixels, 0
        self.windows = Windows(layer, source, pixels)

    def missing(self, frame: int, position: int) -> int:
        return 0

    def read(self, frame: int, position: int) -> Integers:
        pixels, outside = self.windows.of(position)
        pixels += frame * self.pixels
        if outside is not None:
            pixels[outside] = OUTSIDE
        return pixels

    def free(self, frame: int, position: int) -> None:
        return None
