"""What a layer takes on the overlay as it is generated: pieces of its rows are loaded, multiplied and stored at once.

Closed forms over arrays of many shapes, in whole cycles. They are the overlay's timeline up to how instructions are
fetched and which of two heights of pieces comes when (`docs/kind/overlay-machine.md`). Shapes are pairs of vectors [S].
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mapper.arch.overlay import Engines
from mapper.models.algorithm_selection.choice import Algorithm, Dataflow
from mapper.models.algorithm_selection.layer_time import (
    Arrays,
    Cycles,
    LayerTime,
    Pieces,
    deep_pieces,
    kept_pieces,
    last_part,
    shortest,
)
from mapper.models.algorithm_selection.overlay.layer import OverlayLayer
from mapper.models.algorithm_selection.stream_time import (
    Cut,
    answers_time,
    asked_time,
    edge_time,
    input_time,
    kernel_time,
    output_time,
    piece_product,
    product_time,
    reads_time,
)
from mapper.models.algorithm_selection.timing import FETCHED, product_fetch

KERNEL_FETCH = 5
"""Instructions of a mover that take as long to fetch as the next kernels, which wait for their biases, and a load."""


def layer_times(
    layer: OverlayLayer,
    algorithm: Algorithm,
    dataflows: Sequence[Dataflow],
    arrays: Arrays,
    engines: Engines,
    cut: Cut,
) -> list[LayerTime]:
    """Under each dataflow, in the number of pieces that takes least."""
    given = (layer, algorithm, dataflows, arrays, engines)
    every, kernels = _parts(*given, cut)
    uneven = layer.part_maps(cut.parts, last=True) < layer.part_maps(cut.parts)
    ends, less = _parts(*given, replace(cut, last=(False, True))) if uneven else (every, kernels)
    reads = [reads_time(layer, algorithm, arrays, engines, cut, count) for count in cut.counts]
    runs = math.prod(cut.parts)
    deep = _comes_deep(engines, cut)
    if deep:
        runs = cut.parts[1]
    if cut.kept:
        assert kernels is not None and less is not None
        every = [
            [kept_pieces(*two, (kernels, less), cut.parts[1], reads[0]) for two in zip(*both, strict=True)]
            for both in zip(every, ends, strict=True)
        ]
        ends, runs = every, 1
    asked = None if kernels is None or less is None else (kernels, less)
    times = [
        shortest([*zip(*both, strict=True)], cut.counts, arrays, reads, asked, runs, engines)
        for both in zip(every, ends, strict=True)
    ]
    return [last_part(time) for time in times] if deep else times


def _comes_deep(engines: Engines, cut: Cut) -> bool:
    """Whether parts of the depth follow one another while the sums stay."""
    return engines.kernels and engines.overlap and cut.parts[0] > 1


def _parts(
    layer: OverlayLayer,
    algorithm: Algorithm,
    dataflows: Sequence[Dataflow],
    arrays: Arrays,
    engines: Engines,
    cut: Cut,
) -> tuple[list[list[Pieces]], Cycles | None]:
    """A part of the maps, in every number of pieces, and its first kernels; all parts of the depth, where the sums stay
    for them."""
    given = (layer, algorithm, dataflows, arrays, engines)
    every = _every(*given, cut)
    kernels = kernel_time(layer, algorithm, arrays, engines, cut) if engines.kernels else None
    if not _comes_deep(engines, cut):
        return every, kernels
    assert kernels is not None
    end = replace(cut, last=(True, cut.last[1]))
    asked = kernels, kernel_time(layer, algorithm, arrays, engines, end)
    both = zip(every, _every(*given, end), strict=True)
    deep = [[deep_pieces(*two, asked, cut.parts[0]) for two in zip(*one, strict=True)] for one in both]
    return deep, kernels


def _every(
    layer: OverlayLayer,
    algorithm: Algorithm,
    dataflows: Sequence[Dataflow],
    arrays: Arrays,
    engines: Engines,
    cut: Cut,
) -> list[list[Pieces]]:
    """A part of the kernels under each dataflow, in every number of pieces."""
    every: list[list[Pieces]] = [[] for _ in dataflows]
    answers = answers_time(layer, algorithm, arrays, engines, cut)
    for count in cut.counts:
        heights = (cut.bands // count, cut.bands // count + 1)
        streams = [
            (
                input_time(layer, algorithm, height, arrays, engines, cut),
                output_time(layer, algorithm, height, arrays, cut),
            )
            for height in heights
        ]
        first = input_time(layer, algorithm, heights[0], arrays, engines, cut, layer.pads[0][0])
        for found, dataflow in zip(every, dataflows, strict=True):
            products = [
                product_time(layer, algorithm, dataflow, height, arrays, engines, cut) for height in heights
            ]
            images = 1 if layer.fully_connected else layer.images
            edge = edge_time(layer, arrays, cut, single=count * images == 1)
            calls = piece_product(layer, algorithm, dataflow, heights[0], cut)[3]
            given = (images, (count, cut.bands), first, calls, streams, products, answers, edge)
            found.append(_pieces(*given, KERNEL_FETCH if cut.followed else 1))
    if cut.flattened:  # Maps that are read channel by channel are not loaded ahead.
        every = [[one._replace(load=np.zeros_like(one.load)) for one in found] for found in every]
    return every


def _pieces(
    images: int,
    cut: tuple[int, int],
    first_in: Cycles,
    calls: int,
    streams: Sequence[tuple[Cycles, Cycles]],
    products: Sequence[tuple[Cycles, Cycles]],
    answers: Cycles | None,
    edge: Cycles | int,
    fetched: int,
) -> Pieces:
    """All pieces: the first is loaded, the last stored, and between them the slowest of three engines counts.

    ``begin`` lasts until the output mover is needed: for the results of a single piece, or for the second product,
    which takes the half of the sums that the layer before has filled last. The first product waits for its load, and
    for its ``calls`` to be fetched, as does every other from when the one before began. ``edge``: what the last piece's
    store takes longer than others of its height. ``fetched``: for how many instructions the second load waits."""
    count, bands = cut
    own, fetch = FETCHED, product_fetch(calls)
    start = np.maximum(first_in, fetch)
    both = [(given, sum(one), out) for (given, out), one in zip(streams, products, strict=True)]
    high = [(at + 1) * bands // count - at * bands // count - bands // count for at in range(count)]
    last_out = both[high[-1]][2] + edge
    if count * images == 1:
        begin, ends = start + both[0][1], both[0][1]
        free = begin - asked_time(first_in, answers)
        total = begin + last_out
    else:
        first, second, last = both[high[0]][1], both[high[1 % count]][0], both[high[-1]][1]
        begin = start + np.maximum(first, np.maximum(second, fetch) + fetched * own)
        free = begin - asked_time(first_in, answers) - asked_time(second, answers)
        total = begin
        three = [(high[at - 1], high[at], high[(at + 1) % count]) for at in range(count)]
        inner = Counter({one: images * number for one, number in Counter(three).items()})
        inner.subtract([three[0], three[-1]])
        for (leaves, runs, loads), number in inner.items():
            slowest = np.maximum(np.maximum(both[loads][0] + own, fetch + 2 * own), both[leaves][2] + 2 * own)
            total = total + number * np.maximum(slowest, both[runs][1])
        ends = np.maximum(last, both[high[(count - 2) % count]][2] + own)
        total = total + ends + last_out
    counts = (images * (count - sum(high)), images * sum(high))
    eq9, array = (
        sum(number * np.asarray(one[k]) for number, one in zip(counts, products, strict=True)) for k in (0, 1)
    )
    store = np.maximum(0, last_out - own)
    unread, load = start - asked_time(first_in, answers), start - fetch
    found = np.broadcast_arrays(total, eq9, array, store, begin, free, load, ends, unread, total)
    return Pieces(*(np.asarray(one, np.int64) for one in found))
