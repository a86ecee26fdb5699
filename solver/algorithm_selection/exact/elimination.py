"""Cost graphs of many shapes solved at once: vertices are eliminated one after another, for all shapes together.

Eliminating a vertex replaces what it takes part in by the minimum over its choices, a table over its neighbours. That
is reduction (1) of [Meng2021, sec. 4] where there are two neighbours, and exact for any number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mapper.formulations.algorithm_selection.program.cost_graph import CostGraph
from mapper.formulations.algorithm_selection.program.whole_cost import Costs


@dataclass(frozen=True, eq=False)
class _Table:
    """A term over the choices of ``scope``: [S or 1, choices of the first, ...]."""

    scope: tuple[int, ...]
    costs: Costs


def elimination_order(graph: CostGraph) -> tuple[int, ...]:
    """Vertices, fewest neighbours first (ties: the lowest number), neighbours of eliminated ones joined."""
    near: dict[int, set[int]] = {vertex: set() for vertex in range(len(graph.vertices))}
    for scope, _ in graph.terms:
        for vertex in scope:
            near[vertex] |= {*scope} - {vertex}
    order = []
    while near:
        vertex = min(near, key=lambda one: (len(near[one]), one))
        around = near.pop(vertex)
        for one in around:
            near[one] |= around
            near[one] -= {one, vertex}
        order.append(vertex)
    return tuple(order)


def eliminate(graph: CostGraph, order: Sequence[int]) -> tuple[Costs, NDArray[np.int64]]:
    """The least value of every shape [S], and choices that have it [S, V]."""
    shapes = max(len(costs) for costs in graph.vertices)
    tables = [_Table((vertex,), costs) for vertex, costs in enumerate(graph.vertices)]
    tables += [_Table(scope, costs) for scope, costs in graph.terms]
    value = np.full(shapes, graph.constant)
    back: list[tuple[int, tuple[int, ...], NDArray[np.int64]]] = []
    for vertex in order:
        touched = [table for table in tables if vertex in table.scope]
        tables = [table for table in tables if vertex not in table.scope]
        scope = tuple(sorted({one for table in touched for one in table.scope if one != vertex}))
        # The eliminated vertex is the last axis.
        total = sum(_spread(table, (*scope, vertex)) for table in touched)
        assert isinstance(total, np.ndarray)
        best = np.asarray(total.argmin(-1), np.int64)
        back.append((vertex, scope, best))
        left = np.take_along_axis(total, best[..., np.newaxis], -1)[..., 0]
        if scope:
            tables.append(_Table(scope, left))
        else:
            value = value + left
    chosen = np.zeros((shapes, len(graph.vertices)), np.int64)
    every = np.arange(shapes)
    for vertex, scope, best in reversed(back):
        at = every if len(best) == shapes else np.zeros(shapes, np.int64)
        chosen[:, vertex] = best[(at, *(chosen[:, one] for one in scope))]
    return value, chosen


def least_bounds(graph: CostGraph) -> Costs:
    """A lower bound of every shape [S]: each term costs at least what its last vertex's choice makes it cost."""
    own = list(graph.vertices)
    for (*others, head), costs in graph.terms:
        own[head] = own[head] + costs.min(axis=tuple(range(1, 1 + len(others))))
    total: Costs = graph.constant + sum(costs.min(axis=1) for costs in own)
    return total


def _spread(table: _Table, scope: tuple[int, ...]) -> Costs:
    """A table with one axis per vertex of ``scope``."""
    order = sorted(range(len(table.scope)), key=lambda at: scope.index(table.scope[at]))
    costs = table.costs.transpose(0, *(at + 1 for at in order))
    present = [table.scope[at] for at in order]
    sizes = dict(zip(present, costs.shape[1:], strict=True))
    return costs.reshape(costs.shape[0], *(sizes.get(one, 1) for one in scope))
