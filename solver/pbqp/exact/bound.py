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

from mapper.models.compiled import borrowing, compiled, inlined
from mapper.solver.pbqp.reduction.cost_array import CostArrays, cost_arrays
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
    costs = cost_arrays(given)._replace(vertex_cost=vertex_cost, edge_cost=edge_cost)
    _move(costs, start, around, passes, bound)
    if bound[0] < given.infinity:
        _least(costs, start, around, least)
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


def _gather_costs(costs: CostArrays, at: int, edge: int) -> None:
    """What each choice of a vertex pays on one of its edges in any case becomes the vertex's."""
    vertex_offset, vertex_cost, edge_cost = costs.vertex_offset, costs.vertex_cost, costs.edge_cost
    infinite, limit = costs.infinite, costs.limit
    first = costs.ends[edge, 0] == at
    other = costs.ends[edge, 1] if first else costs.ends[edge, 0]
    low, mine = vertex_offset[at], vertex_offset[at + 1] - vertex_offset[at]
    width = vertex_offset[other + 1] - vertex_offset[other]
    start = costs.edge_offset[edge]
    for i in range(mine):
        smallest = infinite
        for j in range(width):
            k = start + (i * width + j if first else j * mine + i)
            smallest = min(smallest, edge_cost[k])
        if smallest >= infinite:
            vertex_cost[low + i] = infinite
        elif smallest != 0:
            for j in range(width):
                k = start + (i * width + j if first else j * mine + i)
                if edge_cost[k] < infinite:
                    edge_cost[k] -= smallest
            if vertex_cost[low + i] < infinite:
                gathered = vertex_cost[low + i] + smallest
                vertex_cost[low + i] = infinite if gathered > limit else gathered


def _pass_on(costs: CostArrays, at: int, i: int, edge: int, part: Any) -> None:
    """Move ``part`` of what choice ``i`` of a vertex costs to one of its edges."""
    vertex_offset, edge_cost = costs.vertex_offset, costs.edge_cost
    first = costs.ends[edge, 0] == at
    other = costs.ends[edge, 1] if first else costs.ends[edge, 0]
    mine = vertex_offset[at + 1] - vertex_offset[at]
    width = vertex_offset[other + 1] - vertex_offset[other]
    for j in range(width):
        k = costs.edge_offset[edge] + (i * width + j if first else j * mine + i)
        if edge_cost[k] < costs.infinite:
            paid = edge_cost[k] + part
            edge_cost[k] = costs.infinite if paid > costs.limit else paid
    costs.vertex_cost[vertex_offset[at] + i] -= part


def _comes_later(ends: Array, edge: int, at: int, forward: bool) -> bool:
    """Whether the other end of an edge of vertex ``at`` comes after it in this pass."""
    other = ends[edge, 1] if ends[edge, 0] == at else ends[edge, 0]
    later: bool = (other > at) == forward
    return later


def _move_costs(costs: CostArrays, start: Array, around: Array, passes: int, bound: Array) -> None:
    """Move costs to ``bound`` [1], in ``passes`` passes on to vertices that come later, and in a last one to it alone.
    Infinite if there is no assignment; ``around`` from ``start`` [V+1]: the edges of every vertex."""
    vertices = len(start) - 1
    vertex_offset, vertex_cost, infinite = costs.vertex_offset, costs.vertex_cost, costs.infinite
    lower(vertex_offset, vertex_cost, bound, infinite)
    lower(costs.edge_offset, costs.edge_cost, bound, infinite)
    if bound[0] >= infinite:
        return
    for turn in range(passes + 1):
        forward = turn % 2 == 0
        for step in range(vertices):
            at = step if forward else vertices - 1 - step
            low, high = vertex_offset[at], vertex_offset[at + 1]
            later = 0
            for place in range(start[at], start[at + 1]):
                later += comes_later(costs.ends, around[place], at, forward)
                gather_costs(costs, at, around[place])
            smallest = infinite
            for choice in range(low, high):
                smallest = min(smallest, vertex_cost[choice])
            if smallest >= infinite or bound[0] + smallest > costs.limit:
                bound[0] = infinite
                return
            bound[0] += smallest
            earlier = start[at + 1] - start[at] - later
            share = max(earlier, later)
            for choice in range(low, high):
                if vertex_cost[choice] >= infinite:
                    continue
                vertex_cost[choice] -= smallest
                # On to the edges that are still to come, each its share; the last pass leaves all where it is.
                if later == 0 or turn == passes or vertex_cost[choice] <= 0:
                    continue
                part = vertex_cost[choice] // share
                for place in range(start[at], start[at + 1]):
                    if comes_later(costs.ends, around[place], at, forward):
                        pass_on(costs, at, choice - low, around[place], part)


def _least_additions(costs: CostArrays, start: Array, around: Array, least: Array) -> None:
    """What every choice adds to the bound at least, into ``least``: its own cost, and on each edge the least."""
    vertex_offset, vertex_cost, ends = costs.vertex_offset, costs.vertex_cost, costs.ends
    edge_offset, edge_cost, infinite = costs.edge_offset, costs.edge_cost, costs.infinite
    for at in range(len(start) - 1):
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
                if adds > costs.limit:
                    adds = infinite
            least[low + i] = adds


incident_edges = compiled(_incident_edges)
lower = compiled(_lower_costs)
gather_costs = inlined(_gather_costs)
pass_on = inlined(_pass_on)
comes_later = inlined(_comes_later)
_move = borrowing(_move_costs)
_least = compiled(_least_additions)
