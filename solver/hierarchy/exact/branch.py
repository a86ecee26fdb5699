"""One arrangement as branch and bound opens it: floors of its tiles, and a path of decided levels."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from mapper.models.hierarchy.mapping import HierarchyMapping, LevelMapping, SpatialLoop, TemporalLoop
from mapper.solver.hierarchy.exact import kernel
from mapper.solver.hierarchy.exact.arrangement import Arrangement, Link
from mapper.solver.hierarchy.exact.lattice import Lattice, Shape, lattice_of
from mapper.solver.hierarchy.exact.order_class import order_classes
from mapper.solver.method import Effort

if TYPE_CHECKING:
    from mapper.solver.hierarchy.exact.branch_and_bound import Search

Array = Any
OBJECTIVES = {"edp": 0, "energy": 1, "latency": 2}
MOST_CHILDREN = 1 << 16
MOST_LINKS = 20
"""Between levels, of all tensors: sets of them are counted as bits."""
SHY = 1 - 1e-12
"""Sums of floors are taken a little too low, so that rounding does not lift them above what they bound."""


class Branch:
    """An arrangement: what its operations cost in any case, and, once built, its tiles with their floors."""

    def __init__(self, arrangement: Arrangement, shape: Shape) -> None:
        self.arrangement, self.shape = arrangement, shape
        self.problem = arrangement.problem
        machine = self.problem.machine
        self.levels = len(machine.levels)
        self.objective = OBJECTIVES[self.problem.objective]
        self.built = False
        self.compute = float(-(-arrangement.passes // machine.compute.rate))
        self.moved = np.zeros((self.levels, 2))
        operations = arrangement.passes * arrangement.instances[-1]
        self.constant = operations * (machine.compute.energy_pj or 0.0)
        self.inner: list[Link] = []
        for link in arrangement.links:
            if link.inner == self.levels:
                self.constant += float(kernel.priced.plain(row(link, 0.0), float(arrangement.passes)))
                self._move(link, float(arrangement.passes))
            else:
                self.inner.append(link)
                self._move(link, self._least(link))
        self.rate = np.array(
            [
                [_rate(level.bandwidth, sort) for sort in ("read", "write", "shared")]
                for level in machine.levels
            ]
        )
        least = self.constant + sum(
            float(kernel.priced.plain(row(one, 0.0), self._least(one))) for one in self.inner
        )
        self.bound = self._objective(least * SHY, self._cycles())

    def _move(self, link: Link, arriving: float) -> None:
        if not link.handed:
            self.moved[link.outer, 0] += max(0.0, link.positions * arriving - link.outer_part)
        if link.written:
            self.moved[link.outer, 1] += link.positions * arriving
        if link.inner < self.levels:
            self.moved[link.inner, 1] += max(0.0, arriving - link.inner_part)

    def _cycles(self) -> float:
        cycles = self.compute
        for level in range(self.levels):
            read, write = self.moved[level]
            for words, rate in zip((read, write, read + write), self.rate[level], strict=True):
                cycles = max(cycles, math.ceil(words / rate - 1e-9))
        return cycles

    def _objective(self, energy: float, cycles: float) -> float:
        energy += self.arrangement.leak_pj * cycles
        return (energy * cycles, energy, cycles)[self.objective]

    def _least(self, link: Link) -> float:
        """Words that must arrive at an instance whatever the tiles are: each of its words once."""
        inside, rest = self.arrangement.inside[link.inner], self.arrangement.rest
        words = 1.0
        for index in self.problem.nest.operands[link.tensor].index:
            terms = [(abs(factor), inside[loop], rest[loop]) for loop, factor in index.coefficients]
            whole = 1 + sum(factor * (own * trips - 1) for factor, own, trips in terms)
            single = 1 + sum(factor * (own - 1) for factor, own, _ in terms)
            trips = math.prod(one for _, _, one in terms)
            words *= min(whole, single * trips) if len(terms) < 3 else single
        return words

    def build(self, effort: Effort) -> bool:
        """Tabulate the floors and with them a better bound; False if there are too many tiles, or time is over."""
        lattice = lattice_of(self.arrangement, self.shape) if len(self.inner) <= MOST_LINKS else None
        if lattice is None:
            return False
        self.built, self.lattice = True, lattice
        loops = range(len(self.problem.nest.loops))
        relevant = [frozenset(j for j in loops if row[j]) for row in self.shape.relevant]
        given = [
            [self.problem.nest.loops.index(loop) for loop in self.problem.order(level)]
            for level in range(self.levels)
        ]
        loops_of = list(loops)
        self.classes = [
            _table(order_classes(relevant, given[level], loops_of), len(loops))
            for level in range(self.levels)
        ]
        last = self.levels - 1
        self.own = [
            sum(1 << k for k, link in enumerate(self.inner) if link.inner == level + 1)
            for level in range(self.levels)
        ]
        self.fixed = (
            kernel.Tiles(lattice.values, lattice.counts, lattice.radix, lattice.rest, lattice.spaces),
            kernel.Tensors(*self.shape),
            kernel.Links(
                np.array([link.tensor for link in self.inner], np.int64),
                np.array([[link.outer, link.inner] for link in self.inner], np.int64).reshape(-1, 2),
                np.array([row(link, self._least(link)) for link in self.inner]).reshape(-1, 11),
            ),
        )
        self.labels: list[Array] = [np.zeros(1, np.int64)] * self.levels
        self.floor: list[Array] = [np.zeros((1, 0))] * self.levels
        self.floor[last] = np.where(lattice.allowed[last], 0.0, np.inf)[None, :]
        for level in reversed(range(1, last)):
            if effort.is_over():
                self.built = False
                return False
            together = [relevant[link.tensor] for link in self.inner if link.inner > level]
            self._tabulate(level, order_classes(list(dict.fromkeys(together)), given[level], loops_of))
        self.digits = np.zeros((self.levels + 1, len(loops)), np.int64)
        self.digits[0] = lattice.counts - 1
        self.f = np.ones((self.levels, len(loops)), np.int64)
        self.orders = np.full((self.levels, len(loops)), -1, np.int64)
        self.depth = 0
        self.costed: set[tuple[float, bytes]] = set()
        self.paid = [0.0] * (self.levels + 1)
        self.words = [self.moved] * (self.levels + 1)
        if not lattice.allowed[0][int(self.digits[0] @ lattice.radix)]:
            self.bound = math.inf
        elif last > 0:
            self.bound = max(self.bound, self._root())
        return True

    def _tabulate(self, level: int, classes: tuple[tuple[int, ...], ...]) -> None:
        lattice: Lattice = self.lattice
        labels = self._labels(level)
        index = np.zeros(1 << len(self.inner), np.int64)
        index[labels] = range(len(labels))
        self.labels[level] = labels
        self.floor[level] = np.zeros((len(labels), len(lattice.allowed[level])))
        stage = self._stage(level, _table(classes, len(lattice.counts)))
        kernel.floors(*self.fixed, stage, lattice.allowed[level], index, self.floor[level])

    def _stage(self, level: int, classes: Array) -> kernel.Stage:
        lattice, labels = self.lattice, self.labels[level + 1]
        reach = self.own[level] | int(np.bitwise_or.reduce(labels))
        return kernel.Stage(
            level,
            lattice.starts[level],
            lattice.targets[level],
            self.floor[level + 1],
            labels,
            self.own[level],
            reach,
            classes,
        )

    def _labels(self, level: int) -> Array:
        """Sets of links whose tensors no loop from a level inwards moves."""
        found = set()
        of_tensor = [
            sum(1 << k for k, link in enumerate(self.inner) if link.tensor == t)
            for t in range(len(self.problem.nest.operands))
        ]
        for label in self.labels[level + 1]:
            parts = [(int(label) | self.own[level]) & bits for bits in of_tensor]
            for chosen in product((False, True), repeat=len(parts)):
                found.add(sum(part for part, still in zip(parts, chosen, strict=True) if still))
        return np.array(sorted(found), np.int64)

    def _root(self) -> float:
        found, _ = self._expand(0, math.inf)
        return float(found[:, 0].min()) * SHY if len(found) else math.inf

    def _expand(self, level: int, limit: float) -> tuple[Array, Array]:
        """The children of the tile at ``level``, most promising first."""
        lattice = self.lattice
        room = MOST_CHILDREN
        stage = self._stage(level, self.classes[level])
        path = kernel.Path(self.digits[level], self.f, self.orders, self.paid[level], self.words[level])
        scale = kernel.Scale(
            self.rate,
            self.compute,
            self.constant * SHY,
            float(self.arrangement.leak_pj),
            self.objective,
            limit,
        )
        while True:
            out = np.zeros((room, 3 + 2 * self.levels))
            order = np.zeros((room, len(lattice.counts) + 1), np.int64)
            found = kernel.expanded(*self.fixed, stage, path, scale, out, order)
            if found <= room:
                break
            room = int(found)
        # Of equal bounds on the objective, the one with the least energy-delay product first.
        ranked = np.lexsort((out[:found, 2], out[:found, 0]))
        return out[:found][ranked], order[:found][ranked]

    def children(self, search: Search) -> Iterator[tuple[float, HierarchyMapping | int]]:
        """What follows the path: bounds with mappings, or with tiles that the path then goes on to."""
        level = self.depth
        last = self.levels - 1
        if level == last:
            bound = self._objective((self.constant + self.paid[level]) * SHY, self._cycles())
            yield bound, self._mapping()
            return
        found, order = self._expand(level, search.limit)
        for row_found, row_order in zip(found, order, strict=True):
            if row_found[0] * SHY >= search.limit:
                return
            digits, chosen = row_order[:-1], int(row_order[-1])
            self._step(level, digits, chosen, row_found)
            if level + 1 == last:
                # Mappings that move the same words everywhere cost the same.
                seen = (float(row_found[1]), self.words[last].tobytes())
                if seen not in self.costed:
                    self.costed.add(seen)
                    yield float(row_found[0]) * SHY, self._mapping()
                self.depth = level
            else:
                yield float(row_found[0]) * SHY, level + 1

    def _step(self, level: int, digits: Array, chosen: int, found: Array) -> None:
        lattice = self.lattice
        self.depth = level + 1
        self.digits[level + 1] = digits
        loops = range(len(lattice.counts))
        outer = [lattice.values[j, self.digits[level, j]] for j in loops]
        self.f[level] = [outer[j] // lattice.values[j, digits[j]] for j in loops]
        self.orders[level] = self.classes[level][chosen]
        self.paid[level + 1] = float(found[1])
        self.words[level + 1] = found[3:].reshape(self.levels, 2).copy()

    def close(self, frames: int) -> None:
        """The path ends one level further out again."""
        self.depth = max(0, frames - 1)

    def forget(self) -> None:
        """Nothing of the arrangement is left to be opened."""
        self.floor = []

    def _mapping(self) -> HierarchyMapping:
        problem, lattice = self.problem, self.lattice
        loops = problem.nest.loops
        last = self.levels - 1
        self.f[last] = [lattice.values[j, self.digits[last, j]] for j in range(len(loops))]
        self.orders[last] = self.classes[last][0]
        levels = []
        for place, memory in enumerate(problem.machine.levels):
            inwards = [j for j in self.orders[place] if j >= 0 and self.f[place, j] > 1]
            levels.append(
                LevelMapping(
                    memory.name,
                    self.arrangement.keep[place],
                    tuple(TemporalLoop(loops[j], int(self.f[place, j])) for j in reversed(inwards)),
                    (
                        *(
                            SpatialLoop(loop, trips, "y")
                            for loop, trips in self.arrangement.down[place].items()
                        ),
                        *(
                            SpatialLoop(loop, trips, "x")
                            for loop, trips in self.arrangement.across[place].items()
                        ),
                    ),
                )
            )
        return HierarchyMapping(tuple(levels), problem.pins.padded)


def _rate(bandwidth: Any, sort: str) -> float:
    rate = getattr(bandwidth, sort)
    return math.inf if rate is None else float(rate)


def row(link: Link, least: float) -> Array:
    """A link as kernels see it; ``least`` words arrive at an instance in any case."""
    return np.array(
        [
            link.positions,
            link.outer_part,
            link.inner_part,
            link.written,
            link.handed,
            link.read_pj,
            link.update_pj,
            link.fill_pj,
            link.outer_block,
            link.inner_block,
            least,
        ],
        np.float64,
    )


def _table(orders: tuple[tuple[int, ...], ...], loops: int) -> Array:
    """Orders as rows, filled up with -1."""
    table = np.full((len(orders), loops), -1, np.int64)
    for place, order in enumerate(orders):
        table[place, : len(order)] = order
    return table
