"""Array tiles and scratch-pad tiles that may be part of a better mapping, loop by loop.

A cost is at least a sum of products of factors that each depend on the loops of one *block* alone: loops that meet in
a dimension of an operand, such as the rows of an image and of a filter. So tiles are put together block by block, and
what cannot improve on the incumbent, whatever the other blocks bring at least, is left out before it is put together
with them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from mapper.solver.tiling.cover.block import (
    Block,
    blocks_of,
    improving,
    joined,
    own_tiles,
    places_of,
    slices,
    values,
    words_of,
)
from mapper.solver.tiling.cover.spm_block import busy, spm_block, spm_hopeless
from mapper.solver.tiling.cover.table import Array, CoverTable
from mapper.solver.tiling.exact.bound_kernel import SLACK
from mapper.solver.tiling.exact.incumbent_kernel import REACH
from mapper.solver.tiling.exact.kernel_table import ENERGY, KernelTable
from mapper.solver.tiling.exact.lattice import Floats, Integers

MOST_PAIRS = 1 << 26
"""Pairs of tiles that are bounded together; of more each array tile is bounded with the least above any."""

TILES_PER_CALL = 1 << 15

TILES_AT_ONCE = 1 << 12
"""Scratch-pad tiles whose place above array tiles is tabulated at once."""


class ArrayTiles(NamedTuple):
    """Array tiles by ascending bound: their classes' ``places`` [n][loops], bounds without DRAM (``energy``, ``cycles``
    [n][cases], see `bound_kernel`), the least with it (``least`` [n][2]) and that bound on the objective, ``primary``
    [n]."""

    places: Array
    energy: Array
    cycles: Array
    least: Array
    primary: Array


class SpmTiles(NamedTuple):
    """Scratch-pad tiles by ascending bound ``primary``: which trips at DRAM (``places`` [n][loops]), least ``energy``
    and ``cycles`` there."""

    places: Array
    energy: Array
    cycles: Array
    primary: Array


def candidates(
    t: KernelTable, v: CoverTable, incumbent: Floats, stopped: Callable[[], object]
) -> tuple[ArrayTiles, SpmTiles]:
    """All that may improve on ``incumbent``.

    Raises: UnfinishedError when ``stopped`` says that time is over (by anything but None); TooManyOpenError.
    """
    from mapper.solver.tiling.cover import bound_kernel
    from mapper.solver.tiling.stream.bound_kernel import room_of

    reach, cases = float(incumbent[REACH]), bound_kernel.cases(t)
    places = _array_places(t, v, reach, stopped)
    energy, cycles = np.empty((len(places), cases)), np.empty((len(places), cases))
    x = room_of(len(v.counts), len(v.spans.dimensions), len(t.streams.along))
    first_bounds, room = bound_kernel.first_bounds_of(t), bound_kernel.crossing_room(len(v.spans.dimensions))
    for some in slices(len(places), TILES_PER_CALL, stopped):
        first_bounds(t, v, places[some], room, x, energy[some], cycles[some])
    within = (energy.min(axis=0, initial=np.inf), cycles.min(axis=0, initial=np.inf))
    above = _spm_tiles(t, v, within, reach, stopped)
    outside = (above.energy.min(initial=np.inf), above.cycles.min(initial=np.inf))
    able = np.flatnonzero(improving(t, energy + outside[0], cycles, outside[1], reach))
    places, energy, cycles, joint = places[able], energy[able], cycles[able], np.full((len(able), 3), np.inf)
    if joint.size * len(above.primary) <= MOST_PAIRS:
        order, front = np.argsort(above.energy, kind="stable"), _front(above.energy, above.cycles)
        for some in slices(len(order), TILES_AT_ONCE, stopped):
            outer = above.energy[order[some]], above.cycles[order[some]]
            fits = _fits(v, above.places[order[some]])
            bound_kernel.joint_bounds(t, v, (places, energy, cycles), (fits, *outer), front, incumbent, joint)
    else:
        total = values(t, energy + outside[0], cycles, outside[1])
        least = energy.min(axis=1) + outside[0], cycles.min(axis=1)
        joint = np.stack(
            (total.min(axis=1), least[0] * SLACK - (0.5 * t.per_pj if t.rounded else 0.0), least[1]), 1
        )
    usable = np.flatnonzero(np.isfinite(joint[:, 0]))
    second = joint[:, 2 if t.objective == ENERGY else 1]
    order = usable[np.lexsort((second[usable], joint[usable, 0]))]
    array = ArrayTiles(places[order], energy[order], cycles[order], joint[order, 1:].copy(), joint[order, 0])
    return array, above


def _front(energy: Floats, cycles: Floats) -> tuple[Floats, Floats]:
    """Those than which no other is as good in both, and one of those that are equal."""
    order = np.lexsort((cycles, energy))
    before = np.minimum.accumulate(np.concatenate(([np.inf], cycles[order])))[:-1]
    front = order[cycles[order] < before]
    return energy[front], cycles[front]


def _fits(v: CoverTable, places: Integers) -> Array:
    """Whether array tiles of a class can have scratch-pad tiles ``places`` [n, loops] above them [C, n]."""
    rows = [v.place[v.base[j] : v.base[j + 1]][:, places[:, j]] >= 0 for j in range(len(v.counts))]
    return np.concatenate(rows).astype(np.uint8)


def _array_places(t: KernelTable, v: CoverTable, reach: float, stopped: Callable[[], object]) -> Integers:
    """The array tiles, with a scratch-pad tile above them that moves every word once."""
    spm_blocks = [spm_block(v, loops) for loops in blocks_of(v.dram_counts, v)]
    least = np.prod([block.factors.min(axis=1) for block in spm_blocks], axis=0)[:, None]
    kept = least.reshape(-1)[2 * len(v.spans.dimensions) : 3 * len(v.spans.dimensions)]
    moved = np.where(t.updated & ~t.zero, 2.0, 1.0) * kept
    out_cycles = float(busy(v, least)[1].sum()) if t.alone else 0.0
    return joined(
        [_array_block(v, loops) for loops in blocks_of(v.counts, v)],
        lambda factors: _array_hopeless(t, v, factors, v.dram_unit * moved.sum(), out_cycles, reach),
        stopped,
    )


def _spm_tiles(
    t: KernelTable, v: CoverTable, within: tuple[Floats, Floats], reach: float, stopped: Callable[[], object]
) -> SpmTiles:
    """The scratch-pad tiles, around array tiles of at least these energies and cycles ``within`` [cases]."""
    from mapper.solver.tiling.cover import bound_kernel

    places = joined(
        [spm_block(v, loops) for loops in blocks_of(v.dram_counts, v)],
        lambda factors: spm_hopeless(t, v, factors, within, reach),
        stopped,
    )
    energy, cycles = np.empty(len(places)), np.empty(len(places))
    for some in slices(len(places), TILES_PER_CALL, stopped):
        bound_kernel.outer_bounds(t, v, places[some], energy[some], cycles[some])
    least = np.full(len(energy), np.inf)
    for case in range(len(within[0])):
        least = np.minimum(least, values(t, within[0][case] + energy, within[1][case], cycles))
    kept = np.flatnonzero((least <= reach) & np.isfinite(least))
    order = kept[np.argsort(least[kept], kind="stable")]
    return SpmTiles(places[order], energy[order], cycles[order], least[order])


def _array_block(v: CoverTable, loops: tuple[int, ...]) -> Block:
    """Iterations; of each operand words times passes, delivered words times passes, the same times own tiles, and
    delivered words alone."""
    places = places_of(v.counts, loops)
    classes = places + v.base[list(loops)]
    tile, trips = v.tile[classes], v.trips[classes]
    passes = trips.prod(axis=1, dtype=np.float64)
    delivered = np.ones((len(v.spans.dimensions), len(places)))
    for group, k in enumerate(v.group_operand):
        strides = v.group_strides[group, list(loops)]
        if strides.any():
            delivered[k] *= v.delivered[v.group_start[group] + places @ strides]
    words, own = np.array(list(words_of(v, loops, tile))), np.array(list(own_tiles(v, loops, trips)))
    first = ((tile * trips).prod(axis=1, dtype=np.float64), passes)
    rows = (*first, *(words * passes), *(delivered * passes), *(words * own), *(delivered * own), *delivered)
    return Block(loops, places, np.array(rows))


def _of_array(factors: Floats) -> tuple[Floats, Floats, Floats]:
    """The rows of `_array_block`: iterations, passes, and the others [5, operands, n]."""
    return factors[0], factors[1], factors[2:].reshape(5, -1, factors.shape[1])


def _array_hopeless(
    t: KernelTable, v: CoverTable, factors: Floats, out_energy: float, out_cycles: float, reach: float
) -> Array:
    """Whether array tiles cannot improve: at least the bounds of `bound_kernel`, or no room in the register files."""
    iterations, _, (words, delivered, own_words, own_delivered, room) = _of_array(factors)
    twice = np.where(t.updated & (t.doubled | ~t.zero), 2.0, 1.0)[:, None]
    moved = (v.spm_unit * words + t.noc_unit * delivered) * twice
    once = np.where(t.updated & ~t.zero, 2.0, 1.0)[:, None]
    kept = (v.spm_unit * own_words + t.noc_unit * own_delivered) * once
    base = v.iteration_energy * iterations + out_energy
    work = iterations * (t.iteration_cycles / t.pes)
    networks, carried = np.arange(t.networks)[:, None], words / v.widths[:, None]
    users = ((t.read_network == networks) | (t.write_network == networks)).astype(np.float64)
    energies, cycles = [], []
    for stays in range(len(moved) + 1) if t.alone else ():
        comes = [k for k in range(len(moved)) if k != stays]
        total = base + moved[comes].sum(axis=0)
        energies.append(total if stays == len(moved) else total + kept[stays])
        load = (users[:, comes] @ carried[comes]).max(axis=0)
        serial = not t.buffers.rf or (t.buffers.exposed and any(t.updated[k] for k in comes))
        cycles.append(work + load if serial else np.maximum(work, load))
    if not t.alone:
        energies, cycles = [base + kept.sum(axis=0)], [work]
    if t.streams.on:
        # What follows comes in part: each word once, at least.
        energies, cycles = [base], [work]
    able = improving(t, np.stack(energies).T, np.stack(cycles).T, out_cycles, reach)
    return ~able | (room.sum(axis=0) > t.pes * t.rf_capacity)
