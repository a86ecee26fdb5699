"""The scratch-pad's tiles: every tile that fits, with every class of order at DRAM, and what they cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mapper.formulations.tiling.problem import TilingProblem
from mapper.formulations.tiling.program.admissible import may_be
from mapper.formulations.tiling.program.energy import WholeEnergies
from mapper.formulations.tiling.program.lattice import Flags, Integers, Lattice, Reals
from mapper.formulations.tiling.program.mode import levels_of
from mapper.formulations.tiling.program.order import OrderPattern
from mapper.models.tiling import tile

Together = Callable[[Any, Any], Any]
"""Cycles of a scratch-pad pass from those of DMA and of processing: ``np.maximum`` side by side, ``np.add`` in turn."""


@dataclass(frozen=True)
class ScratchPadTiles:
    """Rows of (tile, order pattern at DRAM). Cycles are the accelerator's, ``energy`` is of all DMA transfers
    in whole units. Columns (operands, rows): ``visits``, the passes at whose start an operand's tile is new,
    and ``reused``, whether it stays for more than one. ``passes``: scratch-pad passes; ``always``: DMA cycles
    of each of them. Columns (levels, rows), one level per layer of the pattern: ``changes``, the passes in
    which the operands reused over that layer or less change their tiles (0 if there is no such level),
    ``fetched`` and ``returned``, the DMA cycles of the pass before and of the pass after.
    """

    point: Integers
    pattern: Integers
    passes: Integers
    always: Integers
    energy: Integers
    visits: Integers
    reused: Flags
    changes: Integers
    fetched: Integers
    returned: Integers

    def take(self, rows: Any) -> ScratchPadTiles:
        return ScratchPadTiles(**{name: column[..., rows] for name, column in vars(self).items()})

    def cycles(self, together: Together, processing: Reals, first: Any, last: Any) -> Reals:
        """Cycles of the layer from ``processing``, those of all passes without DMA; ``first``, ``last``
        (levels, rows): work added to the passes around a change of tiles; ``together``: what DMA and processing take
        in one pass. Grows in each of them."""
        one = processing / self.passes
        usual = together(self.always, one)
        total: Reals = usual * self.passes
        charged: Any = 0
        for level, changes in enumerate(self.changes):
            before = np.maximum(usual, together(self.fetched[level], one + last[level]))
            after = np.maximum(usual, together(self.returned[level], one + first[level]))
            over = before + after - 2 * usual
            total = total + (over - charged) * changes
            charged = over
        return total


def admissible(problem: TilingProblem, lattice: Lattice, level: str) -> Flags:
    """Points whose trip counts may be the factors of ``level``."""
    allowed = np.ones(lattice.size, dtype=bool)
    for loop, counts in lattice.tiles.items():
        values = [int(value) for value in np.unique(counts)]
        allowed &= np.isin(counts, [value for value in values if may_be(problem, loop, level, value)])
    return allowed


def scratch_pad_tiles(
    problem: TilingProblem, lattice: Lattice, patterns: tuple[OrderPattern, ...], energies: WholeEnergies
) -> ScratchPadTiles:
    """All rows: tiles within the visible banks and the pins, with the patterns their loops at DRAM allow."""
    nest, machine = problem.nest, problem.machine
    outer = admissible(problem, lattice, "dram")[::-1]
    fitting = np.flatnonzero(outer & (tile.banks(nest, machine, lattice.tiles) <= machine.spm.visible_banks))
    whole = {loop: nest.trip_counts[loop] // counts for loop, counts in lattice.at(fitting).items()}
    levels = max(len(pattern.layers) for pattern in patterns) - 1
    parts = []
    for number, pattern in enumerate(patterns):
        possible = np.broadcast_to(pattern.holds(lambda loop: whole[loop] > 1), fitting.shape)
        parts.append(_rows(problem, lattice, fitting[possible], number, pattern, levels, energies))
    return ScratchPadTiles(
        **{name: np.concatenate([vars(part)[name] for part in parts], axis=-1) for name in vars(parts[0])}
    )


def _rows(
    problem: TilingProblem,
    lattice: Lattice,
    points: Integers,
    number: int,
    pattern: OrderPattern,
    levels: int,
    energies: WholeEnergies,
) -> ScratchPadTiles:
    nest, machine = problem.nest, problem.machine
    tiles = lattice.at(points)
    outer = {loop: nest.trip_counts[loop] // counts for loop, counts in tiles.items()}
    ones = np.ones(len(points), dtype=np.int64)
    passes = ones * tile.product(outer, nest.loops)
    energy, always = 0 * ones, 0 * ones
    visits, reused, dma = [], [], []
    for operand, over in zip(nest.operands, pattern.reuse, strict=True):
        words, cycles = tile.dma_words_and_cycles(operand, machine, tiles, nest.trip_counts)
        new = ones * tile.product(outer, [loop for loop in nest.loops if loop not in over])
        distinct = ones * tile.product(outer, [loop for loop in nest.loops if loop in operand.loops])
        transfers = new
        twice = 0 * ones
        if operand.is_updated:
            transfers = 2 * new - (distinct if operand.zero_initialised else 0)
            always_read = machine.rules.partial_sums == "doubled" or not operand.zero_initialised
            twice = ones if always_read else (passes > distinct).astype(np.int64)
        energy = energy + words * energies.dram * transfers
        always = always + np.where(passes > new, 0, cycles * (1 + twice))
        visits.append(new)
        reused.append(passes > new)
        dma.append(cycles * ones)
    level_of = levels_of(pattern)
    fetched, returned = [always], [always]
    changes = []
    for level in range(1, levels + 1):
        here = [k for k, other in enumerate(level_of) if other == level]
        changes.append(visits[here[0]] if here else 0 * ones)
        fetched.append(fetched[-1] + sum((dma[k] for k in here), 0 * ones))
        returned.append(returned[-1] + sum((dma[k] for k in here if nest.operands[k].is_updated), 0 * ones))
    return ScratchPadTiles(
        points,
        np.full(len(points), number),
        passes,
        always,
        energy,
        np.array(visits),
        np.array(reused),
        np.array(changes).reshape(levels, len(points)),
        np.array(fetched[1:]).reshape(levels, len(points)),
        np.array(returned[1:]).reshape(levels, len(points)),
    )
