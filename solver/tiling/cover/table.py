"""The covers of a problem's loops as the compiled kernels take them, and the grids that bounds are tabulated over.

The grid of *array tiles* has an axis for each loop with its classes of covers (see `cover`), the grid of *scratch-pad
tiles* one with its trips at DRAM. A point of either stands for all tiles with those trips; what it is charged is what
the smallest of them takes, since costs grow with every factor.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mapper.formulations.tiling.array_axes import ArrayAxes, LoopAxes
from mapper.formulations.tiling.problem import TilingProblem
from mapper.models.tiling import tile
from mapper.models.tiling.price import Prices, burst_cost
from mapper.solver.tiling.cover.cover import CoverClass
from mapper.solver.tiling.exact.float_price import FloatPrices
from mapper.workloads.nest.loop_nest import AffineIndex, LoopNest, Operand

Array = Any
"""A numpy array."""

Covers = tuple[tuple[CoverClass, ...], ...]
"""The classes of every loop, in the nest's order."""


class Spans(NamedTuple):
    """The index expressions: the terms in dimension ``place`` (of ``dimensions`` [K]) of operand k are ``term_loop``
    and ``term_factor`` from ``terms[k, place]`` to ``terms[k, place + 1]``."""

    terms: Array
    term_loop: Array
    term_factor: Array
    dimensions: Array


class Dma(NamedTuple):
    """What moves between DRAM and scratch-pad takes: ``is_whole[k, place]``: whether a tile that is whole in a
    dimension of operand k is all that is stored of it; words and banks in bytes; cycles of a burst, of each of its
    words, and into how many of either one cycle is divided."""

    is_whole: Array
    word_bytes: int
    bank_bytes: int
    burst_fixed: int
    burst_word: int
    burst_whole: int


class CoverTable(NamedTuple):
    """J loops, K operands, C classes of all loops together.

    Class ``base[j] + i`` is the i-th of ``counts[j]`` of loop j: least ``trips`` over DRAM and scratch-pad,
    ``tile``, and whether it ``runs`` there at all [C]; its pairs are ``r``, ``s`` from ``inner[class]`` to
    ``inner[class + 1]`` and ``p``, ``d`` from ``outer[class]`` on, and ``needed`` from ``pair[class]`` on says
    which of them go together (row by inner pair); ``most_tile`` and ``most_inner`` [C] are its largest array tile
    and factor at the scratch-pad. ``dram_counts`` [J]: how many trips at DRAM a loop may have, ``dram_trips``, and
    their least tiles ``dram_tile`` [J, D]; ``place`` [C, D]: which pair of a class has these trips at DRAM, -1 if
    none; ``own`` [K, J].
    ``steps`` [J, K, dimensions]: by how much the span grows with each further step of a loop. ``delivered``: tables
    of least words that PEs receive, by groups of dimensions: of group g, of operand ``group_operand[g]``, from
    ``group_start[g]`` on with ``group_strides[g]`` [J]. ``sides`` [2]: rows and columns of the array, along which
    loops ``may`` and ``must`` run [2, J] where the machine tells them apart.
    """

    least: Array
    base: Array
    counts: Array
    trips: Array
    tile: Array
    runs: Array
    inner: Array
    r: Array
    s: Array
    outer: Array
    p: Array
    d: Array
    pair: Array
    needed: Array
    most_tile: Array
    most_inner: Array
    dram_counts: Array
    dram_trips: Array
    dram_tile: Array
    place: Array
    spans: Spans
    steps: Array
    dma: Dma
    own: Array
    delivered: Array
    group_operand: Array
    group_start: Array
    group_strides: Array
    widths: Array
    sides: Array
    may: Array
    must: Array
    iteration_energy: float
    spm_unit: float
    dram_unit: float
    banks: int


def cover_table(problem: TilingProblem, covers: Covers) -> CoverTable:
    """The tables of ``covers``, which has at least one class for every loop."""
    nest, machine = problem.nest, problem.machine
    flat = [one for classes in covers for one in classes]
    counts = np.array([len(classes) for classes in covers], np.int64)
    least_tiles = [_least_tiles(classes) for classes in covers]
    trips_at_dram = [sorted(tiles, reverse=True) for tiles in least_tiles]
    widest = max(map(len, trips_at_dram))
    dram_trips = np.ones((len(covers), widest), np.int64)
    dram_tile = np.ones((len(covers), widest), np.int64)
    for j, (tiles, trips) in enumerate(zip(least_tiles, trips_at_dram, strict=True)):
        dram_trips[j, : len(trips)] = trips
        dram_tile[j, : len(trips)] = [tiles[d] for d in trips]
    dram_counts = np.array([len(trips) for trips in trips_at_dram], np.int64)
    most = max(len(operand.index) for operand in nest.operands)
    terms = np.zeros((len(nest.operands), most + 1), np.int64)
    term_loop: list[int] = []
    term_factor: list[int] = []
    steps = np.zeros((len(nest.loops), len(nest.operands), most), np.int64)
    is_whole = np.zeros((len(nest.operands), most), np.bool_)
    for k, operand in enumerate(nest.operands):
        for place, dimension in enumerate(operand.index):
            terms[k, place] = len(term_loop)
            for loop, factor in dimension.coefficients:
                term_loop.append(nest.loops.index(loop))
                term_factor.append(abs(factor))
                steps[nest.loops.index(loop), k, place] += abs(factor)
            terms[k, place + 1 :] = len(term_loop)
            stored = operand.extents[place] if machine.rules.stored_extent == "declared" else None
            is_whole[k, place] = stored is None or stored == dimension.span(nest.trip_counts)
    groups = [(k, group) for k, operand in enumerate(nest.operands) for group in _groups(operand)]
    tables, strides = zip(*(_delivered(nest, group, covers) for _, group in groups), strict=True)
    starts = np.cumsum([0, *(table.size for table in tables)])[:-1]
    prices = FloatPrices.of(nest, machine)
    fixed, each, whole = burst_cost(machine)
    _, _, widths = tile.networks_of(nest, machine)
    return CoverTable(
        least=np.array([problem.padding.range_of(*one)[0] for one in nest.bounds], np.int64),
        base=np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
        counts=counts,
        trips=np.array([min(p * d for p, d in one.outer) for one in flat], np.int64),
        tile=np.array([one.tile for one in flat], np.int64),
        runs=np.array([max(p * d for p, d in one.outer) > 1 for one in flat], np.bool_),
        inner=_starts([len(one.inner) for one in flat]),
        r=np.array([r for one in flat for r, _ in one.inner], np.int64),
        s=np.array([s for one in flat for _, s in one.inner], np.int64),
        outer=_starts([len(one.outer) for one in flat]),
        p=np.array([p for one in flat for p, _ in one.outer], np.int64),
        d=np.array([d for one in flat for _, d in one.outer], np.int64),
        pair=_starts([len(one.inner) * len(one.outer) for one in flat]),
        needed=np.array([flag for one in flat for row in one.needed for flag in row], np.bool_),
        most_tile=np.array([max(r * s for r, s in one.inner) for one in flat], np.int64),
        most_inner=np.array([max(p for p, _ in one.outer) for one in flat], np.int64),
        dram_counts=dram_counts,
        dram_trips=dram_trips,
        dram_tile=dram_tile,
        place=_places(covers, trips_at_dram, widest),
        spans=Spans(
            terms,
            np.array(term_loop, np.int64),
            np.array(term_factor, np.int64),
            np.array([len(operand.index) for operand in nest.operands], np.int64),
        ),
        steps=steps,
        dma=Dma(is_whole, machine.word_bytes, machine.spm.bank_bytes, fixed, each, whole),
        own=np.array([[loop in operand.loops for loop in nest.loops] for operand in nest.operands]),
        delivered=np.concatenate([table.reshape(-1) for table in tables]),
        group_operand=np.array([k for k, _ in groups], np.int64),
        group_start=starts.astype(np.int64),
        group_strides=np.stack(strides),
        widths=np.array(widths, np.int64),
        **_sides(problem),
        iteration_energy=_iteration_energy(nest, problem, prices),
        spm_unit=prices.spm,
        dram_unit=prices.dram,
        banks=machine.spm.visible_banks,
    )


def _sides(problem: TilingProblem) -> dict[str, Array]:
    axes, loops = ArrayAxes.of(problem), len(problem.nest.loops)
    rules = [LoopAxes((True, True), (False, False))] * loops if axes is None else axes.loops
    array = problem.machine.pe_array
    return {
        "sides": np.array((array.rows, array.columns), np.int64),
        "may": np.array([one.may for one in rules], np.bool_).T.copy(),
        "must": np.array([one.must for one in rules], np.bool_).T.copy(),
    }


def grid_size(covers: Covers) -> int:
    """Points of the larger grid."""
    return max(
        math.prod(len(classes) for classes in covers),
        math.prod(len({d for one in classes for _, d in one.outer}) for classes in covers),
    )


def _iteration_energy(nest: LoopNest, problem: TilingProblem, prices: FloatPrices) -> float:
    """Energy of one iteration in the kernel's steps: its operations and register-file accesses."""
    exact = Prices.of(nest, problem.machine)
    accesses = sum(operand.reads + operand.writes for operand in nest.operands)
    steps = tile.operations(nest) * exact.operation + accesses * exact.rf
    return float(steps) if prices.whole else steps / exact.per_pj


def _least_tiles(classes: tuple[CoverClass, ...]) -> dict[int, int]:
    """The least scratch-pad tile of a loop's covers, by their trips at DRAM."""
    least: dict[int, int] = {}
    for one in classes:
        tiles = [r * s for r, s in one.inner]
        for (p, d), column in zip(one.outer, zip(*one.needed, strict=True), strict=True):
            tile = min((p * tile for tile, needed in zip(tiles, column, strict=True) if needed), default=None)
            if tile is not None:
                least[d] = min(least.get(d, tile), tile)
    return least


def _groups(operand: Operand) -> list[tuple[AffineIndex, ...]]:
    """The dimensions of an operand in groups that share no loop."""
    groups: list[tuple[set[str], list[AffineIndex]]] = []
    for dimension in operand.index:
        loops = {loop for loop, _ in dimension.coefficients}
        joined = [group for group in groups if group[0] & loops]
        groups = [group for group in groups if not group[0] & loops]
        together = (
            loops.union(*(group[0] for group in joined)),
            [*(one for group in joined for one in group[1]), dimension],
        )
        groups.append(together)
    return [tuple(dimensions) for _, dimensions in groups]


def _delivered(
    nest: LoopNest, dimensions: tuple[AffineIndex, ...], covers: Covers
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The least of (words of one PE's tile) * (PEs in these loops) in these dimensions, for all classes of their
    loops, and the strides of the classes in that table.

    Found loop by loop, which is exact: min over s1, s2 of s1 * s2 * words(r1, r2) is the min over (r1, s1) of s1 times
    that over (r2, s2).
    """
    loops = sorted({loop for one in dimensions for loop, _ in one.coefficients}, key=nest.loops.index)
    tiles = {
        loop: np.array(sorted({r for one in covers[nest.loops.index(loop)] for r, _ in one.inner}), np.int64)
        for loop in loops
    }
    grid = dict(zip(loops, np.ix_(*tiles.values()), strict=True)) if loops else {}
    words: Any = np.ones((1,) * len(loops))
    for dimension in dimensions:
        span: Any = 1
        for loop, factor in dimension.coefficients:
            span = span + abs(factor) * (grid[loop] - 1)
        words = words * span
    strides = np.zeros(len(nest.loops), np.int64)
    for axis, loop in enumerate(loops):
        classes, places = covers[nest.loops.index(loop)], {int(r): n for n, r in enumerate(tiles[loop])}
        rows = []
        for one in classes:
            pes = np.array([s for _, s in one.inner], np.float64)
            pes = pes.reshape([-1 if at == axis else 1 for at in range(len(loops))])
            taken = np.take(words, [places[r] for r, _ in one.inner], axis=axis)
            rows.append((pes * taken).min(axis=axis))
        words = np.stack(rows, axis=axis)
    for axis, loop in enumerate(loops):
        strides[nest.loops.index(loop)] = math.prod(words.shape[axis + 1 :])
    return np.ascontiguousarray(words, dtype=np.float64), strides


def _starts(lengths: list[int]) -> NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)


def _places(covers: Covers, trips_at_dram: list[list[int]], widest: int) -> NDArray[np.int64]:
    rows = []
    for classes, trips in zip(covers, trips_at_dram, strict=True):
        at = {d: place for place, d in enumerate(trips)}
        for one in classes:
            row = np.full(widest, -1, np.int64)
            row[[at[d] for _, d in one.outer]] = np.arange(len(one.outer))
            rows.append(row)
    return np.stack(rows)
