"""The compiled search over orders where memories are filled as streams: every cost is the one model's."""

from __future__ import annotations

from typing import Any, NamedTuple

from mapper.models.compiled import borrowing, compiled
from mapper.models.tiling.transfer import Passes
from mapper.solver.tiling import compiled_model
from mapper.solver.tiling.exact import bound_kernel as exact_bounds
from mapper.solver.tiling.exact import incumbent_kernel, pair
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
from mapper.solver.tiling.stream import bound_kernel
from mapper.solver.tiling.stream.bound_kernel import Room

_surely: Any = exact_bounds.surely
_together: Any = exact_bounds.together
_bounded_out: Any = incumbent_kernel.bounded_out
_consider: Any = incumbent_kernel.consider
_counted: Any = incumbent_kernel.counted
_layer_energy: Any = compiled_model.layer_energy
_streamed_pass_cycles: Any = compiled_model.streamed_pass_cycles
_cycles_of_passes: Any = compiled_model.cycles_of_passes
_reuse: Any = pair.reuse
_of_tile: Any = bound_kernel.of_tile
_least_shares: Any = bound_kernel.least_shares
_streamed_bound: Any = bound_kernel.streamed_bound


class Tiling(NamedTuple):
    """A tiling whose orders are still open: cycles of an RF pass; ``base``: energy of its operations and register
    files; trip counts of the two ordered levels; per operand energies of additions and of DMA, cycles of DMA, tiles at
    the scratch-pad and whether partial sums are read back; the slots along which tiles can follow each other (bits),
    and the least cycles of all orders."""

    compute: int
    base: float
    inner: Array
    outer: Array
    reduction_energy: Array
    dma_energy: Array
    dma_cycles: Array
    spm_tiles: Array
    rereads: Array
    held: int
    least_cycles: float


def _follow(t: KernelTable, tiling: Tiling, row: int, x: Room) -> bool:
    """Into ``x`` what follows what in a row of the orders at the scratch-pad; whether anything does."""
    slides = False
    for k in range(len(x.words)):
        x.turns[k], x.following[k], x.whole[k] = 1, x.noc_cycles[k], 0.0
        x.following_noc[k], x.following_spm[k] = x.noc_energy[k], x.spm_energy[k]
        j = t.streams.ends[row, k]
        slot = t.streams.slot[k, j] if j >= 0 else -1
        if slot >= 0 and tiling.held >> slot & 1 and x.fresh[slot] < x.words[k]:
            slides = True
            x.turns[k] = tiling.inner[j]
            x.following[k] = -(-x.fresh[slot] // t.streams.widths[k])
            x.following_noc[k] = (x.delivered[k] * x.fresh[slot] // x.words[k]) * t.noc_unit
            x.following_spm[k] = x.fresh[slot] * t.streams.spm_unit
            kept = x.delivered[k] - x.delivered[k] * x.fresh[slot] // x.words[k]
            x.whole[k] = kept * t.noc_unit + (x.words[k] - x.fresh[slot]) * t.streams.spm_unit
    return slides


def _energy(t: KernelTable, tiling: Tiling, passes: Passes, x: Room) -> float:
    """Energy of an order: as if every tile followed another one, and what those take beyond that which come whole.
    Nothing is subtracted, so that what is exact in the end was so all along."""
    energy: float = _layer_energy(
        tiling.base, 0.0, passes, t.updated, t.zero, x.tiles, tiling.spm_tiles, x.following_noc, x.following_spm,
        tiling.reduction_energy, tiling.dma_energy, t.doubled,
    )  # fmt: skip
    for k in range(len(x.words)):
        if x.turns[k] > 1:
            energy += x.whole[k] * (passes.rf // x.spm_reuse[k] * passes.spm // x.turns[k])
    counted: float = _counted(t, energy)
    return counted


def _orders(t: KernelTable, tiling: Tiling, x: Room, mapping: Array, held: Held) -> None:
    """Cost a tiling in every order that matters."""
    rf_passes, spm_passes, inner_mask, outer_mask = 1, 1, 0, 0
    for j in range(len(tiling.inner)):
        rf_passes *= tiling.inner[j]
        spm_passes *= tiling.outer[j]
        inner_mask |= (1 << j) if tiling.inner[j] > 1 else 0
        outer_mask |= (1 << j) if tiling.outer[j] > 1 else 0
    start = t.spm_start[inner_mask]
    for row in range(start, t.spm_start[inner_mask + 1]):
        _reuse(t.spm_masks, row, tiling.inner, x.spm_reuse)
        # Where nothing follows, all rows of the same reuse cost the same.
        if not _follow(t, tiling, row, x) and row > start and t.spm_alike[row - 1] > row:
            continue
        for dram_row in range(t.dram_start[outer_mask], t.dram_start[outer_mask + 1]):
            _reuse(t.dram_masks, dram_row, tiling.outer, x.dram_reuse)
            passes = Passes(rf_passes, spm_passes, x.spm_reuse, x.dram_reuse)
            held.incumbent[EVALUATIONS] += 1
            energy = _energy(t, tiling, passes, x)
            least = energy if t.whole and energy < EXACT else _surely(t, energy)
            if _bounded_out(t, least, tiling.least_cycles, held.incumbent):
                continue
            one = _streamed_pass_cycles(
                tiling.compute, passes, x.noc_cycles, x.following, x.turns, t.streams.waited, t.read_network,
                t.write_network, t.networks, x.between,
            )  # fmt: skip
            cycles = _cycles_of_passes(
                one, 0, tiling.compute, passes, x.between, x.still, tiling.dma_cycles, t.updated, tiling.rereads,
                t.buffers,
            )  # fmt: skip
            mapping[SPM_PATTERN], mapping[DRAM_PATTERN] = row, dram_row
            _consider(t, energy, cycles, mapping, held.incumbent, held.best, held.ties)


def _examine_streamed(t: KernelTable, tiles: Tiles, splits: Splits, scratch: Scratch, held: Held) -> None:
    """Cost every split of an array tile under a scratch-pad tile in every order that matters."""
    b, c, x = tiles.array, tiles.spm, scratch.room
    base = t.operation_energy + t.rf_energy
    passes = t.all_product[t.full] // t.all_product[b]
    spm_passes = t.all_product[t.full] // t.all_product[c]
    _of_tile(t, b, x)
    for j in range(len(tiles.inner)):
        x.most[j] = tiles.inner[j]
    for k in range(len(x.words)):
        scratch.tiles[1, k] = t.own_product[k, t.full] // t.own_product[k, c]
        scratch.rereads[k] = t.updated[k] and (t.doubled or not t.zero[k] or spm_passes > scratch.tiles[1, k])
    scratch.mapping[ARRAY_TILE], scratch.mapping[SPM_TILE] = b, c
    for split in range(len(splits.spatial)):
        for k in range(len(x.words)):
            x.delivered[k] = splits.terms[split, 0, k]
            x.noc_energy[k] = splits.energies[split, 0, k]
        _least_shares(t, splits.held[split], x)
        energy, cycles = _streamed_bound(t, passes, splits.compute[split], x)
        least_cycles = _together(t, cycles, tiles.outer_cycles)
        if _bounded_out(
            t, _surely(t, base + energy) + tiles.outer_energy * SLACK, least_cycles, held.incumbent
        ):
            continue
        tiling = Tiling(
            splits.compute[split], base, tiles.inner, tiles.outer, splits.energies[split, 1], t.dma_energy[:, c],
            t.dma_cycles[:, c], scratch.tiles[1], scratch.rereads, splits.held[split], least_cycles,
        )  # fmt: skip
        scratch.mapping[SPATIAL] = splits.spatial[split]
        _orders(t, tiling, x, scratch.mapping, held)


orders = compiled(_orders, _follow=borrowing(_follow), _energy=compiled(_energy))
examine_streamed = compiled(_examine_streamed, _orders=orders)
