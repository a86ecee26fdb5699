"""Spanning subgraphs that are eliminated with small tables and together hold the edges of a graph.

Each is part of a k-tree: a vertex is attached to members of one of the sets of vertices that are there, those it has
most edges to, and makes with them a further set. Taken away in reverse, vertices leave tables over such a set at the
most. The next subgraph begins at the other end, and edges that no subgraph holds yet count most in it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from mapper.solver.certificate import Stop
from mapper.solver.method import Effort
from mapper.solver.pbqp.reduction.elimination_order import small_width_order
from mapper.solver.pbqp.reduction.elimination_plan import Array, Plan, plan, size
from mapper.workloads.pbqp.instance import PbqpInstance

LEAST, MOST = 2, 8
"""Subgraphs that are made: one alone would leave out edges."""
OPEN_WEIGHT = 20
"""What an edge counts that no subgraph holds yet, where one counts 1 that some do."""
MOST_SEEN = 300
"""Vertices among which the distance to a member is looked for."""


@dataclass
class _Graph:
    """``near[v]``: the edge to each neighbour; ``weight`` per edge; ``most`` entries of a table; sets ``bags``, with
    the numbers of those that hold a vertex in ``of[v]``; ``open[v]``: its neighbours that are not yet attached."""

    near: list[dict[int, int]]
    choices: list[int]
    weight: list[int]
    most: float
    bags: list[list[int]] = field(default_factory=list)
    of: list[list[int]] = field(default_factory=list)
    open: list[int] = field(default_factory=list)


def spanning_subgraphs(given: PbqpInstance, most: float, effort: Effort) -> list[tuple[Array, Plan]] | Stop:
    """Which edges [E] each subgraph holds, and how it is eliminated; tables have about ``most`` entries. Edges that are
    in none are left over where ``MOST`` do not suffice. The reason if effort ends before. ``given`` has no parallel
    edges."""
    near: list[dict[int, int]] = [{} for _ in range(given.vertices)]
    for edge, (u, v) in enumerate(given.edge_end.tolist()):
        near[u][v] = near[v][u] = edge
    held = np.zeros(given.edges, np.int64)
    found: list[tuple[Array, Plan]] = []
    while len(found) < LEAST or (held.min(initial=1) == 0 and len(found) < MOST):
        weight = np.where(held == 0, OPEN_WEIGHT, 1).tolist()
        graph = _Graph(near, given.choices.tolist(), weight, most)
        order = range(given.vertices) if len(found) % 2 == 0 else range(given.vertices - 1, -1, -1)
        inside = np.zeros(given.edges, np.bool_)
        taken = _attached(graph, order, effort)
        if not isinstance(taken, list):
            return taken
        inside[taken] = True
        held += inside
        found.append((inside, _plan(given, inside, np.array(order)[::-1])))
    return found


def _attached(graph: _Graph, order: Iterable[int], effort: Effort) -> list[int] | Stop:
    """The edges of one subgraph, whose vertices are attached in ``order``, or why effort ended."""
    near = graph.near
    graph.of = [[] for _ in near]
    graph.open = [len(around) for around in near]
    taken: list[int] = []
    for vertex in order:
        stop = effort.stopped()
        if stop is not None:
            return stop
        around = near[vertex]
        bags = dict.fromkeys(bag for u in around for bag in graph.of[u])
        best = max(bags, key=partial(_rank, graph, vertex), default=None)
        members = [] if best is None else _members(graph, vertex, graph.bags[best])
        taken += [around[u] for u in members if u in around]
        for u in around:
            graph.open[u] -= 1
        for u in (*members, vertex):
            graph.of[u].append(len(graph.bags))
        graph.bags.append([*members, vertex])
    return taken


def _rank(graph: _Graph, vertex: int, bag: int) -> tuple[int, int, int]:
    """The more the better: edges of ``vertex`` to members of a set, members with which it has a neighbour in common
    that is not attached yet, and how late the set was made."""
    around, members = graph.near[vertex], graph.bags[bag]
    weight = sum(graph.weight[around[u]] for u in members if u in around)
    waiting = [u for u in around if not graph.of[u]]
    common = sum(any(u in graph.near[member] for u in waiting) for member in members)
    return weight, common, bag


def _members(graph: _Graph, vertex: int, bag: list[int]) -> list[int]:
    """Of a set those that ``vertex`` is attached to: neighbours, the weightier first, and what is near and open."""
    around, distance = graph.near[vertex], _distances(graph, vertex, bag)

    def rank(u: int) -> tuple[int, int, int, int]:
        own = graph.weight[around[u]] if u in around else 0
        return -own, distance.get(u, MOST_SEEN), -graph.open[u], u

    entries = graph.choices[vertex]
    members = []
    for u in sorted(bag, key=rank):
        if entries * graph.choices[u] <= graph.most and (u in around or graph.open[u] > 0):
            members.append(u)
            entries *= graph.choices[u]
    return members


def _distances(graph: _Graph, vertex: int, bag: list[int]) -> dict[int, int]:
    """How many edges away the members of a set are, as far as ``MOST_SEEN`` vertices tell."""
    distance, front, missing = {vertex: 0}, [vertex], set(bag)
    while missing and front and len(distance) < MOST_SEEN:
        following = []
        for v in front:
            for u in graph.near[v]:
                if u not in distance:
                    distance[u] = distance[v] + 1
                    following.append(u)
                    missing.discard(u)
        front = following
    return distance


def subgraph(given: PbqpInstance, inside: Array, own: Array, paid: Array) -> PbqpInstance:
    """The instance of the edges ``inside`` [E], with the costs ``own`` of choices and ``paid`` of these edges."""
    offset = np.zeros(np.count_nonzero(inside) + 1, np.int64)
    np.cumsum(np.diff(given.edge_offset)[inside], out=offset[1:])
    ends = np.ascontiguousarray(given.edge_end[inside])
    for array in (own, ends, offset, paid):
        array.setflags(write=False)
    return PbqpInstance(given.name, given.vertex_offset, own, ends, offset, paid)


def _plan(given: PbqpInstance, inside: Array, backward: Array) -> Plan:
    """The elimination of a subgraph: backward, or in an order of small width if that is less work."""
    paid = given.edge_cost[np.repeat(inside, np.diff(given.edge_offset))]
    part = subgraph(given, inside, given.vertex_cost, paid)
    one = plan(part, *_fronts(part, backward))
    work = size(part, one).work.sum()
    order, start, front = small_width_order(part.vertices, part.edge_end, part.choices, float(work))
    if len(order) == part.vertices:
        other = plan(part, order, start, front)
        if size(part, other).work.sum() < work:
            return other
    return one


def _fronts(part: PbqpInstance, order: Array) -> tuple[Array, Array, Array]:
    """``order`` with the fronts of its vertices: those later ones that they are joined to when they go."""
    place = np.empty(part.vertices, np.int64)
    place[order] = np.arange(part.vertices)
    near: list[set[int]] = [set() for _ in order]
    for u, v in place[part.edge_end].tolist():
        near[min(u, v)].add(max(u, v))
    for at in range(len(order)):
        if near[at]:
            near[min(near[at])] |= near[at] - {min(near[at])}
    start = np.zeros(len(order) + 1, np.int64)
    np.cumsum([len(members) for members in near], out=start[1:])
    front = np.array([order[u] for members in near for u in sorted(members)], np.int64)
    return order, start, front
