"""The heuristic of degree N: reduce, and where no reduction applies fix the vertices with the most edges.

Scholz and Eckstein fix one vertex of the highest degree to the choice that is locally least. Here a pass of a lower
bound has gathered at each vertex what its surroundings cost, and several vertices of high degree, no two of them
joined, are fixed between two reductions, so that the time grows with the instance times the logarithm of its size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mapper.solver.method import Effort
from mapper.solver.pbqp.exact.bound import bounded
from mapper.solver.pbqp.reduction.elimination import Eliminated, reduced
from mapper.solver.pbqp.reduction.elimination_plan import Array
from mapper.solver.pbqp.reduction.restriction import restricted
from mapper.workloads.pbqp.instance import Cost, PbqpInstance

Lift = Callable[[Array], Array]
PASSES = 4
SHARE_FIXED = 16
"""Of this many vertices one is fixed between two reductions, and one at least."""


@dataclass(frozen=True)
class Fixed:
    """``choice`` of every vertex (None: a dead end, which proves nothing), and a ``bound`` of the instance."""

    choice: Array | None
    bound: Cost


def fixing(given: PbqpInstance, effort: Effort) -> Fixed:
    """Choices of ``given`` by reductions and fixing. When effort ends, all that is open is fixed at once."""
    lifts: list[Lift] = []
    constant: Cost = 0
    first_bound: Cost | None = None
    rest: PbqpInstance | None = given
    while rest is not None:
        smaller = reduced(rest, Effort())
        assert isinstance(smaller, Eliminated), "an effort without limits is never stopped"
        if smaller.infeasible:
            return Fixed(None, given.infinity if first_bound is None else first_bound)
        constant += smaller.constant
        lifts.append(smaller.lift)
        if smaller.core is None:
            break
        moved = bounded(smaller.core, PASSES)
        if moved.bound == given.infinity:
            return Fixed(None, given.infinity if first_bound is None else first_bound)
        constant += moved.bound
        if first_bound is None:
            first_bound = constant
        keep = moved.least < given.infinity
        # A choice that cannot be is none, but a vertex keeps one.
        chosen = _least_choices(moved.moved, moved.least)
        fixed = _apart(moved.moved) if effort.stopped() is None else np.arange(moved.moved.vertices)
        closed = ~np.logical_or.reduceat(keep, moved.moved.vertex_offset[:-1])
        for vertex in np.union1d(fixed, np.flatnonzero(closed)).tolist():
            low, high = moved.moved.vertex_offset[vertex], moved.moved.vertex_offset[vertex + 1]
            keep[low:high] = False
            keep[low + chosen[vertex]] = True
        part = restricted(moved.moved, keep)
        if part.constant == given.infinity:
            return Fixed(None, first_bound)
        constant += part.constant
        lifts.append(part.lift)
        rest = part.rest
    choice = np.empty(0, np.int64)
    for lift in reversed(lifts):
        choice = lift(choice)
    return Fixed(choice, constant if first_bound is None else first_bound)


def _least_choices(given: PbqpInstance, least: Array) -> Array:
    """The first choice of every vertex that adds least."""
    smallest = np.minimum.reduceat(least, given.vertex_offset[:-1])
    is_least = np.flatnonzero(least == np.repeat(smallest, given.choices))
    vertex = np.repeat(np.arange(given.vertices), given.choices)[is_least]
    _, where = np.unique(vertex, return_index=True)
    found: Array = is_least[where] - given.vertex_offset[:-1]
    return found


def _apart(given: PbqpInstance) -> Array:
    """Vertices of the highest degrees, ties to the first, no two of them joined."""
    degree = np.bincount(given.edge_end.reshape(-1), minlength=given.vertices)
    most = max(1, given.vertices // SHARE_FIXED)
    order = np.lexsort((np.arange(given.vertices), -degree))[: 4 * most]
    rank = np.full(given.vertices, -1, np.int64)
    rank[order] = np.arange(len(order))
    near: dict[int, list[int]] = {}
    for u, v in given.edge_end[np.all(rank[given.edge_end] >= 0, axis=1)].tolist():
        near.setdefault(u, []).append(v)
        near.setdefault(v, []).append(u)
    closed: set[int] = set()
    taken: list[int] = []
    for vertex in order.tolist():
        if len(taken) == most:
            break
        if vertex not in closed:
            taken.append(vertex)
            closed.update(near.get(vertex, ()))
    return np.array(taken, np.int64)
