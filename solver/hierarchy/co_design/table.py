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
from mapper.solver.hierarchy.exact.arrangement import Keep
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

    def _expand(self, level: int, limit: float, front: Array) -> tuple[Array, Array] | None:
        if level or self.rows is None:
            return super()._expand(level, limit, front)
        found, order = self.rows
        # Ascending by their bounds.
        few = int(np.searchsorted(found[:, 0], limit))
        return found[:few], order[:few]

    def _root(self) -> float | None:
        self.rows = super()._expand(0, math.inf, NO_FRONT)
        if self.rows is None:
            return None
        found, _ = self.rows
        return float(found[0, 0]) * SHY if len(found) else math.inf

    @property
    def nbytes(self) -> int:
        """Memory that the tables take."""
        rows = () if self.rows is None else self.rows
        return int(sum(one.nbytes for one in (*rows, *self.floor, *self.lattice.allowed)))

    def _fits(self, level: int, most: float) -> Array:
        """The nodes whose tiles take at most so many words of a level."""
        words = words_kept(self.outset, level, self.lattice)
        shape = [int(count) for count in reversed(self.lattice.counts)]
        return np.broadcast_to(words <= most, shape).ravel()

    def on(self, problem: HierarchyProblem) -> SharedBranch:
        """The same on a machine of the same energies with fewer words."""
        seen = copy(self)
        fits = [self._fits(level, most) for level, most in enumerate(capacities(problem.machine))]
        fits.append(self.lattice.allowed[-1])
        allowed = [one & own for one, own in zip(self.lattice.allowed, fits, strict=True)]
        seen.lattice = self.lattice._replace(allowed=allowed)
        # The outermost level has no floors.
        inner = zip(self.floor[1:], fits[1:], strict=False)
        seen.floor = [self.floor[0], *(np.where(own, floor, np.inf) for floor, own in inner)]
        seen._stand()
        assert self.rows is not None, "a branch whose outermost tile has too many children is not shared"
        found, order = self.rows
        possible = seen.floor[1].min(axis=0)[order[:, :-1] @ self.lattice.radix] < np.inf
        seen.rows = found[possible], order[possible]
        if allowed[0][int(seen.digits[0] @ self.lattice.radix)] and possible.any():
            seen.bound = max(float(self.opening.bound[0]), float(seen.rows[0][0, 0]) * SHY)
        else:
            seen.bound = math.inf
        return seen


class Table:
    """The arrangements of the widest machine, measured once, and those of them that were opened, by what levels keep
    and by loops in space."""

    def __init__(self, problem: HierarchyProblem, effort: Effort) -> None:
        self.measured = Search(problem, Effort(effort.deadline, interrupt=effort.interrupt))
        self.spaces = self.measured.gather(problem.as_it_is())
        self.opened: dict[tuple[Keep, int], SharedBranch | None] = {}
        self.bytes = 0

    def waiting(self) -> list[tuple[float, int, Waiting | Branch]]:
        """All arrangements with the best bounds that are known of them, as a heap."""
        found = [(max(bound, self._bound(one)), number, one) for bound, number, one in self.measured.heap]
        heapq.heapify(found)
        return found

    def _bound(self, one: Waiting | Branch) -> float:
        """What is known of an arrangement, if it was opened."""
        branch = self.opened.get((one.keep, one.row)) if isinstance(one, Waiting) else one
        return -math.inf if branch is None else branch.bound

    def branch(self, waiting: Waiting, effort: Effort) -> SharedBranch | None:
        """An arrangement; None if its tiles are too many to share, or time is over."""
        key = waiting.keep, waiting.row
        if key not in self.opened:
            space = self.spaces.space(waiting.row)
            built = SharedBranch(waiting._replace(spaces=self.spaces).outset(), space)
            whole = built.build(effort)
            if not whole and effort.is_over():
                return None
            is_kept = whole and built.rows is not None and self.bytes + built.nbytes <= MOST_BYTES
            self.bytes += built.nbytes if is_kept else 0
            self.opened[key] = built if is_kept else None
        return self.opened[key]
