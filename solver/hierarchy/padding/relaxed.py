"""What arrangements cost in any case whose loops may grow, for all sizes at once: a bound that sees the array.

An arrangement says which trips run in space; with trips s in all, a loop of bound B runs at least ceil(B/s) times in
time, whatever B' = s * T it grows to. What `outset_bound` counts of an arrangement rises with T: operations and words
that must arrive are products of trips, and the words of a sum that are not read at first are the same share of those
that arrive for every T. So its value at ceil(B/s) bounds every size; and a size that no arrangement divides whose bound
lies below the best value needs no search.

Not so where a loop moves two dimensions of a tensor (places may then lie on a diagonal for some T), or sums have
windows or gaps: there nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

from mapper.formulations.hierarchy.problem import Axis, HierarchyProblem
from mapper.solver.hierarchy.exact.arrangement import Outset
from mapper.solver.hierarchy.exact.group import Groups
from mapper.solver.hierarchy.exact.outset_bound import SHY, Opening
from mapper.solver.hierarchy.space import Space, divisors
from mapper.solver.method import Effort

Array = Any
MOST_ROWS = 200_000
"""Arrangements, up to which they are looked at."""
AT_ONCE = 8192


class Judge(Protocol):
    """What mappings are of interest: those with a bound below ``limit``, and so many cycles."""

    @property
    def limit(self) -> float: ...

    def wants(self, bound: float, cycles: float) -> bool: ...


class Arrangements(NamedTuple):
    """Trips in space of each of ``loops`` [arrangements, loops], the bounds of these arrangements and their fewest
    cycles."""

    loops: tuple[str, ...]
    trips: Array
    bound: Array
    cycles: Array

    def wanted(self, judge: Judge) -> Arrangements:
        """Those of interest."""
        wanted = [judge.wants(*one) for one in zip(self.bound.tolist(), self.cycles.tolist(), strict=True)]
        kept = np.array(wanted, np.bool_)
        return Arrangements(self.loops, self.trips[kept], self.bound[kept], self.cycles[kept])

    def dividing(self, loop: str, size: int) -> Arrangements:
        """Those whose trips divide a size of a loop."""
        if loop not in self.loops:
            return self
        kept = size % self.trips[:, self.loops.index(loop)] == 0
        return Arrangements(self.loops, self.trips[kept], self.bound[kept], self.cycles[kept])


class _AnySize(Outset):
    """Arrangements whose loops run in time as often as their bounds need at least."""

    def _whole(self, tensor: int) -> Array:
        sizes = (self.inside[:, 0] * self.rest).astype(np.float64)
        return sizes[:, self.shape.relevant[tensor]].prod(axis=1)


def arrangements(
    problem: HierarchyProblem, cost_of_cycle: float, most: float, effort: Effort
) -> Arrangements | None:
    """The arrangements of a problem's loops for any sizes, but for those that cost ``most`` for their cycles alone, of
    which each costs ``cost_of_cycle``; None if they are too many, time is over, or the argument does not hold."""
    loops = tuple(loop for loop, bound in problem.bounds.items() if bound > 1)
    if not loops or not _holds(problem):
        return None
    spread = spread_of(problem, loops)
    if spread is None or not len(spread):
        return None
    groups = Groups(problem.as_it_is(), tuple((loop,) for loop in loops))
    bounds_of = np.array(groups.along(problem.bounds), np.int64)
    passes = (-(-bounds_of // spread.prod(axis=1))).prod(axis=1, dtype=np.float64)
    turns = np.ceil(passes / problem.machine.compute.rate)
    spread = spread[turns * cost_of_cycle * SHY < most]
    empty = np.empty(0)
    if not len(spread):
        return Arrangements(loops, np.empty((0, len(loops)), np.int64), empty, empty)
    trips, bounds, cycles = [], [], []
    for keep in Space(problem).keeps():
        for begin in range(0, len(spread), AT_ONCE):
            if effort.is_over():
                return None
            rows = spread[begin : begin + AT_ONCE]
            opening = Opening(_AnySize(groups, keep, rows))
            trips.append(rows.prod(axis=1))
            bounds.append(opening.bound * SHY)
            cycles.append(opening.cycles)
    found = Arrangements(loops, np.concatenate(trips), np.concatenate(bounds), np.concatenate(cycles))
    return _best(found)


def _best(found: Arrangements) -> Arrangements:
    """One for all that have the same trips in all: the least bound, and the fewest cycles."""
    trips, place = np.unique(found.trips, axis=0, return_inverse=True)
    bound, cycles = np.full(len(trips), np.inf), np.full(len(trips), np.inf)
    np.minimum.at(bound, place.ravel(), found.bound)
    np.minimum.at(cycles, place.ravel(), found.cycles)
    return Arrangements(found.loops, trips, bound, cycles)


def _holds(problem: HierarchyProblem) -> bool:
    """Whether bounds rise with sizes."""
    for operand in problem.nest.operands:
        rows = [dict(index.coefficients) for index in operand.index]
        running = [{one: by for one, by in row.items() if problem.bounds[one] > 1} for row in rows]
        moving = [loop for row in running for loop in row]
        if len(set(moving)) < len(moving):
            return False
        if operand.writes and any(len(row) > 1 or {abs(by) for by in row.values()} - {1} for row in running):
            return False
    return True


def spread_of(problem: HierarchyProblem, loops: tuple[str, ...]) -> Array | None:
    """Trips in space [arrangements, levels, loops], each once; None if there are too many."""
    found = np.ones((1, 0, len(loops)), np.int64)
    most = np.array([problem.largest(one) if one in problem.pins.free else 0 for one in loops])
    bounds = np.array([problem.bounds[one] for one in loops])
    for level in range(len(problem.machine.levels)):
        across, down = _along(problem, level, "x", loops), _along(problem, level, "y", loops)
        if across is None or down is None or len(across) * len(down) > MOST_ROWS:
            return None
        here = np.unique((across[:, None] * down[None]).reshape(-1, len(loops)), axis=0)
        given = [problem.exact(level, "x", loop) for loop in loops]
        for place, trips in enumerate(given):
            here = here if trips is None else here[here[:, place] == trips]
        if len(found) * len(here) > 4 * MOST_ROWS:
            return None
        outer = np.repeat(found, len(here), axis=0)
        found = np.concatenate([outer, np.tile(here, (len(found), 1))[:, None]], axis=1)
        taken = found.prod(axis=1)
        found = found[np.where(most > 0, taken <= most, bounds % taken == 0).all(axis=1)]
        if len(found) > MOST_ROWS:
            return None
    return found


def _along(problem: HierarchyProblem, level: int, axis: Axis, loops: tuple[str, ...]) -> Array | None:
    """Trips of loops along an axis [choices, loops]; None if there are too many."""
    fanout = problem.machine.levels[level].fanout
    width = fanout.x if axis == "x" else fanout.y
    options = []
    for loop in loops:
        most = min(width, problem.most(level, axis, loop))
        is_free = loop in problem.pins.free
        sizes = range(1, problem.largest(loop) + 1) if is_free else divisors(problem.bounds[loop])
        options.append([one for one in sizes if one <= most])
    rows = list[tuple[int, ...]]()
    for row in _products(options, width):
        rows.append(row)
        if len(rows) > MOST_ROWS:
            return None
    return np.array(rows, np.int64).reshape(-1, len(loops))


def _products(options: list[list[int]], width: int) -> Iterator[tuple[int, ...]]:
    """One trip of each loop, together no more than ``width``."""
    if not options:
        yield ()
        return
    for one in options[0]:
        if one > width:
            break
        for rest in _products(options[1:], width // one):
            yield (one, *rest)
