"""The joint optimum over shapes and selections meets the reference's figures."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from mapper.arch.overlay import OverlayMachine
from mapper.arch.source import load_machine
from mapper.formulations.algorithm_selection.problem import Objective, SelectionProblem
from mapper.formulations.algorithm_selection.referee.verify import verify
from mapper.models.algorithm_selection.overlay.building import overlay_network
from mapper.solver.algorithm_selection.exact.joint import joint
from mapper.solver.method import Effort
from mapper.workloads.source import load_layers


def posed(network: str, preset: str) -> SelectionProblem:
    machine, _ = load_machine(preset)
    assert isinstance(machine, OverlayMachine)
    return SelectionProblem(overlay_network(load_layers(network), machine))


@pytest.mark.parametrize(
    ("network", "preset", "array", "milliseconds"),
    [
        ("googlenet", "dynamap-u200-model", (95, 64), 0.7884),
        ("googlenet-224", "dynamap-u200-paper", (92, 66), None),
    ],
)
def test_the_best_shape_is_the_reference_s(
    network: str, preset: str, array: tuple[int, int], milliseconds: float | None
) -> None:
    problem = posed(network, preset)
    found = joint(problem, Effort())
    assert found.mapping is not None and found.proven
    assert found.mapping.array == array
    verdict = verify(problem, found.mapping)
    assert verdict.valid and verdict.cost is not None
    assert found.value == found.bound == verdict.cost.cycles
    if milliseconds is not None:
        assert verdict.cost.cost_json()["latency_ms"] == pytest.approx(milliseconds, abs=5e-5)


def test_the_cost_graph_of_googlenet_has_66_vertices_and_89_edges() -> None:
    from mapper.formulations.algorithm_selection.program.cost_graph import GraphBuilder
    from mapper.formulations.algorithm_selection.program.shape import shapes

    problem = posed("googlenet", "dynamap-u200-model")
    rows, columns = shapes(problem)
    assert len(rows) == 53972
    graph = GraphBuilder(problem).graph(rows[:1], columns[:1])
    assert (len(graph.vertices), len(graph.terms)) == (66, 89)


class SetAfter(threading.Event):
    """An event that is set once somebody has looked at it so often."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self.looks = looks

    def is_set(self) -> bool:
        self.looks -= 1
        return self.looks < 0


@pytest.mark.parametrize("objective", ["latency", "edp"])
def test_an_interrupt_ends_the_search_in_the_middle_of_the_bounds_of_all_shapes(objective: Objective) -> None:
    event = SetAfter(3)
    found = joint(replace(posed("googlenet", "dynamap-u200"), objective=objective), Effort(interrupt=event))
    assert (found.mapping, found.bound, found.proven, found.stop) == (None, None, False, "interrupted")
    assert event.looks >= -3  # nothing more was built
