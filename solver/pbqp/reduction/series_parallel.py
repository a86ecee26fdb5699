"""The order in which a graph reduces by the rules for degrees 0, 1 and 2, and what is left [Meng2021, Definition 1].

Parallel edges are merged when a vertex is looked at, and only the neighbours of a vertex that goes are looked at again,
so that the time is proportional to the number of vertices and edges.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mapper.models.compiled import compiled, inlined

Array = NDArray[Any]
NONE = -1


class Graph(NamedTuple):
    """Half-edges 2e and 2e+1 of every edge: where they lead ``to``, ``following`` and ``before`` them in the list of
    their vertex, which begins with its ``first`` [V], and their other halves, ``twin``. -1 is none."""

    to: Array
    following: Array
    before: Array
    twin: Array
    first: Array


def _half_edges(vertices: int, ends: Array) -> Graph:
    halves = 2 * len(ends)
    to = np.empty(halves, np.int32)
    following = np.empty(halves, np.int32)
    before = np.full(halves, NONE, np.int32)
    twin = np.empty(halves, np.int32)
    first = np.full(vertices, NONE, np.int32)
    for half in range(halves - 1, -1, -1):
        edge, side = half >> 1, half & 1
        at = ends[edge, side]
        to[half] = ends[edge, 1 - side]
        twin[half] = half ^ 1
        following[half] = first[at]
        if first[at] != NONE:
            before[first[at]] = half
        first[at] = half
    return Graph(to, following, before, twin, first)


def _unlink(first: Array, following: Array, before: Array, owner: int, side: int) -> None:
    """Take a half-edge from the list of the vertex that it leaves."""
    left, right = before[side], following[side]
    if left == NONE:
        first[owner] = right
    else:
        following[left] = right
    if right != NONE:
        before[right] = left


def _remaining_edges(graph: Graph, gone: Array) -> Array:
    """The edges [., 2] between vertices that have not gone, without parallel ones."""
    vertices, first, to, following = len(gone), graph.first, graph.to, graph.following
    left_edges = 0
    for at in range(vertices):
        half = first[at]
        while not gone[at] and half != NONE:
            left_edges += at < to[half]
            half = following[half]
    rest = np.empty((left_edges, 2), np.int32)
    seen = np.full(vertices, NONE, np.int32)
    kept = 0
    for at in range(vertices):
        half = first[at]
        while not gone[at] and half != NONE:
            near = to[half]
            if at < near and seen[near] != at:
                seen[near] = at
                rest[kept, 0], rest[kept, 1] = at, near
                kept += 1
            half = following[half]
    return rest[:kept].copy()


def _reduce_graph(vertices: int, ends: Array) -> tuple[Array, Array, Array]:
    """Vertices that go, in order; the one or two neighbours of each then ([., 2], -1 where there are fewer); and
    the edges [., 2] that are left, without parallel ones."""
    graph = half_edges(vertices, ends)
    to, following, before, twin, first = graph.to, graph.following, graph.before, graph.twin, graph.first
    waiting = np.empty(vertices, np.int32)
    is_waiting = np.ones(vertices, np.bool_)
    for at in range(vertices):
        waiting[at] = vertices - 1 - at
    size = vertices
    gone = np.zeros(vertices, np.bool_)
    order = np.empty(vertices, np.int32)
    front = np.full((vertices, 2), NONE, np.int32)
    count = 0
    while size > 0:
        size -= 1
        at = waiting[size]
        is_waiting[at] = False
        near0, near1 = NONE, NONE
        half0, half1 = NONE, NONE
        many = False
        half = first[at]
        while half != NONE:
            after = following[half]
            near = to[half]
            if near0 == NONE:
                near0, half0 = near, half
            elif near in (near0, near1):
                # Parallel to an edge already seen.
                for side in (half, twin[half]):
                    unlink(first, following, before, at if side == half else near, side)
            elif near1 == NONE:
                near1, half1 = near, half
            else:
                many = True
                break
            half = after
        if many:
            continue
        gone[at] = True
        order[count] = at
        front[count, 0], front[count, 1] = near0, near1
        count += 1
        if near1 != NONE:
            # The edges to both neighbours become one between them.
            one, other = twin[half0], twin[half1]
            to[one], to[other] = near1, near0
            twin[one], twin[other] = other, one
        elif near0 != NONE:
            unlink(first, following, before, near0, twin[half0])
        for near in (near1, near0):
            if near != NONE and not is_waiting[near]:
                is_waiting[near] = True
                waiting[size] = near
                size += 1
    return order[:count].copy(), front[:count].copy(), remaining_edges(graph, gone)


half_edges = compiled(_half_edges)
unlink = inlined(_unlink)
remaining_edges = compiled(_remaining_edges)
reduce_graph = compiled(_reduce_graph)
