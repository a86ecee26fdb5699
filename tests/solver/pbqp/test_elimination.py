"""Reductions and elimination are exact: least costs, choices that have them, what is left in between."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings

from mapper.solver.method import Effort
from mapper.solver.pbqp.reduction.elimination import Eliminated, eliminated, reduced
from mapper.solver.pbqp.reduction.elimination_order import small_width_order
from mapper.solver.pbqp.reduction.elimination_plan import plan
from mapper.workloads.pbqp.instance import PbqpInstance, flat_instance, instance
from tests.solver.pbqp.oracle import brute_force, instances

NOTHING = np.empty((0, 2), np.int64)


def _reduced(problem: PbqpInstance) -> Eliminated:
    found = reduced(problem, Effort())
    assert isinstance(found, Eliminated)
    return found


def _eliminated(problem: PbqpInstance) -> Eliminated:
    order, start, front = small_width_order(problem.vertices, problem.edge_end, problem.choices, 1e9)
    assert len(order) == problem.vertices
    found = eliminated(problem, plan(problem, order, start, front), NOTHING, Effort())
    assert isinstance(found, Eliminated)
    return found


def _on_graph(graph: nx.Graph, choices: int, seed: int) -> PbqpInstance:
    generator = np.random.default_rng(seed)
    ends = np.array(list(graph.edges), np.int64).reshape(-1, 2)
    count = graph.number_of_nodes()
    own = generator.integers(0, 50, count * choices)
    return flat_instance(
        np.full(count, choices, np.int64), own, ends, generator.integers(0, 50, len(ends) * choices**2)
    )


@settings(derandomize=True, deadline=None, max_examples=200)
@given(instances())
def test_elimination_finds_the_least_cost_of_any_graph(problem: PbqpInstance) -> None:
    best = brute_force(problem)
    found = _eliminated(problem)
    if best is None:
        assert found.infeasible
    else:
        assert found.constant == best
        assert problem.value(found.lift(np.empty(0, np.int64))) == best


@settings(derandomize=True, deadline=None, max_examples=200)
@given(instances())
def test_what_reductions_leave_has_the_same_least_cost(problem: PbqpInstance) -> None:
    best = brute_force(problem)
    found = _reduced(problem)
    if found.core is None:
        rest, choice = 0, np.empty(0, np.int64)
    else:
        inner = _eliminated(found.core)
        rest, choice = int(inner.constant), inner.lift(np.empty(0, np.int64))
    if best is None:
        assert found.infeasible or rest == found.whole.infinity
    else:
        assert found.constant + rest == best
        assert problem.value(found.lift(choice)) == best


@pytest.mark.parametrize("seed", range(20))
def test_a_graph_reduces_to_nothing_exactly_if_its_treewidth_is_at_most_two(seed: int) -> None:
    graph = nx.gnm_random_graph(9, 9 + seed % 5, seed=seed)
    width, _ = nx.approximation.treewidth_min_fill_in(graph)
    core = _reduced(_on_graph(graph, 2, seed)).core
    if core is None:
        assert width <= 2
    else:
        left = nx.Graph(core.edge_end.tolist())
        assert min(degree for _, degree in left.degree) >= 3


@pytest.mark.parametrize(
    "graph", [nx.cubical_graph(), nx.grid_2d_graph(3, 7), nx.complete_graph(4), nx.wheel_graph(9)]
)
def test_graphs_of_treewidth_three_are_eliminated_at_width_three(graph: nx.Graph) -> None:
    numbered = nx.convert_node_labels_to_integers(graph)
    problem = _on_graph(numbered, 2, 1)
    order, start, _ = small_width_order(problem.vertices, problem.edge_end, problem.choices, 1e9)
    assert len(order) == problem.vertices and np.diff(start).max() == 3


@pytest.mark.parametrize("seed", range(8))
def test_dense_graphs_with_tables_over_many_vertices_are_exact(seed: int) -> None:
    problem = _on_graph(nx.gnm_random_graph(8, 22, seed=seed), 3, seed)
    assert _eliminated(problem).constant == brute_force(problem)


def test_floating_point_costs_are_reduced_as_well() -> None:
    problem = instance([[0.5, 0.25], [1.5, 0.0]], [(0, 1, [[0.0, 4.0], [8.0, 3.0]])])
    found = _reduced(problem)
    assert found.constant == 2.0 and found.lift(np.empty(0, np.int64)).tolist() == [0, 0]


def test_sums_beyond_two_to_the_53_lose_no_digit() -> None:
    large = (1 << 55) + 1
    own = [[large, large + 1]] * 4
    edges = [(u, v, [[0, 1], [1, 0]]) for u in range(4) for v in range(u)]
    assert _eliminated(instance(own, edges)).constant == 4 * large


def test_more_than_256_choices_are_found_back() -> None:
    own = [[300 - at for at in range(301)], [0, 0]]
    found = _reduced(instance(own, [(0, 1, [[0, 1]] * 301)]))
    assert found.lift(np.empty(0, np.int64)).tolist() == [300, 0]
