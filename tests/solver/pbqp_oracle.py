"""Random PBQP instances of every shape, and their answer by trying every choice."""

from __future__ import annotations

import itertools
import math

from hypothesis import strategies as st

from bench.random_pbqp import k_tree
from mapper.formulations.pbqp.problem import PbqpProblem
from mapper.formulations.pbqp.referee import verify
from mapper.formulations.verdict import BrokenRule
from mapper.models.pbqp.assignment import PbqpAssignment
from mapper.workloads.pbqp_instance import Cost, PbqpInstance, flat_instance, instance
from tests.solver.conformance import Judgement


def _judge(problem: PbqpProblem, assignment: PbqpAssignment) -> tuple[tuple[BrokenRule, ...], Cost | None]:
    verdict = verify(problem, assignment)
    return verdict.broken, verdict.cost


KIND = Judgement(_judge)


def brute_force(problem: PbqpInstance) -> Cost | None:
    """The least value of all choices; None if all are infinite."""
    values = (problem.value(choice) for choice in itertools.product(*map(range, problem.choices.tolist())))
    return min((value for value in values if value is not None), default=None)


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


@st.composite
def problems(draw: st.DrawFn) -> PbqpProblem:
    """Small instances of any graph, and partial k-trees; some in halves, which floating point adds exactly, some with a
    choice that is given."""
    trees = st.builds(
        k_tree,
        st.integers(6, 8),
        st.integers(2, 3),
        st.sampled_from([2, 3, 5]),
        st.sampled_from([0.7, 1.0]),
        st.integers(0, 1 << 20),
    )
    given = draw(st.one_of(instances(), trees))
    if draw(st.integers(0, 4)) == 0:
        vertex_cost, edge_cost = given.vertex_cost / 2, given.edge_cost / 2
        vertex_cost[given.vertex_cost == given.infinity] = math.inf
        edge_cost[given.edge_cost == given.infinity] = math.inf
        given = flat_instance(given.choices, vertex_cost, given.edge_end.copy(), edge_cost, "halves")
    pins: tuple[tuple[int, int], ...] = ()
    if draw(st.integers(0, 4)) == 0:
        vertex = draw(st.integers(0, given.vertices - 1))
        pins = ((vertex, draw(st.integers(0, given.choices_of(vertex) - 1))),)
    return PbqpProblem(given, pins)
