"""The compiled search for the pairs (register file, space) of a class of array tiles (the argument is in covering)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mapper.models.compiled import borrowing, compiled
from mapper.solver.tiling.cover import bound_kernel, stream_kernel
from mapper.solver.tiling.cover.table import Array, CoverTable
from mapper.solver.tiling.exact import bound_kernel as exact_bounds
from mapper.solver.tiling.exact import incumbent_kernel
from mapper.solver.tiling.exact.bound_kernel import SLACK
from mapper.solver.tiling.exact.kernel_table import KernelTable
from mapper.solver.tiling.stream.bound_kernel import Room

_words: Any = bound_kernel.words
_inner_bound: Any = bound_kernel.inner_bound
_surely: Any = exact_bounds.surely
_together: Any = exact_bounds.together
_bounded_out: Any = incumbent_kernel.bounded_out
_split_bound: Any = stream_kernel.split_bound
_held: Any = stream_kernel.held_slots

ROOM = 256
INFEASIBLE = np.inf
DELIVERED, REDUCTION, ADDITIONS, WORDS = 0, 1, 2, 3
"""What a split takes of each operand: words delivered to PEs, cycles and number of additions between PEs, words of the
array tile."""


class Splits(NamedTuple):
    """Array tiles of one class with their splits: ``pair`` [n][loops] (which inner pair of its class each loop has),
    ``tile`` [n][loops], ``compute`` [n], ``bounds`` [n][2] (energy and cycles without DMA), ``terms``
    [n][4][operands], ``held`` [n]: the slots along which tiles can follow each other, as bits."""

    pair: Array
    tile: Array
    compute: Array
    bounds: Array
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
            splits.bounds[kept] = splits.bounds[other]
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
        np.concatenate((splits.bounds, np.empty_like(splits.bounds))),
        np.concatenate((splits.terms, np.empty_like(splits.terms))),
        np.concatenate((splits.held, np.zeros_like(splits.held))),
    )


def _priced(t: KernelTable, v: CoverTable, registers: Array, pes: Array, tile: Array, terms: Array) -> int:
    """Into ``terms`` what a split takes; words of one register file."""
    taken, everywhere = 0, 1
    for j in range(len(pes)):
        everywhere *= pes[j]
    for k in range(len(v.dimensions)):
        words, groups = _words(v, k, registers), 1
        for j in range(len(pes)):
            if v.own[k, j]:
                groups *= pes[j]
        members = everywhere // groups if t.updated[k] else 1
        additions = words * (members - 1) * groups
        terms[DELIVERED, k] = words * (groups if t.writes[k] else everywhere)
        terms[REDUCTION, k] = 0 if t.systolic else words * (members - 1) if t.mesh else additions
        terms[ADDITIONS, k] = additions
        terms[WORDS, k] = _words(v, k, tile)
        taken += words
    return taken


def _into_room(t: KernelTable, v: CoverTable, terms: Array, x: Room) -> None:
    """What a split takes, and what that costs, into ``x``."""
    for k in range(len(x.words)):
        x.words[k] = terms[WORDS, k]
        x.noc_energy[k] = terms[DELIVERED, k] * t.noc_unit
        x.spm_energy[k] = x.words[k] * v.spm_unit
        x.noc_cycles[k] = -(-x.words[k] // v.widths[k])


def _inside(
    t: KernelTable, v: CoverTable, classes: Array, passes: int, compute: int, tile: Array, held: int, x: Room
) -> tuple[float, float]:
    """The bound for a split that ``x`` knows, without DMA."""
    if t.streams.on:
        energy, cycles = _split_bound(t, v, classes, passes, compute, tile, held, x)
    else:
        energy, cycles = _inner_bound(t, passes, x.tiles, compute, x.noc_energy, x.spm_energy, x.noc_cycles)
    return energy, cycles


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


def _room_place(pes: int, room: int) -> int:
    """Where a number of PEs that are left (``pes`` divided by some number, rounded down) stands among all such."""
    root = int(np.sqrt(pes))
    return room - 1 if room <= root else 2 * root + 2 - pes // room


def _least_work(v: CoverTable, classes: Array, pes: int) -> Array:
    """The least product of register-file factors of the loops from j on, on so many PEs as are left [loops + 1][room].

    Rooms are numbered by `_room_place`; those that no choice of PEs leaves are not filled in.
    """
    loops, root = len(classes), int(np.sqrt(pes))
    least = np.full((loops + 1, 2 * root + 3), INFEASIBLE)
    least[loops] = 1
    for back in range(loops):
        j = loops - 1 - back
        one = classes[j]
        for turn in range(2 * root + 2):
            room = turn + 1 if turn < root else pes // (2 * root + 2 - turn)
            if room == 0:
                continue
            place = _room_place(pes, room)
            for at in range(v.inner[one], v.inner[one + 1]):
                if v.s[at] <= room:
                    rest = least[j + 1, _room_place(pes, room // v.s[at])]
                    least[j, place] = min(least[j, place], v.r[at] * rest)
    return least


def _splits(
    t: KernelTable, v: CoverTable, classes: Array, least_energy: float, out_energy: float, out_cycles: float,
    incumbent: Array, x: Room,
) -> Splits:  # fmt: skip
    """Splits of the array tiles of ``classes`` [loops] that may improve on the incumbent; ``least_energy``: the
    classes' bound."""
    loops, operands = len(v.counts), len(v.dimensions)
    splits = Splits(
        np.empty((ROOM, loops), np.int64),
        np.empty((ROOM, loops), np.int64),
        np.empty(ROOM, np.int64),
        np.empty((ROOM, 2), np.float64),
        np.empty((ROOM, 4, operands), np.int64),
        np.zeros(ROOM, np.int64),
    )
    pair = np.full(loops, -1, np.int64)
    registers, pes, tile = np.ones(loops, np.int64), np.ones(loops, np.int64), np.ones(loops, np.int64)
    size, in_space = np.ones(loops + 1, np.int64), np.ones(loops + 1, np.int64)
    passes = 1
    x.tiles[:] = 1
    for back in range(loops):
        j = loops - 1 - back
        passes *= v.trips[classes[j]]
        for k in range(operands):
            if v.own[k, j]:
                x.tiles[k] *= v.trips[classes[j]]
    work = _least_work(v, classes, t.pes)
    found, j = 0, 0
    while j >= 0:
        pair[j] += 1
        one = classes[j]
        if pair[j] >= v.inner[one + 1] - v.inner[one]:
            pair[j] = -1
            registers[j] = 1
            j -= 1
            continue
        at = v.inner[one] + pair[j]
        in_space[j + 1] = in_space[j] * v.s[at]
        if in_space[j + 1] > t.pes:
            continue
        registers[j], pes[j], tile[j] = v.r[at], v.s[at], v.r[at] * v.s[at]
        size[j + 1] = size[j] * registers[j]
        # What the loops that are left bring, on the PEs that are left.
        left = _room_place(t.pes, t.pes // in_space[j + 1])
        busy = float(passes) * t.iteration_cycles * size[j + 1] * work[j + 1, left]
        if _bounded_out(t, least_energy, _together(t, busy, out_cycles), incumbent):
            continue
        taken = 0
        for k in range(operands):
            taken += _words(v, k, registers)
        if taken > t.rf_capacity or (j + 1 == loops and t.axes and not _has_room(v, pes)):
            continue
        if j + 1 < loops:
            j += 1
            continue
        if found + 1 >= len(splits.compute):
            splits = _grown(splits)
        _priced(t, v, registers, pes, tile, splits.terms[found])
        iterations = 1.0
        for i in range(loops):
            iterations *= float(tile[i] * v.trips[classes[i]])
        _into_room(t, v, splits.terms[found], x)
        compute = size[loops] * t.iteration_cycles
        splits.held[found] = _held(t, pes)
        energy, cycles = _inside(t, v, classes, passes, compute, tile, splits.held[found], x)
        energy = _surely(t, v.iteration_energy * iterations + energy)
        if _bounded_out(t, energy + out_energy * SLACK, _together(t, cycles, out_cycles), incumbent):
            continue
        splits.pair[found], splits.tile[found] = pair, tile
        splits.compute[found] = compute
        splits.bounds[found, 0], splits.bounds[found, 1] = energy, cycles
        found = _without_dominated(t, splits, found) if t.dominance else found + 1
    return Splits(
        splits.pair[:found], splits.tile[:found], splits.compute[:found], splits.bounds[:found],
        splits.terms[:found], splits.held[:found],
    )  # fmt: skip


room_place = borrowing(_room_place)
splits = compiled(
    _splits,
    _words=bound_kernel.words,
    _surely=exact_bounds.surely,
    _together=exact_bounds.together,
    _bounded_out=incumbent_kernel.bounded_out,
    _inside=borrowing(_inside, _inner_bound=bound_kernel.inner_bound, _split_bound=stream_kernel.split_bound),
    _held=stream_kernel.held_slots,
    _priced=borrowing(_priced, _words=bound_kernel.words),
    _into_room=borrowing(_into_room),
    _grown=compiled(_grown),
    _has_room=compiled(_has_room),
    _room_place=room_place,
    _least_work=compiled(_least_work, _room_place=room_place),
    _without_dominated=compiled(_without_dominated, _is_undercut=borrowing(_is_undercut)),
)
