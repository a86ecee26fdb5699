"""The compiled search over classes of covers (the argument is in covering)."""

from __future__ import annotations

from typing import Any

import numpy as np

from mapper.models.compiled import Compiled, borrowing, compiled
from mapper.solver.tiling.cover import bound_kernel, goal_kernel, order_kernel, room_kernel, split_kernel
from mapper.solver.tiling.cover.candidate import ArrayTiles, SpmTiles
from mapper.solver.tiling.cover.goal_kernel import Goal
from mapper.solver.tiling.cover.room_kernel import Opened, Room
from mapper.solver.tiling.cover.split_kernel import Splits
from mapper.solver.tiling.cover.table import Array, CoverTable
from mapper.solver.tiling.exact import incumbent_kernel
from mapper.solver.tiling.exact.incumbent_kernel import ARRAY_TILE, REACH, SPATIAL, SPM_TILE
from mapper.solver.tiling.exact.kernel_table import KernelTable
from mapper.solver.tiling.exact.pair import Held

_splits: Any = split_kernel.buffered_splits
_orders: Any = order_kernel.orders_of_whole_tiles
_room_of: Any = room_kernel.room_of
_banks: Any = bound_kernel.banks
_moved: Any = bound_kernel.moved
_outer_bound: Any = bound_kernel.outer_bound
_fits: Any = bound_kernel.fits
_hopeless: Any = goal_kernel.hopeless
_bounded_out: Any = incumbent_kernel.bounded_out


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


def _outside(v: CoverTable, classes: Array, trips: Array, room: Room) -> tuple[float, float]:
    """Least energy and cycles of DMA with an array tile of ``room.least`` at least, of ``classes``, and these ``trips``
    [loops] at DRAM, operations of larger tiles included; infinity where the scratch-pad has no room. Says in ``room``
    which pairs these are."""
    more, usual = 1.0, 1.0
    for j in range(len(classes)):
        room.pair[j] = v.place[classes[j], trips[j]]
        at = v.outer[classes[j]] + room.pair[j]
        room.inner[j], room.outer[j] = v.p[at], v.d[at]
        room.tile[j] = room.least[j] * room.inner[j]
        more *= float(room.tile[j] * room.outer[j])
        usual *= float(room.least[j] * v.trips[classes[j]])
    if _banks(v.spans, v.dma, room.tile) > v.banks:
        return np.inf, np.inf
    for k in range(len(room.taken)):
        words, room.taken[k] = _moved(v.spans, v.dma, k, room.tile, room.outer)
        room.energies[k] = words * v.dram_unit
    energy, cycles = _outer_bound(room.trips, room.outer, room.energies, room.taken)
    return energy + v.iteration_energy * (more - usual), cycles


def _least_outside(
    v: CoverTable, classes: Array, energies: Array, cycles: Array, above: SpmTiles, near: Array, room: Room,
    held: Held,
) -> tuple[int, float, float]:  # fmt: skip
    """How many of the scratch-pad tiles ``near`` are left, now that it is known which array tile they hold: they are
    put to the front; and the least energy and cycles of DMA with any of them."""
    count, least_energy, least_cycles = 0, np.inf, np.inf
    for j in range(len(classes)):
        room.least[j] = v.tile[classes[j]]
    for one in near:
        out_energy, out_cycles = _outside(v, classes, above.places[one], room)
        if _hopeless(room.goal, held.incumbent, energies, cycles, out_energy, out_cycles):
            continue
        least_energy, least_cycles = min(least_energy, out_energy), min(least_cycles, out_cycles)
        near[count] = one
        count += 1
    return count, least_energy, least_cycles


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
        out_energy, out_cycles = _outside(v, classes, above.places[one], room)
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
    room = _room_of(t, v, loops, len(v.spans.dimensions), tiles.energy.shape[1])
    for turn in range(first, last):
        least = tiles.least[turn]
        if tiles.primary[turn] > held.incumbent[REACH] or _bounded_out(t, least[0], least[1], held.incumbent):
            # The order is by this bound, so all that follow are bounded out as well.
            return turn
        for j in range(loops):
            classes[j] = v.base[j] + tiles.places[turn, j]
        energies, cycles = tiles.energy[turn], tiles.cycles[turn]
        count = _reachable(room.goal, v.place, classes, energies, cycles, above, held.incumbent, near)
        count, out_energy, out_cycles = _least_outside(
            v, classes, energies, cycles, above, near[:count], room, held
        )
        if count == 0:
            continue
        splits = _splits(
            t, v, classes, energies, cycles, out_energy, out_cycles, held.incumbent, room.following
        )
        room.mapping[ARRAY_TILE] = turn
        if len(splits.compute) > 0:
            _class(t, v, classes, splits, above, near[:count], room, held, opened)
    return last


_outside_of_pair = borrowing(_outside)


def _compiled_search(orders: Compiled, splits: Compiled) -> Compiled:
    """`_search` with one way to cost the orders of a tiling, and to bound its splits."""
    return compiled(
        _search,
        _reachable=borrowing(_reachable),
        _least_outside=borrowing(_least_outside, _outside=_outside_of_pair),
        _splits=splits,
        _class=compiled(_class, _outside=_outside_of_pair, _examine=borrowing(_examine, _orders=orders)),
    )


# One search for each, so that nobody waits for the compilation of the other.
_buffered = _compiled_search(order_kernel.orders_of_whole_tiles, split_kernel.buffered_splits)
_streamed = _compiled_search(order_kernel.orders_in_streams, split_kernel.streamed_splits)


def search_of(t: KernelTable) -> Compiled:
    """`_search` for tiles that follow each other in streams, or that come whole."""
    return _streamed if t.streams.on else _buffered
