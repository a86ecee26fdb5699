"""The compiled inner loops of branch and bound over pairs of tiles (see branch_and_bound for the argument)."""

from __future__ import annotations

from typing import Any

import numpy as np

from mapper.solver.tiling import compiled_model
from mapper.solver.tiling.compiled_model import compiled

_layer_cycles = compiled_model.layer_cycles
_layer_energy = compiled_model.layer_energy

Array = Any
"""A numpy array; the shapes are those of Lattice and SearchTable."""

EDP, ENERGY, LATENCY = 0, 1, 2

# The incumbent is two small arrays, so that Python and the kernel share it.
PRIMARY, SECONDARY, EVALUATIONS = 0, 1, 2
ARRAY_TILE, SPATIAL, SPM_TILE, SPM_PATTERN, DRAM_PATTERN, CYCLES = 0, 1, 2, 3, 4, 5

# Sums of floats taken in another order differ by less than this share of their value.
SLACK = 1.0 - 1e-11
# Products of two exact floats are off by less than this factor.
ROUNDING = 1.0 + 1e-15


def _ranks(objective: int, energy: float, cycles: float) -> tuple[float, float]:
    """The objective and what breaks its ties: EDP by energy, energy by cycles, latency by energy."""
    if objective == EDP:
        return energy * cycles, energy
    if objective == ENERGY:
        return energy, float(cycles)
    return float(cycles), energy


def _bounded_out(objective: int, energy: float, cycles: float, incumbent: Array) -> bool:
    """Whether nothing with at least this energy and these cycles improves on the incumbent."""
    primary, secondary = _ranks(objective, energy, cycles)
    if objective == EDP:
        return primary > incumbent[PRIMARY] * ROUNDING
    return primary > incumbent[PRIMARY] or (
        primary == incumbent[PRIMARY] and secondary >= incumbent[SECONDARY]
    )


def _improves(
    objective: int, rounded: bool, energy: float, cycles: int, incumbent: Array, best: Array,
) -> bool:  # fmt: skip
    """Whether this cost ranks before the incumbent, exactly: products beyond 2^53 are compared as integers."""
    primary, secondary = _ranks(objective, energy, float(cycles))
    held = incumbent[PRIMARY]
    if objective == EDP and rounded and held < np.inf and abs(primary - held) <= held * (ROUNDING - 1.0):
        # Products of integers that agree to 15 digits: their difference fits 64 bits although they do not.
        difference = np.int64(energy) * np.int64(cycles) - np.int64(incumbent[SECONDARY]) * best[CYCLES]
        return difference < 0 or (difference == 0 and secondary < incumbent[SECONDARY])
    return primary < held or (primary == held and secondary < incumbent[SECONDARY])


def _crossing_bound(
    rf_passes_in_all: int, own_tiles: int, updated: bool, zero: bool, doubled: bool, stays: bool,
) -> float:  # fmt: skip
    """Least crossings of an operand between scratch-pad and PEs: reused as far as any order can
    (``stays``), or moved in every RF pass."""
    if stays:
        return 2.0 * own_tiles if updated and not zero else 1.0 * own_tiles
    if not updated:
        return 1.0 * rf_passes_in_all
    if doubled or not zero:
        return 2.0 * rf_passes_in_all
    return 2.0 * rf_passes_in_all - own_tiles


def _inner_bound(
    compute: int, passes: int, own_tiles: Array, noc_cycles: Array, noc_energy: Array, spm_energy:
    Array, updated: Array, zero: Array, doubled: bool, alone: bool,
) -> tuple[float, float]:  # fmt: skip
    """Least NoC and scratch-pad energy, and least cycles, of all tilings with one array tile.

    ``alone``: an order reuses at most one operand, so all but one cross in every RF pass; the least over
    which one that is. Otherwise every operand may stay.
    """
    operands = len(noc_cycles)
    least_energy = np.inf
    least_cycles = np.inf
    for reused in range(operands if alone else 1):
        energy = 0.0
        load = 0
        serial = False
        for k in range(operands):
            stays = k == reused or not alone
            energy += (noc_energy[k] + spm_energy[k]) * _crossing_bound(
                passes, own_tiles[k], updated[k], zero[k], doubled, stays
            )
            if not stays:
                load = max(load, noc_cycles[k])
                serial = serial or updated[k]
        cycles = float(passes) * ((compute + load) if serial else max(compute, load))
        least_energy = min(least_energy, energy)
        least_cycles = min(least_cycles, cycles)
    return least_energy, least_cycles


def _first_bounds(
    base_energy: float, pes: int, iteration_cycles: int, rounded: bool, full: int, all_product: Array,
    own_product: Array, words: Array, noc_cycles: Array, noc_unit: float, spm_energy: Array, updated: Array,
    zero: Array, doubled: bool, alone: bool, least_out_energy: Array,
    least_out_cycles: Array, energy_bound: Array, cycles_bound: Array,
) -> None:  # fmt: skip
    """Bounds on energy and cycles of all tilings with array tile b, for every b; infinity where none fits."""
    operands = len(updated)
    own_tiles = np.empty(operands, np.int64)
    noc_energy = np.empty(operands, np.float64)
    for b in range(len(all_product)):
        if np.isinf(least_out_energy[b]):
            energy_bound[b] = np.inf
            cycles_bound[b] = np.inf
            continue
        passes = all_product[full] // all_product[b]
        for k in range(operands):
            own_tiles[k] = own_product[k, full] // own_product[k, b]
            noc_energy[k] = words[k, b] * noc_unit
        compute = -(-all_product[b] // pes) * iteration_cycles
        energy, cycles = _inner_bound(
            compute, passes, own_tiles, noc_cycles[:, b], noc_energy, spm_energy[:, b], updated, zero, doubled,
            alone,
        )  # fmt: skip
        energy_bound[b] = (base_energy + energy + least_out_energy[b]) * SLACK - (0.5 if rounded else 0.0)
        cycles_bound[b] = max(cycles, least_out_cycles[b])


def _outer_bounds(
    full: int, usable: Array, all_product: Array, own_product: Array, strides: Array, counts: Array,
    divisors: Array, quotients: Array, dma_cycles: Array, dma_energy: Array, updated: Array, zero:
    Array, doubled: bool, alone: bool, pattern_start: Array, pattern_masks: Array, energy: Array,
    cycles: Array,
) -> None:  # fmt: skip
    """Least DRAM energy and DMA cycles over the orders of every scratch-pad tile; infinity where it is unusable."""
    operands = len(updated)
    loops = len(counts)
    trips = np.empty(loops, np.int64)
    for c in range(len(all_product)):
        energy[c] = np.inf
        cycles[c] = np.inf
        if not usable[c]:
            continue
        mask = 0
        for j in range(loops):
            trips[j] = divisors[j, quotients[j, counts[j] - 1, c // strides[j] % counts[j]]]
            if trips[j] > 1:
                mask |= 1 << j
        passes = all_product[full] // all_product[c]
        for pattern in range(pattern_start[mask], pattern_start[mask + 1]):
            total = 0.0
            busy = 0.0
            for k in range(operands):
                reuse = 1
                for j in range(loops):
                    if pattern_masks[pattern, k] >> j & 1:
                        reuse *= trips[j]
                visits = passes // reuse
                tiles = own_product[k, full] // own_product[k, c]
                moves = visits
                if updated[k]:
                    moves = 2 * visits - tiles if zero[k] else 2 * visits
                total += dma_energy[k, c] * moves
                if reuse == 1:
                    rereads = updated[k] and (doubled or not zero[k] or passes > tiles)
                    busy += float(dma_cycles[k, c]) * visits * (2 if rereads else 1)
                elif alone:
                    # An overhead is charged for every reload, so reloads take their DMA time (twice for a
                    # partial sum, which leaves and comes back).
                    busy += float(dma_cycles[k, c]) * visits * (2 if updated[k] else 1)
            energy[c] = min(energy[c], total)
            cycles[c] = min(cycles[c], busy)


def _count_splits(
    all_product: Array, strides: Array, counts: Array, quotients: Array, divisors: Array,
    spatial_usable: Array, rf_usable: Array, words: Array, pes: int, least_pes: int, rf_capacity: int,
    least_rf: int, found: Array,
) -> None:  # fmt: skip
    """Number of ways to split every array tile into PEs and register files within their capacities."""
    loops = len(counts)
    position = np.empty(loops, np.int64)
    for b in range(len(all_product)):
        found[b] = 0
        for j in range(loops):
            position[j] = -1
        j = 0
        product = np.ones(loops + 1, np.int64)
        register = np.zeros(loops + 1, np.int64)
        while j >= 0:
            position[j] += 1
            at = b // strides[j] % counts[j]
            if position[j] > at:
                position[j] = -1
                j -= 1
                continue
            left = quotients[j, at, position[j]]
            if left < 0 or not spatial_usable[j, position[j]] or not rf_usable[j, left]:
                continue
            grown = product[j] * divisors[j, position[j]]
            if grown > pes:
                position[j] = -1
                j -= 1
                continue
            product[j + 1] = grown
            register[j + 1] = register[j] + left * strides[j]
            if j + 1 < loops:
                j += 1
                continue
            taken = 0
            for k in range(words.shape[0]):
                taken += words[k, register[loops]]
            if least_pes <= grown and least_rf <= taken <= rf_capacity:
                found[b] += 1


def _search(
    order: Array, first: int, last: int, objective: int, rounded: bool, base_energy: float,
    operation_energy: float, rf_energy: float, iteration_cycles: int, energy_bound: Array, cycles_bound:
    Array, outer_energy: Array, outer_cycles: Array, least_out_energy: Array, least_out_cycles: Array,
    full: int, all_product: Array, own_product: Array, strides: Array, counts: Array, divisors: Array,
    quotients: Array, words: Array, spatial_usable: Array, rf_usable: Array, spm_usable: Array, pes:
    int, least_pes: int, rf_capacity: int, least_rf: int, noc_cycles: Array, noc_unit: float,
    spm_energy: Array, reduction_unit: float, mesh: bool, dma_cycles: Array, dma_energy: Array, updated: Array, writes: Array, zero: Array, doubled: bool, alone: bool, dominance: bool, double_buffered:
    bool, read_network: Array, write_network: Array, networks: int, spm_start: Array, spm_masks: Array,
    dram_start: Array, dram_masks: Array, incumbent: Array, best: Array,
) -> int:  # fmt: skip
    """Examine array tiles order[first:last]; returns the position of the first one not examined because all
    from there on are bounded out (or ``last``)."""
    loops = len(counts)
    operands = len(updated)
    room = 256
    split_tile = np.empty(room, np.int64)
    split_compute = np.empty(room, np.int64)
    split_energy_bound = np.empty(room, np.float64)
    split_cycles_bound = np.empty(room, np.float64)
    split_noc = np.empty((room, operands), np.float64)
    split_reduction = np.empty((room, operands), np.int64)
    split_reduction_energy = np.empty((room, operands), np.float64)
    new_noc = np.empty(operands, np.float64)
    new_reduction = np.empty(operands, np.int64)
    new_reduction_energy = np.empty(operands, np.float64)
    at = np.empty(loops, np.int64)
    position = np.empty(loops, np.int64)
    product = np.ones(loops + 1, np.int64)
    partial = np.zeros(loops + 1, np.int64)
    register = np.zeros(loops + 1, np.int64)
    own_tiles = np.empty(operands, np.int64)
    spm_tiles = np.empty(operands, np.int64)
    spm_reuse = np.empty(operands, np.int64)
    dram_reuse = np.empty(operands, np.int64)
    rereads = np.empty(operands, np.bool_)
    inner = np.empty(loops, np.int64)
    outer = np.empty(loops, np.int64)
    for turn in range(first, last):
        b = order[turn]
        if _bounded_out(objective, energy_bound[b], cycles_bound[b], incumbent):
            # The order is by this bound, so all that follow are bounded out as well.
            return turn
        passes = all_product[full] // all_product[b]
        for j in range(loops):
            at[j] = b // strides[j] % counts[j]
        for k in range(operands):
            own_tiles[k] = own_product[k, full] // own_product[k, b]

        # Splits of the array tile into PEs (s) and register files (r); only Pareto-least ones are kept.
        splits = 0
        for j in range(loops):
            position[j] = -1
        j = 0
        while j >= 0:
            position[j] += 1
            if position[j] > at[j]:
                position[j] = -1
                j -= 1
                continue
            left = quotients[j, at[j], position[j]]
            if left < 0 or not spatial_usable[j, position[j]] or not rf_usable[j, left]:
                continue
            grown = product[j] * divisors[j, position[j]]
            if grown > pes:
                position[j] = -1
                j -= 1
                continue
            product[j + 1] = grown
            partial[j + 1] = partial[j] + position[j] * strides[j]
            register[j + 1] = register[j] + left * strides[j]
            if j + 1 < loops:
                j += 1
                continue
            s, r = partial[loops], register[loops]
            taken = 0
            for k in range(operands):
                taken += words[k, r]
            if taken > rf_capacity or taken < least_rf or grown < least_pes:
                continue
            compute = all_product[r] * iteration_cycles
            for k in range(operands):
                users = own_product[k, s] if writes[k] else all_product[s]
                new_noc[k] = words[k, r] * users * noc_unit
                new_reduction[k] = 0
                new_reduction_energy[k] = 0.0
                if updated[k]:
                    members = all_product[s] // own_product[k, s]
                    additions = words[k, r] * (members - 1) * own_product[k, s]
                    new_reduction[k] = words[k, r] * (members - 1) if mesh else additions
                    new_reduction_energy[k] = additions * reduction_unit
            energy, cycles = _inner_bound(
                compute, passes, own_tiles, noc_cycles[:, b], new_noc, spm_energy[:, b], updated, zero, doubled,
                alone,
            )  # fmt: skip
            energy = (base_energy + energy) * SLACK - (0.5 if rounded else 0.0)
            if _bounded_out(
                objective, energy + least_out_energy[b] * SLACK, max(cycles, least_out_cycles[b]), incumbent
            ):
                continue
            dominated = False
            kept = 0
            for other in range(splits):
                ours_least = dominance and compute <= split_compute[other]
                theirs_least = dominance and split_compute[other] <= compute
                for k in range(operands):
                    ours_least = (
                        ours_least
                        and new_noc[k] <= split_noc[other, k]
                        and new_reduction[k] <= split_reduction[other, k]
                        and new_reduction_energy[k] <= split_reduction_energy[other, k]
                    )
                    theirs_least = (
                        theirs_least
                        and split_noc[other, k] <= new_noc[k]
                        and split_reduction[other, k] <= new_reduction[k]
                        and split_reduction_energy[other, k] <= new_reduction_energy[k]
                    )
                if theirs_least:
                    dominated = True
                    break
                if not ours_least:
                    if kept != other:
                        split_tile[kept] = split_tile[other]
                        split_compute[kept] = split_compute[other]
                        split_energy_bound[kept] = split_energy_bound[other]
                        split_cycles_bound[kept] = split_cycles_bound[other]
                        for k in range(operands):
                            split_noc[kept, k] = split_noc[other, k]
                            split_reduction[kept, k] = split_reduction[other, k]
                            split_reduction_energy[kept, k] = split_reduction_energy[other, k]
                    kept += 1
            if dominated:
                continue
            splits = kept
            if splits == room:
                split_tile = np.append(split_tile, np.empty(room, np.int64))
                split_compute = np.append(split_compute, np.empty(room, np.int64))
                split_energy_bound = np.append(split_energy_bound, np.empty(room, np.float64))
                split_cycles_bound = np.append(split_cycles_bound, np.empty(room, np.float64))
                split_noc = np.concatenate((split_noc, np.empty((room, operands), np.float64)))
                split_reduction = np.concatenate((split_reduction, np.empty((room, operands), np.int64)))
                split_reduction_energy = np.concatenate(
                    (split_reduction_energy, np.empty((room, operands), np.float64))
                )
                room *= 2
            split_tile[splits] = s
            split_compute[splits] = compute
            split_energy_bound[splits] = energy
            split_cycles_bound[splits] = cycles
            for k in range(operands):
                split_noc[splits, k] = new_noc[k]
                split_reduction[splits, k] = new_reduction[k]
                split_reduction_energy[splits, k] = new_reduction_energy[k]
            splits += 1
        if splits == 0:
            continue
        least_split_energy = np.inf
        least_split_cycles = np.inf
        for split in range(splits):
            least_split_energy = min(least_split_energy, split_energy_bound[split])
            least_split_cycles = min(least_split_cycles, split_cycles_bound[split])

        # Scratch-pad tiles that the array tile divides.
        for j in range(loops):
            position[j] = at[j] - 1
        j = 0
        while j >= 0:
            position[j] += 1
            if position[j] >= counts[j]:
                position[j] = at[j] - 1
                j -= 1
                continue
            step = quotients[j, position[j], at[j]]
            if step < 0 or not spm_usable[j, step]:
                continue
            partial[j + 1] = partial[j] + position[j] * strides[j]
            if j + 1 < loops:
                j += 1
                continue
            c = partial[loops]
            if np.isinf(outer_energy[c]):
                continue
            if _bounded_out(
                objective,
                least_split_energy + outer_energy[c] * SLACK,
                max(least_split_cycles, outer_cycles[c]),
                incumbent,
            ):
                continue
            inner_mask = 0
            outer_mask = 0
            for i in range(loops):
                inner[i] = divisors[i, quotients[i, position[i], at[i]]]
                outer[i] = divisors[i, quotients[i, counts[i] - 1, position[i]]]
                if inner[i] > 1:
                    inner_mask |= 1 << i
                if outer[i] > 1:
                    outer_mask |= 1 << i
            rf_passes = all_product[c] // all_product[b]
            spm_passes = all_product[full] // all_product[c]
            for k in range(operands):
                spm_tiles[k] = own_product[k, full] // own_product[k, c]
                rereads[k] = updated[k] and (doubled or not zero[k] or spm_passes > spm_tiles[k])
            for spm_pattern in range(spm_start[inner_mask], spm_start[inner_mask + 1]):
                for k in range(operands):
                    spm_reuse[k] = 1
                    for i in range(loops):
                        if spm_masks[spm_pattern, k] >> i & 1:
                            spm_reuse[k] *= inner[i]
                for dram_pattern in range(dram_start[outer_mask], dram_start[outer_mask + 1]):
                    for k in range(operands):
                        dram_reuse[k] = 1
                        for i in range(loops):
                            if dram_masks[dram_pattern, k] >> i & 1:
                                dram_reuse[k] *= outer[i]
                    for split in range(splits):
                        incumbent[EVALUATIONS] += 1
                        energy = _layer_energy(
                            operation_energy, rf_energy, rf_passes, spm_passes, spm_reuse, dram_reuse, updated, zero,
                            own_tiles, spm_tiles, split_noc[split], spm_energy[:, b],
                            split_reduction_energy[split], dma_energy[:, c], doubled,
                        )  # fmt: skip
                        if rounded:
                            energy = round(energy)
                        floor = max(split_cycles_bound[split], outer_cycles[c])
                        if _bounded_out(objective, energy, floor, incumbent):
                            continue
                        taken = _layer_cycles(
                            split_compute[split], rf_passes, spm_passes, spm_reuse, dram_reuse, noc_cycles[:, b],
                            split_reduction[split], dma_cycles[:, c], updated, rereads, read_network,
                            write_network, networks, double_buffered,
                        )  # fmt: skip
                        if _improves(objective, rounded, energy, taken, incumbent, best):
                            incumbent[PRIMARY], incumbent[SECONDARY] = _ranks(objective, energy, float(taken))
                            best[ARRAY_TILE] = b
                            best[SPATIAL] = split_tile[split]
                            best[SPM_TILE] = c
                            best[SPM_PATTERN] = spm_pattern
                            best[DRAM_PATTERN] = dram_pattern
                            best[CYCLES] = taken
    return last


_helpers = {"_ranks": compiled(_ranks)}
_helpers["_bounded_out"] = compiled(_bounded_out, **_helpers)
_helpers["_improves"] = compiled(_improves, _ranks=_helpers["_ranks"])
_helpers["_crossing_bound"] = compiled(_crossing_bound)
_helpers["_inner_bound"] = compiled(_inner_bound, _crossing_bound=_helpers["_crossing_bound"])
first_bounds = compiled(_first_bounds, _inner_bound=_helpers["_inner_bound"])
outer_bounds = compiled(_outer_bounds)
count_splits = compiled(_count_splits)
search = compiled(_search, **_helpers, _layer_cycles=_layer_cycles, _layer_energy=_layer_energy)
