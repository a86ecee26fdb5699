"""The compiled inner loops of branch and bound over pairs of tiles (the argument is in branch_and_bound)."""

from __future__ import annotations

from typing import Any

import numpy as np

from mapper.models.compiled import compiled
from mapper.solver.tiling import compiled_model
from mapper.solver.tiling.exact import bound_kernel, incumbent_kernel
from mapper.solver.tiling.exact.bound_kernel import SLACK
from mapper.solver.tiling.exact.float_price import EXACT
from mapper.solver.tiling.exact.incumbent_kernel import (
    ARRAY_TILE,
    DRAM_PATTERN,
    EVALUATIONS,
    SPATIAL,
    SPM_PATTERN,
    SPM_TILE,
)
from mapper.solver.tiling.exact.kernel_table import Array, KernelTable

_inner_bound: Any = bound_kernel.inner_bound
_surely: Any = bound_kernel.surely
_bounded_out: Any = incumbent_kernel.bounded_out
_consider: Any = incumbent_kernel.consider
_counted: Any = incumbent_kernel.counted
_layer_cycles: Any = compiled_model.layer_cycles
_layer_energy: Any = compiled_model.layer_energy


def _undercuts(compute: Array, terms: Array, one: int, other: int) -> bool:
    """Whether split ``one`` costs no more than ``other`` in every term the model grows in."""
    if compute[one] > compute[other]:
        return False
    for term in range(terms.shape[1]):
        for k in range(terms.shape[2]):
            if terms[one, term, k] > terms[other, term, k]:
                return False
    return True


def _splits(
    t: KernelTable, b: int, out_energy: float, out_cycles: float, incumbent: Array
) -> tuple[int, Array, Array, Array, Array, Array]:
    """Ways to split array tile ``b`` into PEs (s) and register files (r) that may improve on the incumbent:
    their number, s, computing cycles, bounds (energy, cycles), terms by operand (words delivered to PEs, cycles
    and number of additions between PEs), and energies (of the delivery and of the additions). Under dominance
    only those that no other undercuts."""
    loops = len(t.counts)
    operands = len(t.updated)
    room = 256
    spatial = np.empty(room, np.int64)
    compute = np.empty(room, np.int64)
    bounds = np.empty((room, 2), np.float64)
    terms = np.empty((room, 3, operands), np.int64)
    noc_energy = np.empty(operands, np.float64)
    position = np.full(loops, -1, np.int64)
    product = np.ones(loops + 1, np.int64)
    partial = np.zeros(loops + 1, np.int64)
    register = np.zeros(loops + 1, np.int64)
    found = 0
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
        partial[j + 1] = partial[j] + position[j] * t.strides[j]
        register[j + 1] = register[j] + left * t.strides[j]
        if j + 1 < loops:
            j += 1
            continue
        s, r = partial[loops], register[loops]
        taken = 0
        for k in range(operands):
            taken += t.words[k, r]
        if taken > t.rf_capacity or taken < t.least_rf or product[loops] < t.least_pes:
            continue
        if found == room:
            spatial = np.concatenate((spatial, np.empty(room, np.int64)))
            compute = np.concatenate((compute, np.empty(room, np.int64)))
            bounds = np.concatenate((bounds, np.empty((room, 2), np.float64)))
            terms = np.concatenate((terms, np.empty((room, 3, operands), np.int64)))
            room *= 2
        spatial[found] = s
        compute[found] = t.all_product[r] * t.iteration_cycles
        for k in range(operands):
            users = t.own_product[k, s] if t.writes[k] else t.all_product[s]
            members = t.all_product[s] // t.own_product[k, s] if t.updated[k] else 1
            additions = t.words[k, r] * (members - 1) * t.own_product[k, s]
            terms[found, 0, k] = t.words[k, r] * users
            terms[found, 1, k] = t.words[k, r] * (members - 1) if t.mesh else additions
            terms[found, 2, k] = additions
            noc_energy[k] = terms[found, 0, k] * t.noc_unit
        energy, cycles = _inner_bound(t, b, compute[found], noc_energy)
        energy = _surely(t, t.operation_energy + t.rf_energy + energy)
        bounds[found, 0] = energy
        bounds[found, 1] = cycles
        if _bounded_out(t, energy + out_energy * SLACK, max(cycles, out_cycles), incumbent):
            continue
        if t.dominance:
            dominated = False
            for other in range(found):
                dominated = dominated or _undercuts(compute, terms, other, found)
            if dominated:
                continue
            kept = 0
            for other in range(found + 1):
                if other == found or not _undercuts(compute, terms, found, other):
                    spatial[kept] = spatial[other]
                    compute[kept] = compute[other]
                    bounds[kept] = bounds[other]
                    terms[kept] = terms[other]
                    kept += 1
            found = kept
        else:
            found += 1
    energies = np.empty((found, 2, operands), np.float64)
    for split in range(found):
        for k in range(operands):
            energies[split, 0, k] = terms[split, 0, k] * t.noc_unit
            energies[split, 1, k] = terms[split, 2, k] * t.reduction_unit
    return found, spatial, compute, bounds, terms, energies


def _examine(
    t: KernelTable, b: int, c: int, inner: Array, outer: Array, out_cycles: float, splits: int, spatial: Array,
    compute: Array, bounds: Array, terms: Array, energies: Array, spm_reuse: Array, dram_reuse: Array,
    tiles: Array, rereads: Array, mapping: Array, incumbent: Array, best: Array, ties: Array,
) -> None:  # fmt: skip
    """Cost every split of array tile ``b`` under scratch-pad tile ``c`` in every order that matters; ``inner``
    and ``outer`` are the trip counts of the two ordered levels."""
    loops = len(t.counts)
    operands = len(t.updated)
    rf_passes = t.all_product[c] // t.all_product[b]
    spm_passes = t.all_product[t.full] // t.all_product[c]
    inner_mask = 0
    outer_mask = 0
    for j in range(loops):
        if inner[j] > 1:
            inner_mask |= 1 << j
        if outer[j] > 1:
            outer_mask |= 1 << j
    for k in range(operands):
        tiles[0, k] = t.own_product[k, t.full] // t.own_product[k, b]
        tiles[1, k] = t.own_product[k, t.full] // t.own_product[k, c]
        rereads[k] = t.updated[k] and (t.doubled or not t.zero[k] or spm_passes > tiles[1, k])
    for spm_pattern in range(t.spm_start[inner_mask], t.spm_start[inner_mask + 1]):
        for k in range(operands):
            spm_reuse[k] = 1
            for j in range(loops):
                if t.spm_masks[spm_pattern, k] >> j & 1:
                    spm_reuse[k] *= inner[j]
        for dram_pattern in range(t.dram_start[outer_mask], t.dram_start[outer_mask + 1]):
            for k in range(operands):
                dram_reuse[k] = 1
                for j in range(loops):
                    if t.dram_masks[dram_pattern, k] >> j & 1:
                        dram_reuse[k] *= outer[j]
            for split in range(splits):
                incumbent[EVALUATIONS] += 1
                energy = _counted(t, _layer_energy(
                    t.operation_energy, t.rf_energy, rf_passes, spm_passes, spm_reuse, dram_reuse, t.updated,
                    t.zero, tiles[0], tiles[1], energies[split, 0], t.spm_energy[:, b], energies[split, 1],
                    t.dma_energy[:, c], t.doubled,
                ))  # fmt: skip
                least = energy if t.whole and energy < EXACT else _surely(t, energy)
                if _bounded_out(t, least, max(bounds[split, 1], out_cycles), incumbent):
                    continue
                cycles = _layer_cycles(
                    compute[split], rf_passes, spm_passes, spm_reuse, dram_reuse, t.noc_cycles[:, b],
                    terms[split, 1], t.dma_cycles[:, c], t.updated, rereads, t.read_network,
                    t.write_network, t.networks, t.double_buffered,
                )  # fmt: skip
                mapping[ARRAY_TILE] = b
                mapping[SPATIAL] = spatial[split]
                mapping[SPM_TILE] = c
                mapping[SPM_PATTERN] = spm_pattern
                mapping[DRAM_PATTERN] = dram_pattern
                _consider(t, energy, cycles, mapping, incumbent, best, ties)


def _search(
    t: KernelTable, order: Array, first: int, last: int, energy_bound: Array, cycles_bound: Array,
    outer_energy: Array, outer_cycles: Array, least_out_energy: Array, least_out_cycles: Array,
    incumbent: Array, best: Array, ties: Array,
) -> int:  # fmt: skip
    """Examine array tiles order[first:last]; returns the position of the first one not examined because all
    from there on are bounded out (or ``last``)."""
    loops = len(t.counts)
    operands = len(t.updated)
    at = np.empty(loops, np.int64)
    position = np.empty(loops, np.int64)
    partial = np.zeros(loops + 1, np.int64)
    inner = np.empty(loops, np.int64)
    outer = np.empty(loops, np.int64)
    spm_reuse = np.empty(operands, np.int64)
    dram_reuse = np.empty(operands, np.int64)
    tiles = np.empty((2, operands), np.int64)
    rereads = np.empty(operands, np.bool_)
    mapping = np.empty(5, np.int64)
    for turn in range(first, last):
        b = order[turn]
        if _bounded_out(t, energy_bound[b], cycles_bound[b], incumbent):
            # The order is by this bound, so all that follow are bounded out as well.
            return turn
        splits, spatial, compute, bounds, terms, energies = _splits(
            t, b, least_out_energy[b], least_out_cycles[b], incumbent
        )
        if splits == 0:
            continue
        least_energy = bounds[:splits, 0].min()
        least_cycles = bounds[:splits, 1].min()
        for j in range(loops):
            at[j] = b // t.strides[j] % t.counts[j]
            position[j] = at[j] - 1
        # Scratch-pad tiles that the array tile divides.
        j = 0
        while j >= 0:
            position[j] += 1
            if position[j] >= t.counts[j]:
                position[j] = at[j] - 1
                j -= 1
                continue
            step = t.quotients[j, position[j], at[j]]
            if step < 0 or not t.spm_usable[j, step]:
                continue
            partial[j + 1] = partial[j] + position[j] * t.strides[j]
            inner[j] = t.divisors[j, step]
            outer[j] = t.divisors[j, t.quotients[j, t.counts[j] - 1, position[j]]]
            if j + 1 < loops:
                j += 1
                continue
            c = partial[loops]
            if np.isinf(outer_energy[c]) or _bounded_out(
                t,
                least_energy + outer_energy[c] * SLACK,
                max(least_cycles, outer_cycles[c]),
                incumbent,
            ):
                continue
            _examine(
                t, b, c, inner, outer, outer_cycles[c], splits, spatial, compute, bounds, terms, energies,
                spm_reuse, dram_reuse, tiles, rereads, mapping, incumbent, best, ties,
            )  # fmt: skip
    return last


_splits_of = compiled(
    _splits,
    _inner_bound=bound_kernel.inner_bound,
    _surely=bound_kernel.surely,
    _bounded_out=incumbent_kernel.bounded_out,
    _undercuts=compiled(_undercuts),
)
_examined = compiled(
    _examine,
    _surely=bound_kernel.surely,
    _layer_cycles=compiled_model.layer_cycles,
    _layer_energy=compiled_model.layer_energy,
    _counted=incumbent_kernel.counted,
    _bounded_out=incumbent_kernel.bounded_out,
    _consider=incumbent_kernel.consider,
)
search = compiled(_search, _bounded_out=incumbent_kernel.bounded_out, _splits=_splits_of, _examine=_examined)
