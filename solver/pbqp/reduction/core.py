"""The rest of an instance after vertices are eliminated: costs of those that stay, and the tables the others left."""

from __future__ import annotations

from typing import Any

import numpy as np

from mapper.models.compiled import compiled
from mapper.solver.pbqp.reduction.cost_array import CostArrays, cost_arrays
from mapper.solver.pbqp.reduction.elimination_plan import Array, Plan
from mapper.solver.pbqp.reduction.elimination_table import add
from mapper.workloads.pbqp.instance import PbqpInstance


def core_instance(problem: PbqpInstance, made: Plan, stays: Array, rest: Array, kept: Array) -> PbqpInstance:
    """The instance over ``stays`` whose pairs ``rest`` [., 2] (numbers of ``problem``, each once) are edges, parallel
    ones merged. ``kept`` are the tables that stay, of one or two vertices each."""
    rank = np.full(problem.vertices, -1, np.int64)
    rank[stays] = np.arange(len(stays))
    choices = problem.choices[stays]
    ends = np.sort(rank[rest.astype(np.int64)], axis=1).reshape(-1, 2)
    ends = ends[np.lexsort((ends[:, 1], ends[:, 0]))]
    vertex_offset = _offsets(choices)
    edge_offset = _offsets(choices[ends[:, 0]] * choices[ends[:, 1]])
    vertex_cost = problem.vertex_cost[np.repeat(rank >= 0, problem.choices)]
    edge_cost = np.zeros(edge_offset[-1], vertex_cost.dtype)
    key = ends[:, 0] * len(stays) + ends[:, 1]
    inside = np.flatnonzero(np.all(rank[problem.edge_end] >= 0, axis=1))
    rest_costs = CostArrays(
        choices,
        vertex_offset,
        vertex_cost,
        ends,
        edge_offset,
        edge_cost,
        problem.infinity,
        problem.largest_finite,
    )
    _gather(made, cost_arrays(problem), rest_costs, rank, key, kept, inside)
    # Read-only as every instance: to the compiler arrays that may be written are another type.
    for array in (vertex_offset, vertex_cost, ends, edge_offset, edge_cost):
        array.setflags(write=False)
    return PbqpInstance(problem.name, vertex_offset, vertex_cost, ends, edge_offset, edge_cost)


def _offsets(sizes: Array) -> Array:
    offset = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offset[1:])
    return offset


def _add_matrix(
    target: Array, start: int, source: Array, at: int, rows: int, columns: int, turned: bool,
    infinite: Any, limit: Any,
) -> None:  # fmt: skip
    """Add a matrix [rows, columns] of ``source`` to one of ``target``, which is its transpose if ``turned``."""
    for row in range(rows):
        for column in range(columns):
            place = start + (column * rows + row if turned else row * columns + column)
            add(target, place, source[at + row * columns + column], infinite, limit)


def _gather_costs(
    made: Plan, given: CostArrays, rest: CostArrays, rank: Array, key: Array, kept: Array, inside: Array
) -> None:
    """Add to ``rest``, whose edges have the ``key`` of their ends, the edges ``inside`` of what is given and the tables
    that are kept; ``rank`` [V] is the new number of a vertex."""
    choices, infinite, limit = rest.choices, rest.infinite, rest.limit
    vertex_offset, vertex_cost = rest.vertex_offset, rest.vertex_cost
    edge_offset, edge_cost = rest.edge_offset, rest.edge_cost
    count = len(choices)
    for edge in inside:
        u, v = rank[given.ends[edge, 0]], rank[given.ends[edge, 1]]
        at = np.searchsorted(key, min(u, v) * count + max(u, v))
        source = given.edge_offset[edge]
        add_matrix(
            edge_cost,
            edge_offset[at],
            given.edge_cost,
            source,
            choices[u],
            choices[v],
            u > v,
            infinite,
            limit,
        )
    table = 0
    for step in range(len(made.vertex)):
        if not made.root[step]:
            continue
        low = made.front_start[step]
        u = rank[made.front[low]]
        if made.front_start[step + 1] - low == 1:
            for c in range(choices[u]):
                add(vertex_cost, vertex_offset[u] + c, kept[table + c], infinite, limit)
            table += choices[u]
        else:
            v = rank[made.front[low + 1]]
            at = np.searchsorted(key, min(u, v) * count + max(u, v))
            add_matrix(
                edge_cost, edge_offset[at], kept, table, choices[u], choices[v], u > v, infinite, limit
            )
            table += choices[u] * choices[v]


add_matrix = compiled(_add_matrix)
_gather = compiled(_gather_costs)
