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

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from mapper.formulations.hierarchy.problem import Axis, HierarchyProblem
from mapper.solver.hierarchy.exact.arrangement import Keep, Outset
from mapper.solver.hierarchy.exact.group import Groups
from mapper.solver.hierarchy.exact.outset_bound import SHY, Opening
from mapper.solver.hierarchy.space import Space, divisors
from mapper.solver.method import Effort

Array = Any
MOST_ROWS = 200_000
"""Arrangements, up to which they are looked at."""
AT_ONCE = 8192
MOST_AGAIN = 4096
"""Arrangements, up to which each is measured again for larger sizes."""


class Judge(Protocol):
    """What mappings are of interest: those with a bound below ``limit``, and so many cycles."""

    @property
    def limit(self) -> float: ...

    def wants(self, bound: float, cycles: float) -> bool: ...


@dataclass(frozen=True)
class _Measure:
    """What arrangements are measured by: the loops one by one, what levels may keep, and trips in space [rows, levels,
    loops]."""

    groups: Groups
    keeps: tuple[Keep, ...]
    spread: Array

    def of(self, keep: int, rows: Array, sizes: Array) -> tuple[Array, Array]:
        """Bounds and fewest cycles of the arrangements in some rows, if loops run to ``sizes`` [rows or 1, loops] at
        least."""
        opening = Opening(_AnySize(self.groups, self.keeps[keep], self.spread[rows], sizes))
        return opening.bound * SHY, opening.cycles

    def sizes(self, sizes: Mapping[str, int]) -> Array:
        """Sizes of the loops, as a row."""
        return np.array([self.groups.along(sizes)], np.int64)


class Arrangements(NamedTuple):
    """Arrangements by what levels keep and the row of their trips in space, with trips of each loop in all
    [arrangements, loops], their bounds and their fewest cycles."""

    measure: _Measure
    keep: Array
    row: Array
    trips: Array
    bound: Array
    cycles: Array

    @property
    def least(self) -> float:
        """The least bound."""
        return float(self.bound.min(initial=math.inf))

    def keeps(self) -> list[Keep]:
        """What levels keep in them."""
        return [self.measure.keeps[keep] for keep in np.unique(self.keep)]

    def wanted(self, judge: Judge) -> Arrangements:
        """Those of interest."""
        wanted = [judge.wants(*one) for one in zip(self.bound.tolist(), self.cycles.tolist(), strict=True)]
        return self if all(wanted) else self._some(np.array(wanted, np.bool_))

    def at(self, sizes: Mapping[str, int]) -> Arrangements:
        """The same with their bounds where loops run to ``sizes`` at least; as they are if they are many."""
        return self if len(self.row) > MOST_AGAIN else self._at(self.measure.sizes(sizes))

    def dividing(self, loop: str, several: Sequence[int], sizes: Mapping[str, int]) -> list[Arrangements]:
        """For each of several sizes of a loop those whose trips divide it, with their bounds where the loop runs to it
        and others to ``sizes`` at least; with bounds as they are if they are many."""
        loops = self.measure.groups.loops
        if (loop,) not in loops:
            return [self] * len(several)
        place, grown = loops.index((loop,)), np.array(several, np.int64)
        which, own = np.nonzero(grown[:, None] % self.trips[:, place] == 0)
        found = self._some(own)
        if len(own) <= MOST_AGAIN * len(several):
            to = np.repeat(self.measure.sizes(sizes), len(own), axis=0)
            to[:, place] = grown[which]
            found = found._at(to)
        return [found._some(which == one) for one in range(len(several))]

    def _at(self, sizes: Array) -> Arrangements:
        """The same with their bounds where loops run to ``sizes`` [arrangements or 1, loops] at least."""
        bound, cycles = self.bound.copy(), self.cycles.copy()
        sizes = np.broadcast_to(sizes, self.trips.shape)
        for keep in np.unique(self.keep):
            own = self.keep == keep
            bound[own], cycles[own] = self.measure.of(int(keep), self.row[own], sizes[own])
        return self._replace(bound=bound, cycles=cycles)

    def _some(self, chosen: Array) -> Arrangements:
        return Arrangements(self.measure, *(column[chosen] for column in self[1:]))


class _AnySize(Outset):
    """Arrangements whose loops run in time as often as their sizes need at least."""

    def _whole(self, tensor: int) -> Array:
        sizes = (self.inside[:, 0] * self.rest).astype(np.float64)
        return sizes[:, self.shape.relevant[tensor]].prod(axis=1)


def arrangements(
    problem: HierarchyProblem, cost_of_cycle: float, judge: Judge, effort: Effort
) -> Arrangements | None:
    """The arrangements of interest of a problem's loops for any sizes, where each cycle costs ``cost_of_cycle`` at
    least; None if they are too many, time is over, or the argument does not hold."""
    loops = tuple(loop for loop, bound in problem.bounds.items() if bound > 1)
    if not loops or not _holds(problem):
        return None
    spread = spread_of(problem, loops)
    if spread is None or not len(spread):
        return None
    groups = Groups(problem.as_it_is(), tuple((loop,) for loop in loops))
    sizes = np.array([groups.along(problem.bounds)], np.int64)
    passes = (-(-sizes // spread.prod(axis=1))).prod(axis=1, dtype=np.float64)
    turns = np.ceil(passes / problem.machine.compute.rate)
    spread = spread[turns * cost_of_cycle * SHY < judge.limit]
    measure = _Measure(groups, tuple(Space(problem).keeps()), spread)
    trips = spread.prod(axis=1)
    nothing = np.empty(0, np.int64)
    found = [Arrangements(measure, nothing, nothing, trips[:0], np.empty(0), np.empty(0))]
    for keep in range(len(measure.keeps)):
        for begin in range(0, len(spread), AT_ONCE):
            if effort.is_over():
                return None
            rows = np.arange(begin, min(begin + AT_ONCE, len(spread)))
            own = Arrangements(
                measure, np.full_like(rows, keep), rows, trips[rows], *measure.of(keep, rows, sizes)
            )
            found.append(own.wanted(judge))
    return Arrangements(measure, *(np.concatenate(column) for column in list(zip(*found, strict=True))[1:]))


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
