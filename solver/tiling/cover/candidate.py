"""Array tiles and scratch-pad tiles that may be part of a better mapping, loop by loop.

A cost is at least a sum of products of factors that each depend on the loops of one *block* alone: loops that meet in
a dimension of an operand, such as the rows of an image and of a filter. So tiles are put together block by block, and
what cannot improve on the incumbent, whatever the other blocks bring at least, is left out before it is put together
with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mapper.models.limit import UnfinishedError
from mapper.solver.tiling.cover.table import Array, CoverTable
from mapper.solver.tiling.exact.bound_kernel import SLACK
from mapper.solver.tiling.exact.incumbent_kernel import REACH
from mapper.solver.tiling.exact.kernel_table import EDP, ENERGY, KernelTable
from mapper.solver.tiling.exact.lattice import Floats, Integers

MOST_PAIRS = 1 << 26
"""Pairs of tiles that are bounded together; of more each array tile is bounded with the least above any."""

MOST_AT_ONCE = 1 << 13
"""Tiles whose products are compared at once."""

MOST_OPEN = 1 << 21
"""Tiles that are kept at a time; a few hundred bytes each."""
TILES_PER_CALL = 1 << 15

Hopeless = Callable[[Floats], Array]
"""Which columns of factors [F, n] cannot improve on the incumbent."""


class TooManyOpenError(Exception):
    """More tiles may improve on the incumbent than are kept."""


class ArrayTiles(NamedTuple):
    """Array tiles by ascending bound: their classes' ``places`` [n][loops], bounds without DRAM (``energy``, ``cycles``
    [n][cases], see `bound_kernel`), the least with it (``least`` [n][2]) and that bound on the objective, ``primary``
    [n]."""

    places: Array
    energy: Array
    cycles: Array
    least: Array
    primary: Array


class SpmTiles(NamedTuple):
    """Scratch-pad tiles by ascending bound ``primary``: which trips at DRAM (``places`` [n][loops]), least ``energy``
    and ``cycles`` there."""

    places: Array
    energy: Array
    cycles: Array
    primary: Array


@dataclass(frozen=True)
class _Block:
    """Loops, all choices of them (``places`` [n, loops]), and what each brings to the products (``factors`` [F, n])."""

    loops: tuple[int, ...]
    places: Integers
    factors: Floats


def candidates(
    t: KernelTable, v: CoverTable, incumbent: Floats, stopped: Callable[[], object]
) -> tuple[ArrayTiles, SpmTiles]:
    """All that may improve on ``incumbent``.

    Raises: UnfinishedError when ``stopped`` says that time is over (by anything but None); TooManyOpenError.
    """
    from mapper.solver.tiling.cover import bound_kernel
    from mapper.solver.tiling.stream.bound_kernel import room_of

    reach, cases = float(incumbent[REACH]), bound_kernel.cases(t)
    places = _array_places(t, v, reach, stopped)
    energy, cycles = np.empty((len(places), cases)), np.empty((len(places), cases))
    x = room_of(len(v.counts), len(v.spans.dimensions), len(t.streams.along))
    first_bounds, room = bound_kernel.first_bounds_of(t), bound_kernel.crossing_room(len(v.spans.dimensions))
    for some in _slices(len(places), TILES_PER_CALL, stopped):
        first_bounds(t, v, places[some], room, x, energy[some], cycles[some])
    within = (energy.min(axis=0, initial=np.inf), cycles.min(axis=0, initial=np.inf))
    above = _spm_tiles(t, v, within, reach, stopped)
    outside = (above.energy.min(initial=np.inf), above.cycles.min(initial=np.inf))
    able = np.flatnonzero(_improving(t, energy + outside[0], cycles, outside[1], reach))
    places, energy, cycles, joint = places[able], energy[able], cycles[able], np.empty((len(able), 3))
    if joint.size * len(above.primary) <= MOST_PAIRS:
        order = np.argsort(above.energy, kind="stable")
        ordered = above.places[order], above.energy[order], above.cycles[order]
        front = _front(ordered[1], ordered[2])
        bound_kernel.joint_bounds(t, v, (places, energy, cycles), ordered, front, incumbent, joint)
    else:
        total = _values(t, energy + outside[0], cycles, outside[1])
        least = energy.min(axis=1) + outside[0], cycles.min(axis=1)
        joint = np.stack(
            (total.min(axis=1), least[0] * SLACK - (0.5 * t.per_pj if t.rounded else 0.0), least[1]), 1
        )
    usable = np.flatnonzero(np.isfinite(joint[:, 0]))
    second = joint[:, 2 if t.objective == ENERGY else 1]
    order = usable[np.lexsort((second[usable], joint[usable, 0]))]
    array = ArrayTiles(places[order], energy[order], cycles[order], joint[order, 1:].copy(), joint[order, 0])
    return array, above


def _front(energy: Floats, cycles: Floats) -> Integers:
    """Where no other is as good in both, and one of those that are equal."""
    order = np.lexsort((cycles, energy))
    before = np.minimum.accumulate(np.concatenate(([np.inf], cycles[order])))[:-1]
    front: Integers = order[cycles[order] < before]
    return front


def _slices(count: int, step: int, stopped: Callable[[], object]) -> Iterator[slice]:
    """All of so many, a few at a time.

    Raises: UnfinishedError when time is over.
    """
    for first in range(0, count, step):
        reason = stopped()
        if reason is not None:
            raise UnfinishedError(str(reason))
        yield slice(first, min(first + step, count))


def _values(t: KernelTable, energy: Floats, processing: Floats, dma: Floats | float) -> Floats:
    """The objective of at least so much, infinity where that takes too long."""
    energy = energy * SLACK - (0.5 * t.per_pj if t.rounded else 0.0)
    cycles = np.maximum(processing, dma) if t.buffers.spm else processing + dma
    objective = energy * cycles if t.objective == EDP else energy if t.objective == ENERGY else cycles
    return np.where((cycles <= t.reach_cycles) & np.isfinite(energy), objective, np.inf)


def _improving(
    t: KernelTable, energy: Floats, processing: Floats, dma: Floats | float, reach: float
) -> Array:
    """Where one of the cases (the last axis) may improve on the incumbent."""
    alive = np.zeros(len(energy), np.bool_)
    for case in range(energy.shape[-1]):
        values = _values(t, energy[:, case], processing[..., case], dma)
        alive |= (values <= reach) & np.isfinite(values)
    return alive


def _array_places(t: KernelTable, v: CoverTable, reach: float, stopped: Callable[[], object]) -> Integers:
    """The array tiles, with a scratch-pad tile above them that moves every word once."""
    spm_blocks = [_spm_block(v, loops) for loops in _blocks(v.dram_counts, v)]
    kept = np.prod([block.factors.min(axis=1) for block in spm_blocks], axis=0).reshape(3, -1)[2]
    moved = np.where(t.updated & ~t.zero, 2.0, 1.0) * kept
    out_cycles = kept.sum() * v.dma.burst_word / v.dma.burst_whole if t.alone else 0.0
    return _joined(
        [_array_block(v, loops) for loops in _blocks(v.counts, v)],
        lambda factors: _array_hopeless(t, v, factors, v.dram_unit * moved.sum(), out_cycles, reach),
        stopped,
    )


def _spm_tiles(
    t: KernelTable, v: CoverTable, within: tuple[Floats, Floats], reach: float, stopped: Callable[[], object]
) -> SpmTiles:
    """The scratch-pad tiles, around array tiles of at least these energies and cycles ``within`` [cases]."""
    from mapper.solver.tiling.cover import bound_kernel

    places = _joined(
        [_spm_block(v, loops) for loops in _blocks(v.dram_counts, v)],
        lambda factors: _spm_hopeless(t, v, factors, within, reach),
        stopped,
    )
    energy, cycles = np.empty(len(places)), np.empty(len(places))
    for some in _slices(len(places), TILES_PER_CALL, stopped):
        bound_kernel.outer_bounds(t, v, places[some], energy[some], cycles[some])
    values = np.full(len(energy), np.inf)
    for case in range(len(within[0])):
        values = np.minimum(values, _values(t, within[0][case] + energy, within[1][case], cycles))
    kept = np.flatnonzero((values <= reach) & np.isfinite(values))
    order = kept[np.argsort(values[kept], kind="stable")]
    return SpmTiles(places[order], energy[order], cycles[order], values[order])


def _blocks(counts: Integers, v: CoverTable) -> list[tuple[int, ...]]:
    """The loops by blocks: those without a choice first, then those with the most."""
    blocks = [{j} for j in range(len(v.counts))]
    for k, dimensions in enumerate(v.spans.dimensions):
        for place in range(dimensions):
            met = {
                int(v.spans.term_loop[term])
                for term in range(v.spans.terms[k, place], v.spans.terms[k, place + 1])
            }
            joined = set[int]().union(*(block for block in blocks if block & met))
            if joined:
                blocks = [block for block in blocks if not block & met] + [joined]
    ordered = sorted(tuple(sorted(block)) for block in blocks)
    choices = {block: int(np.prod(counts[list(block)])) for block in ordered}
    return sorted(ordered, key=lambda block: (choices[block] > 1, -choices[block]))


def _joined(blocks: list[_Block], hopeless: Hopeless, stopped: Callable[[], object]) -> Integers:
    """The choices of all blocks [n, loops] that are not hopeless.

    Raises: UnfinishedError, TooManyOpenError.
    """
    rest = [np.ones(len(blocks[0].factors))]
    for block in reversed(blocks):
        rest.append(rest[-1] * block.factors.min(axis=1))
    rest = rest[::-1][1:]
    factors, places = np.ones((len(blocks[0].factors), 1)), np.zeros((1, 0), np.int64)
    for block, least in zip(blocks, rest, strict=True):
        choices = block.factors.shape[1]
        kept, count = [np.zeros(0, np.int64)], 0
        # A few at a time: longer rows would leave the processor's caches.
        for part in _slices(factors.shape[1], max(1, MOST_AT_ONCE // choices), stopped):
            some = factors[:, part, None] * (block.factors * least[:, None])[:, None, :]
            kept.append(part.start * choices + np.flatnonzero(~hopeless(some.reshape(len(factors), -1))))
            count += len(kept[-1])
            if count > MOST_OPEN:
                raise TooManyOpenError
        before, chosen = np.divmod(np.concatenate(kept), choices)
        factors = factors[:, before] * block.factors[:, chosen]
        places = np.concatenate((places[before], block.places[chosen]), axis=1)
        if not len(before):
            return np.zeros((0, sum(len(block.loops) for block in blocks)), np.int64)
    order = np.argsort([loop for block in blocks for loop in block.loops])
    return np.ascontiguousarray(places[:, order])


def _words(v: CoverTable, loops: tuple[int, ...], tile: Integers) -> Iterator[Floats]:
    """Of each operand, the words of tiles [n, loops] in the dimensions of these loops."""
    for k, dimensions in enumerate(v.spans.dimensions):
        words = np.ones(len(tile))
        for place in range(dimensions):
            terms = range(v.spans.terms[k, place], v.spans.terms[k, place + 1])
            if terms and int(v.spans.term_loop[terms[0]]) in loops:
                words *= 1 + sum(
                    v.spans.term_factor[term] * (tile[:, loops.index(int(v.spans.term_loop[term]))] - 1)
                    for term in terms
                )
        yield words


def _places(counts: Integers, loops: tuple[int, ...]) -> Integers:
    return np.stack([axis.reshape(-1) for axis in np.indices([int(counts[j]) for j in loops])], axis=-1)


def _own(v: CoverTable, loops: tuple[int, ...], trips: Integers) -> Iterator[Floats]:
    """Of each operand, the product of the trips [n, loops] of the loops that it depends on."""
    for k in range(len(v.spans.dimensions)):
        yield np.where(v.own[k, list(loops)], trips, 1).prod(axis=1, dtype=np.float64)


def _array_block(v: CoverTable, loops: tuple[int, ...]) -> _Block:
    """Iterations; of each operand words times passes, delivered words times passes, the same times own tiles, and
    delivered words alone."""
    places = _places(v.counts, loops)
    classes = places + v.base[list(loops)]
    tile, trips = v.tile[classes], v.trips[classes]
    passes = trips.prod(axis=1, dtype=np.float64)
    delivered = np.ones((len(v.spans.dimensions), len(places)))
    for group, k in enumerate(v.group_operand):
        strides = v.group_strides[group, list(loops)]
        if strides.any():
            delivered[k] *= v.delivered[v.group_start[group] + places @ strides]
    words, own = np.array(list(_words(v, loops, tile))), np.array(list(_own(v, loops, trips)))
    first = ((tile * trips).prod(axis=1, dtype=np.float64), passes)
    rows = (*first, *(words * passes), *(delivered * passes), *(words * own), *(delivered * own), *delivered)
    return _Block(loops, places, np.array(rows))


def _of_array(factors: Floats) -> tuple[Floats, Floats, Floats]:
    """The rows of `_array_block`: iterations, passes, and the others [5, operands, n]."""
    return factors[0], factors[1], factors[2:].reshape(5, -1, factors.shape[1])


def _array_hopeless(
    t: KernelTable, v: CoverTable, factors: Floats, out_energy: float, out_cycles: float, reach: float
) -> Array:
    """Whether array tiles cannot improve: at least the bounds of `bound_kernel`, or no room in the register files."""
    iterations, _, (words, delivered, own_words, own_delivered, room) = _of_array(factors)
    twice = np.where(t.updated & (t.doubled | ~t.zero), 2.0, 1.0)[:, None]
    moved = (v.spm_unit * words + t.noc_unit * delivered) * twice
    once = np.where(t.updated & ~t.zero, 2.0, 1.0)[:, None]
    kept = (v.spm_unit * own_words + t.noc_unit * own_delivered) * once
    base = v.iteration_energy * iterations + out_energy
    work = iterations * (t.iteration_cycles / t.pes)
    networks, carried = np.arange(t.networks)[:, None], words / v.widths[:, None]
    users = ((t.read_network == networks) | (t.write_network == networks)).astype(np.float64)
    energies, cycles = [], []
    for stays in range(len(moved) + 1) if t.alone else ():
        comes = [k for k in range(len(moved)) if k != stays]
        total = base + moved[comes].sum(axis=0)
        energies.append(total if stays == len(moved) else total + kept[stays])
        load = (users[:, comes] @ carried[comes]).max(axis=0)
        serial = not t.buffers.rf or (t.buffers.exposed and any(t.updated[k] for k in comes))
        cycles.append(work + load if serial else np.maximum(work, load))
    if not t.alone:
        energies, cycles = [base + kept.sum(axis=0)], [work]
    if t.streams.on:
        # What follows comes in part: each word once, at least.
        energies, cycles = [base], [work]
    able = _improving(t, np.stack(energies).T, np.stack(cycles).T, out_cycles, reach)
    return ~able | (room.sum(axis=0) > t.pes * t.rf_capacity)


def _spm_block(v: CoverTable, loops: tuple[int, ...]) -> _Block:
    """Of each operand words, words times passes, and words times own tiles."""
    places = _places(v.dram_counts, loops)
    tile, trips = (
        np.stack([table[j, places[:, at]] for at, j in enumerate(loops)], axis=-1)
        for table in (v.dram_tile, v.dram_trips)
    )
    words, own = np.array(list(_words(v, loops, tile))), np.array(list(_own(v, loops, trips)))
    passes = trips.prod(axis=1, dtype=np.float64)
    return _Block(loops, places, np.concatenate((words, words * passes, words * own)))


def _spm_hopeless(
    t: KernelTable, v: CoverTable, factors: Floats, within: tuple[Floats, Floats], reach: float
) -> Array:
    """Whether scratch-pad tiles cannot improve: at least the bounds of `bound_kernel`, or no room."""
    words, moved, kept = factors.reshape(3, -1, factors.shape[1])
    twice = np.where(t.updated & ~t.zero, 2.0, 1.0)[:, None]
    energies, cycles = [], []
    for stays in range(len(words) + 1) if t.alone else ():
        crossed = moved.copy()
        if stays < len(words):
            crossed[stays] = kept[stays]
        energies.append((crossed * twice).sum(axis=0))
        cycles.append(crossed.sum(axis=0))
    if not t.alone:
        energies, cycles = [(kept * twice).sum(axis=0)], [np.zeros(factors.shape[1])]
    energy = v.dram_unit * np.minimum.reduce(energies)[:, None]
    busy = np.minimum.reduce(cycles) * (v.dma.burst_word / v.dma.burst_whole)
    able = _improving(t, within[0] + energy, within[1], busy, reach)
    banks = np.ceil(words * (v.dma.word_bytes * SLACK / v.dma.bank_bytes)).sum(axis=0)
    return ~able | (banks > v.banks)
