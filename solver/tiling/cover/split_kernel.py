"""The compiled search for the pairs (register file, space) of a class of array tiles (the argument is in covering)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mapper.models.compiled import Compiled, borrowing, compiled
from mapper.solver.tiling.cover import bound_kernel, goal_kernel, stream_kernel
from mapper.solver.tiling.cover.bound_kernel import Crossing, Ways
from mapper.solver.tiling.cover.goal_kernel import Goal
from mapper.solver.tiling.cover.table import Array, CoverTable
from mapper.solver.tiling.exact import bound_kernel as exact_bounds
from mapper.solver.tiling.exact.kernel_table import KernelTable
from mapper.solver.tiling.stream.bound_kernel import Room as StreamRoom

_words: Any = bound_kernel.words
_crossing: Any = bound_kernel.crossing_room
_inner_bounds: Any = bound_kernel.inner_bounds
_ways_of: Any = bound_kernel.ways_of
_goal_of: Any = goal_kernel.goal_of
_hopeless: Any = goal_kernel.hopeless
_misses: Any = goal_kernel.misses
_split_bound: Any = stream_kernel.split_bound
_held: Any = stream_kernel.held_slots
_crossing_bound: Any = exact_bounds.crossing_bound

ROOM = 256
INFEASIBLE = np.inf
DELIVERED, REDUCTION, ADDITIONS, WORDS = 0, 1, 2, 3
"""What a split takes of each operand: words delivered to PEs, cycles and number of additions between PEs, words of the
array tile."""


class Splits(NamedTuple):
    """Array tiles of one class with their splits: ``pair`` [n][loops] (which inner pair of its class each loop has),
    ``tile`` [n][loops], ``compute`` [n], bounds without DRAM (``energy``, ``cycles`` [n][cases]), ``terms``
    [n][4][operands], ``held`` [n]: the slots along which tiles can follow each other, as bits.
    """

    pair: Array
    tile: Array
    compute: Array
    energy: Array
    cycles: Array
    terms: Array
    held: Array


def _is_undercut(t: KernelTable, splits: Splits, one: int, other: int) -> bool:
    """Whether split ``other`` costs no less than ``one``, whatever surrounds them: where sums that leave are waited
    for, tiles must be the same, since more words to hide behind may then save cycles."""
    if splits.compute[one] > splits.compute[other] or splits.held[other] & ~splits.held[one]:
        return False
    for j in range(splits.tile.shape[1]):
        if splits.tile[one, j] > splits.tile[other, j]:
            return False
        if t.buffers.exposed and splits.tile[one, j] != splits.tile[other, j]:
            return False
    for term in range(3):
        for k in range(splits.terms.shape[2]):
            if splits.terms[one, term, k] > splits.terms[other, term, k]:
                return False
    return True


def _without_dominated(t: KernelTable, splits: Splits, found: int) -> int:
    """How many of ``found`` splits and the one behind them are left when none undercuts another."""
    for other in range(found):
        if _is_undercut(t, splits, other, found):
            return found
    kept = 0
    for other in range(found + 1):
        if other == found or not _is_undercut(t, splits, found, other):
            splits.pair[kept] = splits.pair[other]
            splits.tile[kept] = splits.tile[other]
            splits.compute[kept] = splits.compute[other]
            splits.energy[kept] = splits.energy[other]
            splits.cycles[kept] = splits.cycles[other]
            splits.terms[kept] = splits.terms[other]
            splits.held[kept] = splits.held[other]
            kept += 1
    return kept


def _grown(splits: Splits) -> Splits:
    """The same with room for as many more."""
    return Splits(
        np.concatenate((splits.pair, np.empty_like(splits.pair))),
        np.concatenate((splits.tile, np.empty_like(splits.tile))),
        np.concatenate((splits.compute, np.empty_like(splits.compute))),
        np.concatenate((splits.energy, np.empty_like(splits.energy))),
        np.concatenate((splits.cycles, np.empty_like(splits.cycles))),
        np.concatenate((splits.terms, np.empty_like(splits.terms))),
        np.concatenate((splits.held, np.zeros_like(splits.held))),
    )


def _priced(t: KernelTable, v: CoverTable, registers: Array, pes: Array, tile: Array, terms: Array) -> int:
    """Into ``terms`` what a split takes; words of one register file."""
    taken, everywhere = 0, 1
    for j in range(len(pes)):
        everywhere *= pes[j]
    for k in range(len(v.spans.dimensions)):
        words, groups = _words(v.spans, k, registers), 1
        for j in range(len(pes)):
            if v.own[k, j]:
                groups *= pes[j]
        members = everywhere // groups if t.updated[k] else 1
        additions = words * (members - 1) * groups
        terms[DELIVERED, k] = words * (groups if t.writes[k] else everywhere)
        terms[REDUCTION, k] = 0 if t.systolic else words * (members - 1) if t.mesh else additions
        terms[ADDITIONS, k] = additions
        terms[WORDS, k] = _words(v.spans, k, tile)
        taken += words
    return taken


def _has_room(v: CoverTable, pes: Array) -> bool:
    """Whether the factors in space can be divided between rows and columns."""
    loops = len(pes)
    along = np.zeros(loops, np.int64)
    rows, columns = np.ones(loops + 1, np.int64), np.ones(loops + 1, np.int64)
    j = 0
    while j >= 0:
        along[j] += 1
        if along[j] > pes[j] or rows[j] * along[j] > v.sides[0]:
            along[j] = 0
            j -= 1
            continue
        beside = pes[j] // along[j]
        if pes[j] % along[j] != 0 or columns[j] * beside > v.sides[1]:
            continue
        if (along[j] > 1 and not v.may[0, j]) or (beside > 1 and not v.may[1, j]):
            continue
        if (along[j] == 1 and v.must[0, j]) or (beside == 1 and v.must[1, j]):
            continue
        rows[j + 1], columns[j + 1] = rows[j] * along[j], columns[j] * beside
        if j + 1 == loops:
            return True
        j += 1
    return False


def _room_place(pes: int, root: int, room: int) -> int:
    """Where a number of PEs that are left (``pes`` divided by some number, rounded down) stands among all such;
    ``root`` of ``pes``, rounded down."""
    return room - 1 if room <= root else 2 * root + 2 - pes // room


def _least_work(v: CoverTable, classes: Array, pes: int, root: int) -> Array:
    """The least product of register-file factors of the loops from j on, on so many PEs as are left [loops + 1][room].

    Rooms are numbered by `_room_place`; those that no choice of PEs leaves are not filled in.
    """
    loops = len(classes)
    least = np.full((loops + 1, 2 * root + 3), INFEASIBLE)
    least[loops] = 1
    for back in range(loops):
        j = loops - 1 - back
        first, last = v.inner[classes[j]], v.inner[classes[j] + 1]
        if last == first + 1 and v.s[first] == 1:
            for place in range(2 * root + 3):
                least[j, place] = v.r[first] * least[j + 1, place]
            continue
        for turn in range(2 * root + 2):
            room = turn + 1 if turn < root else pes // (2 * root + 2 - turn)
            if room == 0:
                continue
            found = INFEASIBLE
            for at in range(first, last):
                if v.s[at] <= room:
                    found = min(found, v.r[at] * least[j + 1, _room_place(pes, root, room // v.s[at])])
            least[j, _room_place(pes, root, room)] = found
    return least


def _bounded(
    t: KernelTable, v: CoverTable, w: Ways, classes: Array, splits: Splits, one: int, passes: int,
    crossing: Crossing, x: StreamRoom,
) -> None:  # fmt: skip
    """Fill in the bounds of a split whose terms are known."""
    iterations = float(passes)
    for j in range(splits.tile.shape[1]):
        iterations *= float(splits.tile[one, j])
    for k in range(len(crossing.tiles)):
        words = splits.terms[one, WORDS, k]
        crossing.noc_energy[k] = splits.terms[one, DELIVERED, k] * t.noc_unit
        crossing.spm_energy[k] = words * v.spm_unit
        crossing.addition_energy[k] = splits.terms[one, ADDITIONS, k] * t.reduction_unit
        crossing.noc_cycles[k] = -(-words // v.widths[k])
        crossing.addition_cycles[k] = splits.terms[one, REDUCTION, k]
        x.words[k], x.tiles[k], x.noc_cycles[k] = words, crossing.tiles[k], crossing.noc_cycles[k]
        x.noc_energy[k], x.spm_energy[k] = crossing.noc_energy[k], crossing.spm_energy[k]
    _bound(t, v, w, classes, splits, one, passes, crossing, x)
    for case in range(splits.energy.shape[1]):
        splits.energy[one, case] += v.iteration_energy * iterations


def _bound(
    t: KernelTable, v: CoverTable, w: Ways, classes: Array, splits: Splits, one: int, passes: int,
    crossing: Crossing, x: StreamRoom,
) -> None:  # fmt: skip
    """The bounds without operations, where tiles come whole."""
    _inner_bounds(w, passes, crossing, splits.compute[one], splits.energy[one], splits.cycles[one])


def _streamed_bound(
    t: KernelTable, v: CoverTable, w: Ways, classes: Array, splits: Splits, one: int, passes: int,
    crossing: Crossing, x: StreamRoom,
) -> None:  # fmt: skip
    """The same where memories are filled as streams."""
    splits.energy[one, 0], splits.cycles[one, 0] = _split_bound(
        t, v, classes, passes, splits.compute[one], splits.tile[one], splits.held[one], x
    )


def _no_splits(loops: int, operands: int, cases: int) -> Splits:
    return Splits(
        np.empty((ROOM, loops), np.int64),
        np.empty((ROOM, loops), np.int64),
        np.empty(ROOM, np.int64),
        np.empty((ROOM, cases), np.float64),
        np.empty((ROOM, cases), np.float64),
        np.empty((ROOM, 4, operands), np.int64),
        np.zeros(ROOM, np.int64),
    )


class Room(NamedTuple):
    """Scratch arrays: ``crossing``; ``others`` [loops + 1][operands], PEs along loops that an operand does not depend
    on; what each of them but the first adds to energy and cycles (``more_energy``, ``more_cycles`` [cases][operands]);
    ``spans`` [loops + 1][operands][dimensions] of tiles in the register file.
    """

    crossing: Crossing
    others: Array
    more_energy: Array
    more_cycles: Array
    spans: Array


def _room(steps: Array, cases: int) -> Room:
    loops, operands, places = steps.shape
    more, spans = np.zeros((cases, operands)), np.ones((loops + 1, operands, places), np.int64)
    return Room(_crossing(operands), np.ones((loops + 1, operands)), more, more.copy(), spans)


def _shared(t: KernelTable, v: CoverTable, classes: Array, passes: int, room: Room) -> None:
    """Fill in what PEs add that share words, or add up each other's: bounds count every word as delivered to one PE,
    and no additions."""
    loops, crossing = len(classes), room.crossing
    for k in range(len(crossing.tiles)):
        words = 1.0
        for group in range(len(v.group_operand)):
            place = v.group_start[group]
            for j in range(loops):
                place += (classes[j] - v.base[j]) * v.group_strides[group, j]
            if v.group_operand[group] == k:
                words *= v.delivered[place]
        for case in range(len(room.more_energy)):
            kept = k == case or not t.alone
            if t.updated[k]:
                count = crossing.tiles[k] if kept else passes
                room.more_energy[case, k] += words * count * t.reduction_unit
                room.more_cycles[case, k] += 0.0 if t.mesh or t.systolic else words * count
            if not t.writes[k]:
                moves = _crossing_bound(t, k, passes, crossing.tiles[k], kept)
                room.more_energy[case, k] += words * t.noc_unit * moves


def _fails(
    g: Goal, incumbent: Array, more_energy: Array, more_cycles: Array, others: Array, energies: Array,
    cycles: Array, busy: float, out_cycles: float,
) -> bool:  # fmt: skip
    """Whether nothing can improve on the incumbent with the loops in space so far, which have so many ``others``
    [operands] share words, by the classes' ``energies`` and ``cycles`` [cases], if all PEs are ``busy`` so long."""
    for case in range(len(energies)):
        energy, taken = energies[case], max(cycles[case], busy)
        for k in range(len(others)):
            energy += more_energy[case, k] * (others[k] - 1.0)
            taken += more_cycles[case, k] * (others[k] - 1.0)
        if not _misses(g, incumbent, energy, taken, out_cycles):
            return False
    return True


def _widen(steps: Array, registers: int, before: Array, after: Array) -> int:
    """The spans of all operands with one more loop in the register file, into ``after`` [operands][dimensions]; the
    words of all operands together."""
    taken = 0
    for k in range(len(steps)):
        words = 1
        for place in range(steps.shape[1]):
            after[k, place] = before[k, place] + steps[k, place] * (registers - 1)
            words *= after[k, place]
        taken += words
    return taken


def _splits(
    t: KernelTable, v: CoverTable, classes: Array, energies: Array, cycles: Array, out_energy: float,
    out_cycles: float, incumbent: Array, x: StreamRoom,
) -> Splits:  # fmt: skip
    """Splits of the array tiles of ``classes`` [loops] that may improve on the incumbent; ``energies``, ``cycles``: the
    classes' bounds."""
    loops, operands = len(v.counts), len(v.spans.dimensions)
    splits, room = _no_splits(loops, operands, len(energies)), _room(v.steps, len(energies))
    g, w, inside, root = _goal_of(t), _ways_of(t), energies + out_energy, int(np.sqrt(t.pes))
    pair = np.full(loops, -1, np.int64)
    registers, pes, tile = np.ones(loops, np.int64), np.ones(loops, np.int64), np.ones(loops, np.int64)
    size, left = np.ones(loops + 1, np.int64), np.full(loops + 1, t.pes, np.int64)
    passes, crossing = 1, room.crossing
    for j in range(loops):
        passes *= v.trips[classes[j]]
        for k in range(operands):
            if v.own[k, j]:
                crossing.tiles[k] *= v.trips[classes[j]]
            elif v.runs[classes[j]]:
                crossing.able[k] = True
    if not t.streams.on:
        _shared(t, v, classes, passes, room)
    work = _least_work(v, classes, t.pes, root)
    found, j = 0, 0
    while j >= 0:
        pair[j] += 1
        one = classes[j]
        at = v.inner[one] + pair[j]
        if at >= v.inner[one + 1]:
            pair[j] = -1
            registers[j] = 1
            j -= 1
            continue
        left[j + 1] = left[j] // v.s[at]
        if left[j + 1] == 0:
            continue
        registers[j], pes[j], tile[j] = v.r[at], v.s[at], v.r[at] * v.s[at]
        size[j + 1] = size[j] * registers[j]
        # What the loops that are left bring, on the PEs that are left.
        rest = work[j + 1, _room_place(t.pes, root, left[j + 1])]
        busy = float(passes) * t.iteration_cycles * size[j + 1] * rest
        for k in range(operands):
            room.others[j + 1, k] = room.others[j, k] * (1 if v.own[k, j] else pes[j])
        if _fails(
            g, incumbent, room.more_energy, room.more_cycles, room.others[j + 1], inside, cycles, busy, out_cycles
        ):  # fmt: skip
            continue
        if _widen(v.steps[j], registers[j], room.spans[j], room.spans[j + 1]) > t.rf_capacity:
            # The pairs that follow have larger tiles in the register file.
            pair[j] = v.inner[one + 1] - v.inner[one] - 1
            continue
        if j + 1 == loops and t.axes and not _has_room(v, pes):
            continue
        if j + 1 < loops:
            j += 1
            continue
        if found + 1 >= len(splits.compute):
            splits = _grown(splits)
        _priced(t, v, registers, pes, tile, splits.terms[found])
        splits.pair[found], splits.tile[found] = pair, tile
        splits.compute[found] = size[loops] * t.iteration_cycles
        splits.held[found] = _held(t, pes)
        _bounded(t, v, w, classes, splits, found, passes, crossing, x)
        if not _hopeless(g, incumbent, splits.energy[found], splits.cycles[found], out_energy, out_cycles):
            found = _without_dominated(t, splits, found) if t.dominance else found + 1
    return Splits(
        splits.pair[:found], splits.tile[:found], splits.compute[:found], splits.energy[:found],
        splits.cycles[:found], splits.terms[:found],
        splits.held[:found],
    )  # fmt: skip


room_place = borrowing(_room_place)


def _compiled_splits(bound: Compiled) -> Compiled:
    """`_splits` with one way to bound a split."""
    return compiled(
        _splits,
        _room=compiled(_room),
        _no_splits=compiled(_no_splits),
        _shared=borrowing(_shared),
        _fails=borrowing(_fails),
        _widen=borrowing(_widen),
        _bounded=borrowing(_bounded, _bound=bound),
        _priced=borrowing(_priced),
        _grown=compiled(_grown),
        _has_room=compiled(_has_room),
        _room_place=room_place,
        _least_work=compiled(_least_work, _room_place=room_place),
        _without_dominated=compiled(_without_dominated, _is_undercut=borrowing(_is_undercut)),
    )


buffered_splits = _compiled_splits(borrowing(_bound))
streamed_splits = _compiled_splits(borrowing(_streamed_bound))
