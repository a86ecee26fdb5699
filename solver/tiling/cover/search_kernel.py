"""The compiled search over classes of covers (the argument is in covering)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mapper.models.compiled import Compiled, borrowing, compiled
from mapper.models.tiling.transfer import Passes
from mapper.solver.tiling import compiled_model
from mapper.solver.tiling.cover import bound_kernel, goal_kernel, split_kernel, stream_kernel
from mapper.solver.tiling.cover.bound_kernel import Crossing, Trips, Ways
from mapper.solver.tiling.cover.candidate import ArrayTiles, SpmTiles
from mapper.solver.tiling.cover.goal_kernel import Goal
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
    REACH,
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

_splits: Any = split_kernel.buffered_splits
_banks: Any = bound_kernel.banks
_moved: Any = bound_kernel.moved
_outer_bound: Any = bound_kernel.outer_bound
_inner_bounds: Any = bound_kernel.inner_bounds
_trips_of: Any = bound_kernel.trips_of
_ways_of: Any = bound_kernel.ways_of
_fits: Any = bound_kernel.fits
_goal_of: Any = goal_kernel.goal_of
_hopeless: Any = goal_kernel.hopeless
_crossing: Any = bound_kernel.crossing_room
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


class Opened(NamedTuple):
    """Mappings whose covers may have to be lowered no further: ``rows`` [n][5] as the incumbent's, ``costs`` [n][2]
    (energy, and cycles that no cover above them undercuts), ``count`` [1], which may exceed n."""

    rows: Array
    costs: Array
    count: Array


class Room(NamedTuple):
    """Scratch arrays, per loop (``pair``, ``inner``, ``outer``, ``tile``, ``least``), per operand and per case
    (``energy``, ``cycles``); what inner loops need of the problem's table."""

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
    spm_tiles: Array
    rereads: Array
    crossing: Crossing
    energy: Array
    cycles: Array
    mapping: Array
    goal: Goal
    ways: Ways
    trips: Trips


def _room(t: KernelTable, v: CoverTable, loops: int, operands: int, cases: int) -> Room:
    return Room(
        np.empty(loops, np.int64),
        np.ones(loops, np.int64),
        np.ones(loops, np.int64),
        np.ones(loops, np.int64),
        np.ones(loops, np.int64),
        np.empty(operands, np.float64),
        np.empty(operands, np.int64),
        _room_of(loops, operands, len(t.streams.along)),
        np.empty(operands, np.int64),
        np.empty(operands, np.int64),
        np.empty(operands, np.int64),
        np.empty(operands, np.bool_),
        _crossing(operands),
        np.empty(cases, np.float64),
        np.empty(cases, np.float64),
        np.empty(5, np.int64),
        _goal_of(t),
        _ways_of(t),
        _trips_of(t, v),
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


def _examine(
    t: KernelTable, v: CoverTable, classes: Array, splits: Splits, room: Room, held: Held, opened: Opened
) -> None:
    """Cost every split in the scratch-pad tiles of ``room.pair``, whose trips are ``room.inner`` and ``room.outer``."""
    places = 0
    inner_mask, outer_mask = 0, 0
    for j in range(len(classes)):
        count = v.outer[classes[j] + 1] - v.outer[classes[j]]
        places = places * count + room.pair[j]
        inner_mask |= (1 << j) if room.inner[j] > 1 else 0
        outer_mask |= (1 << j) if room.outer[j] > 1 else 0
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
        if not needed or _banks(v.spans, v.dma, room.tile) > v.banks:
            continue
        for k in range(len(room.taken)):
            words, room.taken[k] = _moved(v.spans, v.dma, k, room.tile, room.outer)
            room.energies[k] = words * v.dram_unit
        out_energy, out_cycles = _outer_bound(room.trips, room.outer, room.energies, room.taken)
        energy, cycles = splits.energy[split], splits.cycles[split]
        if _hopeless(room.goal, held.incumbent, energy, cycles, out_energy, out_cycles):
            continue
        room.mapping[SPATIAL] = code
        _orders(
            t, v, splits, split, (inner_mask, outer_mask), base, room, out_energy, out_cycles, held, opened
        )


def _reachable(
    g: Goal, place: Array, classes: Array, energies: Array, cycles: Array, above: SpmTiles, incumbent: Array,
    near: Array,
) -> int:  # fmt: skip
    """How many scratch-pad tiles the array tiles of ``classes`` may have above them and improve on the incumbent: they
    are put into ``near``."""
    count = 0
    for one in range(len(above.primary)):
        if above.primary[one] > incumbent[REACH]:
            break
        if _hopeless(g, incumbent, energies, cycles, above.energy[one], above.cycles[one]):
            continue
        if _fits(place, classes, above.places[one]):
            near[count] = one
            count += 1
    return count


def _class(
    t: KernelTable, v: CoverTable, classes: Array, splits: Splits, above: SpmTiles, near: Array, room: Room,
    held: Held, opened: Opened,
) -> None:  # fmt: skip
    """Go through the scratch-pad tiles ``near`` of ``classes``, for which ``splits`` are left."""
    loops = len(classes)
    for case in range(len(room.energy)):
        room.energy[case], room.cycles[case] = np.inf, np.inf
        for split in range(len(splits.compute)):
            room.energy[case] = min(room.energy[case], splits.energy[split, case])
            room.cycles[case] = min(room.cycles[case], splits.cycles[split, case])
    least_energy, least_cycles = room.energy.copy(), room.cycles.copy()
    for split in range(len(splits.compute)):
        for j in range(loops):
            tile = splits.tile[split, j]
            room.least[j] = tile if split == 0 else min(room.least[j], tile)
    for one in near:
        if _hopeless(
            room.goal, held.incumbent, least_energy, least_cycles, above.energy[one], above.cycles[one]
        ):
            continue
        more, usual = 1.0, 1.0
        for j in range(loops):
            room.pair[j] = v.place[classes[j], above.places[one, j]]
            at = v.outer[classes[j]] + room.pair[j]
            room.inner[j], room.outer[j] = v.p[at], v.d[at]
            room.tile[j] = room.least[j] * room.inner[j]
            more *= float(room.tile[j] * room.outer[j])
            usual *= float(room.least[j] * v.trips[classes[j]])
        if _banks(v.spans, v.dma, room.tile) > v.banks:
            continue
        for k in range(len(room.taken)):
            words, room.taken[k] = _moved(v.spans, v.dma, k, room.tile, room.outer)
            room.energies[k] = words * v.dram_unit
        out_energy, out_cycles = _outer_bound(room.trips, room.outer, room.energies, room.taken)
        out_energy += v.iteration_energy * (more - usual)
        if not _hopeless(room.goal, held.incumbent, least_energy, least_cycles, out_energy, out_cycles):
            _examine(t, v, classes, splits, room, held, opened)


def _search(
    t: KernelTable, v: CoverTable, tiles: ArrayTiles, above: SpmTiles, first: int, last: int, held: Held,
    opened: Opened,
) -> int:  # fmt: skip
    """Examine array tiles from ``first`` to ``last``; returns the position of the first one not examined because all
    from there on are bounded out (or ``last``)."""
    loops = len(v.counts)
    classes, near = np.empty(loops, np.int64), np.empty(len(above.primary), np.int64)
    room = _room(t, v, loops, len(v.spans.dimensions), tiles.energy.shape[1])
    for turn in range(first, last):
        least = tiles.least[turn]
        if tiles.primary[turn] > held.incumbent[REACH] or _bounded_out(t, least[0], least[1], held.incumbent):
            # The order is by this bound, so all that follow are bounded out as well.
            return turn
        for j in range(loops):
            classes[j] = v.base[j] + tiles.places[turn, j]
        energies, cycles = tiles.energy[turn], tiles.cycles[turn]
        count = _reachable(room.goal, v.place, classes, energies, cycles, above, held.incumbent, near)
        if count == 0:
            continue
        out_energy, out_cycles = np.inf, np.inf
        for one in near[:count]:
            out_energy = min(out_energy, above.energy[one])
            out_cycles = min(out_cycles, above.cycles[one])
        splits = _splits(
            t, v, classes, energies, cycles, out_energy, out_cycles, held.incumbent, room.following
        )
        room.mapping[ARRAY_TILE] = turn
        if len(splits.compute) > 0:
            _class(t, v, classes, splits, above, near[:count], room, held, opened)
    return last


_outside: dict[str, Any] = {
    "_banks": bound_kernel.banks,
    "_moved": bound_kernel.moved,
    "_outer_bound": bound_kernel.outer_bound,
    "_hopeless": goal_kernel.hopeless,
}


def _compiled_search(orders: Compiled, splits: Compiled) -> Compiled:
    """`_search` with one way to cost the orders of a tiling, and to bound its splits."""
    examine = borrowing(_examine, _orders=borrowing(_orders, _in_orders=orders), **_outside)
    return compiled(
        _search,
        _room=compiled(
            _room,
            _crossing=bound_kernel.crossing_room,
            _room_of=stream_bounds.room_of,
            _goal_of=goal_kernel.goal_of,
            _ways_of=bound_kernel.ways_of,
            _trips_of=bound_kernel.trips_of,
        ),
        _reachable=borrowing(_reachable, _hopeless=goal_kernel.hopeless, _fits=bound_kernel.fits),
        _splits=splits,
        _class=compiled(_class, _examine=examine, **_outside),
        _bounded_out=incumbent_kernel.bounded_out,
    )


# One search for each, so that nobody waits for the compilation of the other.
_buffered = _compiled_search(
    borrowing(
        _in_orders,
        _inner_bounds=bound_kernel.inner_bounds,
        _hopeless=goal_kernel.hopeless,
        _reuse=pair.reuse,
        _counted=incumbent_kernel.counted,
        _layer_energy=compiled_model.layer_energy,
        _layer_cycles=compiled_model.layer_cycles,
        _surely=exact_bounds.surely,
        _together=exact_bounds.together,
        _bounded_out=incumbent_kernel.bounded_out,
        _consider=incumbent_kernel.consider,
        _exposed_gain=borrowing(_exposed_gain),
    ),
    split_kernel.buffered_splits,
)
_streamed = _compiled_search(
    borrowing(
        _streamed_orders,
        _all_fresh=stream_kernel.all_fresh,
        _least_shares=stream_bounds.least_shares,
        _streamed_bound=stream_bounds.streamed_bound,
        _surely=exact_bounds.surely,
        _together=exact_bounds.together,
        _bounded_out=incumbent_kernel.bounded_out,
        _orders_of_streams=order_kernel.orders,
    ),
    split_kernel.streamed_splits,
)


def search_of(t: KernelTable) -> Compiled:
    """`_search` for tiles that follow each other in streams, or that come whole."""
    return _streamed if t.streams.on else _buffered
