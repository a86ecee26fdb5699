"""One arrangement as branch and bound opens it: floors of its tiles, and a path of decided levels."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.solver.hierarchy.exact import expansion, floor, kernel
from mapper.solver.hierarchy.exact.arrangement import COLUMNS, Outset
from mapper.solver.hierarchy.exact.arrival import Tensors, Tiles
from mapper.solver.hierarchy.exact.chosen import mapping_of
from mapper.solver.hierarchy.exact.in_space import SpaceTrips
from mapper.solver.hierarchy.exact.lattice import Lattice, lattice_of
from mapper.solver.hierarchy.exact.order_class import movers_of, order_table
from mapper.solver.hierarchy.exact.outset_bound import SHY, Opening, priced_least
from mapper.solver.method import Effort

if TYPE_CHECKING:
    from mapper.solver.hierarchy.exact.branch_and_bound import Search

Array = Any
MOST_CHILDREN = 1 << 12
NO_FRONT = np.zeros((0, 2))
MOST_ROWS = 4_000_000
"""Children of the outermost tile, with orders."""
STEPS_AT_ONCE = 20_000
"""From tiles to those inside them, between two looks at the time."""
MOST_LINKS = 20
"""Between levels, of all tensors: sets of them are counted as bits."""


class Branch:
    """An arrangement: what its operations cost in any case, and, once built, its tiles with their floors."""

    def __init__(self, outset: Outset, space: SpaceTrips) -> None:
        self.outset, self.space = outset, space
        self.problem, self.levels = outset.problem, outset.levels
        self.opening = Opening(outset)
        self.bound, self.cycles = float(self.opening.bound[0]), float(self.opening.cycles[0])
        self.inner = [link for link in outset.links if link.rows[0, 12] == 1]
        self.last = self.levels - 1 + any(link.inner == self.levels for link in self.inner)
        self.freely = any(link.rows[0, 4] == 1 for link in outset.links)
        self.is_exact = outset.is_exact

    rows: tuple[Array, Array] | None = None
    """The children of the outermost tile, if they are not too many to be kept until it is opened."""

    def build(self, effort: Effort, limit: float = math.inf) -> bool:
        """Tabulate the floors and with them a better bound; False if that takes too much, or time is over. Tiles all of
        whose mappings cost ``limit`` or more are left out."""
        lattice = self.tiles(effort) if len(self.inner) <= MOST_LINKS else None
        if lattice is None:
            return False
        self.lattice: Lattice = lattice
        self.movers = movers_of(self.outset.shape)
        self.given = [self.outset.groups.given(level) for level in range(self.levels)]
        self.own = [
            sum(1 << k for k, link in enumerate(self.inner) if link.inner == level + 1)
            for level in range(self.last)
        ]
        self.fixed = (
            Tiles(lattice.values, lattice.counts, lattice.radix, lattice.rest, lattice.spaces),
            Tensors(*self.outset.shape),
            kernel.Links(
                np.array([link.tensor for link in self.inner], np.int64),
                np.array([[link.outer, link.inner] for link in self.inner], np.int64).reshape(-1, 2),
                np.array([link.rows[0] for link in self.inner]).reshape(-1, COLUMNS),
            ),
        )
        last = self.last
        self.labels: list[Array] = [np.zeros(1, np.int64)] * (last + 1)
        self.floor: list[Array] = [np.zeros((1, 0))] * (last + 1)
        self.floor[last] = np.where(lattice.allowed[last], 0.0, np.inf)[None, :]
        for level in reversed(range(1, last)):
            if not self._tabulate(level, effort, limit):
                return False
        return self._begin(limit)

    def tiles(self, effort: Effort) -> Lattice | None:
        """The tiles, None if they are too many, or time is over."""
        return lattice_of(self.outset, effort)

    def _begin(self, limit: float) -> bool:
        """Stand at the outermost tile, with what begins there as bound; False if it has too many children."""
        self._stand()
        if not self.lattice.allowed[0][int(self.digits[0] @ self.lattice.radix)]:
            self.bound = math.inf
        elif self.last > 0:
            root = self._root(limit)
            self.bound = max(self.bound, root or 0.0)
            return root is not None
        return True

    def _stand(self) -> None:
        """Decide nothing."""
        lattice, groups = self.lattice, len(self.lattice.counts)
        self.digits = np.zeros((self.levels + 1, groups), np.int64)
        self.digits[0] = lattice.counts - 1
        self.f = np.ones((self.levels, groups), np.int64)
        self.orders = np.full((self.levels, groups), -1, np.int64)
        self.depth = 0
        self.costed: set[tuple[float, bytes]] = set()
        self.paid = [0.0] * (self.levels + 1)
        self.maybe = [False] * (self.levels + 1)
        self.words = [self.opening.moved[0]] * (self.levels + 1)

    def _tabulate(self, level: int, effort: Effort, limit: float) -> bool:
        """The floors of a level; False if time is over before they are all known."""
        self.labels[level] = self._labels(level)
        found = self.floors(level, self.lattice.allowed[level], self._room(level, limit), effort)
        if found is not None:
            self.floor[level] = found
        return found is not None

    def floors(self, level: int, allowed: Array, room: Array, effort: Effort) -> Array | None:
        """The floors of the tiles of a level that are ``allowed``, by label, as far as they lie below the label's
        ``room``; None if time is over."""
        lattice, labels = self.lattice, self.labels[level]
        index = np.zeros(1 << len(self.inner), np.int64)
        index[labels] = range(len(labels))
        found = np.zeros((len(labels), len(allowed)))
        together = sorted({link.tensor for link in self.inner if link.inner > level})
        movers = tuple(dict.fromkeys(self.movers[t] for t in together))
        stage = self._stage(level, order_table(movers, self.given[level], len(lattice.counts), inside=False))
        step = max(1, len(allowed) * STEPS_AT_ONCE // max(1, lattice.steps(level)))
        for begin in range(0, len(allowed), step):
            if effort.is_over():
                return None
            end = min(begin + step, len(allowed))
            floor.floors(*self.fixed, stage, allowed, index, room, found, begin, end)
        return found

    def _room(self, level: int, limit: float) -> Array:
        """What links from a level inwards must cost less than with each label, since all others cost their least, for
        mappings to cost less than a limit."""
        least = [float(priced_least(link)[0]) for link in self.inner]
        others = [
            sum(
                one
                for k, (link, one) in enumerate(zip(self.inner, least, strict=True))
                if link.inner <= level or (int(label) >> k) & 1
            )
            for label in self.labels[level]
        ]
        return (self.opening.energy_below(limit) - np.array(others) * SHY) / SHY

    def _stage(self, level: int, classes: kernel.Orders) -> kernel.Stage:
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

    def _classes(self, level: int) -> kernel.Orders:
        movers = tuple(dict.fromkeys(self.movers))
        return order_table(
            movers, self.given[level], len(self.lattice.counts), inside=level + 1 < self.levels
        )

    def _root(self, limit: float) -> float | None:
        """What the outermost tile costs at least, if that is less than a limit; None if it has too many children to be
        told apart."""
        children = self._expand(0, limit, NO_FRONT)
        if children is None:
            return None
        found, _ = children
        if len(found) <= MOST_CHILDREN:
            self.rows = children
        if not len(found):
            return math.inf
        self.cycles = max(self.cycles, float(found[:, 3].min()))
        return float(found[:, 0].min()) * SHY

    def _expand(self, level: int, limit: float, front: Array) -> tuple[Array, Array] | None:
        """The children of the tile at ``level``, most promising first; None if they are too many."""
        room = MOST_CHILDREN
        stage = self._stage(level, self._classes(level))
        path = expansion.Path(self.digits[level], self.f, self.orders, self.paid[level], self.words[level])
        scale = self.opening.scale(limit, front)
        while True:
            out = np.zeros((room, 5 + 2 * self.levels))
            order = np.zeros((room, len(self.lattice.counts) + 1), np.int64)
            found = expansion.expanded(*self.fixed, stage, path, scale, out, order)
            if found <= room:
                break
            room = int(found)
            if room > MOST_ROWS:
                return None
        # Of equal bounds on the objective, the one with the least energy-delay product first.
        ranked = np.lexsort((out[:found, 2], out[:found, 0]))
        return out[:found][ranked], order[:found][ranked]

    def children(self, search: Search) -> Iterator[tuple[float, HierarchyMapping | int]]:
        """What follows the path: bounds with mappings, or with tiles that the path then goes on to."""
        level, last = self.depth, self.last
        if level == last:
            yield self.bound, self._mapping()
            return
        expanded = self.rows if level == 0 else None
        if expanded is None:
            expanded = self._expand(level, search.limit, search.front)
        assert expanded is not None, "no tile has more children than the outermost"
        # Ascending by their bounds.
        few = int(np.searchsorted(expanded[0][:, 0], search.limit))
        found, order = expanded[0][:few], expanded[1][:few]
        for row_found, row_order in zip(found, order, strict=True):
            if not search.wants(row_found[0] * SHY, row_found[3]):
                continue
            digits, chosen = row_order[:-1], int(row_order[-1])
            self._step(level, digits, chosen, row_found)
            if level + 1 == last:
                if not self._costed(row_found[1]):
                    yield float(row_found[0]) * SHY, self._mapping()
                self.depth = level
            else:
                yield float(row_found[0]) * SHY, level + 1

    def _costed(self, paid: float) -> bool:
        """Whether a mapping was costed that moves the same words everywhere and so costs the same."""
        if not self.is_exact or self.handed:
            return False
        seen = (float(paid), self.words[self.last].tobytes())
        known = seen in self.costed
        self.costed.add(seen)
        return known

    def _step(self, level: int, digits: Array, chosen: int, found: Array) -> None:
        lattice = self.lattice
        self.depth = level + 1
        self.digits[level + 1] = digits
        groups = range(len(lattice.counts))
        outer = [lattice.values[j, self.digits[level, j]] for j in groups]
        self.f[level] = [outer[j] // lattice.values[j, digits[j]] for j in groups]
        self.orders[level] = self._classes(level).table[chosen]
        self.paid[level + 1] = float(found[1])
        self.maybe[level + 1] = self.maybe[level] or bool(found[4])
        self.words[level + 1] = found[5:].reshape(self.levels, 2).copy()

    @property
    def handed(self) -> bool:
        """Whether neighbours may hand on words on the path, so that its orders and layouts may differ in cost."""
        return self.freely or self.maybe[self.depth]

    def close(self, frames: int) -> None:
        """The path ends one level further out again."""
        self.depth = max(0, frames - 1)

    def forget(self) -> None:
        """Nothing of the arrangement is left to be opened."""
        self.floor, self.rows = [], None

    def _mapping(self) -> HierarchyMapping:
        groups, last = range(len(self.lattice.counts)), self.last
        if last < self.levels:
            self.f[last] = [self.lattice.values[j, self.digits[last, j]] for j in groups]
            given = self.given[last]
            self.orders[last] = [*given, *(j for j in groups if j not in given)]
        return mapping_of(self.outset.groups, self.outset.keep, self.space, self.f, self.orders)
