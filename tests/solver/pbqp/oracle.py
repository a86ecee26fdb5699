"""Small PBQP instances that shrink well, and the answer of any by trying every choice in whole numbers of any size."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

from mapper.formulations.pbqp.problem import PbqpProblem
from mapper.formulations.pbqp.referee.verify import verify
from mapper.formulations.verdict import BrokenRule
from mapper.models.pbqp.mapping import PbqpAssignment
from mapper.workloads.pbqp.instance import Cost, PbqpInstance, instance
from tests.solver.conformance import Referee


def _judge(problem: PbqpProblem, assignment: PbqpAssignment) -> tuple[tuple[BrokenRule, ...], Cost | None]:
    verdict = verify(problem, assignment)
    return verdict.broken, verdict.cost


KIND = Referee(_judge)


def brute_force(problem: PbqpInstance) -> Cost | None:
    """The least value of all choices, an exact sum (rounded once if costs are in floating point); None if all are
    infinite."""
    shape = problem.choices.tolist()
    costs = [problem.vertex_cost.tolist(), problem.edge_cost.tolist()]
    finite = [cost for side in costs for cost in side if cost != problem.infinity]
    unit = max((Fraction(cost).denominator for cost in finite), default=1)
    total, closed = np.zeros(shape, object), np.zeros(shape, np.bool_)

    def pay(table: Any, axes: tuple[int, ...]) -> None:
        # Vertices are axes in ascending order; all others have length one.
        if axes != tuple(sorted(axes)):
            table = [list(column) for column in zip(*table, strict=True)]
        sizes = [shape[axis] if axis in axes else 1 for axis in range(len(shape))]
        flat = [cost for row in table for cost in (row if isinstance(row, list) else [row])]
        infinite = np.array([cost == problem.infinity for cost in flat])
        whole = [0 if cost == problem.infinity else int(Fraction(cost) * unit) for cost in flat]
        np.add(total, np.array(whole, object).reshape(sizes), out=total)
        np.logical_or(closed, infinite.reshape(sizes), out=closed)

    for vertex in range(problem.vertices):
        pay(problem.costs(vertex).tolist(), (vertex,))
    for edge in range(problem.edges):
        pay(problem.matrix(edge).tolist(), tuple(problem.edge_end[edge].tolist()))
    values = total[~closed]
    if not len(values):
        return None
    return int(values.min()) if problem.exact else float(Fraction(int(values.min()), unit))


@st.composite
def instances(
    draw: st.DrawFn, most_vertices: int = 6, most_choices: int = 3, largest: int = 20
) -> PbqpInstance:
    """Small instances: any graph, parallel edges, self-loops, several components, infinite and negative costs."""
    sizes = draw(st.lists(st.integers(1, most_choices), min_size=1, max_size=most_vertices))
    cost: st.SearchStrategy[Cost] = st.one_of(
        st.integers(-largest, largest), st.integers(0, largest), st.just(math.inf)
    )
    vertex = st.integers(0, len(sizes) - 1)
    pairs = draw(st.lists(st.tuples(vertex, vertex), max_size=2 * len(sizes) + 2))
    own = [draw(st.lists(cost, min_size=size, max_size=size)) for size in sizes]
    edges = []
    for u, v in pairs:
        row = st.lists(cost, min_size=sizes[v], max_size=sizes[v])
        edges.append((u, v, draw(st.lists(row, min_size=sizes[u], max_size=sizes[u]))))
    return instance(own, edges)
