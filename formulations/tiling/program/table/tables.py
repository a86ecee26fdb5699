"""The parts of a mapping: one scratch-pad tile and one array tile that walk in the same mode.

A mapping's cost is exact in that pair. Costs that depend on only one of the two are tabulated here, and so is the
least that the array can add to a scratch-pad tile: the program's redundant constraints.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mapper.formulations.tiling.problem import TilingProblem
from mapper.formulations.tiling.program.energy import WholeEnergies
from mapper.formulations.tiling.program.lattice import Flags, Integers, Lattice, Reals
from mapper.formulations.tiling.program.mode import WalkingMode, walking_modes
from mapper.formulations.tiling.program.order import OrderPattern, order_patterns
from mapper.formulations.tiling.program.table.array import (
    ArrayTiles,
    Splits,
    WalkingCosts,
    repeats,
    walking_costs,
)
from mapper.formulations.tiling.program.table.scratch_pad import ScratchPadTiles, scratch_pad_tiles
from mapper.models.tiling.mapping import TilingMapping

MOST_TILES = 1 << 20


class TooManyTilesError(Exception):
    """The nest has more tiles than the tables should hold."""


@dataclass(frozen=True)
class LeastShares:
    """For one mode the least of every column of ``WalkingCosts`` over the splits of each array tile (``own``)
    and over the array tiles that divide a scratch-pad tile (``below``), at the points of the lattice; rows
    are energy, its slopes, cycles, their slopes."""

    own: Reals
    below: Reals

    def bound(self, table: Reals, factors: Integers) -> tuple[Reals, Reals]:
        """Energy and processing cycles from columns of ``own`` or ``below``: as if the least constant and the
        least slopes were one split's."""
        terms = len(factors)
        scale = factors.astype(float)
        energy = table[0] + sum((scale[t] * table[1 + t] for t in range(terms)), np.zeros(1))
        cycles = table[1 + terms] + sum((scale[t] * table[2 + terms + t] for t in range(terms)), np.zeros(1))
        return energy, cycles


@dataclass(frozen=True)
class TilingTables:
    """Everything about an instance that does not depend on the objective."""

    problem: TilingProblem
    lattice: Lattice
    energies: WholeEnergies
    dram: tuple[OrderPattern, ...]
    modes: tuple[WalkingMode, ...]
    outer: ScratchPadTiles
    splits: Splits
    least: tuple[LeastShares, ...]
    split_count: int

    @classmethod
    def of(cls, problem: TilingProblem, proceed: Callable[[], None]) -> TilingTables:
        """Tabulate ``problem``; ``proceed`` is called now and then and may raise to stop.

        Raises: TooManyTilesError beyond ``MOST_TILES``.
        """
        nest, machine, pins = problem.nest, problem.machine, problem.pins
        lattice, energies = Lattice.of(nest), WholeEnergies.of(nest, machine)
        if lattice.size > MOST_TILES:
            raise TooManyTilesError(f"{lattice.size} tiles are more than the {MOST_TILES} that are tabulated")
        dram = order_patterns(nest, machine, pins.innermost("dram"))
        modes = walking_modes(order_patterns(nest, machine, pins.innermost("spm")), dram)
        outer = scratch_pad_tiles(problem, lattice, dram, energies)
        splits = Splits.of(problem, lattice, energies)
        own, count = _least_of_splits(problem, lattice, splits, modes, proceed)
        pinned = spm_pins(problem)
        least = [
            LeastShares(
                table, np.array([lattice.least_over_divisors(row, mode.may_run, pinned) for row in table])
            )
            for table, mode in zip(own, modes, strict=True)
        ]
        return cls(problem, lattice, energies, dram, modes, outer, splits, tuple(least), count)

    def cycles(self, table: ScratchPadTiles, processing: Reals, first: Any, last: Any) -> Reals:
        """``ScratchPadTiles.cycles``: DMA beside processing if there is a second buffer, else in turn with it."""
        together = np.maximum if self.problem.machine.spm.double_buffered else np.add
        return table.cycles(together, processing, first, last)

    @property
    def levels(self) -> int:
        """Layers of the DRAM patterns."""
        return len(self.outer.changes)

    def costs(self, tiles: ArrayTiles, mode: int) -> WalkingCosts:
        return walking_costs(self.problem, self.lattice, tiles, self.modes[mode], self.levels)

    def outer_repeats(self, rows: Any, mode: int) -> Integers:
        """The factors with which scratch-pad rows multiply the slopes of ``mode``."""
        tiles = self.lattice.at(self.outer.point[rows])
        outer = {loop: self.problem.nest.trip_counts[loop] // counts for loop, counts in tiles.items()}
        return repeats(self.modes[mode], outer, self.outer.visits[:, rows])

    def reused(self, row: int) -> frozenset[int]:
        """Operands that the order at DRAM reuses in a scratch-pad row."""
        return frozenset(int(k) for k in np.flatnonzero(self.outer.reused[:, row]))

    def walkable(self, mode: int) -> Integers:
        """Scratch-pad rows that ``mode`` can walk, as far as they alone decide."""
        chosen = self.modes[mode]
        loops = frozenset(self.problem.nest.loops)
        follows = np.array([chosen.follows(pattern) for pattern in self.dram])
        possible: Flags = follows[self.outer.pattern]
        for k, reused in enumerate(self.outer.reused):
            if k in chosen.stays:
                possible = possible & reused
            elif chosen.pattern.reuse[k] == loops:
                possible = possible & ~reused
        return np.flatnonzero(possible)

    def partners(self, row: int, mode: int, tiles: ArrayTiles) -> Integers:
        """Places in ``tiles`` of those that make a mapping with a scratch-pad row in ``mode``."""
        lattice, point = self.lattice, int(self.outer.point[row])
        exponents = lattice.exponents
        inside = np.flatnonzero((exponents[:, tiles.point] <= exponents[:, point : point + 1]).all(axis=0))
        whole = lattice.trip_counts(point)
        spm = {loop: whole[loop] // counts for loop, counts in lattice.at(tiles.point[inside]).items()}
        allowed = np.ones(len(inside), dtype=bool)
        for idle, running in self.modes[mode].clauses(self.reused(row)):
            holds = np.zeros(len(inside), dtype=bool)
            for loop in idle:
                holds |= spm[loop] == 1
            for loop in running:
                holds |= spm[loop] > 1
            allowed &= holds
        for loop, factor in spm_pins(self.problem).items():
            allowed &= spm[loop] == factor
        return inside[allowed]

    def pair_costs(self, row: int, mode: int, tiles: ArrayTiles) -> tuple[Integers, Integers]:
        """Exact energy (units) and cycles of a scratch-pad row with each of ``tiles`` in ``mode``."""
        costs = self.costs(tiles, mode)
        factors = self.outer_repeats([row], mode)
        table = self.outer.take([row])
        energy = self.energies.constant + table.energy + costs.energy
        energy = energy + (factors * costs.energy_slope).sum(axis=0)
        processing = costs.cycles + (factors * costs.cycles_slope).sum(axis=0)
        cycles = self.cycles(table, processing.astype(float), costs.first, costs.last)
        return energy, np.rint(cycles).astype(np.int64)

    def mapping(self, row: int, mode: int, point: int, rf: int) -> TilingMapping:
        """The mapping of a scratch-pad row and a split, with one order of each pattern."""
        nest, lattice = self.problem.nest, self.lattice
        spm, array = lattice.trip_counts(int(self.outer.point[row])), lattice.trip_counts(point)
        inner = lattice.trip_counts(rf)
        factors = tuple(
            (bound // spm[loop], spm[loop] // array[loop], inner[loop], array[loop] // inner[loop])
            for loop, bound in nest.bounds
        )
        outer_runs = frozenset(loop for loop, bound in nest.bounds if spm[loop] < bound)
        inner_runs = frozenset(loop for loop in nest.loops if array[loop] < spm[loop])
        return TilingMapping(
            nest.loops,
            factors,
            self.dram[int(self.outer.pattern[row])].order(outer_runs),
            self.modes[mode].pattern.order(inner_runs),
        )


def spm_pins(problem: TilingProblem) -> dict[str, int]:
    """Factors at the scratch-pad that are given; they couple the two tables."""
    return {loop: factor for loop, level, factor in problem.pins.factors if level == "spm"}


def _least_of_splits(
    problem: TilingProblem,
    lattice: Lattice,
    splits: Splits,
    modes: tuple[WalkingMode, ...],
    proceed: Callable[[], None],
) -> tuple[list[Reals], int]:
    """Least of every cost column over the splits of each point, for each mode, and the number of splits."""
    least = [
        np.full((2 + 2 * (len(mode.layers) + len(mode.stationary)), lattice.size), np.inf) for mode in modes
    ]
    count = 0
    for tiles in splits.stream(np.ones(lattice.size, dtype=bool), proceed):
        count += len(tiles.point)
        starts = np.flatnonzero(np.r_[True, tiles.point[1:] != tiles.point[:-1]])
        points = tiles.point[starts]
        for mode, table in zip(modes, least, strict=True):
            costs = walking_costs(problem, lattice, tiles, mode, 0)
            columns = (costs.energy, *costs.energy_slope, costs.cycles, *costs.cycles_slope)
            for row, column in zip(table, columns, strict=True):
                row[points] = np.minimum(row[points], np.minimum.reduceat(column, starts))
    return least, count
