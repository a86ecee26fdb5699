"""An instance with fewer choices: vertices that have one left are folded into their neighbours and go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mapper.models.compiled import compiled
from mapper.solver.pbqp.reduction.cost_array import CostArrays, cost_arrays
from mapper.solver.pbqp.reduction.elimination_plan import Array
from mapper.solver.pbqp.reduction.elimination_table import add
from mapper.workloads.pbqp.instance import Cost, PbqpInstance


@dataclass(frozen=True)
class Restricted:
    """``rest`` over the vertices ``stays`` that have a choice left to make (None: no vertex has), ``constant`` that the
    others cost together, ``choice`` [V] of those, and ``kept``: the old number of every choice of ``rest``."""

    rest: PbqpInstance | None
    constant: Cost
    stays: Array
    choice: Array
    kept: Array

    def lift(self, choice: Array) -> Array:
        """The choices of the whole instance from those of the rest."""
        whole = self.choice.copy()
        if self.rest is not None:
            whole[self.stays] = self.kept[self.rest.vertex_offset[:-1] + choice]
        return whole


def restricted(given: PbqpInstance, keep: Array) -> Restricted:
    """``given`` with the choices for which ``keep`` (as long as its vertex costs) holds; at least one per vertex."""
    kept_before = np.zeros(len(keep) + 1, np.int64)
    np.cumsum(keep, out=kept_before[1:])
    counts = np.diff(kept_before[given.vertex_offset])
    stays = np.flatnonzero(counts > 1)
    rank = np.full(given.vertices, -1, np.int64)
    rank[stays] = np.arange(len(stays))
    # The kept choices of a vertex in the order of the old ones; of a vertex that goes the first and only one.
    places = np.flatnonzero(keep)
    old = places - given.vertex_offset[:-1].repeat(counts)
    start = kept_before[given.vertex_offset[:-1]]
    choice = np.where(counts == 1, old[start], 0)
    open_choice = np.repeat(counts > 1, counts)
    vertex_offset = _offsets(counts[stays])
    vertex_cost = given.vertex_cost[places[open_choice]]
    inside = np.all(rank[given.edge_end] >= 0, axis=1)
    ends = np.ascontiguousarray(rank[given.edge_end[inside]])
    edge_offset = _offsets(counts[stays][ends[:, 0]] * counts[stays][ends[:, 1]])
    edge_cost = np.empty(edge_offset[-1], vertex_cost.dtype)
    constant = np.zeros(1, vertex_cost.dtype)
    rest_costs = CostArrays(
        counts[stays],
        vertex_offset,
        vertex_cost,
        ends,
        edge_offset,
        edge_cost,
        given.infinity,
        given.largest_finite,
    )
    _fill(cost_arrays(given), Kept(rank, choice, counts, start, old), rest_costs, constant)
    arrays = (vertex_offset, vertex_cost, ends, edge_offset, edge_cost)
    for array in arrays:
        array.setflags(write=False)
    rest = PbqpInstance(given.name, *arrays) if len(stays) else None
    return Restricted(rest, constant[0].item(), stays, choice, old[open_choice])


def _offsets(sizes: Array) -> Array:
    offset = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offset[1:])
    return offset


class Kept(NamedTuple):
    """``rank`` [V]: the new number of a vertex, -1 where it goes, with the ``choice`` [V] it then has; ``old``: the old
    numbers of its ``counts`` [V] kept choices, from ``start`` [V] on."""

    rank: Array
    choice: Array
    counts: Array
    start: Array
    old: Array


def _fill_costs(given: CostArrays, kept: Kept, rest: CostArrays, constant: Array) -> None:
    """What vertices that go cost with their neighbours into the vertex costs of ``rest`` and the constant, what others
    do into its edge costs."""
    infinite, limit = given.infinite, given.limit
    old_offset, old_cost, ends, offset, cost = (
        given.vertex_offset, given.vertex_cost, given.ends, given.edge_offset, given.edge_cost
    )  # fmt: skip
    rank, counts, start, old = kept.rank, kept.counts, kept.start, kept.old
    vertex_offset, vertex_cost, edge_cost = rest.vertex_offset, rest.vertex_cost, rest.edge_cost
    for at in range(len(rank)):
        if rank[at] < 0:
            add(constant, 0, old_cost[old_offset[at] + kept.choice[at]], infinite, limit)
    filled = 0
    for edge in range(len(ends)):
        u, v = ends[edge, 0], ends[edge, 1]
        columns = old_offset[v + 1] - old_offset[v]
        for i in range(counts[u]):
            for j in range(counts[v]):
                paid = cost[offset[edge] + old[start[u] + i] * columns + old[start[v] + j]]
                if rank[u] >= 0 and rank[v] >= 0:
                    edge_cost[filled] = paid
                    filled += 1
                elif rank[u] >= 0:
                    add(vertex_cost, vertex_offset[rank[u]] + i, paid, infinite, limit)
                elif rank[v] >= 0:
                    add(vertex_cost, vertex_offset[rank[v]] + j, paid, infinite, limit)
                else:
                    add(constant, 0, paid, infinite, limit)


_fill = compiled(_fill_costs)
