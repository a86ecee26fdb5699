"""A lower bound by moving costs: costs that every choice pays in any case are moved from edges to vertices and on.

Costs move between an edge and its ends without changing the cost of any assignment, in passes from the first vertex
to the last and back (sequential message passing over the dual of the local polytope, in integers throughout). The
bound is what no choice can avoid; where it is not the least cost, the moved costs still say what each choice adds.

What every vertex and every edge costs in any case goes first, so that no cost is below zero from then on, whatever was
given: what one choice or pair has gathered is then no more than a whole assignment that holds it costs above the bound.
A cost that exceeds ``LARGEST_FINITE`` is therefore part of no finite assignment and becomes infinite where it arises;
costs of choices that nothing finite holds grow without end otherwise, and would leave 64 bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mapper.models.compiled import compiled
from mapper.solver.pbqp.reduction.elimination_plan import Array
from mapper.workloads.pbqp.instance import Cost, PbqpInstance


@dataclass(frozen=True)
class Bounded:
    """``bound``: no assignment of the instance costs less; ``moved``: its costs less the bound, none of a vertex or an
    edge below zero; ``least`` per choice: what it adds to the bound at least."""

    bound: Cost
    moved: PbqpInstance
    least: Array


def bounded(given: PbqpInstance, passes: int) -> Bounded:
    """Move the costs of ``given``, integers without parallel edges, in ``passes`` passes."""
    assert given.exact, (
        "costs in floating point are lowered to integers first: rounding would prove what is not so"
    )
    vertex_cost, edge_cost = given.vertex_cost.copy(), given.edge_cost.copy()
    bound = np.zeros(1, vertex_cost.dtype)
    start, around = incident_edges(given.vertices, given.edge_end)
    least = np.empty_like(vertex_cost)
    _move(
        given.vertex_offset, vertex_cost, given.edge_end, given.edge_offset, edge_cost, start, around, passes, bound,
        least, given.infinity, given.largest_finite,
    )  # fmt: skip
    for array in (vertex_cost, edge_cost):
        array.setflags(write=False)
    moved = PbqpInstance(
        given.name, given.vertex_offset, vertex_cost, given.edge_end, given.edge_offset, edge_cost
    )
    return Bounded(bound[0].item(), moved, least)


def _incident_edges(vertices: int, ends: Array) -> tuple[Array, Array]:
    """The edges around every vertex: starts [V+1] and edges."""
    start = np.zeros(vertices + 1, np.int64)
    for edge in range(len(ends)):
        start[ends[edge, 0] + 1] += 1
        start[ends[edge, 1] + 1] += 1
    for at in range(vertices):
        start[at + 1] += start[at]
    filled = start[:-1].copy()
    around = np.empty(start[vertices], np.int64)
    for edge in range(len(ends)):
        for side in range(2):
            at = ends[edge, side]
            around[filled[at]] = edge
            filled[at] += 1
    return start, around


def _lower_costs(offset: Array, costs: Array, bound: Array, infinite: Any) -> None:
    """Move the least cost of every vertex, or of every edge, to the bound; infinite if one has no finite cost."""
    for at in range(len(offset) - 1):
        smallest = infinite
        for k in range(offset[at], offset[at + 1]):
            smallest = min(smallest, costs[k])
        if smallest >= infinite:
            bound[0] = infinite
        if bound[0] >= infinite:
            return
        bound[0] += smallest
        for k in range(offset[at], offset[at + 1]):
            if costs[k] < infinite:
                costs[k] -= smallest


def _move_costs(
    vertex_offset: Array, vertex_cost: Array, ends: Array, edge_offset: Array, edge_cost: Array, start: Array,
    around: Array, passes: int, bound: Array, least: Array, infinite: Any, limit: Any,
) -> None:  # fmt: skip
    vertices = len(start) - 1
    lower(vertex_offset, vertex_cost, bound, infinite)
    lower(edge_offset, edge_cost, bound, infinite)
    if bound[0] >= infinite:
        return
    for turn in range(passes + 1):
        forward = turn % 2 == 0
        for step in range(vertices):
            at = step if forward else vertices - 1 - step
            low, mine = vertex_offset[at], vertex_offset[at + 1] - vertex_offset[at]
            later = 0
            for place in range(start[at], start[at + 1]):
                edge = around[place]
                first = ends[edge, 0] == at
                other = ends[edge, 1] if first else ends[edge, 0]
                later += (other > at) == forward
                width = vertex_offset[other + 1] - vertex_offset[other]
                # What the choice pays on this edge in any case becomes the vertex's.
                for i in range(mine):
                    smallest = infinite
                    for j in range(width):
                        k = edge_offset[edge] + (i * width + j if first else j * mine + i)
                        smallest = min(smallest, edge_cost[k])
                    if smallest >= infinite:
                        vertex_cost[low + i] = infinite
                    elif smallest != 0:
                        for j in range(width):
                            k = edge_offset[edge] + (i * width + j if first else j * mine + i)
                            if edge_cost[k] < infinite:
                                edge_cost[k] -= smallest
                        if vertex_cost[low + i] < infinite:
                            gathered = vertex_cost[low + i] + smallest
                            vertex_cost[low + i] = infinite if gathered > limit else gathered
            smallest = infinite
            for i in range(mine):
                smallest = min(smallest, vertex_cost[low + i])
            if smallest >= infinite:
                bound[0] = infinite
                return
            bound[0] += smallest
            if bound[0] > limit:
                bound[0] = infinite
                return
            earlier = start[at + 1] - start[at] - later
            share = max(earlier, later)
            for i in range(mine):
                if vertex_cost[low + i] >= infinite:
                    continue
                vertex_cost[low + i] -= smallest
                # On to the edges that are still to come, each its share; the last pass leaves all where it is.
                if later == 0 or turn == passes or vertex_cost[low + i] <= 0:
                    continue
                part = vertex_cost[low + i] // share
                for place in range(start[at], start[at + 1]):
                    edge = around[place]
                    first = ends[edge, 0] == at
                    other = ends[edge, 1] if first else ends[edge, 0]
                    if (other > at) != forward:
                        continue
                    width = vertex_offset[other + 1] - vertex_offset[other]
                    for j in range(width):
                        k = edge_offset[edge] + (i * width + j if first else j * mine + i)
                        if edge_cost[k] < infinite:
                            paid = edge_cost[k] + part
                            edge_cost[k] = infinite if paid > limit else paid
                    vertex_cost[low + i] -= part
    for at in range(vertices):
        low, mine = vertex_offset[at], vertex_offset[at + 1] - vertex_offset[at]
        for i in range(mine):
            adds = vertex_cost[low + i]
            for place in range(start[at], start[at + 1]):
                edge = around[place]
                first = ends[edge, 0] == at
                other = ends[edge, 1] if first else ends[edge, 0]
                width = vertex_offset[other + 1] - vertex_offset[other]
                smallest = infinite
                for j in range(width):
                    if vertex_cost[vertex_offset[other] + j] < infinite:
                        paid = edge_cost[edge_offset[edge] + (i * width + j if first else j * mine + i)]
                        smallest = min(smallest, paid)
                adds += smallest
                if adds > limit:
                    adds = infinite
            least[low + i] = adds


incident_edges = compiled(_incident_edges)
lower = compiled(_lower_costs)
_move = compiled(_move_costs, lower=lower)
