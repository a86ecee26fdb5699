"""On small networks and arrays every method agrees with brute force by the model alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.arch.overlay import overlay_from_document
from mapper.formulations.algorithm_selection.problem import OBJECTIVES, Objective, Pin, SelectionProblem
from mapper.formulations.algorithm_selection.program.cost_graph import GraphBuilder
from mapper.formulations.algorithm_selection.program.shape import shapes
from mapper.formulations.algorithm_selection.referee.verify import verify
from mapper.formulations.pbqp.problem import PbqpProblem
from mapper.models.algorithm_selection.mapping_file import selection_from_json
from mapper.models.algorithm_selection.overlay.network import OverlayNetwork
from mapper.solver.algorithm_selection.catalogue import METHODS
from mapper.solver.algorithm_selection.exact.brute_force import brute_force
from mapper.solver.algorithm_selection.exact.elimination import eliminate, elimination_order, least_bounds
from mapper.solver.algorithm_selection.exact.joint import joint
from mapper.solver.algorithm_selection.heuristic.largest_arrays import LARGEST_ARRAYS
from mapper.solver.method import Effort
from mapper.solver.pbqp.catalogue import METHODS as PBQP_METHODS
from mapper.workloads.document import InputError
from tests.solver.algorithm_selection.random_overlay import networks


def with_limit(problem: SelectionProblem, objective: Objective) -> SelectionProblem:
    """The problem with an objective; fewest DSPs within one and a half times the least latency."""
    if objective != "dsps":
        return replace(problem, objective=objective)
    fastest = joint(problem, Effort()).mapping
    assert fastest is not None
    cost = verify(problem, fastest).cost
    assert cost is not None
    return replace(problem, objective=objective, longest_units=cost.units * 3 // 2)


@settings(derandomize=True, deadline=None, max_examples=12)
@given(networks(), st.sampled_from(OBJECTIVES))
def test_the_joint_search_finds_what_brute_force_finds(network: OverlayNetwork, objective: Objective) -> None:
    pins = {layer.name: Pin(dataflows=frozenset({"WS"})) for layer in network.layers[2:]}
    pins[network.layers[0].name] = Pin(frozenset({"im2col"}))
    pins[network.layers[1].name] = Pin(frozenset({"im2col", "winograd"}), frozenset({"IS"}))
    problem = with_limit(SelectionProblem(network, pins=pins, max_pes=2), objective)
    found, best = joint(problem, Effort()), brute_force(problem, Effort())
    assert found.proven and best.proven
    assert found.value == best.value == found.bound
    assert found.mapping is not None and best.mapping is not None
    mine, theirs = (verify(problem, one.mapping) for one in (found, best) if one.mapping is not None)
    assert mine.valid and mine.cost is not None and theirs.cost is not None
    assert problem.rank(mine.cost) == problem.rank(theirs.cost)


@settings(derandomize=True, deadline=None, max_examples=4)
@given(networks(), st.integers(0, 3))
def test_no_heuristic_breaks_a_rule_or_beats_the_proof(network: OverlayNetwork, seed: int) -> None:
    problem = SelectionProblem(network)
    best = joint(problem, Effort()).value
    assert best is not None
    for name, method in (METHODS | {"at once": LARGEST_ARRAYS}).items():
        if method.exact:
            continue
        found = method.search(problem, Effort(seed=seed))
        assert found.mapping is not None and found.value is not None and found.bound is not None, name
        assert verify(problem, found.mapping).valid, name
        assert found.bound <= best <= found.value, name
        assert found.proven == (found.value == found.bound), name


@settings(derandomize=True, deadline=None, max_examples=25)
@given(networks())
def test_bounds_never_exceed_the_value_that_the_model_recomputes(network: OverlayNetwork) -> None:
    builder = GraphBuilder(SelectionProblem(network))
    rows, columns = shapes(builder.problem)
    for quantity in ("latency", "energy"):
        graph = builder.graph(rows, columns, quantity)
        values, chosen = eliminate(graph, elimination_order(graph))
        assert np.all(least_bounds(graph) <= values)
        for at in range(len(rows)):
            selection = builder.selection((int(rows[at]), int(columns[at])), chosen[at].tolist())
            cost = verify(builder.problem, selection).cost
            assert cost is not None
            assert values[at] == (cost.units if quantity == "latency" else cost.energy_pj)


@settings(derandomize=True, deadline=None, max_examples=15)
@given(networks())
def test_the_pbqp_solver_finds_the_value_of_the_elimination(network: OverlayNetwork) -> None:
    builder = GraphBuilder(SelectionProblem(network))
    rows, columns = shapes(builder.problem)
    graph = builder.graph(rows, columns)
    values, _ = eliminate(graph, elimination_order(graph))
    for at in range(0, len(rows), 3):
        posed = PbqpProblem(graph.instance("one shape", at))
        assert PBQP_METHODS["auto"].search(posed, Effort()).value == values[at] - graph.constant


@pytest.mark.parametrize(
    "field", [{"winograd": {"transform_cycles": 1 << 50}}, {"traffic": {"overhead_cycles": 1 << 50}}]
)
@settings(derandomize=True, deadline=None, max_examples=5)
@given(network=networks())
def test_costs_beyond_64_bits_are_refused_and_not_wrapped(
    network: OverlayNetwork, field: dict[str, Any]
) -> None:
    fields = {
        "schema": "mapper.dynamap/1",
        "name": "endless",
        "pes": 4,
        "clock_mhz": 99.991,
        "word_bits": 8,
        "bandwidth_gb_s": 0.997,
        **field,
    }
    endless = replace(network, machine=overlay_from_document(fields, "endless"))
    for search in (joint, METHODS["algorithm-1"].search, METHODS["annealing"].search):
        try:
            found = search(SelectionProblem(endless), Effort())
        except InputError as refused:
            assert "64 bits" in str(refused)
        else:
            assert found.mapping is not None and found.value is not None
            cost = verify(SelectionProblem(endless), found.mapping).cost
            assert cost is not None and cost.cycles == found.value > 0
            assert found.bound is not None and 0 < found.bound <= found.value


@settings(derandomize=True, deadline=None, max_examples=20)
@given(networks())
def test_a_selection_survives_its_document(network: OverlayNetwork) -> None:
    found = joint(SelectionProblem(network), Effort()).mapping
    assert found is not None
    assert selection_from_json(found.to_json(network), network, "file") == found


@settings(derandomize=True, deadline=None, max_examples=20)
@given(networks())
def test_pins_are_kept_and_cost_no_less(network: OverlayNetwork) -> None:
    free = joint(SelectionProblem(network), Effort())
    pins = {network.layers[-1].name: Pin(frozenset({"im2col"}), frozenset({"WS"}))}
    problem = SelectionProblem(network, pins=pins, array=(1, 1))
    found = joint(problem, Effort())
    assert found.mapping is not None and found.value is not None and free.value is not None
    assert verify(problem, found.mapping).valid and found.value >= free.value


@settings(derandomize=True, deadline=None, max_examples=5)
@given(networks())
def test_what_pins_leave_no_choice_is_proven_to_have_none(network: OverlayNetwork) -> None:
    pins = {network.layers[0].name: Pin(frozenset())}
    found = joint(SelectionProblem(network, pins=pins), Effort())
    assert found.mapping is None and found.proven


@settings(derandomize=True, deadline=None, max_examples=10)
@given(networks())
def test_a_throughput_out_of_reach_is_proven_out_of_reach(network: OverlayNetwork) -> None:
    for objective in ("latency", "dsps"):
        found = joint(SelectionProblem(network, objective, longest_units=1), Effort())
        assert found.mapping is None and found.proven and found.value is None and found.bound is None


@pytest.mark.parametrize("objective", OBJECTIVES)
@settings(derandomize=True, deadline=None, max_examples=5)
@given(network=networks())
def test_a_search_out_of_time_claims_nothing(network: OverlayNetwork, objective: Objective) -> None:
    found = joint(SelectionProblem(network, objective, longest_units=10**15), Effort(deadline=0.0))
    assert found.mapping is None and not found.proven and found.stop == "time_limit"
