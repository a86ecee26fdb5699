"""Streams and products of a layer on the overlay as it is generated, one by one: what a piece's load, its product and
its store take, kernels until they are in, and pools.

Closed forms over arrays of many shapes, in whole cycles. Shapes are pairs of vectors [S].
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from mapper.arch.overlay import Engines
from mapper.models.algorithm_selection.choice import Algorithm, Dataflow
from mapper.models.algorithm_selection.layer_time import Arrays, Cycles, up
from mapper.models.algorithm_selection.overlay.layer import TILE, Ends, OverlayLayer, Pair
from mapper.models.algorithm_selection.overlay.running import Pool
from mapper.models.algorithm_selection.timing import FETCHED, HAND_OVER, TURN, block_rows

H = TypeVar("H", int, Cycles)
TAPS = 9
POOL = 2
"""Cycles in which the last pixel passes the pooling units behind the requantisers."""


def one_array(array: tuple[int, int]) -> Arrays:
    return Arrays(np.array([array[0]], np.int64), np.array([array[1]], np.int64))


@dataclass(frozen=True)
class Cut:
    """How a layer runs under an algorithm: numbers of pieces of its output's ``bands`` that fit the buffers, and parts
    of the depth and of the maps of its kernels; ``last``: whether that is the last part of the depth, and of the maps,
    which has less where these are uneven. ``given``: the input lies in DRAM as the layer reads it.
    ``flattened``: positions of the maps that a fully connected layer reads channel by channel. ``kept``: the input
    stays in its buffer while parts of the maps follow one another. ``stays``: it stays on the chip, in the tensor
    buffer, from the layer before on. ``planes``: whether what is read, and what is stored, lies channel by channel.
    ``followed``: the next kernels, of a part or of the layer after it, are fetched
    while its first product runs."""

    counts: tuple[int, ...]
    bands: int
    parts: Pair = (1, 1)
    given: bool = False
    flattened: int = 0
    kept: bool = False
    stays: bool = False
    planes: Ends = (False, False)
    last: tuple[bool, bool] = (False, False)
    followed: bool = True

    def latency(self, engines: Engines) -> int:
        """Cycles from an address of the input to its words."""
        return 1 if self.stays else engines.dram_latency


def kernel_time(
    layer: OverlayLayer, algorithm: Algorithm, arrays: Arrays, engines: Engines, cut: Cut
) -> Cycles:
    """Cycles until a part of a layer's kernels and its biases and factors are in, nobody else reading."""
    lines = arrays.lines(layer.part_maps(cut.parts, last=cut.last[1]))
    depth, taps = _deep(layer, algorithm, cut)
    if algorithm in TILE:
        side = TILE[algorithm] + 2
        matrices = math.prod(-(-taps // 3) for taps in layer.kernel) * depth * lines
        streamed = matrices * side * side - (side * side - TAPS) + side * side + TURN
    else:
        streamed = taps * depth * lines
    return streamed + HAND_OVER + engines.dram_latency + scale_time(layer, arrays, engines, cut)


def scale_time(layer: OverlayLayer, arrays: Arrays, engines: Engines, cut: Cut) -> Cycles:
    """Cycles until biases and factors of a part are in."""
    return 2 * arrays.lines(layer.part_maps(cut.parts, last=cut.last[1])) + HAND_OVER + engines.dram_latency


def transform_hides(algorithm: Algorithm) -> int:
    """Cycles of a load that kernels do not wait for, since their transform gives on while it takes none: the mean over
    when the load may come."""
    gives = (TILE[algorithm] + 2) ** 2 if algorithm in TILE else TAPS
    return (gives - TAPS) * (gives - TAPS + 1) // (2 * gives)


def _deep(layer: OverlayLayer, algorithm: Algorithm, cut: Cut) -> tuple[int, int]:
    """Rows and taps that a part of the depth of kernels has: channels and some taps in kn2row, else some of all."""
    depth, taps = layer.in_channels // layer.groups, layer.window
    if algorithm == "kn2row":
        return depth, taps // cut.parts[0]
    if algorithm != "im2col":
        return depth, taps
    rows = int(up(taps * depth, cut.parts[0]))
    return (taps * depth - (cut.parts[0] - 1) * rows if cut.last[0] else rows), 1


def pool_time(pool: Pool, arrays: Arrays, engines: Engines) -> Cycles:
    """Cycles of a max pool over padded maps, or of what is added up pixel by pixel and stored."""
    waits = pool.streams * (HAND_OVER + engines.dram_latency) + pool.more
    return pool.pixels * arrays.lines(pool.channels) + waits


def rest_time(pool: Pool, arrays: Arrays, engines: Engines) -> Cycles:
    """Cycles of the last stream of a pool, beside which a layer that does not read it may begin."""
    answers = 0 if pool.left else engines.dram_latency
    return pool.last * arrays.lines(pool.channels) + HAND_OVER + 1 + answers - FETCHED


def unread_time(pool: Pool, arrays: Arrays, engines: Engines) -> Cycles:
    """Cycles of a pool in which kernels may be read: while DRAM answers, and what is left leaves."""
    waits = pool.streams * (HAND_OVER + engines.dram_latency) + pool.more
    return pool.left * arrays.lines(pool.channels) + waits


def restored_time(layer: OverlayLayer, arrays: Arrays, cut: Cut) -> Cycles:
    """Cycles in which maps that are read channel by channel come from the tensor buffer, and nothing from DRAM."""
    if not cut.flattened:
        return np.zeros(len(arrays.rows), np.int64)
    channels = layer.in_channels // cut.flattened
    return layer.images * (channels * arrays.lines(cut.flattened) + HAND_OVER + 1)


def reads_time(
    layer: OverlayLayer, algorithm: Algorithm, arrays: Arrays, engines: Engines, cut: Cut
) -> Cycles:
    """Cycles [counts or 1, S] in which a layer's whole input is read, and kernels are not: none in which DRAM answers.
    Channel by channel each of so many pieces fills its last row of lanes by itself."""
    answers = answers_time(layer, algorithm, arrays, engines, cut)
    counts = np.array(cut.counts if cut.planes[0] else (1,), np.int64)[:, np.newaxis]
    low, more = np.divmod(cut.bands, counts)
    heights = ((low, counts - more), (low + 1, more)) if more.any() else ((low, counts),)
    asked = (
        number * asked_time(input_time(layer, algorithm, height, arrays, engines, cut), answers)
        for height, number in heights
    )
    return np.asarray((1 if layer.fully_connected else layer.images) * sum(asked), np.int64)


def asked_time(load: Cycles, answers: Cycles | None) -> Cycles:
    """Cycles of a load in which it asks DRAM, but for those in which that ``answers``: none of maps that stay on the
    chip."""
    return np.zeros_like(load) if answers is None else load - answers


def answers_time(
    layer: OverlayLayer, algorithm: Algorithm, arrays: Arrays, engines: Engines, cut: Cut
) -> Cycles | None:
    """Cycles of a load in which DRAM is not asked: while it answers, while the last tile of a transform leaves, and
    while maps come channel by channel. None of maps that stay on the chip: all of them."""
    if cut.stays:
        return None
    streams = layer.images if cut.flattened else 1
    tail = (TILE[algorithm] + 2) ** 2 + TURN if algorithm in TILE else 0
    return streams * (HAND_OVER + engines.dram_latency) + tail + restored_time(layer, arrays, cut)


def input_time(
    layer: OverlayLayer,
    algorithm: Algorithm,
    height: Cycles,
    arrays: Arrays,
    engines: Engines,
    cut: Cut,
    above: int = 0,
) -> Cycles:
    """Cycles of loading a piece of so many rows (of tiles) of the output, of whose input so many rows are ``above`` the
    map, and not loaded where it is read as it lies."""
    depth, start = layer.in_channels // layer.groups, HAND_OVER + cut.latency(engines)
    (high, wide), (out, (step1, step2)) = layer.map, (layer.output[1], layer.strides)
    if cut.flattened:
        channels = layer.in_channels // cut.flattened
        read = layer.images * (cut.flattened * arrays.lines(channels) + start)
        return read + restored_time(layer, arrays, cut)
    if layer.fully_connected:
        return layer.images * arrays.lines(layer.in_channels) + start
    if algorithm in TILE:
        tile = TILE[algorithm]
        side = (tile + 2) ** 2
        pieces = math.prod(-(-taps // 3) for taps in layer.kernel)
        return (
            pieces * height * -(-out // tile) * side * arrays.lines(layer.in_channels) + start + side + TURN
        )
    if algorithm == "im2col" and not layer.pointwise:
        if cut.given:
            return height * out * arrays.lines(layer.window * layer.in_channels) + start
        return height * out * layer.window * layer.groups * arrays.lines(depth) + start
    reach = np.minimum(high, (height - 1) * step1 + (layer.kernel[0] - 1) * layer.dilations[0] + 1 - above)
    positions = step1 * step2 * -(-reach // step1) * -(-wide // step2)
    if cut.planes[0]:
        return layer.in_channels * arrays.lines(positions) + start
    return positions * arrays.lines(layer.in_channels) + start


def output_time(
    layer: OverlayLayer, algorithm: Algorithm, height: Cycles, arrays: Arrays, cut: Cut
) -> Cycles:
    """Cycles of storing a piece of so many rows (of tiles) of the output."""
    maps = layer.part_maps(cut.parts, last=cut.last[1])
    lines = arrays.lines(maps)
    if algorithm in TILE:
        tile = TILE[algorithm]
        streamed = height * -(-layer.output[1] // tile) * (tile + 2) ** 2 * lines
        return streamed + HAND_OVER + 1 + tile * tile + TURN
    rows = layer.images if layer.fully_connected else height * layer.output[1]
    if layer.pooled is not None:
        return height * layer.pooled.size[1] * lines + HAND_OVER + 1 + POOL
    return np.asarray(maps * arrays.lines(rows) if cut.planes[1] else rows * lines, np.int64) + HAND_OVER + 1


def edge_time(layer: OverlayLayer, arrays: Arrays, cut: Cut, *, single: NDArray[np.bool_]) -> Cycles | int:
    """Cycles that a pool on the way takes for the rows below the map that are padding, less those that it does not
    need, of the last piece; of a single one for those above, too."""
    if layer.pooled is None:
        return 0
    (rows, columns), above = layer.pooled.size, np.where(single, 0, layer.pooled.before[0])
    return (
        (rows - above - layer.output[0])
        * columns
        * arrays.lines(layer.part_maps(cut.parts, last=cut.last[1]))
    )


def piece_product(
    layer: OverlayLayer, algorithm: Algorithm, dataflow: Dataflow, height: H, cut: Cut
) -> tuple[H | int, H | int, H | int, int]:
    """Of a piece's products: what is spread over P1, what over P2, the beats of a pass (Eq. 9), and how many."""
    depth, taps = _deep(layer, algorithm, cut)
    maps, calls = layer.part_maps(cut.parts, last=cut.last[1]), 1
    positions: H | int = height * layer.output[1]
    b = depth
    if layer.groups > 1:  # A part has whole groups.
        calls, maps = maps // (layer.out_channels // layer.groups), layer.out_channels // layer.groups
    if layer.fully_connected:
        positions = layer.images
    elif algorithm in TILE:
        tile = TILE[algorithm]
        positions = height * -(-layer.output[1] // tile)
        calls *= (tile + 2) ** 2 * math.prod(-(-taps // 3) for taps in layer.kernel)
    elif algorithm == "kn2row":
        positions, calls = height * -(-layer.map[1] // layer.strides[1]), calls * taps
    else:
        b = depth * taps
    if dataflow == "NS":
        return positions, maps, b, calls
    return (b, maps, positions, calls) if dataflow == "WS" else (b, positions, maps, calls)


def product_time(
    layer: OverlayLayer,
    algorithm: Algorithm,
    dataflow: Dataflow,
    height: Cycles,
    arrays: Arrays,
    engines: Engines,
    cut: Cut,
) -> tuple[Cycles, Cycles]:
    """Cycles of a piece's products by Eq. 9, and what the array adds: short passes, its filling and draining."""
    inner, outer, beats, calls = piece_product(layer, algorithm, dataflow, height, cut)
    passes = calls * up(inner, arrays.rows) * up(outer, arrays.columns)
    rows, columns = arrays.least or (arrays.rows, arrays.columns)
    # Before a pass, NS waits for the results of the one before, WS and IS for a block.
    waits = rows if dataflow == "NS" else block_rows(rows, engines.block_wires)
    short = (passes - 1) * np.maximum(0, waits - beats) * engines.short_passes
    ends = (rows + waits + columns - (dataflow == "NS") + HAND_OVER) * engines.fill_and_drain
    return passes * beats, np.asarray(short + ends, np.int64)
