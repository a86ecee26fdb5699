"""The compiled inner loops of branch and bound over pairs of tiles (the argument is in branch_and_bound)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mapper.models.compiled import Compiled, compiled
from mapper.models.tiling.transfer import Passes
from mapper.solver.tiling import compiled_model
from mapper.solver.tiling.exact import bound_kernel, incumbent_kernel, pair, split_kernel, timeline_kernel
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
from mapper.solver.tiling.exact.pair import Held, Scratch, Tiles
from mapper.solver.tiling.exact.split_kernel import Splits
from mapper.solver.tiling.stream import bound_kernel as stream_bounds
from mapper.solver.tiling.stream import order_kernel

_splits: Any = split_kernel.splits
_surely: Any = bound_kernel.surely
_together: Any = bound_kernel.together
_bounded_out: Any = incumbent_kernel.bounded_out
_consider: Any = incumbent_kernel.consider
_counted: Any = incumbent_kernel.counted
_layer_cycles: Any = compiled_model.layer_cycles
_layer_energy: Any = compiled_model.layer_energy
_reuse: Any = pair.reuse
_room_of: Any = stream_bounds.room_of


class Bounds(NamedTuple):
    """Bounds (energy, cycles) [tiles]: of an array tile, of what lies above a scratch-pad tile, and the least of the
    latter over the scratch-pad tiles that an array tile divides."""

    energy: Array
    cycles: Array
    outer_energy: Array
    outer_cycles: Array
    least_out_energy: Array
    least_out_cycles: Array


def _examine(t: KernelTable, pair: Tiles, splits: Splits, scratch: Scratch, held: Held) -> None:
    """Cost every split of an array tile under a scratch-pad tile in every order that matters."""
    b, c, inner, outer = pair.array, pair.spm, pair.inner, pair.outer
    spatial, compute, bounds, terms, energies = (
        splits.spatial, splits.compute, splits.bounds, splits.terms, splits.energies
    )  # fmt: skip
    spm_reuse, dram_reuse, tiles, rereads, mapping = (
        scratch.spm_reuse, scratch.dram_reuse, scratch.tiles, scratch.rereads, scratch.mapping
    )  # fmt: skip
    incumbent, best, ties = held.incumbent, held.best, held.ties
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
        _reuse(t.spm_masks, spm_pattern, inner, spm_reuse)
        for dram_pattern in range(t.dram_start[outer_mask], t.dram_start[outer_mask + 1]):
            _reuse(t.dram_masks, dram_pattern, outer, dram_reuse)
            passes = Passes(rf_passes, spm_passes, spm_reuse, dram_reuse)
            for split in range(len(spatial)):
                incumbent[EVALUATIONS] += 1
                energy = _counted(t, _layer_energy(
                    t.operation_energy, t.rf_energy, passes, t.updated,
                    t.zero, tiles[0], tiles[1], energies[split, 0], t.spm_energy[:, b], energies[split, 1],
                    t.dma_energy[:, c], t.doubled,
                ))  # fmt: skip
                least = energy if t.whole and energy < EXACT else _surely(t, energy)
                if _bounded_out(t, least, _together(t, bounds[split, 1], pair.outer_cycles), incumbent):
                    continue
                cycles = _layer_cycles(
                    compute[split], passes, t.noc_cycles[:, b],
                    terms[split, 1], t.dma_cycles[:, c], t.updated, rereads, t.read_network,
                    t.write_network, t.networks, t.buffers,
                )  # fmt: skip
                mapping[ARRAY_TILE] = b
                mapping[SPATIAL] = spatial[split]
                mapping[SPM_TILE] = c
                mapping[SPM_PATTERN] = spm_pattern
                mapping[DRAM_PATTERN] = dram_pattern
                _consider(t, energy, cycles, mapping, incumbent, best, ties)


def _search(t: KernelTable, order: Array, first: int, last: int, bounds: Bounds, held: Held) -> int:
    """Examine array tiles order[first:last]; returns the position of the first one not examined because all
    from there on are bounded out (or ``last``)."""
    loops = len(t.counts)
    operands = len(t.updated)
    at = np.empty(loops, np.int64)
    position = np.empty(loops, np.int64)
    partial = np.zeros(loops + 1, np.int64)
    inner = np.empty(loops, np.int64)
    outer = np.empty(loops, np.int64)
    scratch = Scratch(
        np.empty(operands, np.int64),
        np.empty(operands, np.int64),
        np.empty((2, operands), np.int64),
        np.empty(operands, np.bool_),
        np.empty(5, np.int64),
        _room_of(loops, operands, len(t.streams.along)),
    )
    incumbent, outer_energy, outer_cycles = held.incumbent, bounds.outer_energy, bounds.outer_cycles
    for turn in range(first, last):
        b = order[turn]
        if _bounded_out(t, bounds.energy[b], bounds.cycles[b], incumbent):
            # The order is by this bound, so all that follow are bounded out as well.
            return turn
        splits = _splits(
            t, b, bounds.least_out_energy[b], bounds.least_out_cycles[b], incumbent, scratch.room
        )
        if len(splits.spatial) == 0:
            continue
        least_energy = splits.bounds[:, 0].min()
        least_cycles = splits.bounds[:, 1].min()
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
                _together(t, least_cycles, outer_cycles[c]),
                incumbent,
            ):
                continue
            tiles = Tiles(b, c, inner, outer, outer_energy[c], outer_cycles[c])
            _examine(t, tiles, splits, scratch, held)
    return last


# One search for each way to cost a pair, so that nobody waits for the compilation of the others.
_buffered = compiled(_search, _examine=compiled(_examine))
_timed = compiled(_search, _examine=timeline_kernel.examine_timed)
_streamed = compiled(_search, _examine=order_kernel.examine_streamed)


def search_of(t: KernelTable) -> Compiled:
    """`_search` for cycles of a timeline, for tiles that follow each other in streams, or for neither."""
    if t.timed:
        return _timed
    return _streamed if t.streams.on else _buffered
