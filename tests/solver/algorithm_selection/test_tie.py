"""Three layers that a long store ties: graph, PBQP and model say the same of them."""

from __future__ import annotations

import pytest

from mapper.arch.overlay import OverlayMachine
from mapper.arch.source import load_machine
from mapper.formulations.algorithm_selection.problem import SelectionProblem
from mapper.formulations.algorithm_selection.program.cost_graph import GraphBuilder
from mapper.formulations.algorithm_selection.referee.verify import verify
from mapper.formulations.pbqp.problem import PbqpProblem
from mapper.models.algorithm_selection.overlay.building import overlay_network
from mapper.models.algorithm_selection.overlay.order import ordered
from mapper.solver.algorithm_selection.exact.elimination import eliminate, elimination_order, least_bounds
from mapper.solver.method import Effort
from mapper.solver.pbqp.catalogue import METHODS
from mapper.workloads.source import load_layers

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
    assert METHODS["auto"].search(PbqpProblem(instance), Effort()).value == values[0] - graph.constant
