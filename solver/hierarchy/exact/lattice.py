"""The tiles of an arrangement: what is inside each level, as a lattice of divisors, and which of them are possible."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from mapper.formulations.hierarchy.problem import HierarchyProblem
from mapper.solver.hierarchy.exact.arrangement import Outset
from mapper.solver.hierarchy.space import divisors
from mapper.solver.method import Effort

Array = Any
MOST_NODES = 20_000_000
MOST_STEPS = 1_000_000_000
"""From all tiles of a level to those inside them: some minutes."""


class Lattice(NamedTuple):
    """Divisors of what is left of each group (``values``, ``counts``, ``radix`` of a node's digits); for every level
    the divisors that may follow one level further in (``starts``, ``targets``); nodes that fit each level, and last
    that of one operation (``allowed``); what is left, and instances in space inside each level."""

    values: Array
    counts: Array
    radix: Array
    starts: list[Array]
    targets: list[Array]
    allowed: list[Array]
    rest: Array
    spaces: Array

    def steps(self, level: int) -> int:
        """From each tile of a level to all that may follow one level further in."""
        ends = zip(self.starts[level], self.counts, strict=True)
        return math.prod(int(begin[count]) for begin, count in ends)


def lattice_of(outset: Outset, effort: Effort) -> Lattice | None:
    """The tiles of the one arrangement of ``outset``, None if they are too many, or the steps between them, or time is
    over."""
    rest, spaces = outset.rest[0], outset.inside[0]
    own = [divisors(int(one)) for one in rest]
    counts = np.array([len(one) for one in own], np.int64)
    if math.prod(len(one) for one in own) > MOST_NODES:
        return None
    radix = np.cumprod([1, *counts[:-1]]).astype(np.int64)[: len(counts)]
    values = np.ones((len(own), max(counts, default=1)), np.int64)
    for j, one in enumerate(own):
        values[j, : len(one)] = one
    loops = [group[0] for group in outset.groups.loops]
    starts, targets, inner = _steps(outset.problem, loops, own, outset.levels)
    lattice = Lattice(values, counts, radix, starts, targets, [], rest, spaces)
    if any(lattice.steps(level) > MOST_STEPS for level in range(1, outset.levels - 1)):
        return None
    for level in range(outset.levels):
        if effort.is_over():
            return None
        lattice.allowed.append(_allowed(outset, level, inner[level], lattice))
    lattice.allowed.append(np.zeros(math.prod(map(len, own)), np.bool_))
    lattice.allowed[-1][0] = True
    return lattice


def _steps(
    problem: HierarchyProblem, loops: list[str], own: list[tuple[int, ...]], levels: int
) -> tuple[list[Array], list[Array], list[list[set[int]]]]:
    """For each level, group and digit the digits that may follow further in; and digits that levels inside can make.
    What is given of a group's first loop holds for all of them."""
    inner: list[list[set[int]]] = [[{0} for _ in loops]]
    starts: list[Array] = []
    targets: list[Array] = []
    widest = max((len(one) for one in own), default=1)
    for level in reversed(range(levels)):
        begin = np.zeros((len(loops), widest + 1), np.int64)
        rows: list[list[int]] = []
        reach: list[set[int]] = []
        for j, loop in enumerate(loops):
            given, most = problem.exact(level, "temporal", loop), problem.most(level, "temporal", loop)
            most = own[j][-1] if most >= problem.bounds[loop] else most
            row: list[int] = []
            made: set[int] = set()
            for digit, value in enumerate(own[j]):
                begin[j, digit] = len(row)
                for target in sorted(inner[0][j], reverse=True):
                    trips, left = divmod(value, own[j][target])
                    if not left and trips <= most and given in (None, trips):
                        row.append(target)
                        made.add(digit)
                begin[j, digit + 1 :] = len(row)
            rows.append(row)
            reach.append(made)
        table = np.zeros((len(loops), max([1, *map(len, rows)])), np.int64)
        for j, row in enumerate(rows):
            table[j, : len(row)] = row
        starts.insert(0, begin)
        targets.insert(0, table)
        inner.insert(0, reach)
    return starts, targets, inner[:levels]


def _allowed(outset: Outset, level: int, reach: list[set[int]], lattice: Lattice) -> Array:
    """Nodes whose tiles levels from here inwards can make, and that fit the level."""
    possible = np.ones([int(count) for count in reversed(lattice.counts)], np.bool_)
    for j, made in enumerate(reach):
        possible &= _along(j, np.isin(np.arange(lattice.counts[j]), sorted(made)), lattice)
    capacity = outset.machine.levels[level].capacity
    if capacity is None:
        return possible.ravel()
    fits: Array = possible & (words_kept(outset, level, lattice) <= capacity)
    return fits.ravel()


def _along(j: int, row: Array, lattice: Lattice) -> Array:
    """What holds for each divisor of a group, for all nodes; digits of the first group change fastest."""
    groups = len(lattice.counts)
    return row.reshape([-1 if axis == groups - 1 - j else 1 for axis in range(groups)])


def words_kept(outset: Outset, level: int, lattice: Lattice) -> Array:
    """The words that a level keeps, with an axis for each group, the first one last; of length 1 where the words do not
    depend on the group."""
    sizes = [
        lattice.values[j, :count].astype(np.float64) * lattice.spaces[level, j]
        for j, count in enumerate(lattice.counts)
    ]
    shape = outset.shape
    words: Array = np.zeros([1] * len(lattice.counts))
    for t, operand in enumerate(outset.problem.nest.operands):
        if operand.name in outset.keep[level]:
            tile: Array = np.ones(1)
            for row in shape.coefficient[shape.dimension[t] : shape.dimension[t + 1]]:
                extent: Array = np.ones(1)
                for j, factor in enumerate(row):
                    if factor:
                        extent = extent + _along(j, abs(factor) * (sizes[j] - 1), lattice)
                tile = tile * extent
            words = words + tile
    return words
