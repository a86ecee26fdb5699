"""Compiled bounds over the grids of array tiles and scratch-pad tiles (the argument is in covering)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mapper.models.compiled import Compiled, borrowing, compiled
from mapper.solver.tiling.cover import goal_kernel, stream_kernel
from mapper.solver.tiling.cover.table import Array, CoverTable, Dma, Spans
from mapper.solver.tiling.exact import bound_kernel, incumbent_kernel
from mapper.solver.tiling.exact.kernel_table import KernelTable
from mapper.solver.tiling.stream.bound_kernel import Room as StreamRoom

_surely: Any = bound_kernel.surely
_waited: Any = bound_kernel.waited
_together: Any = bound_kernel.together
_goal_of: Any = goal_kernel.goal_of
_misses: Any = goal_kernel.misses
_ranks: Any = incumbent_kernel.ranks
_first_bound: Any = stream_kernel.first_bound


class Crossing(NamedTuple):
    """What crosses between scratch-pad and PEs, by operand: number of ``tiles``, whether an order is ``able`` to keep
    one for more than a pass, energies of one crossing at the NoC, at the scratch-pad and of the additions between PEs,
    cycles of a crossing and of its additions."""

    tiles: Array
    able: Array
    noc_energy: Array
    spm_energy: Array
    addition_energy: Array
    noc_cycles: Array
    addition_cycles: Array


class Ways(NamedTuple):
    """How often operands cross: ``kept`` times their tiles where they stay, else ``every`` times the passes, less
    ``first`` times the tiles [operands]; which are ``updated``, and their networks; what machine and rules say."""

    kept: Array
    every: Array
    first: Array
    updated: Array
    read_network: Array
    write_network: Array
    networks: int
    alone: bool
    beside: bool
    exposed: bool


def _ways_of(t: KernelTable) -> Ways:
    operands = len(t.updated)
    kept, every, first = np.ones(operands), np.ones(operands), np.zeros(operands)
    for k in range(operands):
        if t.updated[k]:
            every[k] = 2.0
            kept[k] = 1.0 if t.zero[k] else 2.0
            first[k] = 1.0 if t.zero[k] and not t.doubled else 0.0
    return Ways(
        kept, every, first, t.updated, t.read_network, t.write_network, t.networks, t.alone, t.buffers.rf,
        t.buffers.exposed,
    )  # fmt: skip


def _crossing(operands: int) -> Crossing:
    """Room for what crosses; without additions."""
    return Crossing(
        np.ones(operands, np.int64),
        np.zeros(operands, np.bool_),
        np.zeros(operands, np.float64),
        np.zeros(operands, np.float64),
        np.zeros(operands, np.float64),
        np.zeros(operands, np.int64),
        np.zeros(operands, np.int64),
    )


def cases(t: KernelTable) -> int:
    """For how many cases there are bounds: by the operand that stays, or that none does; or one for all, as where
    memories are filled as streams."""
    return len(t.updated) + 1 if t.alone and not t.streams.on else 1


def _words(spans: Spans, k: int, tile: Array) -> int:
    """Words of operand ``k`` in a tile."""
    words = 1
    for place in range(spans.dimensions[k]):
        span = 1
        for term in range(spans.terms[k, place], spans.terms[k, place + 1]):
            span += spans.term_factor[term] * (tile[spans.term_loop[term]] - 1)
        words *= span
    return words


def _banks(spans: Spans, dma: Dma, tile: Array) -> int:
    """Scratch-pad banks that a tile takes."""
    taken = 0
    for k in range(len(spans.dimensions)):
        taken += -(-_words(spans, k, tile) * dma.word_bytes // dma.bank_bytes)
    return taken


def _moved(spans: Spans, dma: Dma, k: int, tile: Array, trips: Array) -> tuple[int, int]:
    """Words that a scratch-pad tile of operand ``k`` moves by DMA, and cycles; it is whole in the loops that run once
    at DRAM."""
    burst, bursts, contiguous = 1, 1, True
    for back in range(spans.dimensions[k]):
        place = spans.dimensions[k] - 1 - back
        span, whole = 1, dma.is_whole[k, place]
        for term in range(spans.terms[k, place], spans.terms[k, place + 1]):
            span += spans.term_factor[term] * (tile[spans.term_loop[term]] - 1)
            whole = whole and trips[spans.term_loop[term]] == 1
        if contiguous:
            burst *= span
        else:
            bursts *= span
        contiguous = contiguous and whole
    return burst * bursts, bursts * (-(-(dma.burst_fixed + dma.burst_word * burst) // dma.burst_whole))


class Trips(NamedTuple):
    """What moves by DMA in the orders of the trips at DRAM: orders from ``start[which loops run]`` on, as bits of the
    loops that each operand stays over (``masks``); which loops an operand depends on (``own``), whether it is
    ``updated``, and from ``zero``; what machine and rules say."""

    start: Array
    masks: Array
    own: Array
    updated: Array
    zero: Array
    doubled: bool
    alone: bool
    beside: bool


def _trips_of(t: KernelTable, v: CoverTable) -> Trips:
    return Trips(t.dram_start, t.dram_masks, v.own, t.updated, t.zero, t.doubled, t.alone, t.buffers.spm)


def _outer_bound(o: Trips, trips: Array, energies: Array, taken: Array) -> tuple[float, float]:
    """Least DRAM energy, and DMA cycles, over the orders of a scratch-pad tile; ``energies`` and ``taken`` [operands]
    are of one tile of each operand."""
    mask, passes = 0, 1
    for j in range(len(trips)):
        passes *= trips[j]
        if trips[j] > 1:
            mask |= 1 << j
    energy, cycles = np.inf, np.inf
    for pattern in range(o.start[mask], o.start[mask + 1]):
        total, busy = 0.0, 0.0
        for k in range(len(taken)):
            reuse, tiles = 1, 1
            for j in range(len(trips)):
                if o.masks[pattern, k] >> j & 1:
                    reuse *= trips[j]
                if o.own[k, j]:
                    tiles *= trips[j]
            visits = passes // reuse
            moves = visits
            if o.updated[k]:
                moves = 2 * visits - tiles if o.zero[k] else 2 * visits
            total += energies[k] * moves
            if reuse == 1:
                rereads = o.updated[k] and (o.doubled or not o.zero[k] or passes > tiles)
                busy += float(taken[k]) * visits * (2 if rereads else 1)
            elif o.alone or not o.beside:
                busy += float(taken[k]) * visits * (2 if o.updated[k] else 1)
        energy, cycles = min(energy, total), min(cycles, busy)
    return energy, _waited(cycles)


def _outer_bounds(t: KernelTable, v: CoverTable, places: Array, energy: Array, cycles: Array) -> None:
    """The same for scratch-pad tiles, whose trips at DRAM are in ``places`` [n][loops]; infinity where none fits."""
    o, loops, operands = _trips_of(t, v), len(v.dram_counts), len(v.spans.dimensions)
    tile, trips = np.empty(loops, np.int64), np.empty(loops, np.int64)
    energies, taken = np.empty(operands, np.float64), np.empty(operands, np.int64)
    for point in range(len(energy)):
        energy[point], cycles[point] = np.inf, np.inf
        for j in range(loops):
            tile[j], trips[j] = v.dram_tile[j, places[point, j]], v.dram_trips[j, places[point, j]]
        if _banks(v.spans, v.dma, tile) > v.banks:
            continue
        for k in range(operands):
            words, taken[k] = _moved(v.spans, v.dma, k, tile, trips)
            energies[k] = words * v.dram_unit
        energy[point], cycles[point] = _outer_bound(o, trips, energies, taken)


def _load(w: Ways, noc_cycles: Array, stays: int) -> int:
    """Cycles of the busiest network when all operands come, but the one that ``stays``."""
    load = 0
    for network in range(w.networks):
        busy = 0
        for k in range(len(noc_cycles)):
            if k != stays and (w.read_network[k] == network or w.write_network[k] == network):
                busy += noc_cycles[k]
        load = max(load, busy)
    return load


def _inner_bounds(
    w: Ways, passes: int, crossing: Crossing, compute: int, energies: Array, cycles: Array
) -> None:
    """Least energy of NoC and scratch-pad, and least cycles without DMA, of all tilings with these passes, by the
    operand that does not cross in every pass; behind them, of those where all do. Where several operands may stay at
    once, of all tilings."""
    operands = len(crossing.tiles)
    for stays in range(len(energies)):
        if w.alone and stays < operands and not crossing.able[stays]:
            energies[stays], cycles[stays] = np.inf, np.inf
            continue
        energy, added, exposed = 0.0, 0, False
        for k in range(operands):
            kept = k == stays or not w.alone
            tiles = float(crossing.tiles[k])
            moves = w.kept[k] * tiles if kept else w.every[k] * passes - w.first[k] * tiles
            energy += (crossing.noc_energy[k] + crossing.spm_energy[k]) * moves
            energy += crossing.addition_energy[k] * (crossing.tiles[k] if kept else passes)
            if w.updated[k] and not kept:
                exposed = exposed or w.exposed
                added += crossing.addition_cycles[k]
        load = _load(w, crossing.noc_cycles, stays) if w.alone else 0
        every = max(compute, load) if w.beside and not exposed else compute + load
        total = float(passes) * (every + added)
        if w.alone and stays < operands:
            # What stays comes now and then: nothing hides more of it than a pass, nor of the work behind a sum that
            # leaves.
            now = max(0, crossing.noc_cycles[stays] - every)
            if w.updated[stays]:
                now += crossing.addition_cycles[stays]
                now += compute if w.exposed and not exposed else 0
            total += float(crossing.tiles[stays]) * now
        energies[stays], cycles[stays] = energy, _waited(total)


class _Tile(NamedTuple):
    """An array tile: its ``classes``, the ``least`` and ``most`` that its loops have there [loops], RF passes and the
    cycles of one."""

    classes: Array
    least: Array
    most: Array
    passes: int
    compute: int


def _bound(
    t: KernelTable,
    v: CoverTable,
    w: Ways,
    tile: _Tile,
    crossing: Crossing,
    x: StreamRoom,
    energy: Array,
    cycles: Array,
) -> None:
    """Bounds without operations [cases], where tiles come whole."""
    _inner_bounds(w, tile.passes, crossing, tile.compute, energy, cycles)


def _streamed(
    t: KernelTable,
    v: CoverTable,
    w: Ways,
    tile: _Tile,
    crossing: Crossing,
    x: StreamRoom,
    energy: Array,
    cycles: Array,
) -> None:
    """The same where memories are filled as streams."""
    energy[0], cycles[0] = _first_bound(
        t, v, tile.classes, tile.passes, tile.compute, tile.least, tile.most, x
    )


def _first_bounds(
    t: KernelTable, v: CoverTable, places: Array, crossing: Crossing, x: StreamRoom, energies: Array,
    cycles: Array,
) -> None:  # fmt: skip
    """Bounds without DRAM (energies, cycles [n][cases]) of the array tiles whose classes are in ``places``
    [n][loops]."""
    w, operands, loops = _ways_of(t), len(v.spans.dimensions), places.shape[1]
    tile, most, classes = np.empty(loops, np.int64), np.empty(loops, np.int64), np.empty(loops, np.int64)
    for point in range(len(places)):
        passes, size, iterations = 1, 1, 1.0
        crossing.tiles[:] = 1
        crossing.able[:] = False
        crossing.noc_energy[:] = t.noc_unit
        for j in range(len(tile)):
            one = v.base[j] + places[point, j]
            classes[j], tile[j], most[j] = one, v.tile[one], v.most_tile[one]
            passes *= v.trips[one]
            size *= tile[j]
            iterations *= float(tile[j] * v.trips[one])
            for k in range(operands):
                if v.own[k, j]:
                    crossing.tiles[k] *= v.trips[one]
                elif v.runs[one]:
                    crossing.able[k] = True
        for group in range(len(v.group_operand)):
            at = v.group_start[group]
            for j in range(len(tile)):
                at += places[point, j] * v.group_strides[group, j]
            crossing.noc_energy[v.group_operand[group]] *= v.delivered[at]
        for k in range(operands):
            words = _words(v.spans, k, tile)
            crossing.spm_energy[k] = words * v.spm_unit
            crossing.noc_cycles[k] = -(-words // v.widths[k])
            x.words[k], x.tiles[k], x.noc_cycles[k] = words, crossing.tiles[k], crossing.noc_cycles[k]
            x.noc_energy[k], x.spm_energy[k] = crossing.noc_energy[k], crossing.spm_energy[k]
        compute = -(-size // t.pes) * t.iteration_cycles
        here = _Tile(classes, tile, most, passes, compute)
        _bound(t, v, w, here, crossing, x, energies[point], cycles[point])
        energies[point] += v.iteration_energy * iterations


def _fits(place: Array, classes: Array, trips: Array) -> bool:
    """Whether array tiles of ``classes`` can have scratch-pad tiles above them with these ``trips`` at DRAM."""
    fits = True
    for j in range(len(classes)):
        fits = fits and place[classes[j], trips[j]] >= 0
    return fits


def _hopeful(g: goal_kernel.Goal, incumbent: Array, energy: float, cycles: float, above: Array) -> int:
    """How many of the scratch-pad tiles, by the ascending energies ``above``, may improve on the incumbent, if only
    their energy is counted."""
    first, last = 0, len(above)
    while first < last:
        middle = (first + last) // 2
        if _misses(g, incumbent, energy + above[middle], cycles, 0.0):
            last = middle
        else:
            first = middle + 1
    return first


def _joint_bounds(
    t: KernelTable, v: CoverTable, array: tuple[Array, Array, Array], above: tuple[Array, Array, Array],
    front: tuple[Array, Array], incumbent: Array, joint: Array,
) -> None:  # fmt: skip
    """Bounds of array tiles (places, energies, cycles) with the best scratch-pad tiles that may be above them (which of
    them fit each class [C, S], energies, ascending, and cycles): into ``joint`` [n][3] the objective, energy and
    cycles, where they are less. ``front``: energies and cycles of scratch-pad tiles than which no other is as good in
    both."""
    places, energies, cycles = array
    fits, out_energies, out_cycles = above
    g, open_ = _goal_of(t), np.empty(len(out_energies), np.uint8)
    for one in range(len(places)):
        least_energy, least_cycles = energies[one].min(), cycles[one].min()
        alive = False
        for spm in range(len(front[0])):
            if not alive:
                alive = not _misses(g, incumbent, least_energy + front[0][spm], least_cycles, front[1][spm])
        hopeful = _hopeful(g, incumbent, least_energy, least_cycles, out_energies) if alive else 0
        open_[:hopeful] = 1
        for j in range(places.shape[1]):
            # A loop over bytes, of which a processor takes many at once.
            row = fits[v.base[j] + places[one, j]]
            for spm in range(hopeful):
                open_[spm] &= row[spm]
        for spm in range(hopeful):
            if not open_[spm] or _misses(
                g, incumbent, least_energy + out_energies[spm], least_cycles, out_cycles[spm]
            ):
                continue
            for case in range(energies.shape[1]):
                total = energies[one, case] + out_energies[spm]
                if not _misses(g, incumbent, total, cycles[one, case], out_cycles[spm]):
                    energy = _surely(t, total)
                    least = _together(t, cycles[one, case], out_cycles[spm])
                    joint[one, 0] = min(joint[one, 0], _ranks(t.objective, energy, least)[0])
                    joint[one, 1], joint[one, 2] = min(joint[one, 1], energy), min(joint[one, 2], least)


words = borrowing(_words)
banks = borrowing(_banks, _words=words)
moved = borrowing(_moved)
outer_bound = borrowing(_outer_bound)
trips_of = compiled(_trips_of)
outer_bounds = compiled(
    _outer_bounds, _banks=banks, _moved=moved, _outer_bound=outer_bound, _trips_of=trips_of
)
inner_bounds = borrowing(_inner_bounds, _load=borrowing(_load))
ways_of = compiled(_ways_of)
fits = borrowing(_fits)
crossing_room = compiled(_crossing)
joint_bounds = compiled(_joint_bounds, _hopeful=borrowing(_hopeful))
_buffered_first = compiled(
    _first_bounds, _words=words, _ways_of=ways_of, _bound=borrowing(_bound, _inner_bounds=inner_bounds)
)
_streamed_first = compiled(_first_bounds, _words=words, _ways_of=ways_of, _bound=borrowing(_streamed))


def first_bounds_of(t: KernelTable) -> Compiled:
    """`_first_bounds` for tiles that follow each other in streams, or that come whole."""
    return _streamed_first if t.streams.on else _buffered_first
