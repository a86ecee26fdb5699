"""The tiles of an arrangement: what is inside each level, as a lattice of divisors, and which of them are possible."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from mapper.formulations.hierarchy.problem import HierarchyProblem
from mapper.solver.hierarchy.exact.arrangement import Arrangement
from mapper.solver.hierarchy.space import divisors

Array = Any
MOST_NODES = 20_000_000


class Shape(NamedTuple):
    """Tensors as kernels see them: coefficients of loops in all tensors' dimensions, where each tensor's dimensions
    begin, and the loops it depends on."""

    coefficient: Array
    dimension: Array
    relevant: Array


class Lattice(NamedTuple):
    """Divisors of what is left of each loop (``values``, ``counts``, ``radix`` of a node's digits); for every level the
    divisors that may follow one level further in (``starts``, ``targets``); nodes that fit each level (``allowed``)."""

    values: Array
    counts: Array
    radix: Array
    starts: list[Array]
    targets: list[Array]
    allowed: list[Array]
    rest: Array
    spaces: Array


def shape_of(problem: HierarchyProblem) -> Shape:
    """The tensors of a problem."""
    nest = problem.nest
    rows, begins = [], [0]
    for operand in nest.operands:
        for index in operand.index:
            terms = dict(index.coefficients)
            rows.append([abs(terms.get(loop, 0)) for loop in nest.loops])
        begins.append(len(rows))
    relevant = [[loop in operand.loops for loop in nest.loops] for operand in nest.operands]
    return Shape(np.array(rows, np.float64), np.array(begins, np.int64), np.array(relevant, np.bool_))


def lattice_of(arrangement: Arrangement, shape: Shape) -> Lattice | None:
    """The tiles of an arrangement, None if they are too many to list."""
    problem = arrangement.problem
    loops, levels = problem.nest.loops, len(arrangement.keep)
    rest = [arrangement.rest[loop] for loop in loops]
    own = [divisors(one) for one in rest]
    counts = np.array([len(one) for one in own], np.int64)
    nodes = math.prod(len(one) for one in own)
    if nodes > MOST_NODES:
        return None
    radix = np.cumprod([1, *counts[:-1]]).astype(np.int64)
    values = np.ones((len(loops), counts.max()), np.int64)
    for j, one in enumerate(own):
        values[j, : len(one)] = one
    spaces = np.array([[inside[loop] for loop in loops] for inside in arrangement.inside], np.int64)
    starts, targets, inner = _steps(problem, own, levels)
    allowed = [
        _allowed(arrangement, shape, level, inner[level], values, counts, radix, spaces[level])
        for level in range(levels)
    ]
    return Lattice(values, counts, radix, starts, targets, allowed, np.array(rest, np.int64), spaces)


def _steps(
    problem: HierarchyProblem, own: list[tuple[int, ...]], levels: int
) -> tuple[list[Array], list[Array], list[list[set[int]]]]:
    """For each level, loop and digit the digits that may follow further in; and digits that levels inside can make."""
    loops = problem.nest.loops
    inner: list[list[set[int]]] = [[{0} for _ in loops]]
    starts: list[Array] = []
    targets: list[Array] = []
    widest = max(len(one) for one in own)
    for level in reversed(range(levels)):
        begin = np.zeros((len(loops), widest + 1), np.int64)
        rows: list[list[int]] = []
        reach: list[set[int]] = []
        for j, loop in enumerate(loops):
            given, most = problem.exact(level, "temporal", loop), problem.most(level, "temporal", loop)
            row: list[int] = []
            made: set[int] = set()
            for digit, value in enumerate(own[j]):
                begin[j, digit] = len(row)
                for target in sorted(inner[0][j]):
                    trips, left = divmod(value, own[j][target])
                    if not left and trips <= most and given in (None, trips):
                        row.append(target)
                        made.add(digit)
                begin[j, digit + 1 :] = len(row)
            rows.append(row)
            reach.append(made)
        table = np.zeros((len(loops), max(1, max(map(len, rows)))), np.int64)
        for j, row in enumerate(rows):
            table[j, : len(row)] = row
        starts.insert(0, begin)
        targets.insert(0, table)
        inner.insert(0, reach)
    return starts, targets, inner[:levels]


def _allowed(
    arrangement: Arrangement,
    shape: Shape,
    level: int,
    reach: list[set[int]],
    values: Array,
    counts: Array,
    radix: Array,
    inside: Array,
) -> Array:
    """Nodes whose tiles levels from here inwards can make, and that fit the level."""
    nodes = int(np.prod(counts))
    index = np.arange(nodes)
    digits = [(index // radix[j]) % counts[j] for j in range(len(counts))]
    possible = np.ones(nodes, np.bool_)
    for j, made in enumerate(reach):
        possible &= np.isin(digits[j], sorted(made))
    capacity = arrangement.problem.machine.levels[level].capacity
    if capacity is not None:
        sizes = [values[j][digits[j]] * inside[j] for j in range(len(counts))]
        words = np.zeros(nodes)
        for t, operand in enumerate(arrangement.problem.nest.operands):
            if operand.name in arrangement.keep[level]:
                own = np.ones(nodes)
                for d in range(shape.dimension[t], shape.dimension[t + 1]):
                    extent = np.ones(nodes)
                    for j, size in enumerate(sizes):
                        if shape.coefficient[d, j]:
                            extent += shape.coefficient[d, j] * (size - 1)
                    own *= extent
                words += own
        possible &= words <= capacity
    return possible
