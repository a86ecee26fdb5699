"""What mappings cost at least whose loops are cut as cells say: many choices of cells at once.

Every word of a tensor crosses each boundary at least once for each moment and instance that the loops contribute which
do not move it, less those turns that may leave the tensor where it is: turns at levels inside the innermost one at
which a loop turns that moves the tensor, and, if the order is such, at that level itself. Some loop is the innermost
one that turns at a level, and a tensor that it moves stays for no other loop there. Where tiles overlap, they slide in
one dimension at most. Instances pay for whole blocks, which is at least the share of a block.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from mapper.arch.hierarchy import Actions
from mapper.formulations.hierarchy.problem import HierarchyProblem
from mapper.models.hierarchy.cost import STEPS_PER_PJ, steps
from mapper.solver.hierarchy.exact.arrangement import Keep
from mapper.solver.hierarchy.imperfect.cell import Cells
from mapper.solver.hierarchy.imperfect.cut import Columns, Way, columns_of
from mapper.solver.hierarchy.padding.bound import least_words
from mapper.workloads.nest.loop_nest import AffineIndex, Operand

Array = Any
MOST_PLACES = 1 << 22
NO_ENERGY = Actions(read=0, fill=0, update=0)
SHY = 1 - 1e-12
"""Sums are taken a little too low, so that rounding does not lift them above what they bound."""


class Least(NamedTuple):
    """The objective's least value of each choice of cells, and the fewest cycles; infinite where tiles do not fit."""

    value: Array
    cycles: Array


class Energy(NamedTuple):
    """The least energy of each choice of cells, whatever the orders, and what it is more, by level and loop, if that
    loop is the innermost one that turns there (infinite if it cannot turn)."""

    least: Array
    more: Array


class CutBound:
    """The bound for one choice of tensors to keep, with the cells of every loop that runs more than once."""

    def __init__(self, problem: HierarchyProblem, keep: Keep, loops: Sequence[str]) -> None:
        self.problem, self.keep, self.loops = problem, keep, tuple(loops)
        self.machine, self.operands = problem.machine, problem.nest.operands
        self.levels = len(keep)
        self.ways = [
            Way(t, outer, inner)
            for t, operand in enumerate(self.operands)
            for own in [[level for level, names in enumerate(keep) if operand.name in names]]
            for outer, inner in zip(own, [*own[1:], self.levels], strict=True)
        ]
        self.shared = [
            [
                level.fanout.reduction if one.writes else level.fanout.multicast
                for level in self.machine.levels
            ]
            for one in self.operands
        ]
        self.columns: Columns = columns_of(self.levels, self.ways)
        self.cells = [
            Cells(problem, loop, self.ways, self.shared, self.columns, self._largest(loop))
            for loop in self.loops
        ]
        self.operations = float(math.prod(problem.bounds.values()))
        self.whole = [float(one.words(problem.bounds)) for one in self.operands]
        self.apart = [_apart(one, problem.bounds) for one in self.operands]

    def _largest(self, loop: str) -> list[int]:
        """The largest tile of a loop that fits each level, if no other loop had more than one iteration there."""
        found = []
        for level, memory in enumerate(self.machine.levels):
            most = self.problem.bounds[loop]
            for operand in self.operands:
                if memory.capacity is None or operand.name not in self.keep[level]:
                    continue
                steps_of = [
                    abs(dict(index.coefficients)[loop])
                    for index in operand.index
                    if loop in dict(index.coefficients)
                ]
                if steps_of:
                    most = min(most, 1 + (memory.capacity - 1) // max(steps_of))
            found.append(most)
        return found

    def least(self, chosen: Array) -> Least:
        """The bounds of choices of a cell for each loop [choices, loops]."""
        energy, cycles, fits = self._measured(chosen)
        more = energy.more.min(axis=2, initial=np.inf)
        total = energy.least + np.where(np.isfinite(more), more, 0.0).sum(axis=1)
        return Least(self._value(total * SHY, cycles, fits), cycles)

    def of_orders(self, cells: Array, innermost: Array) -> Array:
        """The bounds of one choice of cells, if these loops are the innermost ones to turn [orders, levels] (-1: none
        turns)."""
        energy, cycles, fits = self._measured(cells[None])
        levels = np.arange(self.levels)
        own = np.where(innermost < 0, 0.0, energy.more[0][levels[None], innermost])
        own = np.where(np.isfinite(own), own, 0.0)
        return self._value((energy.least + own.sum(axis=1)) * SHY, cycles, fits)

    def _value(self, energy: Array, cycles: Array, fits: Array) -> Array:
        name = self.problem.objective
        value = energy * cycles if name == "edp" else energy if name == "energy" else cycles + 0.0 * energy
        return np.where(fits, value, np.inf)

    def _measured(self, chosen: Array) -> tuple[Energy, Array, Array]:
        """Energies, cycles, and whether tiles fit and time suffices."""
        own = [cells.numbers[chosen[:, j]] for j, cells in enumerate(self.cells)]
        at = dict(zip(self.loops, own, strict=True))
        many = len(chosen)
        more = np.zeros((many, self.levels, max(1, len(self.loops))))
        energy = np.full(many, self.operations * _exact(self.machine.compute.energy_pj or 0.0))
        moved = np.zeros((many, self.levels, 2))
        instances = self._product(at, at, self.columns.instances, self.levels + 1, many)
        for number, way in enumerate(self.ways):
            energy += self._cross(way, number, at, instances, moved, more)
        passes = self._product(at, at, self.columns.moments, 1, many)[:, 0]
        cycles = np.maximum(
            np.ceil(passes / self.machine.compute.rate), self._moving(moved / instances[:, :-1, None])
        )
        energy += self._leaking(instances) * cycles
        most = self.problem.max_cycles
        fits = self._fits(at, many) & (cycles <= (math.inf if most is None else most))
        for j, loop in enumerate(self.loops):
            still = at[loop][:, self.columns.most : self.columns.most + self.levels] == -1
            more[:, :, j][still] = np.inf
        return Energy(energy, more), cycles, fits

    def _product(
        self, at: Mapping[str, Array], loops: Mapping[str, Array], column: int, width: int, many: int
    ) -> Array:
        found = np.ones((many, width))
        for loop in loops:
            found *= at[loop][:, column : column + width]
        return found

    def _cross(
        self, way: Way, number: int, at: Mapping[str, Array], instances: Array, moved: Array, more: Array
    ) -> Array:
        """Energy of a way; adds the words that it moves at its ends, of all instances together, and what energy is more
        if no turn at the innermost level at which the tensor moves leaves it where it is."""
        operand, columns = self.operands[way.tensor], self.columns
        mover = np.zeros(len(moved), np.int64)
        for loop, one in at.items():
            # Loops that move a dimension forwards and backwards may bring a tile back to where it was.
            if loop in operand.loops and not _turns_back(operand):
                mover = np.maximum(mover, one[:, columns.mover + way.inner - 1].astype(np.int64))
        energy, read, leaving, fill = self._energy(way, number, at, instances, mover)
        moved[:, way.outer, 0] += read
        moved[:, way.outer, 1] += leaving if operand.writes else 0.0
        if way.inner == self.levels:
            return energy
        moved[:, way.inner, 1] += fill
        if not _turns_back(operand):
            row = np.arange(len(moved))
            stuck = self._energy(way, number, at, instances, mover + 1)[0] - energy
            for j, loop in enumerate(self.loops):
                if loop in operand.loops:
                    turns = at[loop][row, columns.trips + mover] > 1
                    more[row, mover, j] += np.where(turns, stuck, 0.0)
        return energy

    def _energy(
        self, way: Way, number: int, at: Mapping[str, Array], instances: Array, first: Array
    ) -> tuple[Array, Array, Array, Array]:
        """Energy of a way and the words that are read, leave and are filled, if turns from level ``first`` inwards
        leave the tensor where it is."""
        operand, rules, columns = self.operands[way.tensor], self.machine.rules, self.columns
        still = {loop: one for loop, one in at.items() if loop not in operand.loops}
        row = np.arange(len(first))
        leaving, arriving = np.ones(len(first)), np.ones(len(first))
        alike = np.ones((len(first), 2))
        for one in still.values():
            leaving *= one[row, columns.leaving[number] + first]
            arriving *= one[row, columns.arriving[number] + first]
            alike[:, 0] *= one[:, columns.instances + way.outer]
            alike[:, 1] *= one[:, columns.instances + way.inner]
        last = way.inner == self.levels
        words = self._words(operand) if last else self._tiled(operand, way, at, len(first))
        leaving *= np.maximum(
            words * self._meeting(operand, way, at), 0.0 if last else self.apart[way.tensor]
        )
        arriving *= words
        elided = operand.writes and operand.zero_initialised
        read = leaving - (
            self.whole[way.tensor] * alike[:, 0] if elided and rules.first_read == "elided" else 0
        )
        fill = arriving - (
            self.whole[way.tensor] * alike[:, 1] if elided and rules.first_fill == "elided" else 0
        )
        read, fill = np.maximum(0.0, read), np.maximum(0.0, fill)
        energy = self._paid(way.outer, "read", instances) * read
        if operand.writes:
            energy += self._paid(way.outer, "update", instances) * leaving
        if not last:
            energy += self._paid(way.inner, "fill", instances) * fill
        return energy, read, leaving, fill

    def _words(self, operand: Operand) -> float:
        """Words that units take, one for each choice of the loops that move the tensor."""
        return float(math.prod(self.problem.bounds[loop] for loop in operand.loops))

    def _tiled(self, operand: Operand, way: Way, at: Mapping[str, Array], many: int) -> Array:
        """Words of all tiles that differ, at least. In one dimension alone tiles slide, so that no word comes twice;
        in all others every tile brings what it shares with those beside it."""
        apart = np.full(many, self.apart[way.tensor])
        moving = [loop for index in operand.index for loop, _ in index.coefficients if loop in at]
        if len(set(moving)) < len(moving):
            return apart
        whole, slid = np.ones(many), np.full(many, np.inf)
        for index in operand.index:
            loops = [
                (abs(by), self.problem.bounds[loop], at[loop])
                for loop, by in index.coefficients
                if loop in at
            ]
            if len(loops) < 2:
                whole *= loops[0][1] if loops else 1
                continue
            ends = [(one[:, self.columns.chunks + way.inner], float(bound)) for _, bound, one in loops]
            # As chunks of each loop become more, the sum changes along a line, so that it is least at some end.
            extents = [
                math.prod(row)
                * (1 + sum(by * (bound / n - 1) for (by, bound, _), n in zip(loops, row, strict=True)))
                for row in product(*ends)
            ]
            extent = np.minimum.reduce([np.broadcast_to(one, many) for one in extents])
            words = _reach(index, self.problem.bounds)
            extent = np.maximum(extent, words)
            whole *= extent
            slid = np.minimum(slid, words / extent)
        return np.maximum(apart, np.where(np.isfinite(slid), whole * slid, whole))

    def _meeting(self, operand: Operand, way: Way, at: Mapping[str, Array]) -> Array | float:
        """The share of words that leave once where several loops in space move a dimension and tiles may meet."""
        share: Array | float = 1.0
        for level in range(way.outer, way.inner):
            if not self.shared[way.tensor][level]:
                continue
            seen = set[str]()
            for index in operand.index:
                loops = [loop for loop, _ in index.coefficients if loop in at]
                trips = [at[loop][:, self.columns.space + level] for loop in loops]
                if set(loops) & seen:
                    share = share * math.prod(1 / one for one in trips)
                elif len(loops) > 1:
                    share = share * (sum(trips) - len(trips) + 1) / math.prod(trips)
                seen |= set(loops)
        return share

    def _paid(self, level: int, action: str, instances: Array) -> Array:
        """pJ of a word at a level, as a share of its block; not all instances of a cluster pay."""
        memory = self.machine.levels[level]
        present = math.prod(one.fanout.x * one.fanout.y for one in self.machine.levels[:level])
        clusters = max(1, present // memory.cluster)
        price = _exact(getattr(memory.actions or NO_ENERGY, action)) / memory.block
        return price * np.minimum(1.0, clusters / instances[:, level])

    def _moving(self, words: Array) -> Array:
        """Cycles of the level that takes longest for the words of an instance."""
        cycles = np.ones(len(words))
        for level, memory in enumerate(self.machine.levels):
            rates = memory.bandwidth
            both = words[:, level, 0] + words[:, level, 1]
            for moved, rate in (
                (words[:, level, 0], rates.read),
                (words[:, level, 1], rates.write),
                (both, rates.shared),
            ):
                if rate is not None:
                    cycles = np.maximum(cycles, np.ceil(moved / rate - 1e-9))
        return cycles

    def _leaking(self, instances: Array) -> Array:
        total = self.machine.compute.leak_pj * instances[:, -1]
        for level, memory in enumerate(self.machine.levels):
            leak = (memory.actions or NO_ENERGY).leak
            total = total + leak * (instances[:, level] if self.keep[level] else 1.0)
        return total

    def _fits(self, at: Mapping[str, Array], many: int) -> Array:
        fits = np.ones(many, np.bool_)
        for level, memory in enumerate(self.machine.levels):
            if memory.capacity is None:
                continue
            words = np.zeros(many)
            for operand in self.operands:
                if operand.name in self.keep[level]:
                    tile = np.ones(many)
                    for index in operand.index:
                        extent = np.ones(many)
                        for loop, by in index.coefficients:
                            if loop in at:
                                extent += abs(by) * (at[loop][:, self.columns.tile + level] - 1)
                        tile *= extent
                    words += tile
            fits &= words <= memory.capacity
        return fits


def _apart(operand: Operand, bounds: Mapping[str, int]) -> float:
    """Words of a tensor that differ, at least."""
    loops = [loop for index in operand.index for loop, _ in index.coefficients]
    if len(set(loops)) < len(loops):
        return least_words(operand, bounds)
    return math.prod(_reach(index, bounds) for index in operand.index)


@lru_cache(maxsize=1024)
def _places(terms: tuple[tuple[int, int], ...]) -> float:
    """How many places loops reach that go on by so much, so often."""
    if math.prod(bound for _, bound in terms) > MOST_PLACES:
        return float(max(bound for _, bound in terms))
    places = np.zeros(1, np.int64)
    for by, bound in terms:
        places = np.unique(places[:, None] + by * np.arange(bound)[None])
    return float(len(places))


def _reach(index: AffineIndex, bounds: Mapping[str, int]) -> float:
    """Places of a dimension that differ."""
    return (
        _places(tuple((by, bounds[loop]) for loop, by in index.coefficients)) if index.coefficients else 1.0
    )


def _turns_back(operand: Operand) -> bool:
    return any(len({by > 0 for _, by in index.coefficients}) > 1 for index in operand.index)


def _exact(energy_pj: float) -> float:
    """An energy as the model counts it, in pJ."""
    return steps(energy_pj) / STEPS_PER_PJ
