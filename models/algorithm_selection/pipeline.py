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
from mapper.models.algorithm_selection.overlay.layer import TILE, OverlayLayer
from mapper.models.algorithm_selection.overlay.running import Pool
from mapper.models.algorithm_selection.timing import HAND_OVER, fetch_cycles

Cycles = NDArray[np.int64]
PIECES = (1, 2, 4, 8, 16, 32)
"""Numbers of pieces that an image is cut into."""
MOVE_WORDS = 78
TAPS = 9


@dataclass(frozen=True, eq=False)
class Arrays:
    """Arrays of ``rows[s]`` x ``columns[s]`` PEs."""

    rows: Cycles
    columns: Cycles

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
    """Cycles [S] of a layer without its kernels, and of them those of its products by Eq. 9 and of what the array adds
    to these; ``reads``: cycles in which its input is read from DRAM."""

    total: Cycles
    products: Cycles
    array: Cycles
    reads: Cycles


def up(one: int | Cycles, other: int | Cycles) -> Cycles:
    return np.asarray(-(-np.asarray(one) // other), np.int64)


def layer_time(
    layer: OverlayLayer,
    algorithm: Algorithm,
    dataflows: Sequence[Dataflow],
    arrays: Arrays,
    engines: Engines,
    *,
    given: bool = False,
    flattened: int = 0,
) -> tuple[LayerTime, NDArray[np.int64]]:
    """The shortest of all dataflows and numbers of pieces, and the dataflow's position. ``given``: the input lies in
    DRAM as the layer reads it. ``flattened``: positions of the maps that a fully connected layer reads channel by
    channel."""
    best: LayerTime | None = None
    flow = np.zeros(len(arrays.rows), np.int64)
    bands = -(-layer.output[0] // TILE.get(algorithm, 1)) if not flattened else 1
    for count in PIECES:
        if count > bands:
            break
        streams = [
            (
                _input(layer, algorithm, height, arrays, engines, given, flattened),
                _output(layer, algorithm, height, arrays),
            )
            for height in (bands // count, bands // count + 1)
        ]
        for position, dataflow in enumerate(dataflows):
            time = _pieces(layer, algorithm, dataflow, (count, bands), streams, arrays, engines)
            if best is None:
                best = time
                continue
            less = time.total < best.total
            flow = np.where(less, position, flow)
            best = LayerTime(
                *(
                    np.where(less, getattr(time, one), getattr(best, one))
                    for one in ("total", "products", "array", "reads")
                )
            )
    assert best is not None
    return best, flow


def kernel_time(layer: OverlayLayer, algorithm: Algorithm, arrays: Arrays, engines: Engines) -> Cycles:
    """Cycles until the kernels of a layer and its biases and factors are in, nobody else reading."""
    lines = arrays.lines(layer.out_channels)
    depth = layer.in_channels // layer.groups
    if algorithm in TILE:
        side = TILE[algorithm] + 2
        matrices = math.prod(-(-taps // 3) for taps in layer.kernel) * depth * lines
        streamed = matrices * side * side - (side * side - TAPS) + side * side
    else:
        streamed = layer.window * depth * lines
    return streamed + 2 * lines + 2 * (HAND_OVER + engines.dram_latency)


def exposed(kernels: Cycles, before: LayerTime) -> Cycles:
    """What kernels take longer than the layer before them leaves: they are read while it runs and its input is not."""
    return np.maximum(0, kernels - (before.total - before.reads))


def pool_time(pool: Pool, arrays: Arrays, engines: Engines) -> Cycles:
    """Cycles of a max pool over padded maps, or of what is added up pixel by pixel and stored."""
    lines = arrays.lines(pool.channels)
    loads = pool.pixels * lines + pool.streams * (HAND_OVER + engines.dram_latency) + 1
    if not pool.stored:
        return loads
    waits = pool.streams * fetch_cycles(MOVE_WORDS) // 2
    return loads + waits + pool.stored * lines + HAND_OVER + 1


def _pieces(
    layer: OverlayLayer,
    algorithm: Algorithm,
    dataflow: Dataflow,
    cut: tuple[int, int],
    streams: Sequence[tuple[Cycles, Cycles]],
    arrays: Arrays,
    engines: Engines,
) -> LayerTime:
    """All pieces: the first is loaded, the last stored, and between them the slowest of three engines counts."""
    (count, bands), images = cut, 1 if layer.fully_connected else layer.images
    large, own = bands % count * images, fetch_cycles(MOVE_WORDS)
    products = [
        _product(layer, algorithm, dataflow, height, arrays, engines)
        for height in (bands // count, bands // count + 1)
    ]
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
    reads = sum(
        number * (one[0] - HAND_OVER - engines.dram_latency) for number, one in zip(counts, both, strict=True)
    )
    return LayerTime(*(np.asarray(one, np.int64) for one in (total, eq9, array, reads)))


def _input(
    layer: OverlayLayer,
    algorithm: Algorithm,
    height: int,
    arrays: Arrays,
    engines: Engines,
    given: bool,
    flattened: int,
) -> Cycles:
    """Cycles of loading a piece of so many rows (of tiles) of the output."""
    depth, start = layer.in_channels // layer.groups, HAND_OVER + engines.dram_latency
    (high, wide), (out, (step1, step2)) = layer.map, (layer.output[1], layer.strides)
    if flattened:
        channels = layer.in_channels // flattened
        restored = flattened * arrays.lines(channels) + start
        return layer.images * (restored + channels * arrays.lines(flattened) + HAND_OVER + 1)
    if layer.fully_connected:
        return layer.images * arrays.lines(layer.in_channels) + start
    if algorithm in TILE:
        tile = TILE[algorithm]
        side = (tile + 2) ** 2
        pieces = math.prod(-(-taps // 3) for taps in layer.kernel)
        return pieces * height * -(-out // tile) * side * arrays.lines(layer.in_channels) + start + side
    if algorithm == "im2col" and not layer.pointwise:
        if given:
            return height * out * arrays.lines(layer.window * layer.in_channels) + start
        return height * out * layer.window * layer.groups * arrays.lines(depth) + start
    reach = min(high, (height - 1) * step1 + (layer.kernel[0] - 1) * layer.dilations[0] + 1)
    positions = step1 * step2 * -(-reach // step1) * -(-wide // step2)
    return positions * arrays.lines(layer.in_channels) + start


def _output(layer: OverlayLayer, algorithm: Algorithm, height: int, arrays: Arrays) -> Cycles:
    """Cycles of storing a piece of so many rows (of tiles) of the output."""
    lines = arrays.lines(layer.out_channels)
    if algorithm in TILE:
        tile = TILE[algorithm]
        return height * -(-layer.output[1] // tile) * (tile + 2) ** 2 * lines + HAND_OVER + 1 + tile * tile
    rows = layer.images if layer.fully_connected else height * layer.output[1]
    return rows * lines + HAND_OVER + 1


def _product(
    layer: OverlayLayer,
    algorithm: Algorithm,
    dataflow: Dataflow,
    height: int,
    arrays: Arrays,
    engines: Engines,
) -> tuple[Cycles, Cycles]:
    """Cycles of a piece's products by Eq. 9, and what the array adds: short passes, its filling and draining."""
    depth, maps = layer.in_channels // layer.groups, layer.out_channels // layer.groups
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
    inner, outer, beats = {"NS": (a, maps, b), "WS": (b, maps, a), "IS": (b, a, maps)}[dataflow]
    passes = calls * up(inner, arrays.rows) * up(outer, arrays.columns)
    short = (passes - 1) * np.maximum(0, arrays.rows - beats) if engines.short_passes else 0
    ends = 2 * arrays.rows + arrays.columns - (dataflow == "NS") + HAND_OVER if engines.fill_and_drain else 0
    return passes * beats, np.asarray(short + ends, np.int64)
