"""Tensors of the generated overlay lie position by position or channel by channel: a choice that the graph, the model
and the checker see alike."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.typing import NDArray

from mapper.arch.overlay import OverlayMachine
from mapper.arch.source import load_machine
from mapper.formulations.algorithm_selection.problem import SelectionProblem
from mapper.formulations.algorithm_selection.program.cost_graph import CostGraph, GraphBuilder
from mapper.formulations.algorithm_selection.program.shape import shapes
from mapper.formulations.algorithm_selection.referee.verify import verify
from mapper.formulations.pbqp.problem import PbqpProblem
from mapper.models.algorithm_selection.overlay.building import overlay_network
from mapper.solver.algorithm_selection.catalogue import METHODS
from mapper.solver.algorithm_selection.exact.elimination import eliminate, elimination_order
from mapper.solver.algorithm_selection.proof import prove
from mapper.solver.method import Effort
from mapper.solver.pbqp.catalogue import METHODS as PBQP_METHODS
from mapper.solver.proof import Claim
from mapper.workloads.source import load_layers
from tests.checkers.algorithm_selection.test_check_algorithm_selection import VERDICT
from tests.solver.algorithm_selection.random_planes import planar_problems
from tests.solver.algorithm_selection.test_random import FEW


def test_random_layouts_are_solved_as_by_trying_everything_and_certified() -> None:
    lies: list[str] = []

    @settings(derandomize=True, deadline=None, max_examples=20)
    @given(planar_problems())
    def holds(problem: SelectionProblem) -> None:
        least = METHODS["brute-force"].search(problem, Effort())
        found = METHODS["joint"].search(problem, Effort())
        assert found.proven and least.proven and found.value == least.value
        claim = Claim(
            "infeasible" if found.mapping is None else "optimal", found.mapping, found.value, found.bound
        )
        proof = prove(problem, claim, Effort())
        assert VERDICT(json.loads(json.dumps(proof.to_json("algorithm_selection", "net"))))[1] == "certified"
        if found.mapping is not None:
            assert verify(problem, found.mapping).valid
            lies.extend(found.mapping.stores)

    holds()
    assert min(lies.count("planes"), lies.count("tensor3d")) > len(lies) / 5


def test_heuristics_give_selections_whose_layers_can_read_and_make_what_lies_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, number in FEW.items():
        monkeypatch.setattr(f"mapper.solver.algorithm_selection.heuristic.annealing.{name}", number)

    @settings(derandomize=True, deadline=None, max_examples=5)
    @given(planar_problems())
    def holds(problem: SelectionProblem) -> None:
        least = METHODS["joint"].search(problem, Effort())
        for name in ("annealing", "random", "algorithm-1"):
            found = METHODS[name].search(problem, Effort())
            assert (found.mapping is None) <= (least.mapping is None)
            if found.mapping is not None and least.value is not None:
                assert verify(problem, found.mapping).valid
                assert found.value is not None and found.value >= least.value

    holds()


def test_the_pbqp_of_a_graph_has_no_finite_pair_that_contradicts_itself() -> None:
    machine, _ = load_machine("dynamap-u200")
    assert isinstance(machine, OverlayMachine)
    builder = GraphBuilder(SelectionProblem(overlay_network(load_layers("squeezenet"), machine)))
    graph = builder.graph_at((47, 128))
    values, chosen = eliminate(graph, elimination_order(graph))
    instance = graph.instance("squeezenet")
    found = PBQP_METHODS["auto"].search(PbqpProblem(instance), Effort())
    assert found.value == values[0] - graph.constant
    # Three edges of each of eight tensors: of what makes it, and of two layers that read it.
    assert len(graph.ruled_out) == 24
    assert all(not where[chosen[0][tail], chosen[0][head]] for (tail, head), where in _ends(graph))


def test_what_is_ruled_out_leaves_room_for_as_large_costs_as_before() -> None:
    """On one PE the costs of 256 images are near the largest that a graph may have."""
    machine, _ = load_machine("dynamap-u200")
    assert isinstance(machine, OverlayMachine)
    problem = SelectionProblem(overlay_network(load_layers("squeezenet", 256), machine))
    graph = GraphBuilder(problem).graph_at((1, 1))
    values, chosen = eliminate(graph, elimination_order(graph))
    assert all(not where[chosen[0][tail], chosen[0][head]] for (tail, head), where in _ends(graph))
    assert verify(problem, GraphBuilder(problem).selection((1, 1), chosen[0].tolist())).valid
    assert graph.value(chosen)[0] == values[0]


def _ends(graph: CostGraph) -> list[tuple[tuple[int, ...], NDArray[np.bool_]]]:
    return [(graph.terms[at][0], where) for at, where in graph.ruled_out.items()]


def test_no_layout_costs_less_on_an_array_than_in_a_box_around_it() -> None:
    @settings(derandomize=True, deadline=None, max_examples=15)
    @given(planar_problems())
    def holds(problem: SelectionProblem) -> None:
        builder = GraphBuilder(problem)
        if builder.nothing_left is not None:
            return
        rows, columns = shapes(problem)
        most, least = ((np.array([end(rows)]), np.array([end(columns)])) for end in (np.max, np.min))
        box, graph = builder.graph(most[0], most[1], least=least), builder.graph(rows, columns)
        draw = np.random.default_rng(0)
        for _ in range(20):
            chosen = draw.integers([costs.shape[1] for costs in graph.vertices])[np.newaxis]
            valid = verify(
                problem, builder.selection((int(rows[0]), int(columns[0])), chosen[0].tolist())
            ).valid
            values = graph.value(np.repeat(chosen, len(rows), 0))
            assert not valid or (box.value(chosen) <= values).all()

    holds()
