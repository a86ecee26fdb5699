"""Cells of cuts: of each loop some cuts with the least of all their numbers, which are split in two when asked.

All cuts with given trips in space are one cell, whose numbers are known before any of its cuts is. Cuts none of whose
numbers, of those that count, lies below that of another one are in a group with it, which is split last: its cell says
as much as that one cut does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mapper.formulations.hierarchy.problem import HierarchyProblem
from mapper.solver.hierarchy.imperfect.cut import Columns, Way, cuts_of, least_numbers, numbers_of
from mapper.solver.hierarchy.imperfect.cut_kernel import grouped, summed

Array = Any
NO_CUTS = np.zeros(0, np.int64)
MOST_GROUPED = 8192
"""Cuts, up to which groups are looked for."""
UNKNOWN, TOO_MANY = -1, -2


class Cells:
    """The cells of all loops: ``numbers`` of each [cells, columns], ``spread`` of its tiles (0: a single cut), and how
    many ``parts`` it has, whose numbers are in ``halves`` [cells, 2] (of one whose cuts are not known yet, all of them
    are its only part, if there are any)."""

    def __init__(
        self, problem: HierarchyProblem, loops: Sequence[str], ways: Sequence[Way],
        shared: Sequence[Sequence[bool]], columns: Columns, largest: Sequence[Sequence[int]],
        counting: Sequence[Array],
    ) -> None:  # fmt: skip
        self.problem, self.loops, self.ways, self.shared, self.columns = problem, loops, ways, shared, columns
        self.largest, self.counting = largest, counting
        self.count = 0
        self.numbers = np.zeros((256, columns.width))
        self.spread = np.zeros(256)
        self.parts = np.zeros(256, np.int64)
        self.halves = np.zeros((256, 2), np.int64)
        self._rows: list[tuple[int, Array]] = []
        self._cuts: list[tuple[Array, Array, Array]] = []
        self._roots: dict[tuple[int, tuple[int, ...]], int] = {}
        self._closed: dict[int, tuple[int, tuple[int, ...]]] = {}

    def root(self, loop: int, space: tuple[int, ...]) -> int:
        """The cell of all cuts of a loop with these trips in space."""
        key = loop, space
        if key not in self._roots:
            bound = self.problem.bounds[self.loops[loop]]
            cell = self._roots[key] = self._new((-1, NO_CUTS))
            self.numbers[cell] = least_numbers(bound, space, self.ways, self.shared, self.columns)
            self.spread[cell] = math.inf
            self._closed[cell] = key
        return self._roots[key]

    def _new(self, rows: tuple[int, Array]) -> int:
        if self.count == len(self.numbers):
            self.numbers = np.concatenate([self.numbers, np.zeros_like(self.numbers)])
            self.spread = np.concatenate([self.spread, np.zeros_like(self.spread)])
            self.parts = np.concatenate([self.parts, np.zeros_like(self.parts)])
            self.halves = np.concatenate([self.halves, np.zeros_like(self.halves)])
        self.parts[self.count] = UNKNOWN
        self._rows.append(rows)
        self.count += 1
        return self.count - 1

    def _part(self, table: int, chosen: Array) -> int:
        _, numbers, group = self._cuts[table]
        cell = self._new((table, chosen))
        levels = len(self.problem.machine.levels)
        self.spread[cell] = summed(numbers, chosen, group, self.columns.tile, levels, self.numbers[cell])
        return cell

    def _opened(self, loop: int, space: tuple[int, ...]) -> tuple[int, ...] | None:
        """All cuts with these trips in space; None if they are too many."""
        name = self.loops[loop]
        rows = cuts_of(self.problem, name, space, self.largest[loop])
        if rows is None or not len(rows):
            return None if rows is None else ()
        bound = self.problem.bounds[name]
        numbers = numbers_of(bound, rows, space, self.ways, self.shared, self.columns)
        group = np.arange(len(rows))
        if len(rows) <= MOST_GROUPED:
            own = np.ascontiguousarray(numbers[:, self.counting[loop]])
            group = grouped(own, np.argsort(own.sum(axis=1), kind="stable"))
        self._cuts.append((rows, numbers, group))
        return (self._part(len(self._cuts) - 1, np.arange(len(rows))),)

    def split(self, cell: int) -> None:
        """Find the parts of a cell, which has more than one cut."""
        is_closed = cell in self._closed
        found = self._opened(*self._closed[cell]) if is_closed else self._halved(*self._rows[cell])
        self.parts[cell] = TOO_MANY if found is None else len(found)
        for place, part in enumerate(found or ()):
            self.halves[cell, place] = part

    def _halved(self, table: int, chosen: Array) -> tuple[int, int]:
        """The two halves of some cuts, apart in the size of the tiles in which their groups are widest; no group is in
        both unless it is alone."""
        _, numbers, group = self._cuts[table]
        first, tile = group[chosen], self.columns.tile
        tiles = numbers[first, tile : tile + len(self.problem.machine.levels)]
        widest = np.argmax(tiles.max(axis=0) / tiles.min(axis=0))
        order = np.lexsort((first, tiles[:, widest]))
        begins = np.flatnonzero(np.diff(first[order])) + 1
        at = int(begins[len(begins) // 2]) if len(begins) else len(order) // 2
        return self._part(table, chosen[order[:at]]), self._part(table, chosen[order[at:]])

    def cut(self, cell: int) -> list[int]:
        """Trips in time by level of a cell of one cut."""
        table, chosen = self._rows[cell]
        return [int(one) for one in self._cuts[table][0][chosen[0]]]
