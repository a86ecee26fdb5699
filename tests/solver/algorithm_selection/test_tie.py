"""Three layers that a long store ties: graph, PBQP and model say the same of them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings

from mapper.arch.overlay import OverlayMachine
from mapper.arch.source import load_machine
from mapper.formulations.algorithm_selection.problem import SelectionProblem
from mapper.formulations.algorithm_selection.program.cost_graph import GraphBuilder
from mapper.formulations.algorithm_selection.program.shape import shapes
from mapper.formulations.algorithm_selection.referee.verify import verify
from mapper.formulations.pbqp.problem import PbqpProblem
from mapper.models.algorithm_selection.overlay.building import overlay_network
from mapper.models.algorithm_selection.overlay.order import ordered
from mapper.solver.algorithm_selection.catalogue import METHODS
from mapper.solver.algorithm_selection.exact.elimination import eliminate, elimination_order, least_bounds
from mapper.solver.algorithm_selection.proof import prove
from mapper.solver.method import Effort
from mapper.solver.pbqp.catalogue import METHODS as PBQP_METHODS
from mapper.solver.proof import Claim
from mapper.workloads.source import load_layers
from tests.checkers.algorithm_selection.test_check_algorithm_selection import VERDICT
from tests.solver.algorithm_selection.random_tie import tied_problems

ARRAY = (64, 64)


@pytest.fixture(scope="module")
def builder() -> GraphBuilder:
    machine, _ = load_machine("dynamap-u200")
    assert isinstance(machine, OverlayMachine)
    network = overlay_network(ordered(load_layers("resnet18"), machine), machine)
    return GraphBuilder(SelectionProblem(network, array=ARRAY))


def test_stores_of_resnet18_tie_three_layers(builder: GraphBuilder) -> None:
    tied = builder.graph_at(ARRAY).tied()
    assert tied and all((costs >= 0).all() for _, costs in tied)


def test_the_least_of_a_graph_with_ties_is_what_the_model_says(builder: GraphBuilder) -> None:
    graph = builder.graph_at(ARRAY)
    values, chosen = eliminate(graph, elimination_order(graph))
    cost = verify(builder.problem, builder.selection(ARRAY, chosen[0].tolist())).cost
    assert cost is not None and cost.units == values[0]
    assert least_bounds(graph)[0] <= values[0]


def test_a_pbqp_with_vertices_of_pairs_has_the_same_least(builder: GraphBuilder) -> None:
    graph = builder.graph_at(ARRAY)
    values, _ = eliminate(graph, elimination_order(graph))
    instance = graph.instance("resnet18")
    assert instance.vertices == len(graph.instance_names()) > len(graph.names)
    assert PBQP_METHODS["auto"].search(PbqpProblem(instance), Effort()).value == values[0] - graph.constant


def test_no_selection_costs_less_on_an_array_than_in_a_box_around_it(builder: GraphBuilder) -> None:
    draw = np.random.default_rng(0)
    for low in ((20, 30), (60, 60), (89, 40)):
        rows, columns = (np.arange(4) * step + side for side, step in zip(low, (3, 2), strict=True))
        box = builder.graph(rows[-1:], columns[-1:], least=(rows[:1], columns[:1]))
        graph = builder.graph(rows, columns)
        sizes = [costs.shape[1] for costs in graph.vertices]
        for _ in range(40):
            chosen = draw.integers(sizes)[np.newaxis]
            assert (box.value(chosen) <= graph.value(np.repeat(chosen, 4, 0))).all()


def test_random_ties_are_solved_as_by_trying_everything_and_certified() -> None:
    tied = []

    @settings(derandomize=True, deadline=None, max_examples=40)
    @given(tied_problems())
    def holds(problem: SelectionProblem) -> None:
        builder = GraphBuilder(problem)
        tied.append(any(len(scope) == 3 for scope, _ in builder.graph(*shapes(problem)).terms))
        least = METHODS["brute-force"].search(problem, Effort())
        found = METHODS["joint"].search(problem, Effort())
        assert found.proven and least.proven and found.value == least.value
        proof = prove(problem, Claim("optimal", found.mapping, found.value, found.bound), Effort())
        assert VERDICT(json.loads(json.dumps(proof.to_json("algorithm_selection", "net"))))[1] == "certified"

    holds()
    assert sum(tied) > len(tied) / 4
