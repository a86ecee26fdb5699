"""Cycles of a layer on the overlay as it is generated, in the number of pieces that takes least, and what passes
between it and the layer before. Vectors [S] are over the shapes of many arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mapper.arch.overlay import Engines
from mapper.models.algorithm_selection.timing import FETCHED

Cycles = NDArray[np.int64]


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

    def lines(self, words: int | Cycles) -> Cycles:
        """Rows of lanes that so many adjacent words are."""
        return up(words, self.lanes)


class Pieces(NamedTuple):
    """Cycles [S] of all pieces of a layer, as `LayerTime` has them."""

    total: Cycles
    products: Cycles
    array: Cycles
    store: Cycles
    begin: Cycles
    free: Cycles
    load: Cycles
    ends: Cycles
    unread: Cycles
    last: Cycles


@dataclass(frozen=True, eq=False)
class LayerTime:
    """Cycles [S] of a layer without its first kernels, and of them those of its products by Eq. 9 and of what the array
    adds to these. Where kernels are loaded in parts, the layer runs once for each: ``last`` are cycles of the last run,
    of which the last part of the depth alone counts. ``reads``: cycles of a run in which its input is read from DRAM,
    once, and the next kernels are not; ``unread``: those before its first product in which DRAM answers or is not asked
    at all, so that its own kernels may be read, but the next ones are not yet. ``store``: those in which only its last
    piece leaves, and a layer that does not read it may begin; ``begin``: its own until it needs the output mover, and,
    of them, ``free`` in which it reads nothing. ``load``: those of its first load; ``ends``: from its last product on
    until the last piece begins to leave. ``count``: of how many pieces."""

    total: Cycles
    products: Cycles
    array: Cycles
    last: Cycles
    reads: Cycles
    store: Cycles
    begin: Cycles
    free: Cycles
    load: Cycles
    ends: Cycles
    unread: Cycles
    count: Cycles


def up(one: int | Cycles, other: int | Cycles) -> Cycles:
    return np.asarray(-(-np.asarray(one) // other), np.int64)


def late(kernels: Cycles, before: LayerTime) -> Cycles:
    """What kernels take longer than the layer before them leaves: they are fetched behind its first product, and read
    while its input is not. Below 0, how much earlier they are in."""
    return np.asarray(kernels + FETCHED - (before.last - before.reads - before.unread), np.int64)


def hidden(now: LayerTime, before: LayerTime, engines: Engines) -> Cycles:
    """How long a layer begins before the last piece of the one before, whose results it does not read, is stored: while
    that leaves, and, where inputs are loaded ahead, while it is multiplied. Its input is read before its kernels, so
    that it gains nothing while these are waited for."""
    return np.asarray(np.minimum(leaving(now, before, engines), now.begin), np.int64)


def leaving(now: LayerTime, before: LayerTime, engines: Engines) -> Cycles:
    """How long before the last piece of the layer before is stored one that does not read its results could begin if it
    never needed the output mover."""
    early = np.minimum(now.load, before.ends) if engines.inputs_ahead else 0
    return np.asarray(before.store + early, np.int64)


def deep_pieces(time: Pieces, last: Pieces, kernels: tuple[Cycles, Cycles], deep: int) -> Pieces:
    """One piece whose kernels are loaded in so many parts of their depth: its input is loaded and its sums are stored
    once. ``last``: with the last part alone; ``kernels``: of every part, and of that."""
    own, end = time.products + time.array, last.products + last.array
    more = (deep - 2) * np.maximum(own, kernels[0] + FETCHED) + np.maximum(own, kernels[1] + FETCHED)
    first = (time.begin - own, time.free - own)
    array = ((deep - 1) * time.products + last.products, (deep - 1) * time.array + last.array)
    return Pieces(last.total + more, *array, time.store, *first, time.load, end, time.unread, last.last)


def last_part(time: LayerTime) -> LayerTime:
    """A layer whose kernels come in parts of their depth, for the layer after it: the next kernels follow its own last
    part, and have the product of that and the store. Until then its first piece is loaded."""
    return replace(time, last=time.last - time.begin + time.reads + time.unread)


def kept_pieces(
    time: Pieces, last: Pieces, kernels: tuple[Cycles, Cycles], parts: int, reads: Cycles
) -> Pieces:
    """One piece whose kernels come in so many parts of their maps: its input is loaded once and stays, and while a part
    is multiplied, the kernels of the next are loaded, and the results of the one before leave. ``last``: with the last
    part alone; ``kernels``: of every part, and of that, which are fetched behind results that leave. A pool beside it
    reads before its kernels, so that these need what the first product leaves.
    """
    product, leaves, asked = time.products + time.array, time.total - time.begin, kernels[parts == 2]
    start, read = time.begin - product, np.minimum(product, asked)
    begin = start + np.maximum(product, asked + FETCHED)
    least = np.maximum(product, leaves + FETCHED)
    between = (np.maximum(least, one + 2 * FETCHED) for one in kernels)
    inner = sum((number * one for number, one in zip((parts - 3, 1), between, strict=True)), start * 0)
    ends, out = np.maximum(last.products + last.array, leaves + FETCHED), last.total - last.begin
    return Pieces(
        begin + (inner if parts > 2 else 0) + ends + out,
        (parts - 1) * time.products + last.products,
        (parts - 1) * time.array + last.array,
        last.store,
        begin,
        time.free - read,
        time.load,
        ends,
        time.unread,
        ends + out - FETCHED + reads + time.unread,
    )


def shortest(
    two: tuple[Pieces, Pieces],
    counts: Sequence[int],
    arrays: Arrays,
    reads: Cycles,
    kernels: tuple[Cycles, Cycles] | None,
    runs: int,
    engines: Engines,
) -> list[LayerTime]:
    """The one of ``counts`` of pieces of the least time, run once for each part of the kernels, by dataflows. ``two``:
    each part, and the last; ``reads``: of all; ``kernels``: of these."""
    every = _timed_runs(two, counts, reads, kernels, runs, engines)
    if len(counts) == 1:
        best = _each(every, lambda one: one[:, 0])
    else:
        least = every.total.argmin(1)[:, np.newaxis]
        best = _each(every, lambda one: np.take_along_axis(one, least, 1)[:, 0])
    if arrays.least is not None:
        best = _of_ranges(every, best, arrays)
    return [_each(best, itemgetter(at)) for at in range(len(best.total))]


def _each(time: LayerTime, taken: Callable[[Cycles], Cycles]) -> LayerTime:
    return LayerTime(*map(taken, vars(time).values()))


def _timed_runs(
    two: tuple[Pieces, Pieces],
    counts: Sequence[int],
    reads: Cycles,
    kernels: tuple[Cycles, Cycles] | None,
    runs: int,
    engines: Engines,
) -> LayerTime:
    """All runs of a layer [dataflows, counts, S], each of which but the first begins while the one before stores."""
    shape = two[0].total.shape
    read, number = (np.broadcast_to(one, shape) for one in (reads, np.array(counts, np.int64)[:, np.newaxis]))
    own, end = (LayerTime(*one[:3], one.last, read, *one[3:9], number) for one in two)
    if runs == 1:
        return end
    waits = np.zeros_like(own.total)
    for often, now, asked in zip((runs - 2, 1), (own, end), kernels or (), strict=kernels is not None):
        early = -hidden(now, own, engines) if engines.overlap else 0
        waits = waits + often * np.maximum(late(asked - now.unread, own), early)
    total, eq9, array = ((runs - 1) * one + other for one, other in zip(two[0][:3], two[1][:3], strict=True))
    return replace(
        end, total=total + waits, products=eq9, array=array, begin=own.begin, free=own.free, load=own.load
    )


def _of_ranges(every: LayerTime, best: LayerTime, arrays: Arrays) -> LayerTime:
    """What no array of a range takes less than, with whatever number of pieces is the best there. A number of pieces
    under which the layer takes longer has so much less to hide. Of a single array: ``best``."""
    assert arrays.least is not None
    single = (arrays.least[0] == arrays.rows) & (arrays.least[1] == arrays.columns)
    total = every.total.min(1)
    longer = every.total - total[:, np.newaxis]
    unread = (every.unread - longer).max(1)
    last = (every.last - every.reads - every.unread - longer).max(1) + best.reads + unread
    most = {name: getattr(every, name).max(1) for name in ("begin", "free", "load", "ends", "count")}
    most |= {"total": total, "last": last, "store": (every.store - longer).max(1), "unread": unread}
    return replace(best, **{name: np.where(single, getattr(best, name), one) for name, one in most.items()})
