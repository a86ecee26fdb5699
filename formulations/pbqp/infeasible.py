"""Why an instance has no assignment of finite cost, with the vertex or the edge that says so if one does."""

from __future__ import annotations

import numpy as np

from mapper.formulations.pbqp.problem import PbqpProblem


def why_infeasible(problem: PbqpProblem) -> str | None:
    """A sentence that names the first vertex whose choices are all infinite or, looking at one edge at a time (arc
    consistency), the first that is left without a choice; None says nothing either way."""
    given = problem.pinned
    infinite = given.vertex_cost == given.infinity
    dead = np.flatnonzero(np.logical_and.reduceat(infinite, given.vertex_offset[:-1]))
    if len(dead):
        pinned = dict(problem.pins).get(int(dead[0]))
        what = "every choice" if pinned is None else f"its pinned choice {pinned}"
        return f"vertex {dead[0]} has no choice of finite cost: {what} is infinite"
    # Only edges with an infinite cost can take choices away.
    sizes = np.diff(given.edge_offset)
    if not len(sizes):
        return None
    closed = np.logical_or.reduceat(given.edge_cost == given.infinity, given.edge_offset[:-1])
    edges = np.flatnonzero(closed).tolist()
    around: dict[int, list[int]] = {}
    for edge in edges:
        for end in given.edge_end[edge].tolist():
            around.setdefault(end, []).append(edge)
    alive = {vertex: given.costs(vertex) != given.infinity for vertex in around}
    waiting = edges[::-1]
    while waiting:
        edge = waiting.pop()
        u, v = given.edge_end[edge].tolist()
        open_pairs = (given.matrix(edge) != given.infinity) & alive[u][:, None] & alive[v][None, :]
        for end, other, kept in ((u, v, open_pairs.any(axis=1)), (v, u, open_pairs.any(axis=0))):
            if not kept.any():
                return f"vertex {end} has no choice of finite cost: its edge to vertex {other} leaves none"
            if (kept != alive[end]).any():
                alive[end] = kept
                waiting += [near for near in around[end] if near != edge]
    return None
