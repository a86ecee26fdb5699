"""The parts of an instance that no edge joins."""

from __future__ import annotations

import numpy as np

from mapper.models.compiled import compiled
from mapper.solver.pbqp.reduction.elimination_plan import Array
from mapper.workloads.pbqp.instance import PbqpInstance


def components(given: PbqpInstance) -> list[tuple[PbqpInstance, Array]]:
    """Each connected part as an instance, with its vertices, in the order of their first vertices."""
    label = _labels(given.vertices, given.edge_end)
    parts = []
    for root in np.unique(label).tolist():
        inside = label == root
        parts.append((given if inside.all() else _part(given, inside), np.flatnonzero(inside)))
    return parts


def _part(given: PbqpInstance, inside: Array) -> PbqpInstance:
    rank = np.cumsum(inside) - 1
    kept = inside[given.edge_end[:, 0]]
    arrays = (
        _offsets(given.choices[inside]),
        given.vertex_cost[np.repeat(inside, given.choices)],
        np.ascontiguousarray(rank[given.edge_end[kept]]),
        _offsets(np.diff(given.edge_offset)[kept]),
        given.edge_cost[np.repeat(kept, np.diff(given.edge_offset))],
    )
    for array in arrays:
        array.setflags(write=False)
    return PbqpInstance(given.name, *arrays)


def _offsets(sizes: Array) -> Array:
    offset = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offset[1:])
    return offset


def _label_vertices(vertices: int, ends: Array) -> Array:
    """The least vertex of the part of each vertex."""
    label = np.arange(vertices)
    for edge in range(len(ends)):
        u, v = ends[edge, 0], ends[edge, 1]
        while label[u] != u:
            label[u] = label[label[u]]
            u = label[u]
        while label[v] != v:
            label[v] = label[label[v]]
            v = label[v]
        label[max(u, v)] = min(u, v)
    for at in range(vertices):
        label[at] = label[label[at]]
    return label


_labels = compiled(_label_vertices)
