"""The PE array's tiles: every split of a tile into space and register files that fits, and what it costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mapper.formulations.tiling.problem import TilingProblem
from mapper.formulations.tiling.program.energy import WholeEnergies
from mapper.formulations.tiling.program.lattice import Flags, Integers, Lattice
from mapper.formulations.tiling.program.mode import WalkingMode
from mapper.formulations.tiling.program.table.scratch_pad import admissible
from mapper.models.tiling import tile

ROWS_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class ArrayTiles:
    """Rows of (array tile, register-file tile), sorted by array tile; the spatial factors are the quotient.

    ``passes``: RF passes of the layer; ``compute``: cycles of one. Columns (operands, rows): NoC ``cycles``
    of one distribution, ``transfer`` energy of one (NoC and scratch-pad, whole units), cycles in which PEs
    add up their partial sums (``added``) and the energy of that (``addition``).
    """

    point: Integers
    rf: Integers
    passes: Integers
    compute: Integers
    cycles: Integers
    transfer: Integers
    added: Integers
    addition: Integers

    def take(self, rows: Any) -> ArrayTiles:
        return ArrayTiles(**{name: column[..., rows] for name, column in vars(self).items()})


@dataclass(frozen=True)
class WalkingCosts:
    """What each array tile adds in one walking mode, as numbers that the scratch-pad's tile only multiplies.

    energy = ``energy`` + sum over terms of ``energy_slope`` * repeats; processing cycles = ``cycles`` + sum
    of ``cycles_slope`` * repeats. Terms are the mode's layers, then its stationary operands; ``repeats`` are the
    scratch-pad passes over a layer's loops, or the visits of a stationary operand. ``first`` and ``last``
    (levels, rows): cycles added to the passes around a change of the operands that stay.
    """

    energy: Integers
    energy_slope: Integers
    cycles: Integers
    cycles_slope: Integers
    first: Integers
    last: Integers

    def take(self, rows: Any) -> WalkingCosts:
        return WalkingCosts(**{name: column[..., rows] for name, column in vars(self).items()})


@dataclass(frozen=True)
class Splits:
    """The splits of a problem, streamed: there are millions of them, and few are ever looked at twice."""

    problem: TilingProblem
    lattice: Lattice
    energies: WholeEnergies
    rf: Integers
    spatial: Integers
    fits: Flags

    @classmethod
    def of(cls, problem: TilingProblem, lattice: Lattice, energies: WholeEnergies) -> Splits:
        """Within PEs, register files, scratch-pad and pins."""
        nest, machine, counts = problem.nest, problem.machine, lattice.tiles
        within_rf = tile.rf_words(nest, counts) <= machine.rf_words
        within_pes = tile.product(counts, nest.loops) <= machine.pes
        return cls(
            problem,
            lattice,
            energies,
            np.flatnonzero(admissible(problem, lattice, "rf") & within_rf),
            np.flatnonzero(admissible(problem, lattice, "spatial") & within_pes),
            tile.banks(nest, machine, counts) <= machine.spm.visible_banks,
        )

    def stream(self, wanted: Flags, proceed: Callable[[], None]) -> Iterator[ArrayTiles]:
        """All splits of the ``wanted`` points of the lattice; ``proceed`` is called now and then."""
        largest = np.array([axis.largest for axis in self.lattice.axes], dtype=np.int16).reshape(-1, 1)
        exponents = self.lattice.exponents
        inner = exponents[:, self.rf]
        wanted = wanted & self.fits
        points, files, held = [], [], 0
        for spatial in self.spatial:
            rf = self.rf[(inner + exponents[:, spatial : spatial + 1] <= largest).all(axis=0)]
            rf = rf[wanted[rf + spatial]]
            points.append(rf + spatial)
            files.append(rf)
            held += len(rf)
            proceed()
            if held >= ROWS_AT_ONCE:
                yield self._rows(points, files)
                points, files, held = [], [], 0
        if held:
            yield self._rows(points, files)

    def _rows(self, points: list[Integers], files: list[Integers]) -> ArrayTiles:
        point, inner = np.concatenate(points), np.concatenate(files)
        order = np.lexsort((inner, point))
        point, inner = point[order], inner[order]
        nest, machine, lattice, energies = (
            self.problem.nest,
            self.problem.machine,
            self.lattice,
            self.energies,
        )
        array, rf, spatial = lattice.at(point), lattice.at(inner), lattice.at(point - inner)
        bus = machine.model_copy(update={"noc": machine.noc.model_copy(update={"reduction": "bus"})})
        _, _, widths = tile.networks_of(nest, machine)
        ones = np.ones(len(point), dtype=np.int64)
        cycles, transfer, added, addition = [], [], [], []
        for op, width in zip(nest.operands, widths, strict=True):
            cycles.append(ones * tile.noc_cycles(op, machine, width, array))
            delivered = ones * tile.noc_words(op, nest, rf, spatial)
            transfer.append(delivered * energies.noc + tile.words(op, array) * energies.spm)
            added.append(ones * tile.reduction_cycles(op, nest, machine, rf, spatial))
            addition.append(ones * tile.reduction_cycles(op, nest, bus, rf, spatial) * energies.addition)
        return ArrayTiles(
            point,
            inner,
            outside(self.problem, array, frozenset()) * ones,
            ones * tile.compute_cycles(nest, machine, rf),
            np.array(cycles),
            np.array(transfer),
            np.array(added),
            np.array(addition),
        )


def outside(problem: TilingProblem, tiles: dict[str, Integers], layer: frozenset[str]) -> Any:
    """Tiles of each loop not in ``layer``, multiplied."""
    passes: Any = 1
    for loop, bound in problem.nest.bounds:
        passes = passes if loop in layer else passes * (bound // tiles[loop])
    return passes


def walking_costs(
    problem: TilingProblem, lattice: Lattice, tiles: ArrayTiles, mode: WalkingMode, levels: int
) -> WalkingCosts:
    """Energy and cycles of the array tiles in one mode (sections 4.3.2 and 4.3.3)."""
    nest, machine = problem.nest, problem.machine
    read, write, _ = tile.networks_of(nest, machine)
    array = lattice.at(tiles.point)
    operands = nest.operands
    zero = np.zeros(len(tiles.point), dtype=np.int64)
    doubled = machine.rules.partial_sums == "doubled"

    def load(moving: tuple[int, ...]) -> Integers:
        """Cycles of the busiest network."""
        busiest: Integers = zero
        for network in range(len(machine.noc.networks)):
            uses = [tiles.cycles[k] for k in moving if network in (read[k], write[k])]
            busiest = np.maximum(busiest, sum(uses, zero))
        return busiest

    def crossing(k: int) -> Integers:
        """Energy of one visit: partial sums cross both ways, and PEs add theirs up."""
        both_ways = 2 if operands[k].is_updated else 1
        energy: Integers = both_ways * tiles.transfer[k] + tiles.addition[k]
        return energy

    every = mode.moving(frozenset())
    doubly, waits_for_sums = machine.rf.double_buffered, machine.rules.leaving_sums == "exposed"
    exposes_work = doubly and waits_for_sums
    update_every_pass = exposes_work and any(operands[k].is_updated for k in every)
    hidden = zero if update_every_pass or not doubly else tiles.compute
    cycles = zero if update_every_pass else tiles.compute
    energy = zero
    energy_slope, cycles_slope = [], []
    moving: tuple[int, ...] = ()
    for layer in (frozenset[str](), *mode.layers):
        here = mode.moving(layer)
        moving = (*moving, *here)
        busy = load(moving)
        slope = np.maximum(0, busy - hidden) + sum((tiles.added[k] for k in here), zero)
        hidden = np.maximum(hidden, busy)
        if exposes_work and any(operands[k].is_updated for k in here):
            slope = slope + tiles.compute
            exposes_work = False
        crossings = sum((crossing(k) for k in here), zero)
        if layer:
            energy_slope.append(crossings * outside(problem, array, layer))
            cycles_slope.append(slope * outside(problem, array, layer))
        else:
            cycles = (cycles + slope) * tiles.passes
            energy = crossings * tiles.passes
    for k, operand in enumerate(operands):
        # A partial sum that starts from zero is not read at its first visit.
        if operand.is_updated and operand.zero_initialised and not doubled:
            energy = energy - tiles.transfer[k] * outside(
                problem, array, frozenset(nest.loops) - operand.loops
            )
    for k, _ in mode.stationary:
        halved = doubled and operands[k].is_updated and operands[k].zero_initialised
        energy_slope.append(crossing(k) - (tiles.transfer[k] if halved else 0))
        cycles_slope.append(zero)
    first, last = [], []
    for level in range(1, levels + 1):
        here = tuple(k for k, changing in mode.stationary if changing <= level)
        updated = [k for k in here if operands[k].is_updated]
        behind = tiles.compute if doubly and not waits_for_sums else zero
        waits = [np.maximum(0, tiles.cycles[k] - np.maximum(load(every), behind)) for k in here]
        first.append(np.max([zero, *waits], axis=0))
        exposed = tiles.compute if updated and doubly and waits_for_sums else zero
        last.append(exposed + sum((tiles.added[k] for k in updated), zero))
    rows, terms = len(zero), len(mode.layers) + len(mode.stationary)
    return WalkingCosts(
        energy,
        np.array(energy_slope, dtype=np.int64).reshape(terms, rows),
        cycles,
        np.array(cycles_slope, dtype=np.int64).reshape(terms, rows),
        np.array(first, dtype=np.int64).reshape(levels, rows),
        np.array(last, dtype=np.int64).reshape(levels, rows),
    )


def repeats(mode: WalkingMode, outer: dict[str, Integers], visits: Integers) -> Integers:
    """The scratch-pad's factor of every term of ``WalkingCosts`` (terms, rows)."""
    ones = np.ones(visits.shape[-1], dtype=np.int64)
    rows = [ones * tile.product(outer, sorted(layer)) for layer in mode.layers]
    rows += [visits[k] for k, _ in mode.stationary]
    return np.array(rows, dtype=np.int64).reshape(len(rows), len(ones))
