"""The compiled costing of a tiling, between classes of covers, in every order that matters."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mapper.models.compiled import borrowing
from mapper.models.tiling.transfer import Passes
from mapper.solver.tiling import compiled_model
from mapper.solver.tiling.cover import bound_kernel, goal_kernel, stream_kernel
from mapper.solver.tiling.cover.room_kernel import OPEN_CYCLES, OPEN_ENERGY, Opened, Room
from mapper.solver.tiling.cover.split_kernel import ADDITIONS, DELIVERED, REDUCTION, WORDS, Splits
from mapper.solver.tiling.cover.table import Array, CoverTable
from mapper.solver.tiling.exact import bound_kernel as exact_bounds
from mapper.solver.tiling.exact import incumbent_kernel, pair
from mapper.solver.tiling.exact.bound_kernel import SLACK
from mapper.solver.tiling.exact.float_price import EXACT
from mapper.solver.tiling.exact.incumbent_kernel import DRAM_PATTERN, EVALUATIONS, SPM_PATTERN
from mapper.solver.tiling.exact.kernel_table import KernelTable
from mapper.solver.tiling.exact.pair import Held
from mapper.solver.tiling.stream import bound_kernel as stream_bounds
from mapper.solver.tiling.stream import order_kernel as stream_orders
from mapper.solver.tiling.stream.order_kernel import Tiling

_inner_bounds: Any = bound_kernel.inner_bounds
_hopeless: Any = goal_kernel.hopeless
_surely: Any = exact_bounds.surely
_together: Any = exact_bounds.together
_bounded_out: Any = incumbent_kernel.bounded_out
_consider: Any = incumbent_kernel.consider
_counted: Any = incumbent_kernel.counted
_layer_cycles: Any = compiled_model.layer_cycles
_layer_energy: Any = compiled_model.layer_energy
_reuse: Any = pair.reuse
_least_shares: Any = stream_bounds.least_shares
_streamed_bound: Any = stream_bounds.streamed_bound
_all_fresh: Any = stream_kernel.all_fresh
_orders_of_streams: Any = stream_orders.orders


def _exposed_gain(t: KernelTable, passes: Passes, compute: int, noc_cycles: Array) -> int:
    """Cycles by which a mapping may undercut one whose array tile it contains: PEs that wait for sums that leave hide
    the next ones behind whatever else comes in every pass, of which there may be more."""
    gain = 0
    if t.buffers.exposed:
        for k in range(len(noc_cycles)):
            if t.updated[k] and passes.spm_reuse[k] == passes.rf and passes.dram_reuse[k] > 1:
                gain += min(compute, noc_cycles[k]) * (passes.spm // passes.dram_reuse[k])
    return gain


class _Known(NamedTuple):
    """A tiling whose orders are still open: the split, which loops step at the two ordered levels (``masks``), energy
    of its operations and register files (``base``), RF and scratch-pad passes, bounds of what lies above."""

    v: CoverTable
    splits: Splits
    split: int
    masks: tuple[int, int]
    base: float
    passes_of_rf: int
    passes_of_spm: int
    out_energy: float
    out_cycles: float


def _orders(
    t: KernelTable, v: CoverTable, splits: Splits, split: int, masks: tuple[int, int], base: float, room: Room,
    out_energy: float, out_cycles: float, held: Held, opened: Opened,
) -> None:  # fmt: skip
    """Cost a tiling in every order that matters."""
    passes_of_rf, passes_of_spm = 1, 1
    for j in range(len(room.inner)):
        passes_of_rf *= room.inner[j]
        passes_of_spm *= room.outer[j]
    crossing, noc_cycles = room.crossing, room.crossing.noc_cycles
    for k in range(len(room.taken)):
        crossing.tiles[k], room.spm_tiles[k] = 1, 1
        crossing.able[k] = False
        for j in range(len(room.inner)):
            if v.own[k, j]:
                room.spm_tiles[k] *= room.outer[j]
                crossing.tiles[k] *= room.inner[j] * room.outer[j]
            elif room.inner[j] * room.outer[j] > 1:
                crossing.able[k] = True
        room.rereads[k] = t.updated[k] and (t.doubled or not t.zero[k] or passes_of_spm > room.spm_tiles[k])
        noc_cycles[k] = -(-splits.terms[split, WORDS, k] // v.widths[k])
        crossing.noc_energy[k] = splits.terms[split, DELIVERED, k] * t.noc_unit
        crossing.spm_energy[k] = splits.terms[split, WORDS, k] * v.spm_unit
        crossing.addition_energy[k] = splits.terms[split, ADDITIONS, k] * t.reduction_unit
        crossing.addition_cycles[k] = splits.terms[split, REDUCTION, k]
    known = _Known(v, splits, split, masks, base, passes_of_rf, passes_of_spm, out_energy, out_cycles)
    _in_orders(t, known, room, held, opened)


def _in_orders(t: KernelTable, known: _Known, room: Room, held: Held, opened: Opened) -> None:
    """The same where tiles come whole."""
    compute, base, masks = known.splits.compute[known.split], known.base, known.masks
    passes_of_rf, passes_of_spm = known.passes_of_rf, known.passes_of_spm
    out_energy, out_cycles = known.out_energy, known.out_cycles
    crossing, noc_cycles = room.crossing, room.crossing.noc_cycles
    _inner_bounds(room.ways, passes_of_rf * passes_of_spm, crossing, compute, room.energy, room.cycles)
    if _hopeless(room.goal, held.incumbent, room.energy, room.cycles, base + out_energy, out_cycles):
        return
    least_cycles = np.inf
    for case in range(len(room.cycles)):
        least_cycles = min(least_cycles, _together(t, room.cycles[case], out_cycles))
    for spm_pattern in range(t.spm_start[masks[0]], t.spm_start[masks[0] + 1]):
        _reuse(t.spm_masks, spm_pattern, room.inner, room.spm_reuse)
        for dram_pattern in range(t.dram_start[masks[1]], t.dram_start[masks[1] + 1]):
            _reuse(t.dram_masks, dram_pattern, room.outer, room.dram_reuse)
            passes = Passes(passes_of_rf, passes_of_spm, room.spm_reuse, room.dram_reuse)
            held.incumbent[EVALUATIONS] += 1
            energy = _counted(t, _layer_energy(
                base, 0.0, passes, t.updated, t.zero, crossing.tiles, room.spm_tiles, crossing.noc_energy,
                crossing.spm_energy, crossing.addition_energy, room.energies, t.doubled,
            ))  # fmt: skip
            least = energy if t.whole and energy < EXACT else _surely(t, energy)
            if _bounded_out(t, least, least_cycles, held.incumbent):
                continue
            cycles = _layer_cycles(
                compute, passes, noc_cycles, crossing.addition_cycles, room.taken, t.updated,
                room.rereads, t.read_network, t.write_network, t.networks, t.buffers,
            )  # fmt: skip
            room.mapping[SPM_PATTERN], room.mapping[DRAM_PATTERN] = spm_pattern, dram_pattern
            _consider(t, energy, cycles, room.mapping, held.incumbent, held.best, held.ties)
            gain = _exposed_gain(t, passes, compute, noc_cycles)
            if gain > 0 and not _bounded_out(t, least, float(cycles - gain), held.incumbent):
                if opened.count[0] < len(opened.rows):
                    for at in range(len(room.mapping)):
                        opened.rows[opened.count[0], at] = room.mapping[at]
                    opened.costs[opened.count[0], OPEN_ENERGY] = least
                    opened.costs[opened.count[0], OPEN_CYCLES] = cycles - gain
                opened.count[0] += 1


def _streamed_orders(t: KernelTable, known: _Known, room: Room, held: Held, opened: Opened) -> None:
    """The same where memories are filled as streams."""
    v, splits, split, base = known.v, known.splits, known.split, known.base
    x, passes = room.following, known.passes_of_rf * known.passes_of_spm
    for j in range(len(room.inner)):
        x.most[j] = room.inner[j]
    for k in range(len(room.taken)):
        x.tiles[k], x.noc_cycles[k] = room.crossing.tiles[k], room.crossing.noc_cycles[k]
        x.words[k], x.delivered[k] = splits.terms[split, WORDS, k], splits.terms[split, DELIVERED, k]
        x.noc_energy[k], x.spm_energy[k] = room.crossing.noc_energy[k], room.crossing.spm_energy[k]
    _all_fresh(t, v, splits.tile[split], x)
    _least_shares(t, splits.held[split], x)
    inner, cycles_without_dma = _streamed_bound(t, passes, splits.compute[split], x)
    least_cycles = _together(t, cycles_without_dma, known.out_cycles)
    if _bounded_out(t, _surely(t, base + inner) + known.out_energy * SLACK, least_cycles, held.incumbent):
        return
    tiling = Tiling(
        splits.compute[split], base, room.inner, room.outer, room.crossing.addition_energy, room.energies, room.taken,
        room.spm_tiles, room.rereads, splits.held[split], least_cycles,
    )  # fmt: skip
    _orders_of_streams(t, tiling, x, room.mapping, held)


orders_of_whole_tiles = borrowing(
    _orders,
    _in_orders=borrowing(_in_orders, _exposed_gain=borrowing(_exposed_gain)),
)
orders_in_streams = borrowing(
    _orders,
    _in_orders=borrowing(_streamed_orders),
)
