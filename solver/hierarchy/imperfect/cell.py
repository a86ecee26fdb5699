"""Cells of cuts: of each loop some cuts with the least of all their numbers, which are split in two when asked.

All cuts with given trips in space are one cell, whose numbers are known before any of its cuts is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mapper.formulations.hierarchy.problem import HierarchyProblem
from mapper.solver.hierarchy.imperfect.cut import Columns, Way, cuts_of, least_numbers, numbers_of

Array = Any
NO_CUTS = np.zeros(0, np.int64)


class Cells:
    """The cells of one loop: ``numbers`` of each [cells, columns], ``spread`` of its tiles (0: a single cut)."""

    def __init__(
        self,
        problem: HierarchyProblem,
        loop: str,
        ways: Sequence[Way],
        shared: Sequence[Sequence[bool]],
        columns: Columns,
        largest: Sequence[int],
    ) -> None:
        self.problem, self.loop, self.ways, self.shared, self.columns = problem, loop, ways, shared, columns
        self.largest = largest
        self.count = 0
        self.numbers = np.zeros((64, columns.width))
        self.spread = np.zeros(64)
        self._rows: list[tuple[int, Array]] = []
        self._cuts: list[tuple[Array, Array]] = []
        self._roots: dict[tuple[int, ...], int] = {}
        self._closed: dict[int, tuple[int, ...]] = {}
        self._parts: dict[int, tuple[int, ...] | None] = {}

    def root(self, space: tuple[int, ...]) -> int:
        """The cell of all cuts with these trips in space."""
        if space not in self._roots:
            bound = self.problem.bounds[self.loop]
            numbers = least_numbers(bound, space, self.ways, self.shared, self.columns)
            self._roots[space] = self._add(numbers, math.inf, (-1, NO_CUTS))
            self._closed[self._roots[space]] = space
        return self._roots[space]

    def _add(self, numbers: Array, spread: float, rows: tuple[int, Array]) -> int:
        if self.count == len(self.numbers):
            self.numbers = np.concatenate([self.numbers, np.zeros_like(self.numbers)])
            self.spread = np.concatenate([self.spread, np.zeros_like(self.spread)])
        self.numbers[self.count], self.spread[self.count] = numbers, spread
        self._rows.append(rows)
        self.count += 1
        return self.count - 1

    def _part(self, table: int, chosen: Array) -> int:
        own = self._cuts[table][1][chosen]
        ratio = np.log(own[:, self._tiles].max(axis=0) / own[:, self._tiles].min(axis=0))
        return self._add(own.min(axis=0), 0.0 if len(chosen) == 1 else 1e-6 + ratio.sum(), (table, chosen))

    def _opened(self, space: tuple[int, ...]) -> tuple[int, ...] | None:
        """All cuts with these trips in space; None if they are too many."""
        rows = cuts_of(self.problem, self.loop, space, self.largest)
        if rows is None or not len(rows):
            return None if rows is None else ()
        bound = self.problem.bounds[self.loop]
        self._cuts.append((rows, numbers_of(bound, rows, space, self.ways, self.shared, self.columns)))
        return (self._part(len(self._cuts) - 1, np.arange(len(rows))),)

    @property
    def _tiles(self) -> slice:
        return slice(self.columns.tile, self.columns.tile + len(self.problem.machine.levels))

    def parts(self, cell: int) -> tuple[int, ...] | None:
        """The two halves of a cell, apart in the size of the tiles in which it is widest; of one whose cuts are not
        known yet, all of them, if there are any, and None if they are too many."""
        if cell not in self._parts and cell in self._closed:
            self._parts[cell] = self._opened(self._closed[cell])
        elif cell not in self._parts:
            table, chosen = self._rows[cell]
            tiles = np.log(self._cuts[table][1][chosen][:, self._tiles])
            widest = int(np.argmax(tiles.max(axis=0) - tiles.min(axis=0)))
            ranked = chosen[np.argsort(tiles[:, widest], kind="stable")]
            half = len(ranked) // 2
            self._parts[cell] = self._part(table, ranked[:half]), self._part(table, ranked[half:])
        return self._parts[cell]

    def cut(self, cell: int) -> list[int]:
        """Trips in time by level of a cell of one cut."""
        table, chosen = self._rows[cell]
        return [int(one) for one in self._cuts[table][0][chosen[0]]]
