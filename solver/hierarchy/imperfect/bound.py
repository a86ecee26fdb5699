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
from typing import Any, NamedTuple

import numpy as np

from mapper.arch.hierarchy import Actions
from mapper.formulations.hierarchy.problem import HierarchyProblem
from mapper.models.hierarchy.cost import STEPS_PER_PJ, steps
from mapper.solver.hierarchy.exact.arrangement import Keep
from mapper.solver.hierarchy.imperfect.bound_kernel import SHY, Frame, Levels, Places, Tensors, measured
from mapper.solver.hierarchy.imperfect.cell import Cells
from mapper.solver.hierarchy.imperfect.cut import Columns, Way, columns_of
from mapper.solver.hierarchy.padding.bound import least_words
from mapper.workloads.nest.loop_nest import AffineIndex, Operand

Array = Any
MOST_PLACES = 1 << 22
NO_ENERGY = Actions(read=0, fill=0, update=0)


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
        self.places = Places(*self.columns[:8])
        self.tensors = self._tensors()
        self.of_levels = _levels(problem, keep)
        self.frame = _frame(problem, self.loops)
        rows = zip(self.ways, self.columns.leaving, self.columns.arriving, strict=True)
        self.rows = np.array([(*way, leaving, arriving) for way, leaving, arriving in rows], np.int64)
        self.cells = Cells(
            problem,
            self.loops,
            self.ways,
            self.shared,
            self.columns,
            [self._largest(loop) for loop in self.loops],
            [self._counting(loop) for loop in self.loops],
        )

    def _tensors(self) -> Tensors:
        """Tensors as the kernel reads them."""
        bounds, operands, rules = self.problem.bounds, self.operands, self.machine.rules
        dims, terms, loop, step = [0], [0], list[int](), list[int]()
        for operand in operands:
            for index in operand.index:
                for name, by in index.coefficients:
                    if name in self.loops:
                        loop.append(self.loops.index(name))
                        step.append(abs(by))
                terms.append(len(loop))
            dims.append(len(terms) - 1)
        elided = np.array([one.writes and one.zero_initialised for one in operands])
        repeated = [[name for index in one.index for name, _ in index.coefficients] for one in operands]
        repeated = [[name for name in names if name in self.loops] for names in repeated]
        return Tensors(
            moved=np.array([[loop in one.loops for loop in self.loops] for one in operands]),
            written=np.array([one.writes for one in operands]),
            first_read=elided & (rules.first_read == "elided"),
            first_fill=elided & (rules.first_fill == "elided"),
            back=np.array([_turns_back(one) for one in operands]),
            twice=np.array([len(set(names)) < len(names) for names in repeated]),
            whole=np.array([float(one.words(bounds)) for one in operands]),
            apart=np.array([float(_apart(one, bounds)) for one in operands]),
            taken=np.array([float(math.prod(bounds[loop] for loop in one.loops)) for one in operands]),
            shared=np.array(self.shared),
            kept=np.array([[one.name in names for names in self.keep] for one in operands]),
            dims=np.array(dims, np.int64),
            reach=np.array([_reach(index, bounds) for one in operands for index in one.index] or [1.0]),
            terms=np.array(terms, np.int64),
            loop=np.array(loop, np.int64),
            step=np.array(step, np.float64),
        )

    def _counting(self, loop: str) -> Array:
        """The columns of a loop that the bound reads, but for its trips."""
        columns = self.columns
        found = {columns.moments}
        for t, operand in enumerate(self.operands):
            if loop in operand.loops:
                found |= {
                    columns.tile + level
                    for level, memory in enumerate(self.machine.levels)
                    if memory.capacity is not None and operand.name in self.keep[level]
                }
            for number, way in enumerate(self.ways):
                if way.tensor != t:
                    continue
                if loop not in operand.loops:
                    for first in (columns.leaving[number], columns.arriving[number]):
                        found |= set(range(first, first + way.inner + 1))
                elif way.inner < self.levels:
                    found |= {columns.chunks + way.inner, columns.mover + way.inner - 1}
        return np.array(sorted(found), np.int64)

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

    def is_single(self, chosen: Array) -> Array:
        """Whether each cell of a choice [..., loops] is one cut."""
        return self.cells.spread[chosen].max(axis=-1, initial=0.0) == 0

    def least(self, chosen: Array) -> Least:
        """The bounds of choices of a cell for each loop [choices, loops]."""
        energy, cycles = self._measured(chosen)
        more = energy.more.min(axis=2, initial=np.inf)
        total = energy.least + np.where(np.isfinite(more), more, 0.0).sum(axis=1)
        return Least(self._value(total * SHY, cycles), cycles)

    def of_orders(self, cells: Array, innermost: Array) -> Array:
        """The bounds of one choice of cells, if these loops are the innermost ones to turn [orders, levels] (-1: none
        turns)."""
        energy, cycles = self._measured(cells[None])
        levels = np.arange(self.levels)
        own = np.where(innermost < 0, 0.0, energy.more[0][levels[None], innermost])
        own = np.where(np.isfinite(own), own, 0.0)
        return self._value((energy.least + own.sum(axis=1)) * SHY, cycles)

    def _value(self, energy: Array, cycles: Array) -> Array:
        name = self.problem.objective
        known = np.where(cycles < np.inf, cycles, 0.0)
        value = energy * known if name == "edp" else energy if name == "energy" else known + 0.0 * energy
        return np.where(cycles < np.inf, value, np.inf)

    def _measured(self, chosen: Array) -> tuple[Energy, Array]:
        """Energies, and cycles, which are infinite where tiles do not fit or time does not suffice."""
        many = len(chosen)
        energy, cycles = np.zeros(many), np.zeros(many)
        more = np.zeros((many, self.levels, max(1, len(self.loops))))
        measured(
            self.cells.numbers, chosen, self.rows, self.places, self.tensors, self.of_levels, self.frame,
            energy, more, cycles,
        )  # fmt: skip
        return Energy(energy, more), cycles


def _levels(problem: HierarchyProblem, keep: Keep) -> Levels:
    """Levels as the kernel reads them."""
    levels = problem.machine.levels
    actions = [memory.actions or NO_ENERGY for memory in levels]
    rates = [(one.bandwidth.read, one.bandwidth.write, one.bandwidth.shared) for one in levels]
    fans = [one.fanout.x * one.fanout.y for one in levels]
    clusters = [max(1, math.prod(fans[:level]) // one.cluster) for level, one in enumerate(levels)]
    return Levels(
        price=np.array([[_exact(one.read), _exact(one.fill), _exact(one.update)] for one in actions]),
        block=np.array([float(one.block) for one in levels]),
        clusters=np.array(clusters, np.float64),
        capacity=np.array([math.inf if one.capacity is None else float(one.capacity) for one in levels]),
        rate=np.array([[math.inf if one is None else float(one) for one in own] for own in rates]),
        leak=np.array([float(one.leak) for one in actions]),
        used=np.array([bool(names) for names in keep]),
    )


def _frame(problem: HierarchyProblem, loops: Sequence[str]) -> Frame:
    """The rest that no choice changes."""
    compute = problem.machine.compute
    return Frame(
        bounds=np.array([float(problem.bounds[loop]) for loop in loops]),
        operations=float(math.prod(problem.bounds.values())) * _exact(compute.energy_pj or 0.0),
        rate=float(compute.rate),
        leak=float(compute.leak_pj),
        cycles=math.inf if problem.max_cycles is None else float(problem.max_cycles),
    )


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
