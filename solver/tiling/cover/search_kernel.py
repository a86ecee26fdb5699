"""The compiled search over classes of covers (the argument is in covering)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mapper.models.compiled import borrowing, compiled
from mapper.models.tiling.transfer import Passes
from mapper.solver.tiling import compiled_model
from mapper.solver.tiling.cover import bound_kernel, split_kernel, stream_kernel
from mapper.solver.tiling.cover.split_kernel import ADDITIONS, DELIVERED, REDUCTION, WORDS, Splits
from mapper.solver.tiling.cover.table import Array, CoverTable
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
from mapper.solver.tiling.exact.kernel_table import KernelTable
from mapper.solver.tiling.exact.pair import Held
from mapper.solver.tiling.stream import bound_kernel as stream_bounds
from mapper.solver.tiling.stream import order_kernel
from mapper.solver.tiling.stream.bound_kernel import Room as StreamRoom
from mapper.solver.tiling.stream.order_kernel import Tiling

_splits: Any = split_kernel.splits
_banks: Any = bound_kernel.banks
_moved: Any = bound_kernel.moved
_outer_bound: Any = bound_kernel.outer_bound
_inner_bound: Any = bound_kernel.inner_bound
_surely: Any = exact_bounds.surely
_together: Any = exact_bounds.together
_bounded_out: Any = incumbent_kernel.bounded_out
_consider: Any = incumbent_kernel.consider
_counted: Any = incumbent_kernel.counted
_layer_cycles: Any = compiled_model.layer_cycles
_layer_energy: Any = compiled_model.layer_energy
_reuse: Any = pair.reuse
_room_of: Any = stream_bounds.room_of
_least_shares: Any = stream_bounds.least_shares
_streamed_bound: Any = stream_bounds.streamed_bound
_all_fresh: Any = stream_kernel.all_fresh
_orders_of_streams: Any = order_kernel.orders

OPEN_ENERGY, OPEN_CYCLES = 0, 1


class Bounds(NamedTuple):
    """Of each point of the grid of array tiles: bounds on energy and cycles, and the least above it."""

    energy: Array
    cycles: Array
    least_out_energy: Array
    least_out_cycles: Array


class Opened(NamedTuple):
    """Mappings whose covers may have to be lowered no further: ``rows`` [n][5] as the incumbent's, ``costs`` [n][2]
    (energy, and cycles that no cover above them undercuts), ``count`` [1], which may exceed n."""

    rows: Array
    costs: Array
    count: Array


class Room(NamedTuple):
    """Scratch arrays, per loop (``pair``, ``trips``, ``inner``, ``outer``, ``tile``) and per operand."""

    pair: Array
    inner: Array
    outer: Array
    tile: Array
    least: Array
    energies: Array
    taken: Array
    following: StreamRoom
    spm_reuse: Array
    dram_reuse: Array
    rf_tiles: Array
    spm_tiles: Array
    rereads: Array
    noc_cycles: Array
    terms: Array
    mapping: Array


def _room(loops: int, operands: int, slots: int) -> Room:
    return Room(
        np.full(loops, -1, np.int64),
        np.ones(loops, np.int64),
        np.ones(loops, np.int64),
        np.ones(loops, np.int64),
        np.ones(loops, np.int64),
        np.empty(operands, np.float64),
        np.empty(operands, np.int64),
        _room_of(loops, operands, slots),
        np.empty(operands, np.int64),
        np.empty(operands, np.int64),
        np.empty(operands, np.int64),
        np.empty(operands, np.int64),
        np.empty(operands, np.bool_),
        np.empty(operands, np.int64),
        np.empty((4, operands), np.float64),
        np.empty(5, np.int64),
    )


def _exposed_gain(t: KernelTable, passes: Passes, compute: int, noc_cycles: Array) -> int:
    """Cycles by which a mapping may undercut one whose array tile it contains: PEs that wait for sums that leave hide
    the next ones behind whatever else comes in every pass, of which there may be more."""
    gain = 0
    if t.buffers.exposed:
        for k in range(len(noc_cycles)):
            if t.updated[k] and passes.spm_reuse[k] == passes.rf and passes.dram_reuse[k] > 1:
                gain += min(compute, noc_cycles[k]) * (passes.spm // passes.dram_reuse[k])
    return gain


def _orders(
    t: KernelTable, v: CoverTable, splits: Splits, split: int, masks: tuple[int, int], base: float, room: Room,
    out_energy: float, out_cycles: float, held: Held, opened: Opened,
) -> None:  # fmt: skip
    """Cost a tiling in every order that matters."""
    compute, passes_of_rf, passes_of_spm = splits.compute[split], 1, 1
    for j in range(len(room.inner)):
        passes_of_rf *= room.inner[j]
        passes_of_spm *= room.outer[j]
    for k in range(len(room.taken)):
        tiles = 1
        room.spm_tiles[k] = 1
        for j in range(len(room.inner)):
            if v.own[k, j]:
                room.spm_tiles[k] *= room.outer[j]
                tiles *= room.inner[j] * room.outer[j]
        room.rf_tiles[k] = tiles
        room.rereads[k] = t.updated[k] and (t.doubled or not t.zero[k] or passes_of_spm > room.spm_tiles[k])
        room.noc_cycles[k] = -(-splits.terms[split, WORDS, k] // v.widths[k])
        room.terms[DELIVERED, k] = splits.terms[split, DELIVERED, k] * t.noc_unit
        room.terms[WORDS, k] = splits.terms[split, WORDS, k] * v.spm_unit
        room.terms[ADDITIONS, k] = splits.terms[split, ADDITIONS, k] * t.reduction_unit
    if t.streams.on:
        _streamed_orders(t, v, splits, split, base, room, out_energy, out_cycles, held)
        return
    inner, cycles_without_dma = _inner_bound(
        t,
        passes_of_rf * passes_of_spm,
        room.rf_tiles,
        compute,
        room.terms[DELIVERED],
        room.terms[WORDS],
        room.noc_cycles,
    )
    least_cycles = _together(t, cycles_without_dma, out_cycles)
    if _bounded_out(t, _surely(t, base + inner) + out_energy * SLACK, least_cycles, held.incumbent):
        return
    for spm_pattern in range(t.spm_start[masks[0]], t.spm_start[masks[0] + 1]):
        _reuse(t.spm_masks, spm_pattern, room.inner, room.spm_reuse)
        for dram_pattern in range(t.dram_start[masks[1]], t.dram_start[masks[1] + 1]):
            _reuse(t.dram_masks, dram_pattern, room.outer, room.dram_reuse)
            passes = Passes(passes_of_rf, passes_of_spm, room.spm_reuse, room.dram_reuse)
            held.incumbent[EVALUATIONS] += 1
            energy = _counted(t, _layer_energy(
                base, 0.0, passes, t.updated, t.zero, room.rf_tiles, room.spm_tiles, room.terms[DELIVERED],
                room.terms[WORDS], room.terms[ADDITIONS], room.energies, t.doubled,
            ))  # fmt: skip
            least = energy if t.whole and energy < EXACT else _surely(t, energy)
            if _bounded_out(t, least, least_cycles, held.incumbent):
                continue
            cycles = _layer_cycles(
                compute, passes, room.noc_cycles, splits.terms[split, REDUCTION], room.taken, t.updated,
                room.rereads, t.read_network, t.write_network, t.networks, t.buffers,
            )  # fmt: skip
            room.mapping[SPM_PATTERN], room.mapping[DRAM_PATTERN] = spm_pattern, dram_pattern
            _consider(t, energy, cycles, room.mapping, held.incumbent, held.best, held.ties)
            gain = _exposed_gain(t, passes, compute, room.noc_cycles)
            if gain > 0 and not _bounded_out(t, least, float(cycles - gain), held.incumbent):
                if opened.count[0] < len(opened.rows):
                    for at in range(len(room.mapping)):
                        opened.rows[opened.count[0], at] = room.mapping[at]
                    opened.costs[opened.count[0], OPEN_ENERGY] = least
                    opened.costs[opened.count[0], OPEN_CYCLES] = cycles - gain
                opened.count[0] += 1


def _streamed_orders(
    t: KernelTable, v: CoverTable, splits: Splits, split: int, base: float, room: Room, out_energy: float,
    out_cycles: float, held: Held,
) -> None:  # fmt: skip
    """The same where memories are filled as streams."""
    x, passes = room.following, 1
    for j in range(len(room.inner)):
        x.most[j] = room.inner[j]
        passes *= room.inner[j] * room.outer[j]
    for k in range(len(room.taken)):
        x.tiles[k], x.noc_cycles[k] = room.rf_tiles[k], room.noc_cycles[k]
        x.words[k], x.delivered[k] = splits.terms[split, WORDS, k], splits.terms[split, DELIVERED, k]
        x.noc_energy[k], x.spm_energy[k] = room.terms[DELIVERED, k], room.terms[WORDS, k]
    _all_fresh(t, v, splits.tile[split], x)
    _least_shares(t, splits.held[split], x)
    inner, cycles_without_dma = _streamed_bound(t, passes, splits.compute[split], x)
    least_cycles = _together(t, cycles_without_dma, out_cycles)
    if _bounded_out(t, _surely(t, base + inner) + out_energy * SLACK, least_cycles, held.incumbent):
        return
    tiling = Tiling(
        splits.compute[split], base, room.inner, room.outer, room.terms[ADDITIONS], room.energies, room.taken,
        room.spm_tiles, room.rereads, splits.held[split], least_cycles,
    )  # fmt: skip
    _orders_of_streams(t, tiling, x, room.mapping, held)


def _examine(
    t: KernelTable, v: CoverTable, classes: Array, splits: Splits, room: Room, held: Held, opened: Opened
) -> None:
    """Cost every split in the scratch-pad tiles of ``room.pair``, whose trips are ``room.inner`` and ``room.outer``."""
    masks, places = (0, 0), 0
    inner_mask, outer_mask = 0, 0
    for j in range(len(classes)):
        count = v.outer[classes[j] + 1] - v.outer[classes[j]]
        places = places * count + room.pair[j]
        inner_mask |= (1 << j) if room.inner[j] > 1 else 0
        outer_mask |= (1 << j) if room.outer[j] > 1 else 0
    masks = (inner_mask, outer_mask)
    room.mapping[SPM_TILE] = places
    for split in range(len(splits.compute)):
        base, needed, code = v.iteration_energy, True, 0
        for j in range(len(classes)):
            one = classes[j]
            pairs = v.outer[one + 1] - v.outer[one]
            needed = needed and v.needed[v.pair[one] + splits.pair[split, j] * pairs + room.pair[j]]
            room.tile[j] = splits.tile[split, j] * room.inner[j]
            base *= float(room.tile[j] * room.outer[j])
            code = code * (v.inner[one + 1] - v.inner[one]) + splits.pair[split, j]
        if not needed or _banks(v, room.tile) > v.banks:
            continue
        for k in range(len(room.taken)):
            words, room.taken[k] = _moved(v, k, room.tile, room.outer)
            room.energies[k] = words * v.dram_unit
        out_energy, out_cycles = _outer_bound(t, v, room.tile, room.outer, room.energies, room.taken)
        if _bounded_out(
            t,
            splits.bounds[split, 0] + out_energy * SLACK,
            _together(t, splits.bounds[split, 1], out_cycles),
            held.incumbent,
        ):
            continue
        room.mapping[SPATIAL] = code
        _orders(t, v, splits, split, masks, base, room, out_energy, out_cycles, held, opened)


def _class(
    t: KernelTable, v: CoverTable, classes: Array, splits: Splits, room: Room, held: Held, opened: Opened
) -> None:
    """Go through the pairs (scratch-pad, DRAM) of ``classes``, for which ``splits`` are left."""
    loops = len(classes)
    least_energy, least_cycles = np.inf, np.inf
    for split in range(len(splits.compute)):
        least_energy = min(least_energy, splits.bounds[split, 0])
        least_cycles = min(least_cycles, splits.bounds[split, 1])
        for j in range(loops):
            tile = splits.tile[split, j]
            room.least[j] = tile if split == 0 else min(room.least[j], tile)
    for j in range(loops):
        room.pair[j], room.inner[j] = -1, 1
    j = 0
    while j >= 0:
        room.pair[j] += 1
        one = classes[j]
        if room.pair[j] >= v.outer[one + 1] - v.outer[one]:
            room.pair[j] = -1
            room.inner[j] = 1
            j -= 1
            continue
        at = v.outer[one] + room.pair[j]
        room.inner[j], room.outer[j] = v.p[at], v.d[at]
        for i in range(loops):
            room.tile[i] = room.least[i] * room.inner[i]
        if _banks(v, room.tile) > v.banks:
            continue
        if j + 1 < loops:
            j += 1
            continue
        more, usual = 1.0, 1.0
        for i in range(loops):
            more *= float(room.tile[i] * room.outer[i])
            usual *= float(room.least[i] * v.trips[classes[i]])
        for k in range(len(room.taken)):
            words, room.taken[k] = _moved(v, k, room.tile, room.outer)
            room.energies[k] = words * v.dram_unit
        out_energy, out_cycles = _outer_bound(t, v, room.tile, room.outer, room.energies, room.taken)
        out_energy += v.iteration_energy * (more - usual)
        if not _bounded_out(
            t,
            least_energy + out_energy * SLACK,
            _together(t, least_cycles, out_cycles),
            held.incumbent,
        ):
            _examine(t, v, classes, splits, room, held, opened)


def _search(
    t: KernelTable,
    v: CoverTable,
    order: Array,
    first: int,
    last: int,
    bounds: Bounds,
    held: Held,
    opened: Opened,
) -> int:
    """Examine points order[first:last] of the grid of array tiles; returns the position of the first one not examined
    because all from there on are bounded out (or ``last``)."""
    loops = len(v.counts)
    classes = np.empty(loops, np.int64)
    room = _room(loops, len(v.dimensions), len(t.streams.along))
    for turn in range(first, last):
        point = order[turn]
        energy, cycles = bounds.energy[point], bounds.cycles[point]
        if _bounded_out(t, energy, cycles, held.incumbent):
            # The order is by this bound, so all that follow are bounded out as well.
            return turn
        for j in range(loops):
            classes[j] = v.base[j] + point // v.strides[j] % v.counts[j]
        splits = _splits(
            t,
            v,
            classes,
            energy,
            bounds.least_out_energy[point],
            bounds.least_out_cycles[point],
            held.incumbent,
            room.following,
        )
        room.mapping[ARRAY_TILE] = point
        if len(splits.compute) > 0:
            _class(t, v, classes, splits, room, held, opened)
    return last


_ordered = borrowing(
    _orders,
    _inner_bound=bound_kernel.inner_bound,
    _reuse=pair.reuse,
    _counted=incumbent_kernel.counted,
    _layer_energy=compiled_model.layer_energy,
    _layer_cycles=compiled_model.layer_cycles,
    _surely=exact_bounds.surely,
    _together=exact_bounds.together,
    _bounded_out=incumbent_kernel.bounded_out,
    _consider=incumbent_kernel.consider,
    _exposed_gain=borrowing(_exposed_gain),
    _streamed_orders=borrowing(
        _streamed_orders,
        _all_fresh=stream_kernel.all_fresh,
        _least_shares=stream_bounds.least_shares,
        _streamed_bound=stream_bounds.streamed_bound,
        _surely=exact_bounds.surely,
        _together=exact_bounds.together,
        _bounded_out=incumbent_kernel.bounded_out,
        _orders_of_streams=order_kernel.orders,
    ),
)
_outside: dict[str, Any] = {
    "_banks": bound_kernel.banks,
    "_moved": bound_kernel.moved,
    "_outer_bound": bound_kernel.outer_bound,
    "_together": exact_bounds.together,
    "_bounded_out": incumbent_kernel.bounded_out,
}
search = compiled(
    _search,
    _room=compiled(_room, _room_of=stream_bounds.room_of),
    _splits=split_kernel.splits,
    _class=borrowing(_class, _examine=borrowing(_examine, _orders=_ordered, **_outside), **_outside),
    _bounded_out=incumbent_kernel.bounded_out,
)
