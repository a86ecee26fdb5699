"""What the model says of a layer on the generated overlay is what the generated program takes."""

from __future__ import annotations

import json

import pytest

from mapper.arch.overlay import OverlayMachine
from mapper.arch.source import load_machine
from mapper.codegen.algorithm_selection import overlay_files
from mapper.formulations.algorithm_selection.problem import SelectionProblem
from mapper.kind.algorithm_selection.part import limits
from mapper.models.algorithm_selection.control.selection import selection_control
from mapper.models.algorithm_selection.cost import evaluate
from mapper.models.algorithm_selection.layer_cause import causes
from mapper.models.algorithm_selection.overlay.building import overlay_network
from mapper.solver.algorithm_selection.exact.joint import joint
from mapper.solver.method import Effort
from mapper.workloads.source import load_layers


def _problem(name: str, array: tuple[int, int], **engines: bool) -> SelectionProblem:
    machine, _ = load_machine("dynamap-u200")
    assert isinstance(machine, OverlayMachine) and machine.engines is not None
    machine = machine.model_copy(update={"engines": machine.engines.model_copy(update=engines)})
    return SelectionProblem(overlay_network(load_layers(name), machine), array=array)


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("squeezenet", (32, 16)),
        pytest.param("googlenet", (47, 128), marks=pytest.mark.slow),
        ("lenet5", (16, 16)),
    ],
)
def test_every_layer_takes_what_the_model_says_of_it(name: str, array: tuple[int, int]) -> None:
    problem = _problem(name, array)
    found = joint(problem, Effort()).mapping
    assert found is not None
    network, kept = load_layers(name), limits(problem.network, found)
    files = overlay_files(selection_control(network, problem.network, found), network, limits=kept)
    steps = {one["name"]: one["cycles"] for one in json.loads(files["overlay.json"])["steps"]}
    for step, own in causes(problem.network, found).items():
        assert abs(steps[step] - own.cycles) <= 0.05 * own.cycles, step


def test_a_branch_that_does_not_read_the_layer_before_begins_while_that_is_stored() -> None:
    problem = _problem("squeezenet", (32, 16))
    network = problem.network
    begin = {network.names[at] for at in network.running.overlapping}
    # The second expansion of a module reads what the first one reads; the next squeeze reads both.
    assert "conv4" in begin and not begin & {"conv3", "conv5"}
    found, without = (
        joint(one, Effort()).mapping for one in (problem, _problem("squeezenet", (32, 16), overlap=False))
    )
    assert found is not None and without is not None
    fewer, more = (
        evaluate(network, found).cycles,
        evaluate(_problem("squeezenet", (32, 16), overlap=False).network, without).cycles,
    )
    assert 0 < more - fewer < 0.02 * more
