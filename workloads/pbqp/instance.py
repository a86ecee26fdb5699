"""Instances of the partitioned Boolean quadratic problem (PBQP): one choice per vertex, costs on vertices and edges.

Minimise the sum over vertices u of c_u(x_u) plus the sum over edges (u, v) of C_uv(x_u, x_v) [Meng2021, Eq. 8].
Everything lies in flat arrays with offsets, so that a million vertices take little more than their numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mapper.workloads.document import InputError

INFINITE = 1 << 61
"""Stands for infinity among integer costs; sums of up to three costs stay below 2^63."""
LARGEST_TOTAL = (1 << 58) - 1
"""M, the largest absolute value that a sum of finite integer costs may reach: of each vertex and each edge the largest
one. An instance that exceeds it is refused, so that every search computes in int64 without a thought of its own:

- Sums of given costs, one of each vertex or edge at the most, are those of tables, folded neighbours and constants;
  they lie between -M and M.
- Costs that were moved (`mapper.solver.pbqp.exact.bound`) are never below zero, and those that one assignment pays add
  up to what it costs less a bound, each between -M and M: 2 M at the most if it is finite.

So what exceeds ``LARGEST_FINITE``, which is above 2 M, is part of no finite assignment, and is infinity less something
or a cost that may be called infinite. Two numbers up to it add up to less than infinity, infinity less M is above it,
and three times infinity is below 2^63."""
LARGEST_FINITE = {True: (1 << 60) - 1, False: float(np.finfo(np.float64).max)}
"""By exactness: what a search finds above this is infinite."""
LARGEST_FLOAT_TOTAL = 1e300

Integers = NDArray[np.int64]
Costs = NDArray[Any]
Cost = int | float


@dataclass(frozen=True, eq=False)
class PbqpInstance:
    """``name``; vertex u has the costs ``vertex_cost[vertex_offset[u]:vertex_offset[u + 1]]``, one per choice; edge e
    joins ``edge_end[e] = (u, v)``, u != v, and has the matrix ``edge_cost[edge_offset[e]:edge_offset[e + 1]]``, rows
    for the choices of u, columns for those of v, row after row.

    Costs are int64 (exact; ``INFINITE`` is infinity) or float64 (``math.inf``); both arrays have the same type. Edges
    may be parallel and the graph may fall apart. Build it with `flat_instance` or `instance`, which check it.
    """

    name: str
    vertex_offset: Integers
    vertex_cost: Costs
    edge_end: Integers
    edge_offset: Integers
    edge_cost: Costs

    @property
    def vertices(self) -> int:
        return len(self.vertex_offset) - 1

    @property
    def edges(self) -> int:
        return len(self.edge_offset) - 1

    @property
    def exact(self) -> bool:
        """Whether costs are integers, so that no sum is rounded."""
        return bool(self.vertex_cost.dtype == np.int64)

    @property
    def infinity(self) -> Cost:
        return INFINITE if self.exact else math.inf

    @property
    def largest_finite(self) -> Cost:
        """Sums above are infinite."""
        return LARGEST_FINITE[self.exact]

    @property
    def choices(self) -> Integers:
        """Number of choices of each vertex."""
        counts: Integers = np.diff(self.vertex_offset)
        return counts

    def costs(self, vertex: int) -> Costs:
        """Costs of a vertex's choices."""
        return self.vertex_cost[self.vertex_offset[vertex] : self.vertex_offset[vertex + 1]]

    def matrix(self, edge: int) -> Costs:
        """Costs of an edge, [choices of u, choices of v]."""
        row, column = (int(self.choices_of(end)) for end in self.edge_end[edge])
        return self.edge_cost[self.edge_offset[edge] : self.edge_offset[edge + 1]].reshape(row, column)

    def choices_of(self, vertex: int) -> int:
        """Number of choices of one vertex."""
        return int(self.vertex_offset[vertex + 1] - self.vertex_offset[vertex])

    def value(self, choice: Sequence[int] | Integers) -> Cost | None:
        """The cost of choosing ``choice[u]`` for every vertex u, the exact sum; in floating point it is rounded once.
        None if it is infinite.

        Raises: ValueError if there is not one choice per vertex, or one that its vertex does not have.
        """
        chosen = np.asarray(choice, np.int64).reshape(-1)
        counts = self.choices
        if chosen.shape != counts.shape or np.any(chosen < 0) or np.any(chosen >= counts):
            raise ValueError("one choice per vertex, counted from 0")
        own = self.vertex_cost[self.vertex_offset[:-1] + chosen]
        tail, head = self.edge_end[:, 0], self.edge_end[:, 1]
        paid = self.edge_cost[self.edge_offset[:-1] + chosen[tail] * counts[head] + chosen[head]]
        if np.any(own == self.infinity) or np.any(paid == self.infinity):
            return None
        if self.exact:
            return int(own.sum()) + int(paid.sum())
        return math.fsum([*own.tolist(), *paid.tolist()])


def instance(
    vertices: Sequence[Sequence[Cost]],
    edges: Sequence[tuple[int, int, Sequence[Sequence[Cost]]]] = (),
    name: str = "pbqp",
) -> PbqpInstance:
    """An instance from lists: the costs of each vertex, and (u, v, matrix) of each edge; ``math.inf`` is infinity.
    Costs are exact if all finite ones are integers.

    Raises: InputError if something does not fit together.
    """
    for u, v, matrix in edges:
        if not (0 <= u < len(vertices) and 0 <= v < len(vertices)):
            raise InputError(name, f"edge {u} {v}", "no such vertex; vertices count from 0")
        rows, columns = len(vertices[u]), len(vertices[v])
        if len(matrix) != rows or any(len(row) != columns for row in matrix):
            raise InputError(name, f"edge {u} {v}", f"the matrix must have {rows} rows and {columns} columns")
    own = [cost for costs in vertices for cost in costs]
    paid = [cost for _, _, matrix in edges for row in matrix for cost in row]
    exact = all(isinstance(cost, int) or cost == math.inf for cost in (*own, *paid))
    return flat_instance(
        np.array([len(costs) for costs in vertices], np.int64),
        _cost_array(own, exact, name, "vertex costs"),
        np.array([(u, v) for u, v, _ in edges], np.int64).reshape(-1, 2),
        _cost_array(paid, exact, name, "edge costs"),
        name,
    )


def flat_instance(
    choices: Integers, vertex_cost: Costs, edge_end: Integers, edge_cost: Costs, name: str = "pbqp"
) -> PbqpInstance:
    """An instance from flat arrays: the number of choices [V], all vertex costs one after another, the ends [E, 2] and
    all matrices one after another; costs both int64 or both float64. Self-loops are folded into their vertex.

    The arrays become read-only parts of the instance.

    Raises: InputError if something does not fit together, a cost is NaN or minus infinity, or a sum could overflow.
    """
    if len(choices) == 0:
        raise InputError(name, "vertices", "there is none; give at least one")
    if np.any(choices < 1):
        at = int(np.argmax(choices < 1))
        raise InputError(name, f"vertex {at}", "has no choice; give every vertex at least one")
    edge_end = np.ascontiguousarray(edge_end, np.int64).reshape(-1, 2)
    outside = np.any((edge_end < 0) | (edge_end >= len(choices)), axis=1)
    if np.any(outside):
        at = int(np.argmax(outside))
        u, v = edge_end[at].tolist()
        raise InputError(
            name, f"edge {at} ({u} {v})", f"no such vertex; they count from 0 to {len(choices) - 1}"
        )
    # Hostile sizes are seen in floats, which do not wrap, before anything is as large as they claim.
    _check_number(float(choices.sum(dtype=np.float64)), len(vertex_cost), "vertex", name)
    rows, columns = choices[edge_end[:, 0]], choices[edge_end[:, 1]]
    _check_number(float((rows.astype(np.float64) * columns).sum()), len(edge_cost), "edge", name)
    vertex_offset, edge_offset = _offsets(choices), _offsets(rows * columns)
    vertex_cost, edge_cost = _same_type(vertex_cost, edge_cost)
    _check_costs(vertex_cost, vertex_offset, edge_cost, edge_offset, name)
    found = PbqpInstance(name, vertex_offset, vertex_cost, edge_end, edge_offset, edge_cost)
    found = _without_loops(found)
    for array in (found.vertex_offset, found.vertex_cost, found.edge_end, found.edge_offset, found.edge_cost):
        array.setflags(write=False)
    return found


def _check_number(called: float, given: int, what: str, name: str) -> None:
    if called != given:
        remedy = f"{given} numbers where the sizes call for {called:.0f}; correct the sizes or the costs"
        raise InputError(name, f"{what} costs", remedy)


def _offsets(sizes: Integers) -> Integers:
    offset = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offset[1:])
    return offset


def _same_type(one: Costs, other: Costs) -> tuple[Costs, Costs]:
    """Both as int64, or both as float64."""
    if one.dtype == np.int64 and other.dtype == np.int64:
        return np.ascontiguousarray(one), np.ascontiguousarray(other)
    if one.dtype == other.dtype == np.float64:
        return np.ascontiguousarray(one), np.ascontiguousarray(other)
    raise TypeError("costs are int64 for vertices and edges, or float64 for both")


def _cost_array(costs: Sequence[Cost], exact: bool, name: str, field: str) -> Costs:
    try:
        if exact:
            return np.array(
                [INFINITE if cost == math.inf else _bounded(int(cost)) for cost in costs], np.int64
            )
        return np.array(costs, np.float64)
    except OverflowError:
        remedy = f"an integer beyond {LARGEST_TOTAL}; scale the costs, or give them as fractions"
        raise InputError(name, field, remedy) from None


def _bounded(cost: int) -> int:
    if abs(cost) > LARGEST_TOTAL:
        raise OverflowError
    return cost


def _check_costs(
    vertex_cost: Costs, vertex_offset: Integers, edge_cost: Costs, edge_offset: Integers, name: str
) -> None:
    """Finite costs are numbers whose sums can neither overflow nor be taken for infinity."""
    total: Cost = 0
    for costs, offset, what in ((vertex_cost, vertex_offset, "vertex"), (edge_cost, edge_offset, "edge")):
        if not len(costs):
            continue
        if costs.dtype == np.int64:
            wrong = (costs != INFINITE) & ((costs > LARGEST_TOTAL) | (costs < -LARGEST_TOTAL))
            remedy = f"the cost is beyond {LARGEST_TOTAL}; scale the costs"
            sizes = np.where(costs == INFINITE, 0, np.abs(costs))
        else:
            wrong = np.isnan(costs) | (costs == -math.inf)
            remedy = "the cost is not a number, or is minus infinity; give a number or inf"
            sizes = np.where(np.isinf(costs), 0.0, np.abs(costs))
        if np.any(wrong):
            at = int(np.searchsorted(offset, int(np.argmax(wrong)), side="right")) - 1
            raise InputError(name, f"{what} {at}", remedy)
        most = np.maximum.reduceat(sizes, offset[:-1])
        if costs.dtype == np.int64:
            # In two halves, whose sums stay below 2^63.
            total += (int((most >> 30).sum()) << 30) + int((most & ((1 << 30) - 1)).sum())
        else:
            total += float(most.sum())
    largest = LARGEST_TOTAL if vertex_cost.dtype == np.int64 else LARGEST_FLOAT_TOTAL
    if total > largest:
        form = ".4g" if isinstance(total, float) else ""
        remedy = f"a sum of costs may reach {total:{form}}, beyond {largest:{form}}; scale the costs"
        raise InputError(name, "costs", remedy)


def _without_loops(found: PbqpInstance) -> PbqpInstance:
    """The same instance with the diagonals of self-loops added to their vertices."""
    loops = found.edge_end[:, 0] == found.edge_end[:, 1]
    if not np.any(loops):
        return found
    vertex_cost = found.vertex_cost.copy()
    for at in np.flatnonzero(loops):
        vertex = int(found.edge_end[at, 0])
        part = slice(found.vertex_offset[vertex], found.vertex_offset[vertex + 1])
        diagonal = found.matrix(int(at)).diagonal()
        infinite = (vertex_cost[part] == found.infinity) | (diagonal == found.infinity)
        vertex_cost[part] = np.where(infinite, found.infinity, vertex_cost[part] + diagonal)
    sizes = np.diff(found.edge_offset)
    kept = ~loops
    return PbqpInstance(
        found.name, found.vertex_offset, vertex_cost, np.ascontiguousarray(found.edge_end[kept]),
        _offsets(sizes[kept]), found.edge_cost[np.repeat(kept, sizes)],
    )  # fmt: skip
