"""What the layers of a network take one after another on the overlay as it is generated, for arrays of many shapes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

from mapper.arch.overlay import Engines
from mapper.models.algorithm_selection.choice import Algorithm, Choice, Dataflow
from mapper.models.algorithm_selection.layer_time import (
    Arrays,
    Cycles,
    LayerTime,
    hidden,
    late,
    leaving,
)
from mapper.models.algorithm_selection.mapping import Selection, planes_of
from mapper.models.algorithm_selection.overlay.layer import Ends, OverlayLayer
from mapper.models.algorithm_selection.overlay.network import OverlayNetwork
from mapper.models.algorithm_selection.overlay.running import Pool
from mapper.models.algorithm_selection.pipeline import layer_times
from mapper.models.algorithm_selection.stream_time import (
    Cut,
    kernel_time,
    one_array,
    piece_product,
    pool_time,
    rest_time,
    scale_time,
    transform_hides,
    unread_time,
)
from mapper.models.algorithm_selection.timing import FETCHED


@dataclass(frozen=True, eq=False)
class RunningTime:
    """A layer under one algorithm and dataflow: its ``own`` cycles, and cycles [S] until its ``kernels`` are in, less
    those before its first product in which nothing else is read, of pools and of its input. ``beside``: cycles of a
    pool that still runs while it does, 0 if there is none; of them the pool reads in ``shared``. ``reading``: it is a
    max pool, or there is none. ``once``: its kernels come in one part. ``hides``: cycles of a load that their transform
    hides, as it goes on giving. ``alone``: those that it waits for its kernels where nothing runs before. Of several
    choices at once every field has an axis of them, or of pairs of them."""

    own: LayerTime
    kernels: Cycles
    beside: Cycles
    shared: Cycles
    reading: bool | NDArray[np.bool_] = True
    once: bool | NDArray[np.bool_] = True
    hides: int | Cycles = 0
    alone: Cycles | int = 0


def running_times(
    network: OverlayNetwork,
    at: int,
    algorithm: Algorithm,
    dataflows: Sequence[Dataflow],
    arrays: Arrays,
    parts: int = 1,
    planes: Ends = (False, False),
) -> list[RunningTime]:
    """Layer ``at`` under an algorithm and each of ``dataflows``, its kernels in so many parts; its input stays on the
    chip where it fits. ``planes``: whether that, and what it makes, lies channel by channel."""
    engines = network.machine.engines
    assert engines is not None
    kept = stays(network, network.source.get(at), arrays)
    places = [
        _place(network, at, algorithm, parts, one, planes) for one in (False, True) if (kept == one).any()
    ]
    every = [_timed(place, algorithm, dataflows, arrays, engines) for place in places]
    if len(every) == 1:
        return every[0]
    return [_either(kept, *both) for both in zip(*every, strict=True)]


def running_time_at(network: OverlayNetwork, at: int, selection: Selection) -> RunningTime:
    """Layer ``at`` as selected."""
    engines, choice = network.machine.engines, selection.choices[at]
    assert engines is not None
    kept, lies = network.source.get(at) in selection.on_chip, planes_of(network, selection.stores, at)
    place = _place(network, at, choice.algorithm, choice.parts, kept, lies)
    return _timed_once(place, choice, selection.array, engines)


def one_after_another(network: OverlayNetwork, selection: Selection) -> Iterator[tuple[RunningTime, int]]:
    """Every layer as selected, and what it waits for its kernels (`waiting`)."""
    before: RunningTime | None = None
    held: Cycles | int = 0
    for at in range(len(network.layers)):
        now = running_time_at(network, at, selection)
        yield now, int(waiting(network, at, now, before, held)[0])
        held = 0 if before is None else held_up(network, at, now, before)
        before = now


def piece_counts(network: OverlayNetwork, selection: Selection) -> dict[str, int]:
    """By layer, the number of pieces that takes least, of which the program is made: another that takes as long alone
    may begin later beside the layer before."""
    timed = (running_time_at(network, at, selection) for at in range(len(network.layers)))
    return {name: int(one.own.count[0]) for name, one in zip(network.names, timed, strict=True)}


def stays(network: OverlayNetwork, store: int | None, arrays: Arrays) -> NDArray[np.bool_]:
    """On which arrays [S] a store stays on the chip; of a range, on any array of it."""
    found, most = np.zeros(len(arrays.rows), np.bool_), arrays.lanes
    least = most if arrays.least is None else Arrays(*arrays.least).lanes
    for lanes, kept in network.staying.items():
        if store in kept:
            found |= (least <= lanes) & (lanes <= most)
    return found


def _either(kept: NDArray[np.bool_], moved: RunningTime, stayed: RunningTime) -> RunningTime:
    """A layer whose input stays on the chip on some arrays. It begins beside no pool, as none is between."""
    both = zip(vars(moved.own).values(), vars(stayed.own).values(), strict=True)
    own = LayerTime(*(np.where(kept, stay, move) for move, stay in both))
    alone = np.where(kept, stayed.alone, moved.alone)
    return replace(moved, own=own, kernels=np.where(kept, stayed.kernels, moved.kernels), alone=alone)


@dataclass(frozen=True)
class _Place:
    """A layer, how it is ``cut``, the ``pools`` between it and the one before, and whether it begins ``beside`` the
    last of these; where the overlay stopped before it, what adds between the stop and it, and whether it reads that."""

    layer: OverlayLayer
    cut: Cut
    pools: tuple[Pool, ...]
    beside: bool
    resumed: tuple[Pool, bool] | None = None


def _place(
    network: OverlayNetwork, at: int, algorithm: Algorithm, parts: int, kept: bool, planes: Ends
) -> _Place:
    engines, running = network.machine.engines, network.running
    pools: tuple[Pool, ...] = ()
    if engines is not None and engines.pools:
        pools = tuple(running.pools[pool] for layer, pool in running.between if layer == at)
    beside = bool(pools) and overlaps(network, at)
    cut = replace(cut_of(network, at, algorithm, parts), stays=kept, planes=planes)
    resumed = None
    if engines is not None and engines.pools and engines.overlap:
        resumed = next(
            ((running.pools[pool], reads) for one, pool, reads in running.resumed if one == at), None
        )
    return _Place(network.layers[at], cut, pools, beside, resumed)


@lru_cache(maxsize=1 << 14)
def _timed_once(place: _Place, choice: Choice, array: tuple[int, int], engines: Engines) -> RunningTime:
    return _timed(place, choice.algorithm, (choice.dataflow,), one_array(array), engines)[0]


def _timed(
    place: _Place, algorithm: Algorithm, dataflows: Sequence[Dataflow], arrays: Arrays, engines: Engines
) -> list[RunningTime]:
    layer, cut, none = place.layer, place.cut, np.zeros(len(arrays.rows), np.int64)
    adding = [*takewhile(lambda pool: pool.left, place.pools)]  # A max pool waits until kernels are in.
    kernels = none
    if engines.kernels:
        kernels = kernel_time(layer, algorithm, arrays, engines, cut)
        kernels = kernels - sum((unread_time(pool, arrays, engines) for pool in adding), none)
    every = layer_times(layer, algorithm, dataflows, arrays, engines, cut)
    once = cut.parts == (1, 1)
    hides = transform_hides(algorithm)
    if not place.beside:
        read = int(engines.kernels and len(adding) == len(place.pools))
        left = [kernels - read * own.unread for own in every]
        first = scale_time(layer, arrays, engines, cut) + FETCHED
        return [
            RunningTime(
                own, asked, none, none, True, once, hides, _alone(place, own, asked, first, arrays, engines)
            )
            for own, asked in zip(every, left, strict=True)
        ]
    pool, many = place.pools[-1], none if arrays.least is None else _ranges(arrays)
    rest = np.maximum(0, rest_time(pool, arrays, engines))
    found = []
    for own in every:
        beside = np.minimum(rest, own.begin if pool.left else own.free)
        shared = none if pool.left else np.where(many, 0, beside)
        found.append(RunningTime(own, kernels, beside, shared, not pool.left, once, hides))
    return found


def _alone(
    place: _Place, own: LayerTime, kernels: Cycles, first: Cycles, arrays: Arrays, engines: Engines
) -> Cycles:
    """Cycles that a layer waits for its kernels where the overlay stops before it; its factors are in after ``first``.
    Behind what adds, kernels are read while the last maps of that leave, and a layer that does not read these begins
    meanwhile (below 0)."""
    read = int(engines.kernels)
    waits = read * (FETCHED + np.maximum(first, kernels))
    if place.resumed is None:
        return np.asarray(waits, np.int64)
    pool, reads = place.resumed
    rest = np.maximum(0, rest_time(pool, arrays, engines))
    hidden = np.maximum(waits - rest - FETCHED, -own.begin)
    return np.asarray(read * np.maximum(0, kernels - rest) if reads else hidden, np.int64)


def cut_of(network: OverlayNetwork, at: int, algorithm: Algorithm, parts: int = 1) -> Cut:
    """How layer ``at`` is cut under an algorithm, its kernels in so many parts."""
    machine, layer = network.machine, network.layers[at]
    kept = parts > 1
    needed = layer.kernel_parts(algorithm, machine)
    if kept:
        needed = (1, -(-layer.out_channels // layer.part_maps((1, parts))))
    assert needed is not None
    return Cut(
        (1,) if kept else layer.piece_counts(algorithm, machine),
        layer.bands(algorithm),
        needed,
        at in network.running.given,
        dict(network.running.flattened).get(at, 0),
        kept,
        followed=needed != (1, 1) or at + 1 in network.running.ahead,
    )


def piece_passes(
    network: OverlayNetwork, at: int, algorithm: Algorithm, dataflow: Dataflow, parts: int = 1
) -> list[tuple[int, int, int, int]]:
    """What layer ``at`` spreads over P1 and over P2 in pieces of every height, the beats of a pass, and products; of
    every part of its kernels, and of the last of their depth and of their maps."""
    layer, cut = network.layers[at], cut_of(network, at, algorithm, parts)
    heights = sorted({cut.bands // count + more for count in cut.counts for more in (0, 1)})
    ends = [replace(cut, last=(deep, maps)) for deep in (False, True) for maps in (False, True)]
    found = (piece_product(layer, algorithm, dataflow, height, end) for height in heights for end in ends)
    return list(dict.fromkeys(found))


def waiting(
    network: OverlayNetwork,
    at: int,
    time: RunningTime,
    before: RunningTime | None,
    held: Cycles | int = 0,
) -> Cycles:
    """Cycles that layer ``at`` waits for its kernels, where the overlay stops before it all that they take longer than
    DRAM takes to answer its first load; below 0: by which it begins before the last piece of the layer before is
    stored, or the pool between them is done. The layer before was ``held`` up, and kernels were read meanwhile."""
    if before is None or at not in network.running.ahead:
        return np.asarray(time.alone, np.int64)
    kernels = _late(time, before) - held
    if overlaps(network, at) and at in network.running.overlapping:
        assert network.machine.engines is not None
        early = -hidden(time.own, before.own, network.machine.engines)
        return np.asarray(np.maximum(kernels, early), np.int64)
    # Kernels hold up a max pool, and a layer beside one that adds if they are not in before that.
    waits = np.maximum(0, kernels) - time.beside
    return np.asarray(np.where(time.reading, waits, np.where(kernels > 0, kernels, -time.beside)), np.int64)


def _late(time: RunningTime, before: RunningTime) -> Cycles:
    """What a layer's kernels take longer than the one before, and a pool beside that, leave them. They are read in the
    last run of that, when the pool is over if there are several."""
    kernels = time.kernels - time.hides * (before.own.count - 1)
    return np.asarray(late(kernels, before.own) + before.shared * before.once, np.int64)


def held_up(network: OverlayNetwork, at: int, time: RunningTime, before: RunningTime) -> Cycles:
    """Cycles in which the output mover, which still stores the layer before, holds layer ``at`` up: it could have begun
    so much earlier than it does. None of a layer that runs several times, as the next one's kernels are read in its
    last run."""
    engines = network.machine.engines
    if not holds_up(network, at) or not np.any(time.once):
        return np.zeros_like(time.own.begin)
    assert engines is not None
    free = leaving(time.own, before.own, engines)
    held = np.maximum(0, np.minimum(free, -_late(time, before)) - time.own.begin)
    return np.asarray(held * time.once, np.int64)


def holds_up(network: OverlayNetwork, at: int) -> bool:
    """Whether the output mover may hold layer ``at`` up, and the kernels of the layer after it are read meanwhile."""
    return overlaps(network, at) and at in network.running.overlapping and at + 1 in network.running.ahead


def overlaps(network: OverlayNetwork, at: int) -> bool:
    """Whether layer ``at`` begins while the one before it stores, or a pool between them runs."""
    engines, running = network.machine.engines, network.running
    return engines is not None and engines.overlap and at in running.overlapping | running.beside


def _ranges(arrays: Arrays) -> NDArray[np.bool_]:
    """Which are more than a single array."""
    assert arrays.least is not None
    return (arrays.least[0] < arrays.rows) | (arrays.least[1] < arrays.columns)


def pools_after(network: OverlayNetwork, at: int, arrays: Arrays) -> Cycles:
    """Cycles of the max pools that run after layer ``at``."""
    engines, found = network.machine.engines, np.zeros(len(arrays.rows), np.int64)
    if engines is None or not engines.pools:
        return found
    for pool in network.running.pools:
        if pool.after == at:
            found = found + pool_time(pool, arrays, engines)
    return found
