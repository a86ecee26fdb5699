"""Compiled bounds on energy and cycles of tiles (the argument is in branch_and_bound), and counting."""

from __future__ import annotations

import numpy as np

from mapper.models.compiled import compiled
from mapper.solver.tiling.exact.float_price import EXACT
from mapper.solver.tiling.exact.kernel_table import Array, KernelTable

# Sums of floats taken in another order differ by less than this share of their value.
SLACK = 1.0 - 1e-11


def _surely(t: KernelTable, energy: float) -> float:
    """An energy that is surely not above what the machine makes of one that is at least ``energy``: rounding to whole
    pJ takes half a pJ at the most."""
    return energy * SLACK - (0.5 * t.per_pj if t.rounded else 0.0)


def _waited(cycles: float) -> float:
    """Cycles, below which no rounding lies: up to 2^53 they are exact."""
    return cycles if cycles < EXACT else cycles * SLACK


def _together(t: KernelTable, processing: float, dma: float) -> float:
    """Cycles of the layer, of what processing and DMA take at least: side by side, or in turn where the scratch-pad has
    one buffer."""
    return max(processing, dma) if t.buffers.spm else processing + dma


def _crossing_bound(t: KernelTable, k: int, passes: int, own_tiles: int, stays: bool) -> float:
    """Least crossings of operand ``k`` between scratch-pad and PEs: kept as far as any order can
    (``stays``), or moved in every one of the layer's RF passes."""
    if stays:
        return 2.0 * own_tiles if t.updated[k] and not t.zero[k] else 1.0 * own_tiles
    if not t.updated[k]:
        return 1.0 * passes
    if t.doubled or not t.zero[k]:
        return 2.0 * passes
    return 2.0 * passes - own_tiles


def _inner_bound(t: KernelTable, b: int, compute: int, noc_energy: Array) -> tuple[float, float]:
    """Least NoC and scratch-pad energy, and least cycles, of all tilings with array tile ``b`` to which one crossing
    of an operand costs ``noc_energy`` at the NoC.

    Where an order reuses at most one operand, all but one cross in every RF pass; the least over which one
    that is. Otherwise every operand may stay.
    """
    operands = len(t.updated)
    passes = t.all_product[t.full] // t.all_product[b]
    least_energy = np.inf
    least_cycles = np.inf
    for reused in range(operands if t.alone else 1):
        energy = 0.0
        load = 0
        serial = not t.buffers.rf
        for k in range(operands):
            stays = k == reused or not t.alone
            tiles = t.own_product[k, t.full] // t.own_product[k, b]
            energy += (noc_energy[k] + t.spm_energy[k, b]) * _crossing_bound(t, k, passes, tiles, stays)
            if not stays:
                load = max(load, t.noc_cycles[k, b])
                serial = serial or (t.buffers.exposed and t.updated[k])
        cycles = float(passes) * ((compute + load) if serial else max(compute, load))
        least_energy = min(least_energy, energy)
        least_cycles = min(least_cycles, cycles)
    return least_energy, _waited(least_cycles)


def _first_bounds(
    t: KernelTable, least_out_energy: Array, least_out_cycles: Array, energy_bound: Array, cycles_bound: Array
) -> None:
    """Bounds on energy and cycles of all tilings with array tile b, for every b; infinity where none fits."""
    noc_energy = np.empty(len(t.updated), np.float64)
    for b in range(len(t.all_product)):
        energy_bound[b] = np.inf
        cycles_bound[b] = np.inf
        if np.isinf(least_out_energy[b]):
            continue
        splits = True
        for k in range(len(t.updated)):
            splits = splits and t.least_delivered[k, b] < np.inf
            noc_energy[k] = t.least_delivered[k, b] * t.noc_unit
        if not splits:
            continue
        compute = -(-t.all_product[b] // t.pes) * t.iteration_cycles
        energy, cycles = _inner_bound(t, b, compute, noc_energy)
        energy_bound[b] = _surely(t, t.operation_energy + t.rf_energy + energy + least_out_energy[b])
        cycles_bound[b] = _together(t, cycles, least_out_cycles[b])


def _outer_bounds(t: KernelTable, energy: Array, cycles: Array) -> None:
    """Least DRAM energy and DMA cycles over the orders of every scratch-pad tile; infinity where it is
    unusable."""
    operands = len(t.updated)
    loops = len(t.counts)
    trips = np.empty(loops, np.int64)
    for c in range(len(t.all_product)):
        energy[c] = np.inf
        cycles[c] = np.inf
        if not t.spm_tile_usable[c]:
            continue
        mask = 0
        for j in range(loops):
            trips[j] = t.divisors[j, t.quotients[j, t.counts[j] - 1, c // t.strides[j] % t.counts[j]]]
            if trips[j] > 1:
                mask |= 1 << j
        passes = t.all_product[t.full] // t.all_product[c]
        for pattern in range(t.dram_start[mask], t.dram_start[mask + 1]):
            total = 0.0
            busy = 0.0
            for k in range(operands):
                reuse = 1
                for j in range(loops):
                    if t.dram_masks[pattern, k] >> j & 1:
                        reuse *= trips[j]
                visits = passes // reuse
                tiles = t.own_product[k, t.full] // t.own_product[k, c]
                moves = visits
                if t.updated[k]:
                    moves = 2 * visits - tiles if t.zero[k] else 2 * visits
                total += t.dma_energy[k, c] * moves
                if t.timed:
                    busy += float(t.dma_cycles[k, c]) * moves
                elif reuse == 1:
                    rereads = t.updated[k] and (t.doubled or not t.zero[k] or passes > tiles)
                    busy += float(t.dma_cycles[k, c]) * visits * (2 if rereads else 1)
                elif t.alone or not t.buffers.spm:
                    # An overhead is charged for every reload, so reloads take their DMA time (twice for a
                    # partial sum, which leaves and comes back). With one buffer nothing hides it.
                    busy += float(t.dma_cycles[k, c]) * visits * (2 if t.updated[k] else 1)
            energy[c] = min(energy[c], total)
            cycles[c] = min(cycles[c], _waited(busy))


def _count_splits(t: KernelTable, found: Array) -> None:
    """Number of ways to split every array tile into PEs and register files within their capacities."""
    loops = len(t.counts)
    position = np.empty(loops, np.int64)
    product = np.ones(loops + 1, np.int64)
    register = np.zeros(loops + 1, np.int64)
    partial = np.zeros(loops + 1, np.int64)
    for b in range(len(t.all_product)):
        found[b] = 0
        position[:] = -1
        j = 0
        while j >= 0:
            position[j] += 1
            at = b // t.strides[j] % t.counts[j]
            if position[j] > at or product[j] * t.divisors[j, position[j]] > t.pes:
                position[j] = -1
                j -= 1
                continue
            left = t.quotients[j, at, position[j]]
            if left < 0 or not t.spatial_usable[j, position[j]] or not t.rf_usable[j, left]:
                continue
            product[j + 1] = product[j] * t.divisors[j, position[j]]
            register[j + 1] = register[j] + left * t.strides[j]
            partial[j + 1] = partial[j] + position[j] * t.strides[j]
            if j + 1 < loops:
                j += 1
                continue
            taken = 0
            for k in range(len(t.updated)):
                taken += t.words[k, register[loops]]
            if t.axes and not t.has_room[partial[loops]]:
                continue
            if t.least_pes <= product[loops] and t.least_rf <= taken <= t.rf_capacity:
                found[b] += 1


crossing_bound = compiled(_crossing_bound)
surely = compiled(_surely)
waited = compiled(_waited)
together = compiled(_together)
inner_bound = compiled(_inner_bound, _crossing_bound=crossing_bound, _waited=waited)
first_bounds = compiled(_first_bounds, _inner_bound=inner_bound, _surely=surely, _together=together)
outer_bounds = compiled(_outer_bounds, _waited=waited)
count_splits = compiled(_count_splits)
