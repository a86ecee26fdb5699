"""What is decided first: which tensors each level keeps, and which loops run in space below it.

With that, the cost of a mapping is a sum over links, from a level that keeps a tensor to the next one inside that does:
each moves a multiple of the words that arrive at one instance, and those depend on tiles and orders alone. All
arrangements that keep the same tensors are measured together, in arrays of one row for each.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mapper.arch.hierarchy import Actions
from mapper.formulations.hierarchy.problem import HierarchyProblem
from mapper.models.hierarchy.cost import STEPS_PER_PJ, steps
from mapper.solver.hierarchy.exact.group import Groups
from mapper.solver.hierarchy.exact.neighbour.crossing import (
    Crossing,
    Side,
    below_the_last,
    to_further,
    to_the_next,
)

Array = Any
Keep = tuple[tuple[str, ...], ...]
NO_ENERGY = Actions(read=0, fill=0, update=0)
EXACT = 2.0**53
COLUMNS = 13
"""Of a link."""


@dataclass(frozen=True)
class Link:
    """A tensor's way from level ``outer`` to ``inner`` (the number of levels stands for compute units), with a row of
    numbers for each arrangement. Of the words ``M`` that arrive at an instance, the outer one reads
    ``positions * M - outer_part`` and, if ``written``, updates ``positions * M``; the inner one fills
    ``M - inner_part``. Neighbours may hand words on if ``handed`` is not 0 (`crossing`): positions are those that are
    read for at least. If it is 2, ``apart`` positions are, but at the moments that `handing` counts. Energies (pJ of
    a block) hold for all instances together; ``least`` words arrive in any case. All operations ask units for words,
    unless ``tiled``: then no more arrive than tiles and orders say, as at levels. Columns: positions, outer part, inner
    part, written, handed, pJ of a block read, updated, filled, words of an outer and of an inner block, least, apart,
    tiled."""

    tensor: int
    outer: int
    inner: int
    rows: Array


class Outset:
    """Arrangements that keep the same tensors: ``spread`` are trips in space by arrangement, level and group. Groups
    run to the problem's bounds, or to other ``sizes`` [arrangements or 1, groups]."""

    def __init__(self, groups: Groups, keep: Keep, spread: Array, sizes: Array | None = None) -> None:
        self.problem, self.groups, self.shape, self.keep = groups.problem, groups, groups.shape, keep
        self.machine = self.problem.machine
        self.spread = spread
        self.levels = len(keep)
        self.fan = spread.prod(axis=2, dtype=np.float64)
        ones = np.ones((len(spread), 1))
        self.instances = np.concatenate([ones, np.cumprod(self.fan, axis=1)], axis=1)
        inside = np.cumprod(spread[:, ::-1], axis=1)[:, ::-1]
        self.inside = np.concatenate([inside, np.ones_like(spread[:, :1])], axis=1)
        bounds = np.array([groups.along(self.problem.bounds)], np.int64) if sizes is None else sizes
        self.rest = -(-bounds // self.inside[:, 0])
        self.passes = self.rest.prod(axis=1, dtype=np.float64)
        self.links = [
            self._link(t, outer, inner)
            for t, kept in enumerate(self._kept())
            for outer, inner in zip(kept, (*kept[1:], self.levels), strict=True)
        ]

    def on(self, problem: HierarchyProblem) -> Outset:
        """The same on a machine that differs in words and energies alone."""
        seen = copy(self)
        seen.problem, seen.machine = problem, problem.machine
        seen.links = [replace(link, rows=link.rows.copy()) for link in self.links]
        for link in seen.links:
            seen._price(link)
        return seen

    @property
    def nbytes(self) -> int:
        """Memory that the numbers take."""
        return int(self.spread.nbytes + sum(link.rows.nbytes for link in self.links))

    def _kept(self) -> list[list[int]]:
        operands = self.problem.nest.operands
        return [[level for level, names in enumerate(self.keep) if one.name in names] for one in operands]

    def _link(self, tensor: int, outer: int, inner: int) -> Link:
        operand, rules = self.problem.nest.operands[tensor], self.machine.rules
        last = inner == self.levels
        first = operand.writes and operand.zero_initialised
        rows = np.zeros((len(self.spread), COLUMNS))
        rows[:, 0] = np.prod([self._positions(tensor, level) for level in range(outer, inner)], axis=0)
        rows[:, 11] = rows[:, 0]
        rows[:, 12] = not last
        if rules.link_transfers:
            self._hand_on(tensor, outer, inner, rows)
        if first:
            parts = self._parts(tensor)
            rows[:, 1] = parts[outer] if rules.first_read == "elided" else 0.0
            rows[:, 2] = parts[inner] if not last and rules.first_fill == "elided" else 0.0
        rows[:, 3] = operand.writes
        rows[:, 8] = self.machine.levels[outer].block
        rows[:, 9] = 1 if last else self.machine.levels[inner].block
        rows[:, 10] = self.passes
        if rows[:, 12].any():
            rows[:, 10] = np.where(rows[:, 12] == 1, self._least(tensor, inner), self.passes)
        link = Link(tensor, outer, inner, rows)
        self._price(link)
        return link

    def _price(self, link: Link) -> None:
        """Write down what the machine's levels take for an access."""
        own = self.machine.levels[link.outer].actions or NO_ENERGY
        paid = self._paid(link.outer)
        link.rows[:, 5] = _exact(own.read) * paid
        link.rows[:, 6] = _exact(own.update) * paid
        if link.inner < self.levels:
            other = self.machine.levels[link.inner].actions or NO_ENERGY
            link.rows[:, 7] = _exact(other.fill) * self._paid(link.inner)

    def _dimensions(self, tensor: int) -> Array:
        shape = self.shape
        return shape.coefficient[shape.dimension[tensor] : shape.dimension[tensor + 1]]

    def _paid(self, level: int) -> Array:
        """Instances of a level that pay for an access, since clusters share it."""
        present = math.prod(one.fanout.x * one.fanout.y for one in self.machine.levels[:level])
        return np.minimum(self.instances[:, level], max(1, present // self.machine.levels[level].cluster))

    def _positions(self, tensor: int, level: int) -> Array:
        """The least number of different tiles of a tensor below an instance of a level."""
        fanout = self.machine.levels[level].fanout
        writes = self.problem.nest.operands[tensor].writes
        if (self.fan[:, level] == 1).all() or not (fanout.reduction if writes else fanout.multicast):
            return self.fan[:, level]
        positions = np.ones(len(self.spread))
        for row, alone in self._apart(tensor, self.spread[:, level]):
            moving = self.spread[:, level, row != 0].astype(np.float64)
            positions *= np.where(alone, moving.sum(axis=1) - moving.shape[1] + 1, 1)
        return positions

    def _apart(self, tensor: int, trips: Array) -> Iterator[tuple[Array, Array]]:
        """The dimensions of a tensor, each with whether no loop that turns moves it and one before (by arrangement).
        Where one does, places may lie on a diagonal, and no more differ than those of the one before."""
        seen = np.zeros(trips.shape, np.bool_)
        for row in self._dimensions(tensor):
            own = (trips > 1) & (row != 0)
            alone = ~(seen & own).any(axis=1)
            seen |= own & alone[:, None]
            yield row, alone

    def _hand_on(self, tensor: int, outer: int, inner: int, rows: Array) -> None:
        """Say of a link's rows what neighbours may hand on, at each boundary on the way."""
        ways = [self._crossing(tensor, level, inner) for level in range(outer, inner)]
        handed = np.array([one.handed for one in ways])
        rows[:, 0] = np.prod([one.positions for one in ways], axis=0)
        rows[:, 4] = np.where((handed == 1).any(axis=0), 1, handed.max(axis=0))
        if inner == self.levels:
            rows[:, 12] = ways[-1].tiled

    def _crossing(self, tensor: int, level: int, inner: int) -> Crossing:
        side = Side(
            self._dimensions(tensor),
            self.shape.relevant[tensor],
            self.spread[:, level] > 1,
            self._positions(tensor, level),
            read_only=not self.problem.nest.operands[tensor].writes,
        )
        if level + 1 == self.levels:
            return below_the_last(side)
        return to_the_next(side) if level + 1 == inner else to_further(side)

    def _is_plain(self, tensor: int) -> bool:
        return bool(((self._dimensions(tensor) != 0).sum(axis=1) < 2).all())

    def _parts(self, tensor: int) -> list[Array]:
        """The most words of the whole tensor for which an instance of each level is responsible."""
        words = self._whole(tensor)
        parts = [np.where(words > EXACT, words * (1 + 1e-15), words)]
        if not self._is_plain(tensor):
            return parts * self.levels
        spread = self.spread[:, :, self.shape.relevant[tensor]].prod(axis=2, dtype=np.float64)
        for level in range(self.levels - 1):
            parts.append(np.floor(parts[-1] / spread[:, level]))
        return parts

    def _whole(self, tensor: int) -> Array:
        """Words of a tensor."""
        words = self.problem.nest.operands[tensor].words(self.problem.bounds)
        return np.full(len(self.spread), float(words))

    def _least(self, tensor: int, level: int) -> Array:
        """Words that must arrive at an instance whatever the tiles are: each of its words once."""
        words = np.ones(len(self.spread))
        for row, alone in self._apart(tensor, self.rest):
            own = self.inside[:, level].astype(np.float64)
            whole = 1 + (np.abs(row) * (own * self.rest - 1)).sum(axis=1)
            single = 1 + (np.abs(row) * (own - 1)).sum(axis=1)
            moving = row != 0
            trips = self.rest[:, moving].prod(axis=1, dtype=np.float64)
            words *= (
                np.where(alone, np.minimum(whole, single * trips), single) if moving.sum() < 3 else single
            )
        return words

    @property
    def fits(self) -> Array:
        """Whether the smallest tiles fit: those of the loops in space inside each level, with no trip in time."""
        found = np.ones(len(self.spread), np.bool_)
        for level, memory in enumerate(self.machine.levels):
            if memory.capacity is None:
                continue
            steps_inside = self.inside[:, level].astype(np.float64) - 1
            words = np.zeros(len(self.spread))
            for tensor, operand in enumerate(self.problem.nest.operands):
                if operand.name in self.keep[level]:
                    words += (1 + steps_inside @ np.abs(self._dimensions(tensor)).T).prod(axis=1)
            found &= words <= memory.capacity
        return found

    @property
    def leak_pj(self) -> Array:
        """Energy that leaks in a cycle."""
        total = self.machine.compute.leak_pj * self.instances[:, -1]
        for level, memory in enumerate(self.machine.levels):
            leak = (memory.actions or NO_ENERGY).leak
            total = total + leak * (self.instances[:, level] if self.keep[level] else 1.0)
        return total

    @property
    def compute(self) -> Array:
        """Cycles of computing."""
        return np.ceil(self.passes / self.machine.compute.rate)

    @property
    def is_exact(self) -> bool:
        """Whether words that arrive say all about the cost: not where instances may share parts of windows, or hand
        words on."""
        windows = any(
            (self.spread[:, level, row != 0] > 1).sum() > 1
            for tensor in range(len(self.problem.nest.operands))
            for row in self._dimensions(tensor)
            for level in range(self.levels)
        )
        sums = [t for t, one in enumerate(self.problem.nest.operands) if one.writes]
        return (
            not windows
            and all(self._is_plain(t) and (np.abs(self._dimensions(t)).sum(axis=0) < 2).all() for t in sums)
            and not any((link.rows[:, 4] == 1).any() for link in self.links)
        )


def _exact(energy_pj: float) -> float:
    """An energy as the model counts it, in pJ."""
    return steps(energy_pj) / STEPS_PER_PJ
