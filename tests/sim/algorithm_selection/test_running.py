"""What the model says of the generated overlay is what its program takes, and the optimum is one of that model."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from onnx.helper import (
    make_graph,
    make_model,
    make_node,
    make_opsetid,
    make_tensor,
    make_tensor_value_info,
)

from mapper.arch.overlay import OverlayMachine
from mapper.arch.source import load_machine
from mapper.codegen.algorithm_selection import overlay_files
from mapper.formulations.algorithm_selection.problem import SelectionProblem
from mapper.formulations.algorithm_selection.referee.verify import verify
from mapper.kind.algorithm_selection.part import limits
from mapper.models.algorithm_selection.choice import Choice
from mapper.models.algorithm_selection.control.selection import selection_control
from mapper.models.algorithm_selection.layer_cause import causes
from mapper.models.algorithm_selection.mapping import Selection
from mapper.models.algorithm_selection.overlay.building import overlay_network
from mapper.models.algorithm_selection.overlay.order import ordered
from mapper.sim.algorithm_selection.agreement import beyond
from mapper.sim.algorithm_selection.rtl.network import report_rtl
from mapper.sim.algorithm_selection.running import report_running
from mapper.solver.algorithm_selection.exact.brute_force import brute_force
from mapper.solver.algorithm_selection.exact.joint import joint
from mapper.solver.method import Effort
from mapper.workloads.network.builder import NetworkBuilder
from mapper.workloads.network.network_layer import LayerNetwork
from mapper.workloads.source import load_layers


def posed(network: LayerNetwork, max_pes: int = 0) -> SelectionProblem:
    machine, _ = load_machine("dynamap-u200")
    assert isinstance(machine, OverlayMachine)
    return SelectionProblem(overlay_network(network, machine), max_pes=max_pes)


def ran(problem: SelectionProblem, network: LayerNetwork, selection: Selection) -> dict[str, int]:
    """Cycles of every step of the program."""
    sequence, kept = (
        selection_control(network, problem.network, selection),
        limits(problem.network, selection),
    )
    made = json.loads(overlay_files(sequence, network, limits=kept)["overlay.json"])
    return {one["name"]: one["cycles"] for one in made["steps"]}


def said(problem: SelectionProblem, selection: Selection) -> dict[str, int]:
    """Cycles of every step by the model."""
    return {name: one.cycles for name, one in causes(problem.network, selection).items()}


@pytest.mark.parametrize(
    ("name", "pes"),
    [
        ("mnist-tcpa", 64),
        ("lenet5", 64),
        ("lenet5", 0),
        ("cifar10", 256),
        pytest.param("squeezenet", 0, marks=pytest.mark.slow),
    ],
)
def test_the_program_takes_the_model_s_cycles_within_5_percent(name: str, pes: int) -> None:
    network = load_layers(name)
    problem = posed(network, pes)
    selection = joint(problem, Effort()).mapping
    assert selection is not None
    verdict = verify(problem, selection)
    assert verdict.valid and verdict.cost is not None
    sequence = selection_control(network, problem.network, selection)
    files = overlay_files(sequence, network, limits=limits(problem.network, selection))
    cycles = sum(one["cycles"] for one in json.loads(files["overlay.json"])["steps"])
    assert abs(cycles - verdict.cost.cycles) <= 0.05 * verdict.cost.cycles


def test_kernels_whose_depth_is_beyond_their_buffer_come_in_parts_of_it_as_the_model_says(
    tmp_path: Path,
) -> None:
    net = NetworkBuilder("deep", 1024, 13, 13)
    x = net.convolution(net.convolution(net.input, "conv1", 160, 3), "conv2", 1024, 1)
    (tmp_path / "deep.onnx").write_bytes(
        net.model(net.convolution(x, "conv3", 130, 3), 130).SerializeToString()
    )
    network = load_layers(str(tmp_path / "deep.onnx"))
    problem = posed(network)
    able = [layer.algorithms(problem.machine) for layer in problem.network.layers]
    assert able[0] == ("kn2row",) and able[2] == ("im2col", "kn2row")
    selection = joint(problem, Effort()).mapping
    assert selection is not None and verify(problem, selection).valid
    kept = limits(problem.network, selection)
    assert [kept.parts[name][0] > 1 for name in ("conv1", "conv2", "conv3")] == [True, False, True]
    made = json.loads(
        overlay_files(selection_control(network, problem.network, selection), network, limits=kept)[
            "overlay.json"
        ]
    )
    said = {name: one.cycles for name, one in causes(problem.network, selection).items()}
    assert not beyond({one["name"]: one["cycles"] for one in made["steps"]}, said)
    assert problem.machine.board is not None and made["resources"]["uram"] <= problem.machine.board.uram


@pytest.mark.parametrize("batch", [2, 5])
def test_every_step_of_several_images_takes_what_the_model_says(batch: int) -> None:
    network = load_layers("lenet5", batch)
    problem = posed(network)
    selection = joint(problem, Effort()).mapping
    assert selection is not None
    assert not beyond(ran(problem, network, selection), said(problem, selection))


def test_maps_channel_by_channel_take_what_the_model_says(tmp_path: Path) -> None:
    """Sixteen channels of 676 positions are 676 rows of 64 lanes, or 176; so are those that one layer makes of them."""
    net = NetworkBuilder("thin", 64, 26, 26)
    thin = net.convolution(net.input, "conv1", 16, 1)
    branches = [net.convolution(thin, "conv2", 8, 1), net.convolution(thin, "conv3", 8, 3, pad=1)]
    output = net.convolution(net.concatenation("concat1", branches), "conv4", 8, 1)
    (tmp_path / "thin.onnx").write_bytes(net.model(output, 8).SerializeToString())
    network, found = load_layers(str(tmp_path / "thin.onnx")), {}
    for lies in ("tensor3d", "planes"):
        problem = replace(posed(network), array=(32, 64), stores={"conv1": lies, "concat1": lies})
        selection = joint(problem, Effort()).mapping
        assert selection is not None and verify(problem, selection).valid and selection.stores == (lies, lies)
        found[lies] = ran(problem, network, selection)
        assert not beyond(found[lies], said(problem, selection))
    whole = {lies: sum(steps.values()) for lies, steps in found.items()}
    assert whole["planes"] < whole["tensor3d"]


def test_products_of_many_groups_wait_until_all_of_them_are_fetched(tmp_path: Path) -> None:
    given, made = (make_tensor_value_info(name, 1, (2, 48, 12, 12)) for name in "xy")
    kernels = make_tensor("k", 1, [48, 1, 3, 3], [1.0] * 48 * 9)
    node = make_node("Conv", ["x", "k"], ["y"], "conv1", group=48, pads=[1] * 4)
    model = make_model(
        make_graph([node], "apart", [given], [made], [kernels]), opset_imports=[make_opsetid("", 13)]
    )
    (tmp_path / "apart.onnx").write_bytes(model.SerializeToString())
    network = load_layers(str(tmp_path / "apart.onnx"))
    problem = replace(posed(network), array=(6, 64))
    selection = joint(problem, Effort()).mapping
    assert selection is not None
    selection = replace(selection, choices=(Choice("winograd", "IS"),))
    assert not beyond(ran(problem, network, selection), said(problem, selection))


def test_half_of_the_network_s_input_lies_as_the_whole_does(tmp_path: Path) -> None:
    given, made = (make_tensor_value_info(name, 1, (1, maps, 14, 14)) for name, maps in (("x", 8), ("y", 5)))
    kernels = make_tensor("k", 1, [5, 4, 3, 3], [1.0] * 180)
    nodes = [
        make_node("Split", ["x"], ["a", "b"], axis=1),
        make_node("Conv", ["b", "k"], ["y"], "conv1", pads=[1] * 4),
    ]
    model = make_model(
        make_graph(nodes, "half", [given], [made], [kernels]), opset_imports=[make_opsetid("", 13)]
    )
    (tmp_path / "half.onnx").write_bytes(model.SerializeToString())
    network = load_layers(str(tmp_path / "half.onnx"))
    problem = replace(posed(network), array=(4, 32))
    selection = joint(problem, Effort()).mapping
    assert selection is not None
    selection = replace(selection, choices=(Choice("im2col", "NS"),))
    assert report_running(problem, selection, network, ran(problem, network, selection))["agrees"]


@pytest.mark.parametrize("op", ["Sigmoid", "HardSwish", "Tanh"])
def test_a_layer_runs_on_the_overlay_and_its_activation_without_a_unit_beside_it(
    op: str, tmp_path: Path
) -> None:
    net = NetworkBuilder("gated", 3, 9, 8)
    x = net.convolution(
        net.apply(op, "gate", net.convolution(net.input, "conv1", 6, 3, pad=1)), "conv2", 4, 1
    )
    (tmp_path / "gated.onnx").write_bytes(net.model(x, 4).SerializeToString())
    given = load_layers(str(tmp_path / "gated.onnx"))
    assert [one.op for one in given.layers[0].merged] == [op]
    network = ordered(given, posed(given).machine)
    problem = posed(network)
    selection = joint(problem, Effort()).mapping
    assert selection is not None
    steps = ran(problem, network, selection)
    assert [*steps] == ["conv1", "conv2"]
    found = report_running(problem, selection, network, steps)
    assert found["agrees"] and [one["op"] for one in found["host"]] == [op]


@pytest.mark.parametrize("objective", ["latency", "edp"])
def test_the_optimum_of_a_small_network_is_that_of_every_selection(
    objective: Literal["latency", "edp"], tmp_path: Path
) -> None:
    net = NetworkBuilder("tiny", 6, 9, 9)
    x = net.convolution(net.pool(net.convolution(net.input, "conv1", 8, 1), "pool1", 2, 2), "conv2", 5, 3)
    (tmp_path / "tiny.onnx").write_bytes(net.model(x, 5).SerializeToString())
    problem = replace(posed(load_layers(str(tmp_path / "tiny.onnx")), 4), objective=objective)
    found, every = joint(problem, Effort()), brute_force(problem, Effort())
    assert found.value == every.value and every.proven


def test_a_program_far_from_the_model_does_not_agree() -> None:
    network = load_layers("mnist-tcpa")
    problem = posed(network, 64)
    selection = joint(problem, Effort()).mapping
    assert selection is not None
    timeline = ran(problem, network, selection)
    assert report_running(problem, selection, network, timeline)["agrees"]
    longer = {name: cycles * 1.1 for name, cycles in timeline.items()}
    found = report_running(problem, selection, network, {name: int(one) for name, one in longer.items()})
    assert found["outputs_equal"] and not found["agrees"]


def test_a_layer_far_from_the_model_does_not_agree_though_the_sum_does() -> None:
    network = load_layers("mnist-tcpa")
    problem = posed(network, 64)
    selection = joint(problem, Effort()).mapping
    assert selection is not None
    timeline = said(problem, selection)
    timeline["conv0"] += 200
    timeline["conv2"] -= 200
    found = report_running(problem, selection, network, timeline)
    assert found["outputs_equal"] and not found["agrees"]
    assert set(found["physical"]["beyond"]) <= {"conv0", "conv2"} and found["physical"]["beyond"]
    assert any("conv0 (+" in line or "conv2 (-" in line for line in found["notes"])


def test_sides_are_no_longer_than_dram_feeds() -> None:
    problem = posed(load_layers("lenet5"))
    assert problem.allows((47, 128)) and not problem.allows((31, 196))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["lenet5", "mnist-tcpa", "cifar10"])
def test_the_verilog_of_16x16_pes_takes_the_model_s_cycles_within_5_percent(name: str) -> None:
    network = load_layers(name)
    problem = replace(posed(network), array=(16, 16))
    selection = joint(problem, Effort()).mapping
    assert selection is not None
    cost = verify(problem, selection).cost
    assert cost is not None
    sequence = selection_control(network, problem.network, selection)
    said = causes(problem.network, selection)
    files = overlay_files(sequence, network, limits=limits(problem.network, selection))
    done = report_rtl(sequence, network, files, cost.cycles, said)
    assert done["outputs_equal"] and done["agrees"]
