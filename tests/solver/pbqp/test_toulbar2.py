"""Optimal costs beside those of toulbar2, a solver of cost function networks, on a few hundred instances."""

from __future__ import annotations

import math
from typing import Any

import networkx as nx
import numpy as np
import pytest

from mapper.formulations.pbqp.problem import PbqpProblem
from mapper.solver.method import Effort
from mapper.solver.pbqp.catalogue import METHODS
from mapper.workloads.pbqp.instance import PbqpInstance, flat_instance, instance

pytoulbar2: Any = pytest.importorskip("pytoulbar2", reason="pip install pytoulbar2 to compare with toulbar2")


def _toulbar2(problem: PbqpInstance) -> float | None:
    """The least cost by toulbar2; None if there is none."""
    finite = [costs[costs != problem.infinity] for costs in (problem.vertex_cost, problem.edge_cost)]
    top = int(sum(np.abs(costs).sum() for costs in finite)) + 1
    network = pytoulbar2.CFN(ubinit=top)
    for vertex in range(problem.vertices):
        network.AddVariable(f"x{vertex}", range(problem.choices_of(vertex)))
        network.AddFunction([f"x{vertex}"], _finite(problem.costs(vertex), problem, top))
    for edge in range(problem.edges):
        u, v = problem.edge_end[edge].tolist()
        costs = _finite(problem.matrix(edge).reshape(-1), problem, top)
        network.AddFunction([f"x{u}", f"x{v}"], costs)
    solution = network.Solve()
    return None if solution is None else float(solution[1])


def _finite(costs: np.ndarray, problem: PbqpInstance, top: int) -> list[int]:
    return [top if cost == problem.infinity else cost for cost in costs.tolist()]


def _random(seed: int) -> PbqpInstance:
    generator = np.random.default_rng(seed)
    vertices, choices = int(generator.integers(2, 14)), int(generator.integers(1, 5))
    edges = int(generator.integers(0, 3 * vertices))
    ends = np.array(list(nx.gnm_random_graph(vertices, edges, seed=seed).edges), np.int64).reshape(-1, 2)
    sizes = np.full(vertices, choices, np.int64)
    own = generator.integers(0, 1000, vertices * choices)
    paid = generator.integers(0, 1000, len(ends) * choices**2)
    found = flat_instance(sizes, own, ends, paid)
    if seed % 3:
        return found
    # Every third has infinite costs.
    closed = paid.copy()
    closed[generator.random(len(paid)) < 0.4] = found.infinity
    return flat_instance(sizes, own.copy(), ends.copy(), closed)


@pytest.mark.parametrize("block", range(10))
def test_the_least_costs_of_random_instances_are_those_of_toulbar2(block: int) -> None:
    for seed in range(30 * block, 30 * block + 30):
        problem = _random(seed)
        expected = _toulbar2(problem)
        for name in ("auto", "branch-and-bound"):
            outcome = METHODS[name].search(PbqpProblem(problem), Effort())
            assert outcome.proven and outcome.value == expected, (seed, name)


def test_an_infeasible_instance_is_infeasible_for_toulbar2_too() -> None:
    different = [[math.inf, 0], [0, math.inf]]
    triangle = instance([[0, 0]] * 3, [(0, 1, different), (1, 2, different), (0, 2, different)])
    assert _toulbar2(triangle) is None
