"""Compiled bounds over the grids of array tiles and scratch-pad tiles (the argument is in covering)."""

from __future__ import annotations

from typing import Any

import numpy as np

from mapper.models.compiled import borrowing, compiled
from mapper.solver.tiling.cover import stream_kernel
from mapper.solver.tiling.cover.table import Array, CoverTable
from mapper.solver.tiling.exact import bound_kernel, incumbent_kernel
from mapper.solver.tiling.exact.kernel_table import KernelTable
from mapper.solver.tiling.stream import bound_kernel as stream_bounds

_crossing_bound: Any = bound_kernel.crossing_bound
_surely: Any = bound_kernel.surely
_waited: Any = bound_kernel.waited
_together: Any = bound_kernel.together
_bounded_out: Any = incumbent_kernel.bounded_out
_room_of: Any = stream_bounds.room_of
_first_bound: Any = stream_kernel.first_bound


def _words(v: CoverTable, k: int, tile: Array) -> int:
    """Words of operand ``k`` in a tile."""
    words = 1
    for place in range(v.dimensions[k]):
        span = 1
        for term in range(v.terms[k, place], v.terms[k, place + 1]):
            span += v.term_factor[term] * (tile[v.term_loop[term]] - 1)
        words *= span
    return words


def _banks(v: CoverTable, tile: Array) -> int:
    """Scratch-pad banks that a tile takes."""
    taken = 0
    for k in range(len(v.dimensions)):
        taken += -(-_words(v, k, tile) * v.word_bytes // v.bank_bytes)
    return taken


def _moved(v: CoverTable, k: int, tile: Array, trips: Array) -> tuple[int, int]:
    """Words that a scratch-pad tile of operand ``k`` moves by DMA, and cycles; it is whole in the loops that run once
    at DRAM."""
    burst, bursts, contiguous = 1, 1, True
    for back in range(v.dimensions[k]):
        place = v.dimensions[k] - 1 - back
        span, whole = 1, v.is_whole[k, place]
        for term in range(v.terms[k, place], v.terms[k, place + 1]):
            span += v.term_factor[term] * (tile[v.term_loop[term]] - 1)
            whole = whole and trips[v.term_loop[term]] == 1
        if contiguous:
            burst *= span
        else:
            bursts *= span
        contiguous = contiguous and whole
    return burst * bursts, bursts * (-(-(v.burst_fixed + v.burst_word * burst) // v.burst_whole))


def _outer_bound(
    t: KernelTable, v: CoverTable, tile: Array, trips: Array, energies: Array, taken: Array
) -> tuple[float, float]:
    """Least DRAM energy, and DMA cycles, over the orders of a scratch-pad tile; ``energies`` and ``taken`` [operands]
    are of one tile of each operand."""
    mask, passes = 0, 1
    for j in range(len(trips)):
        passes *= trips[j]
        if trips[j] > 1:
            mask |= 1 << j
    energy, cycles = np.inf, np.inf
    for pattern in range(t.dram_start[mask], t.dram_start[mask + 1]):
        total, busy = 0.0, 0.0
        for k in range(len(taken)):
            reuse, tiles = 1, 1
            for j in range(len(trips)):
                if t.dram_masks[pattern, k] >> j & 1:
                    reuse *= trips[j]
                if v.own[k, j]:
                    tiles *= trips[j]
            visits = passes // reuse
            moves = visits
            if t.updated[k]:
                moves = 2 * visits - tiles if t.zero[k] else 2 * visits
            total += energies[k] * moves
            if reuse == 1:
                rereads = t.updated[k] and (t.doubled or not t.zero[k] or passes > tiles)
                busy += float(taken[k]) * visits * (2 if rereads else 1)
            elif t.alone or not t.buffers.spm:
                busy += float(taken[k]) * visits * (2 if t.updated[k] else 1)
        energy, cycles = min(energy, total), min(cycles, busy)
    return energy, _waited(cycles)


def _outer_bounds(t: KernelTable, v: CoverTable, energy: Array, cycles: Array) -> None:
    """The same for every point of the grid of scratch-pad tiles; infinity where none fits."""
    loops, operands = len(v.dram_counts), len(v.dimensions)
    tile, trips = np.empty(loops, np.int64), np.empty(loops, np.int64)
    energies, taken = np.empty(operands, np.float64), np.empty(operands, np.int64)
    for point in range(len(energy)):
        energy[point], cycles[point] = np.inf, np.inf
        for j in range(loops):
            place = point // v.dram_strides[j] % v.dram_counts[j]
            tile[j], trips[j] = v.dram_tile[j, place], v.dram_trips[j, place]
        if _banks(v, tile) > v.banks:
            continue
        for k in range(operands):
            words, taken[k] = _moved(v, k, tile, trips)
            energies[k] = words * v.dram_unit
        energy[point], cycles[point] = _outer_bound(t, v, tile, trips, energies, taken)


def _inner_bound(
    t: KernelTable,
    passes: int,
    own_tiles: Array,
    compute: int,
    noc_energy: Array,
    spm_energy: Array,
    noc_cycles: Array,
) -> tuple[float, float]:
    """Least NoC and scratch-pad energy, and least cycles, of all tilings whose array tile takes this of the machine in
    each of so many passes at least: as in ``exact/bound_kernel.py``."""
    least_energy, least_cycles = np.inf, np.inf
    for reused in range(len(noc_cycles) if t.alone else 1):
        energy, load, serial = 0.0, 0, not t.buffers.rf
        for k in range(len(noc_cycles)):
            stays = k == reused or not t.alone
            energy += (noc_energy[k] + spm_energy[k]) * _crossing_bound(t, k, passes, own_tiles[k], stays)
            if not stays:
                load = max(load, noc_cycles[k])
                serial = serial or (t.buffers.exposed and t.updated[k])
        cycles = float(passes) * ((compute + load) if serial else max(compute, load))
        least_energy, least_cycles = min(least_energy, energy), min(least_cycles, cycles)
    return least_energy, _waited(least_cycles)


def _first_bounds(
    t: KernelTable, v: CoverTable, least_out_energy: Array, least_out_cycles: Array, incumbent: Array, energy: Array,
    cycles: Array,
) -> None:  # fmt: skip
    """Bounds on energy and cycles for every point of the grid of array tiles; infinity where none fits, or can improve
    on the incumbent."""
    loops, operands = len(v.counts), len(v.dimensions)
    tile, most = np.empty(loops, np.int64), np.empty(loops, np.int64)
    place, classes = np.empty(loops, np.int64), np.empty(loops, np.int64)
    x = _room_of(loops, operands, len(t.streams.along))
    for point in range(len(energy)):
        energy[point], cycles[point] = np.inf, np.inf
        if np.isinf(least_out_energy[point]):
            continue
        passes, iterations, size = 1, 1.0, 1
        for j in range(loops):
            place[j] = point // v.strides[j] % v.counts[j]
            one = v.base[j] + place[j]
            classes[j], tile[j], most[j] = one, v.tile[one], v.most_tile[one]
            passes *= v.trips[one]
            size *= tile[j]
            iterations *= float(tile[j] * v.trips[one])
        compute = -(-size // t.pes) * t.iteration_cycles
        least = _surely(t, v.iteration_energy * iterations + least_out_energy[point])
        if _bounded_out(t, least, _together(t, float(passes) * compute, least_out_cycles[point]), incumbent):
            continue
        x.tiles[:] = 1
        x.noc_energy[:] = t.noc_unit
        for j in range(loops):
            for k in range(operands):
                if v.own[k, j]:
                    x.tiles[k] *= v.trips[classes[j]]
        for group in range(len(v.group_operand)):
            at = v.group_start[group]
            for j in range(loops):
                at += place[j] * v.group_strides[group, j]
            x.noc_energy[v.group_operand[group]] *= v.delivered[at]
        for k in range(operands):
            x.words[k] = _words(v, k, tile)
            x.spm_energy[k] = x.words[k] * v.spm_unit
            x.noc_cycles[k] = -(-x.words[k] // v.widths[k])
        if t.streams.on:
            inner, processing = _first_bound(t, v, classes, passes, compute, tile, most, x)
        else:
            inner, processing = _inner_bound(
                t, passes, x.tiles, compute, x.noc_energy, x.spm_energy, x.noc_cycles
            )
        energy[point] = _surely(t, v.iteration_energy * iterations + inner + least_out_energy[point])
        cycles[point] = _together(t, processing, least_out_cycles[point])


words = borrowing(_words)
banks = borrowing(_banks, _words=words)
moved = borrowing(_moved)
outer_bound = borrowing(_outer_bound, _waited=bound_kernel.waited)
outer_bounds = compiled(_outer_bounds, _banks=banks, _moved=moved, _outer_bound=outer_bound)
inner_bound = borrowing(
    _inner_bound, _crossing_bound=bound_kernel.crossing_bound, _waited=bound_kernel.waited
)
first_bounds = compiled(
    _first_bounds,
    _words=words,
    _inner_bound=inner_bound,
    _room_of=stream_bounds.room_of,
    _first_bound=stream_kernel.first_bound,
    _surely=bound_kernel.surely,
    _together=bound_kernel.together,
    _bounded_out=incumbent_kernel.bounded_out,
)
