"""Tiles and floors of the widest machine of several, as each of them sees these.

A floor is the least energy of all links from a tile inwards (`exact/floor`). On a machine with fewer words fewer tiles
are possible, and its floors are no lower: those of the widest machine bound them, infinite where a tile does not
fit. If words differ at one level alone, floors from there inwards are equal.
"""

from __future__ import annotations

import heapq
import math
from copy import copy
from typing import Any

import numpy as np

from mapper.formulations.hierarchy.problem import HierarchyProblem
from mapper.solver.hierarchy.co_design.family import capacities
from mapper.solver.hierarchy.exact.branch import NO_FRONT, Branch
from mapper.solver.hierarchy.exact.branch_and_bound import Search, Waiting
from mapper.solver.hierarchy.exact.lattice import words_kept
from mapper.solver.hierarchy.exact.outset_bound import SHY
from mapper.solver.method import Effort

Array = Any
MOST_BYTES = 1 << 29
"""What the tables of all arrangements may take together; further ones are not kept."""


class SharedBranch(Branch):
    """An arrangement on the widest machine, whose children of the outermost tile are kept."""

    rows: tuple[Array, Array] | None = None

    def _expand(self, level: int, limit: float, front: Array) -> tuple[Array, Array]:
        if level or self.rows is None:
            return super()._expand(level, limit, front)
        found, order = self.rows
        # Ascending by their bounds.
        few = int(np.searchsorted(found[:, 0], limit))
        return found[:few], order[:few]

    def _root(self) -> float:
        found, order = super()._expand(0, math.inf, NO_FRONT)
        self.rows = found, order
        self.kept_words = [words_kept(self.outset, level, self.lattice) for level in range(self.levels)]
        return float(found[0, 0]) * SHY if len(found) else math.inf

    @property
    def nbytes(self) -> int:
        """Memory that the tables take."""
        rows = 0 if self.rows is None else sum(one.nbytes for one in self.rows)
        return int(rows + sum(one.nbytes for one in (*self.floor, *self.lattice.allowed, *self.kept_words)))

    def on(self, problem: HierarchyProblem) -> SharedBranch:
        """The same on a machine of the same energies with fewer words."""
        seen = copy(self)
        fits = [
            words <= most for words, most in zip(self.kept_words, capacities(problem.machine), strict=True)
        ]
        allowed = [one & own for one, own in zip(self.lattice.allowed, fits, strict=True)]
        seen.lattice = self.lattice._replace(allowed=allowed)
        seen.floor = [
            np.where(own, floor, np.inf) if floor.shape[1] == len(own) else floor
            for floor, own in zip(self.floor, fits, strict=True)
        ]
        seen._stand()
        assert self.rows is not None
        found, order = self.rows
        possible = seen.floor[1].min(axis=0)[order[:, :-1] @ self.lattice.radix] < np.inf
        seen.rows = found[possible], order[possible]
        outermost = int(seen.digits[0] @ self.lattice.radix)
        if not allowed[0][outermost] or not possible.any():
            seen.bound = math.inf
        else:
            seen.bound = max(self.opening.bound[0], float(seen.rows[0][0, 0]) * SHY)
        return seen


class Table:
    """The arrangements of the widest machine, measured once, and those of them that were opened."""

    def __init__(self, problem: HierarchyProblem) -> None:
        self.problem = problem
        self.measured = Search(problem, Effort())
        self.measured.gather()
        self.opened: dict[int, SharedBranch | None] = {}
        self.bytes = 0

    def waiting(self) -> list[tuple[float, int, Waiting | Branch]]:
        """All arrangements with the best bounds that are known of them, as a heap."""
        found = [(max(bound, self.bound(number)), number, one) for bound, number, one in self.measured.heap]
        heapq.heapify(found)
        return found

    def bound(self, number: int) -> float:
        """What is known of an arrangement, if it was opened."""
        branch = self.opened.get(number)
        return -math.inf if branch is None else branch.bound

    def branch(self, waiting: Waiting, number: int, effort: Effort) -> SharedBranch | None:
        """An arrangement; None if its tiles are too many to share, or time is over."""
        if number not in self.opened:
            built = SharedBranch(waiting.outset(self.measured.groups), waiting.space)
            if not built.build(effort) and effort.is_over():
                return None
            shared = built if built.rows is not None and self.bytes + built.nbytes <= MOST_BYTES else None
            self.bytes += 0 if shared is None else shared.nbytes
            self.opened[number] = shared
        return self.opened[number]
