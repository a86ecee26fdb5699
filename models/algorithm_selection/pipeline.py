"""What a layer takes on the overlay as it is generated: pieces of its rows are loaded, multiplied and stored at once.

Closed forms over arrays of many shapes, in whole cycles. They are the overlay's timeline up to how instructions are
fetched and which of two heights of pieces comes when (`docs/kind/overlay-machine.md`). Shapes are pairs of vectors [S];
all dataflows and numbers of pieces are counted at once, [dataflows, counts, S].
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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
    reads = reads_time(layer, algorithm, arrays, engines, cut)
    runs = math.prod(cut.parts)
    deep = _comes_deep(engines, cut)
    if deep:
        runs = cut.parts[1]
    if cut.kept:
        assert kernels is not None and less is not None
        every = ends = kept_pieces(every, ends, (kernels, less), cut.parts[1], reads)
        runs = 1
    asked = None if kernels is None or less is None else (kernels, less)
    times = shortest((every, ends), cut.counts, arrays, reads, asked, runs, engines)
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
) -> tuple[Pieces, Cycles | None]:
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
    return deep_pieces(every, _every(*given, end), asked, cut.parts[0]), kernels


def _every(
    layer: OverlayLayer,
    algorithm: Algorithm,
    dataflows: Sequence[Dataflow],
    arrays: Arrays,
    engines: Engines,
    cut: Cut,
) -> Pieces:
    """A part of the kernels under each dataflow, in every number of pieces."""
    counts = np.array(cut.counts, np.int64)[:, np.newaxis]
    images = 1 if layer.fully_connected else layer.images
    low, split = cut.bands // counts, _split(cut.counts, cut.bands, images)
    streams, products = [], []
    for height in (low, low + 1) if split.high.any() else (low,):
        load = input_time(layer, algorithm, height, arrays, engines, cut)
        streams.append((load, output_time(layer, algorithm, height, arrays, cut)))
        own = [product_time(layer, algorithm, one, height, arrays, engines, cut) for one in dataflows]
        shape = (len(counts), len(arrays.rows))
        products.append(
            _Products(*(np.stack([np.broadcast_to(one, shape) for one in k]) for k in zip(*own, strict=True)))
        )
    first = input_time(layer, algorithm, low, arrays, engines, cut, layer.pads[0][0])
    edge = edge_time(layer, arrays, cut, single=counts * images == 1)
    calls = piece_product(layer, algorithm, dataflows[0], cut.bands, cut)[3]
    answers = answers_time(layer, algorithm, arrays, engines, cut)
    found = _pieces(
        split,
        first,
        calls,
        (streams[0], streams[-1]),
        (products[0], products[-1]),
        answers,
        edge,
        KERNEL_FETCH if cut.followed else 1,
    )
    # Maps that are read channel by channel are not loaded ahead.
    return found._replace(load=np.zeros_like(found.load)) if cut.flattened else found


class _Products(NamedTuple):
    """Cycles [dataflows, counts, S] of a piece's products by Eq. 9, and what the array adds."""

    eq9: Cycles
    array: Cycles

    @property
    def both(self) -> Cycles:
        return self.eq9 + self.array


class _Split(NamedTuple):
    """Pieces of ``bands`` by numbers of pieces [counts, 1]: whether there is a ``single`` one; whether the second, the
    last and the one before that are of the greater of two heights; how many pieces of all images are ``low`` and
    ``high``. ``inner``: how often a piece that leaves, one that is multiplied and one that is loaded are so high
    (0 or 1) at once, but for the first and the last."""

    single: NDArray[np.bool_]
    second: NDArray[np.bool_]
    last: NDArray[np.bool_]
    before: NDArray[np.bool_]
    low: Cycles
    high: Cycles
    inner: tuple[tuple[tuple[int, int, int], Cycles], ...]


@lru_cache(maxsize=1 << 12)
def _split(counts: tuple[int, ...], bands: int, images: int) -> _Split:
    ends: list[tuple[bool, ...]] = []
    numbers: list[tuple[int, int]] = []
    inner: list[Counter[tuple[int, int, int]]] = []
    for count in counts:
        high = [(at + 1) * bands // count - at * bands // count - bands // count for at in range(count)]
        three = [(high[at - 1], high[at], high[(at + 1) % count]) for at in range(count)]
        ends.append((count * images == 1, *(bool(high[at % count]) for at in (1, -1, count - 2))))
        numbers.append((images * (count - sum(high)), images * sum(high)))
        own = Counter({one: images * number for one, number in Counter(three).items()})
        own.subtract([three[0], three[-1]])
        inner.append(Counter() if count * images == 1 else own)
    kinds = sorted({kind for own in inner for kind, number in own.items() if number})
    often = tuple((kind, np.array([[own[kind]] for own in inner], np.int64)) for kind in kinds)
    single, second, last, before = (np.array(one)[:, np.newaxis] for one in zip(*ends, strict=True))
    low, most = (np.array(one, np.int64)[:, np.newaxis] for one in zip(*numbers, strict=True))
    return _Split(single, second, last, before, low, most, often)


def _pieces(
    split: _Split,
    first_in: Cycles,
    calls: int,
    streams: Sequence[tuple[Cycles, Cycles]],
    products: Sequence[_Products],
    answers: Cycles | None,
    edge: Cycles | int,
    fetched: int,
) -> Pieces:
    """All pieces: the first is loaded, the last stored, and between them the slowest of three engines counts.

    ``begin`` lasts until the output mover is needed: for the results of a single piece, or for the second product,
    which takes the half of the sums that the layer before has filled last. The first product waits for its load, and
    for its ``calls`` to be fetched, as does every other from when the one before began. ``streams`` and ``products``
    of either height. ``edge``: what the last piece's store takes longer than others of its height. ``fetched``: for how
    many instructions the second load waits."""
    own, fetch = FETCHED, product_fetch(calls)
    start = np.maximum(first_in, fetch)
    loads, leaves = zip(*streams, strict=True)
    runs = tuple(one.both for one in products)
    last_out = np.where(split.last, leaves[1], leaves[0]) + edge
    second = np.where(split.second, loads[1], loads[0])
    begin = start + np.maximum(runs[0], np.maximum(second, fetch) + fetched * own)
    free = begin - asked_time(first_in, answers) - asked_time(second, answers)
    total = begin
    for (left, run, loaded), number in split.inner:
        slowest = np.maximum(np.maximum(loads[loaded] + own, fetch + 2 * own), leaves[left] + 2 * own)
        total = total + number * np.maximum(slowest, runs[run])
    ends = np.maximum(
        np.where(split.last, runs[1], runs[0]), np.where(split.before, leaves[1], leaves[0]) + own
    )
    total = total + ends
    if split.single.any():
        alone = start + runs[0]
        begin, ends, total = (
            np.where(split.single, *both) for both in ((alone, begin), (runs[0], ends), (alone, total))
        )
        free = np.where(split.single, alone - asked_time(first_in, answers), free)
    total = total + last_out
    eq9, array = (split.low * one + split.high * other for one, other in zip(*products, strict=True))
    store = np.maximum(0, last_out - own)
    unread, load = start - asked_time(first_in, answers), start - fetch
    found = (total, eq9, array, store, begin, free, load, ends, unread, total)
    return Pieces(*(np.broadcast_to(np.asarray(one, np.int64), total.shape) for one in found))
