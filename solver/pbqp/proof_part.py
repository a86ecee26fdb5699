"""Parts of a decomposition as evidence for a bound: costs of each, and the order in which the checker eliminates it.

Costs that were moved between edges and their ends before they were split are restated as moves, as in trees of bounds.
What constants the moving took away, and edges that no part holds, the checker has as what is left: it counts with its
minima.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mapper.solver.method import Effort
from mapper.solver.pbqp.exact.decomposition import Decomposed, Part, decomposed
from mapper.solver.pbqp.exact.spanning import subgraph
from mapper.solver.pbqp.reduction.elimination_plan import Array, size
from mapper.workloads.pbqp.instance import PbqpInstance

MOST_SUMS = 4e9
"""Additions that a checker does for all parts, some 20 ns each."""


def bounding_parts(
    core: PbqpInstance, names: list[int], least: int, known: Array, effort: Effort
) -> list[Any] | None:
    """``[moves, shares, [[order, costs per vertex, edges], ...]]`` that show that no assignment of ``core`` costs below
    ``least``; None if no such parts are found, or they are too much for the checker. The vertices are called ``names``;
    ``known`` is an assignment."""
    if np.any(core.vertex_cost == core.infinity) or np.any(core.edge_cost == core.infinity):
        return None
    found = decomposed(core, known, effort, lambda progress: None, least)
    if found.bound < least or sum(_sums(found, part) for part in found.parts) > MOST_SUMS:
        return None
    parts = [_restated(found.moved, part, names) for part in found.parts]
    return [_moves(core, found.moved, names), found.unit, parts]


def _sums(found: Decomposed, part: Part) -> float:
    """As the checker counts: of every row of a table, in three joins at the most or so, the entries and some more."""
    needed = size(subgraph(found.moved, part.inside, part.own, part.paid), part.made)
    return float((3 * (needed.work + 8 * needed.table)).sum())


def _restated(moved: PbqpInstance, part: Part, names: list[int]) -> list[Any]:
    held = subgraph(moved, part.inside, part.own, part.paid)
    costs = [held.costs(vertex).tolist() for vertex in range(held.vertices)]
    edges = []
    for edge in range(held.edges):
        u, v = held.edge_end[edge].tolist()
        matrix = held.matrix(edge)
        one, other, rows = (u, v, matrix) if u > v else (v, u, matrix.T)
        edges.append([names[one], names[other], rows.reshape(-1).tolist()])
    return [[names[vertex] for vertex in part.made.vertex.tolist()], costs, edges]


def _moves(core: PbqpInstance, moved: PbqpInstance, names: list[int]) -> list[Any]:
    """What moved from each edge to its ends; all that it lost in any case is said to have moved to one of them."""
    moves = []
    for edge in range(core.edges):
        u, v = core.edge_end[edge].tolist()
        lost = core.matrix(edge) - moved.matrix(edge)
        to_u, to_v = lost[:, 0], lost[0] - lost[0, 0]
        assert np.array_equal(lost, to_u[:, None] + to_v[None, :]), "costs moved to ends alone"
        given = (u, v, to_u, to_v) if u > v else (v, u, to_v, to_u)
        if np.any(lost):
            moves.append([names[given[0]], names[given[1]], given[2].tolist(), given[3].tolist()])
    return moves
