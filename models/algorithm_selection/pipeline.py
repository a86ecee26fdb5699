"""What a layer takes on the overlay as it is generated: pieces of its rows are loaded, multiplied and stored at once.

Closed forms over arrays of many shapes, in whole cycles. They are the overlay's timeline up to how instructions are
fetched and which of two heights of pieces comes when (`docs/kind/overlay-machine.md`). Shapes are pairs of vectors [S].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mapper.arch.overlay import Engines
from mapper.models.algorithm_selection.choice import Algorithm, Dataflow
from mapper.models.algorithm_selection.overlay.layer import TILE, OverlayLayer, Pair
from mapper.models.algorithm_selection.overlay.running import Pool
from mapper.models.algorithm_selection.timing import HAND_OVER, fetch_cycles

Cycles = NDArray[np.int64]
Pieces = tuple[Cycles, Cycles, Cycles]
MOVE_WORDS = 78
TAPS = 9


@dataclass(frozen=True, eq=False)
class Arrays:
    """Arrays of ``rows[s]`` x ``columns[s]`` PEs; with ``least``, the least sides of ranges up to those: what grows
    with the array is that of the least, so that none of a range takes less."""

    rows: Cycles
    columns: Cycles
    least: tuple[Cycles, Cycles] | None = None

    @cached_property
    def lanes(self) -> Cycles:
        """Banks of a buffer and lanes of a mover: the power of two from 2 on that holds either side."""
        larger = np.maximum(np.maximum(self.rows, self.columns), 2)
        return np.left_shift(np.int64(1), np.ceil(np.log2(larger)).astype(np.int64))

    def lines(self, words: int) -> Cycles:
        """Rows of lanes that so many adjacent words are."""
        return up(words, self.lanes)


def one_array(array: tuple[int, int]) -> Arrays:
    return Arrays(np.array([array[0]], np.int64), np.array([array[1]], np.int64))


@dataclass(frozen=True, eq=False)
class LayerTime:
    """Cycles [S] of a layer without its first kernels, and of them those of its products by Eq. 9 and of what the array
    adds to these. Where kernels are loaded in parts, the layer runs once for each: ``last`` are cycles of the last run.
    ``reads``: cycles of a run in which its input is read from DRAM, once."""

    total: Cycles
    products: Cycles
    array: Cycles
    last: Cycles
    reads: Cycles


def up(one: int | Cycles, other: int | Cycles) -> Cycles:
    return np.asarray(-(-np.asarray(one) // other), np.int64)


@dataclass(frozen=True)
class Cut:
    """How a layer runs under an algorithm: numbers of pieces of its output's ``bands`` that fit the buffers, and parts
    of the depth and of the maps of its kernels. ``given``: the input lies in DRAM as the layer reads it.
    ``flattened``: positions of the maps that a fully connected layer reads channel by channel."""

    counts: tuple[int, ...]
    bands: int
    parts: Pair = (1, 1)
    given: bool = False
    flattened: int = 0


def layer_time(
    layer: OverlayLayer,
    algorithm: Algorithm,
    dataflows: Sequence[Dataflow],
    arrays: Arrays,
    engines: Engines,
    cut: Cut,
) -> tuple[LayerTime, NDArray[np.int64]]:
    """The shortest of all dataflows and numbers of pieces, and the dataflow's position."""
    best: Pieces | None = None
    flow = np.zeros(len(arrays.rows), np.int64)
    bands, whole = cut.bands, _input(layer, algorithm, cut.bands, arrays, engines, cut)
    for count in cut.counts:
        streams = [
            (
                _input(layer, algorithm, height, arrays, engines, cut),
                _output(layer, algorithm, height, arrays, cut),
            )
            for height in (bands // count, bands // count + 1)
        ]
        for position, dataflow in enumerate(dataflows):
            products = [
                _product(layer, algorithm, dataflow, height, arrays, engines, cut)
                for height in (bands // count, bands // count + 1)
            ]
            time = _pieces(1 if layer.fully_connected else layer.images, (count, bands), streams, products)
            if best is None:
                best = time
                continue
            less = time[0] < best[0]
            flow = np.where(less, position, flow)
            total, eq9, array = (np.where(less, one, other) for one, other in zip(time, best, strict=True))
            best = total, eq9, array
    assert best is not None
    images = 1 if layer.fully_connected or cut.flattened else layer.images
    reads = np.asarray(images * (whole - HAND_OVER - engines.dram_latency), np.int64)
    own = LayerTime(*best, best[0], reads)
    again = math.prod(cut.parts) - 1
    if again:
        waits = exposed(kernel_time(layer, algorithm, arrays, engines, cut), own) if engines.kernels else 0
        total, eq9, array = (one * (again + 1) for one in best)
        own = LayerTime(total + again * waits, eq9, array, best[0], reads)
    return own, flow


def kernel_time(
    layer: OverlayLayer, algorithm: Algorithm, arrays: Arrays, engines: Engines, cut: Cut
) -> Cycles:
    """Cycles until a part of a layer's kernels and its biases and factors are in, nobody else reading."""
    lines = arrays.lines(int(up(layer.out_channels, cut.parts[1])))
    depth = int(up(layer.in_channels // layer.groups, cut.parts[0]))
    if algorithm in TILE:
        side = TILE[algorithm] + 2
        matrices = math.prod(-(-taps // 3) for taps in layer.kernel) * depth * lines
        streamed = matrices * side * side - (side * side - TAPS) + side * side
    else:
        streamed = layer.window * depth * lines
    return streamed + 2 * lines + 2 * (HAND_OVER + engines.dram_latency)


def exposed(kernels: Cycles, before: LayerTime) -> Cycles:
    """What kernels take longer than the layer before them leaves: they are read while it runs and its input is not."""
    return np.maximum(0, kernels - (before.last - before.reads))


def pool_time(pool: Pool, arrays: Arrays, engines: Engines) -> Cycles:
    """Cycles of a max pool over padded maps, or of what is added up pixel by pixel and stored."""
    waits = pool.streams * (HAND_OVER + engines.dram_latency) + pool.more
    return pool.pixels * arrays.lines(pool.channels) + waits


def _pieces(
    images: int,
    cut: tuple[int, int],
    streams: Sequence[tuple[Cycles, Cycles]],
    products: Sequence[tuple[Cycles, Cycles]],
) -> Pieces:
    """All pieces: the first is loaded, the last stored, and between them the slowest of three engines counts. Cycles in
    all, of products by Eq. 9, and of what the array adds."""
    count, bands = cut
    large, own = bands % count * images, fetch_cycles(MOVE_WORDS)
    pieces = count * images
    both = [(given, sum(one), out) for (given, out), one in zip(streams, products, strict=True)]
    counts = (pieces - large, large)
    (first_in, first, _), (last_in, last, last_out) = both[0], both[1 if large else 0]
    if pieces == 1:
        total = first_in + first + last_out + HAND_OVER
    else:
        steady = [np.maximum(np.maximum(given + own, product), out + 2 * own) for given, product, out in both]
        inner = [max(0, counts[0] - 1), counts[1]] if large else [pieces, 0]
        over = sum(inner) - (pieces - 2)
        inner[0 if not large or inner[0] >= over else 1] -= over
        total = (
            first_in + np.maximum(first, last_in + 5 * own) + np.maximum(last, both[0][2] + own) + last_out
        )
        total = total + inner[0] * steady[0] + inner[1] * steady[1]
    eq9, array = (
        sum(number * np.asarray(one[k]) for number, one in zip(counts, products, strict=True)) for k in (0, 1)
    )
    return np.asarray(total, np.int64), np.asarray(eq9, np.int64), np.asarray(array, np.int64)


def _input(
    layer: OverlayLayer,
    algorithm: Algorithm,
    height: int,
    arrays: Arrays,
    engines: Engines,
    cut: Cut,
) -> Cycles:
    """Cycles of loading a piece of so many rows (of tiles) of the output."""
    depth, start = layer.in_channels // layer.groups, HAND_OVER + engines.dram_latency
    (high, wide), (out, (step1, step2)) = layer.map, (layer.output[1], layer.strides)
    if cut.flattened:
        channels = layer.in_channels // cut.flattened
        restored = cut.flattened * arrays.lines(channels) + start
        return layer.images * (restored + channels * arrays.lines(cut.flattened) + HAND_OVER + 1)
    if layer.fully_connected:
        return layer.images * arrays.lines(layer.in_channels) + start
    if algorithm in TILE:
        tile = TILE[algorithm]
        side = (tile + 2) ** 2
        pieces = math.prod(-(-taps // 3) for taps in layer.kernel)
        return pieces * height * -(-out // tile) * side * arrays.lines(layer.in_channels) + start + side
    if algorithm == "im2col" and not layer.pointwise:
        if cut.given:
            return height * out * arrays.lines(layer.window * layer.in_channels) + start
        return height * out * layer.window * layer.groups * arrays.lines(depth) + start
    reach = min(high, (height - 1) * step1 + (layer.kernel[0] - 1) * layer.dilations[0] + 1)
    positions = step1 * step2 * -(-reach // step1) * -(-wide // step2)
    return positions * arrays.lines(layer.in_channels) + start


def _output(layer: OverlayLayer, algorithm: Algorithm, height: int, arrays: Arrays, cut: Cut) -> Cycles:
    """Cycles of storing a piece of so many rows (of tiles) of the output."""
    lines = arrays.lines(int(up(layer.out_channels, cut.parts[1])))
    if algorithm in TILE:
        tile = TILE[algorithm]
        return height * -(-layer.output[1] // tile) * (tile + 2) ** 2 * lines + HAND_OVER + 1 + tile * tile
    rows = layer.images if layer.fully_connected else height * layer.output[1]
    return rows * lines + HAND_OVER + 1


def piece_product(
    layer: OverlayLayer, algorithm: Algorithm, dataflow: Dataflow, height: int, cut: Cut
) -> tuple[int, int, int, int]:
    """Of a piece's products: what is spread over P1, what over P2, the beats of a pass (Eq. 9), and how many."""
    depth, maps = (
        int(up(channels // layer.groups, parts))
        for channels, parts in zip((layer.in_channels, layer.out_channels), cut.parts, strict=True)
    )
    a, b, calls = height * layer.output[1], depth, layer.groups
    if layer.fully_connected:
        a = layer.images
    elif algorithm in TILE:
        tile = TILE[algorithm]
        a = height * -(-layer.output[1] // tile)
        calls *= (tile + 2) ** 2 * math.prod(-(-taps // 3) for taps in layer.kernel)
    elif algorithm == "kn2row":
        a, calls = height * -(-layer.map[1] // layer.strides[1]), calls * layer.window
    else:
        b = depth * layer.window
    return {"NS": (a, maps, b, calls), "WS": (b, maps, a, calls), "IS": (b, a, maps, calls)}[dataflow]


def _product(
    layer: OverlayLayer,
    algorithm: Algorithm,
    dataflow: Dataflow,
    height: int,
    arrays: Arrays,
    engines: Engines,
    cut: Cut,
) -> tuple[Cycles, Cycles]:
    """Cycles of a piece's products by Eq. 9, and what the array adds: short passes, its filling and draining."""
    inner, outer, beats, calls = piece_product(layer, algorithm, dataflow, height, cut)
    passes = calls * up(inner, arrays.rows) * up(outer, arrays.columns)
    rows, columns = arrays.least or (arrays.rows, arrays.columns)
    short = (passes - 1) * np.maximum(0, rows - beats) * engines.short_passes
    ends = (2 * rows + columns - (dataflow == "NS") + HAND_OVER) * engines.fill_and_drain
    return passes * beats, np.asarray(short + ends, np.int64)
