"""Loops that act as one: wherever they run they move the same tensors, each by whole words of its own.

Such loops have the product of their bounds as if they were one loop: tiles, moments and orders depend on the product of
their trips alone, and every chain of divisors of the product is a chain for each of them. Loops that run once are left
out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from mapper.formulations.hierarchy.problem import HierarchyProblem
from mapper.workloads.nest.loop_nest import Operand

Array = Any
LARGEST_GROUP = 1 << 50


class Shape(NamedTuple):
    """Tensors as kernels see them: coefficients of groups in all tensors' dimensions, where each tensor's dimensions
    begin, the groups that move it, and the chain to which each belongs: groups of one chain (0 or more) move the tensor
    in dimensions that they share, those of none (-1) have their dimension for themselves."""

    coefficient: Array
    dimension: Array
    relevant: Array
    chain: Array


@dataclass(frozen=True)
class Groups:
    """The loops of a problem in groups, by name."""

    problem: HierarchyProblem
    loops: tuple[tuple[str, ...], ...]

    @cached_property
    def shape(self) -> Shape:
        """Its tensors."""
        rows, begins, relevant, chains = [], [0], [], []
        for operand in self.problem.nest.operands:
            own = self._rows(operand)
            rows += own
            begins.append(len(rows))
            relevant.append([any(row[j] for row in own) for j in range(len(self.loops))])
            chains.append(chains_of(own, len(self.loops)))
        return Shape(
            np.array(rows, np.float64).reshape(-1, len(self.loops)),
            np.array(begins, np.int64),
            np.array(relevant, np.bool_),
            np.array(chains, np.int64),
        )

    def _rows(self, operand: Operand) -> list[list[int]]:
        """Coefficients by dimension; those of a group's other loops are dropped with their dimensions."""
        rows = []
        for index in operand.index:
            terms = dict(index.coefficients)
            row = [terms.get(group[0], 0) for group in self.loops]
            if any(row):
                rows.append(row)
        return rows

    def along(self, trips: Mapping[str, int]) -> list[int]:
        """The trips of each group, from those of loops (1 where there are none)."""
        return [math.prod(trips.get(loop, 1) for loop in group) for group in self.loops]

    def given(self, level: int) -> tuple[int, ...]:
        """Groups in time whose order is given at a level, from the innermost outwards."""
        place = {loop: j for j, group in enumerate(self.loops) for loop in group}
        return tuple(place[loop] for loop in self.problem.order(level) if loop in place)


def groups_of(problem: HierarchyProblem) -> Groups:
    """The loops that run more than once (one, if none does), those together that act as one."""
    active = [loop for loop, bound in problem.bounds.items() if bound > 1] or [*problem.bounds][:1]
    found: dict[Any, list[str]] = {}
    for loop in active:
        key = _alike(problem, loop, active)
        own = found.setdefault(loop if key is None else key, [])
        if own and math.prod(problem.bounds[one] for one in (*own, loop)) > LARGEST_GROUP:
            own = found[loop] = []
        own.append(loop)
    return Groups(problem, tuple(tuple(own) for own in found.values()))


def _alike(problem: HierarchyProblem, loop: str, active: list[str]) -> tuple[Any, ...] | None:
    """What loops have in common that act as one, None if a loop acts like no other."""
    moved = []
    for operand in problem.nest.operands:
        own = [index for index in operand.index if loop in dict(index.coefficients)]
        moved.append(len(own))
        for index in own:
            terms = {one: factor for one, factor in index.coefficients if one in active}
            if len(own) > 1 or abs(terms[loop]) != 1 or len(terms) > 1:
                return None
    closed = []
    for level in range(len(problem.machine.levels)):
        if loop in problem.order(level):
            return None
        given, most = problem.exact(level, "temporal", loop), problem.most(level, "temporal", loop)
        shut = given == 1 or most == 1
        if not shut and (given is not None or most < problem.bounds[loop]):
            return None
        closed.append(shut)
    return tuple(moved), tuple(closed)


def chains_of(rows: list[list[int]], loops: int) -> list[int]:
    """The chain of each group: groups are of one chain if they share a dimension, or one with another of it."""
    if any(one < 0 for row in rows for one in row):
        return [0 if any(row[j] for row in rows) else -1 for j in range(loops)]
    chain = list(range(loops))
    for row in rows:
        together = {chain[j] for j in range(loops) if row[j]}
        chain = [min(together) if one in together else one for one in chain]
    return [one if chain.count(one) > 1 else -1 for one in chain]
