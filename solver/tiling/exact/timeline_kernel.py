"""The compiled inner loops of branch and bound over pairs of tiles under the physical timeline.

Energy follows from what an order reuses, cycles from the whole order. So orders with the same reuse are bounded
together, and only those that may improve on the incumbent are timed, each by its own timeline.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mapper.models.compiled import compiled
from mapper.models.tiling import timeline as model
from mapper.models.tiling.timeline import CAUSES, Times
from mapper.models.tiling.transfer import Passes
from mapper.solver.tiling import compiled_model
from mapper.solver.tiling.exact import bound_kernel, incumbent_kernel, pair, timeline_bound
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

STALLS = len(CAUSES)

_surely: Any = bound_kernel.surely
_together: Any = bound_kernel.together
_bounded_out: Any = incumbent_kernel.bounded_out
_consider: Any = incumbent_kernel.consider
_counted: Any = incumbent_kernel.counted
_layer_energy: Any = compiled_model.layer_energy
_least_timeline: Any = timeline_bound.least_timeline
_timeline: Any = model.timeline_compiled
_walk_of: Any = model.walk_compiled
_reuse: Any = pair.reuse


def _time(
    t: KernelTable, pair: Tiles, energy: float, least: float, floor: int, times: Times, mapping: Array, last: Array,
    held: Held,
) -> None:  # fmt: skip
    """Time all orders of the same reuse, from those in ``mapping`` on to before ``last`` (SPM, DRAM), until one takes
    no more than any can."""
    loops = len(t.counts)
    table = np.empty((2, 2 * loops), np.int64)
    again = np.empty(2 * loops, np.bool_)
    stalls = np.empty(STALLS, np.int64)
    incumbent, first = held.incumbent, mapping[DRAM_PATTERN]
    for spm_order in range(mapping[SPM_PATTERN], last[0]):
        for dram_order in range(first, last[1]):
            if _bounded_out(t, least, float(floor), incumbent):
                return
            dram, spm = t.dram_rows[dram_order], t.spm_rows[spm_order]
            walk = _walk_of(t.loops, dram, pair.outer, spm, pair.inner, table, again)
            cycles = _timeline(walk, times, t.paths, stalls)
            incumbent[EVALUATIONS] += 1
            mapping[SPM_PATTERN] = spm_order
            mapping[DRAM_PATTERN] = dram_order
            _consider(t, energy, cycles, mapping, incumbent, held.best, held.ties)
            if cycles == floor:
                return


def _examine_timed(t: KernelTable, pair: Tiles, splits: Splits, scratch: Scratch, held: Held) -> None:
    """Cost every split of an array tile under a scratch-pad tile in every order that matters."""
    b, c = pair.array, pair.spm
    spm_reuse, dram_reuse, tiles, mapping = (
        scratch.spm_reuse,
        scratch.dram_reuse,
        scratch.tiles,
        scratch.mapping,
    )
    operands, written = len(t.updated), t.paths.written
    room = np.empty((2, operands + 1, 2), np.int64)
    last = np.empty(2, np.int64)
    inner_mask, outer_mask = 0, 0
    for j in range(len(t.counts)):
        inner_mask |= (1 if pair.inner[j] > 1 else 0) << j
        outer_mask |= (1 if pair.outer[j] > 1 else 0) << j
    for k in range(operands):
        tiles[0, k] = t.own_product[k, t.full] // t.own_product[k, b]
        tiles[1, k] = t.own_product[k, t.full] // t.own_product[k, c]
    spm_order = t.spm_start[inner_mask]
    while spm_order < t.spm_start[inner_mask + 1]:
        _reuse(t.spm_masks, spm_order, pair.inner, spm_reuse)
        dram_order = t.dram_start[outer_mask]
        while dram_order < t.dram_start[outer_mask + 1]:
            _reuse(t.dram_masks, dram_order, pair.outer, dram_reuse)
            last[0], last[1] = t.spm_alike[spm_order], t.dram_alike[dram_order]
            rf_passes = t.all_product[c] // t.all_product[b]
            passes = Passes(rf_passes, t.all_product[t.full] // t.all_product[c], spm_reuse, dram_reuse)
            for split in range(len(splits.spatial)):
                energy = _counted(t, _layer_energy(
                    t.operation_energy, t.rf_energy, passes, t.updated,
                    t.zero, tiles[0], tiles[1], splits.energies[split, 0], t.spm_energy[:, b],
                    splits.energies[split, 1], t.dma_energy[:, c], t.doubled,
                ))  # fmt: skip
                least = energy if t.whole and energy < EXACT else _surely(t, energy)
                if _bounded_out(
                    t, least, _together(t, splits.bounds[split, 1], pair.outer_cycles), held.incumbent
                ):
                    continue
                compute, reduction = splits.compute[split], splits.terms[split, 1, written]
                floor = _least_timeline(t, b, c, passes, tiles, compute, reduction, room)
                mapping[ARRAY_TILE], mapping[SPATIAL], mapping[SPM_TILE] = b, splits.spatial[split], c
                mapping[SPM_PATTERN], mapping[DRAM_PATTERN] = spm_order, dram_order
                times = Times(compute, reduction, t.dma_cycles[:, c], t.into[:, b], t.noc_cycles[written, b])
                _time(t, pair, energy, least, floor, times, mapping, last, held)
            dram_order = last[1]
        spm_order = last[0]


examine_timed = compiled(_examine_timed, _time=compiled(_time))
