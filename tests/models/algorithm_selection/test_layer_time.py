"""What the model says of a layer on the generated overlay is what the generated program takes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mapper.arch.overlay import OverlayMachine
from mapper.arch.source import load_machine
from mapper.codegen.algorithm_selection import overlay_files
from mapper.formulations.algorithm_selection.problem import Pin, SelectionProblem
from mapper.kind.algorithm_selection.part import limits
from mapper.models.algorithm_selection.choice import Algorithm, Dataflow
from mapper.models.algorithm_selection.control.selection import selection_control
from mapper.models.algorithm_selection.cost import evaluate
from mapper.models.algorithm_selection.layer_cause import causes
from mapper.models.algorithm_selection.overlay.building import overlay_network
from mapper.models.algorithm_selection.overlay.order import ordered
from mapper.models.algorithm_selection.stream_time import one_array, pool_time
from mapper.sim.algorithm_selection.agreement import beyond
from mapper.solver.algorithm_selection.exact.joint import joint
from mapper.solver.method import Effort
from mapper.workloads.network.builder import NetworkBuilder
from mapper.workloads.network.network_layer import LayerNetwork
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
        # Kernels that are read while a pool's last maps, and those of a flattened map, come from no DRAM.
        ("mnist-tcpa", (8, 8)),
        # Groups whose kernels are loaded in parts, and kernels that follow parts of the depth.
        ("alexnet", (46, 128)),
        # A layer that begins early, and the kernels of the layer after it.
        pytest.param("inception-v2", (58, 100), marks=pytest.mark.slow),
        # Stores that hold a layer up, while the kernels of the next are read.
        ("resnet18", (64, 64)),
        # A layer that begins beside a pool, which it holds up.
        pytest.param("inception-v4", (59, 103), marks=pytest.mark.slow),
    ],
)
def test_every_layer_takes_what_the_model_says_of_it(name: str, array: tuple[int, int]) -> None:
    problem = _problem(name, array)
    found = joint(problem, Effort()).mapping
    assert found is not None
    network, kept = load_layers(name), limits(problem.network, found)
    files = overlay_files(selection_control(network, problem.network, found), network, limits=kept)
    steps = {one["name"]: one["cycles"] for one in json.loads(files["overlay.json"])["steps"]}
    said = {name: own.cycles for name, own in causes(problem.network, found).items()}
    assert not beyond(steps, said)


@pytest.mark.parametrize(
    ("name", "array", "pins"),
    [
        # A pool is over when the next kernels are read: in the last part of the ones before.
        ("googlenet", (89, 67), {"conv22": ("im2col", "IS", 2), "conv23": ("im2col", "NS", 1)}),
        # A layer in parts begins before the store of the one before by all that comes before its second product.
        ("inception-v2", (64, 64), {"conv58": ("winograd", "IS", 3), "conv59": ("im2col", "WS", 2)}),
    ],
)
def test_layers_with_kernels_in_parts_take_what_the_model_says_of_them(
    name: str, array: tuple[int, int], pins: dict[str, tuple[Algorithm, Dataflow, int]]
) -> None:
    machine, _ = load_machine("dynamap-u200")
    assert isinstance(machine, OverlayMachine)
    network = ordered(load_layers(name), machine)
    given = {
        layer: Pin(frozenset({algorithm}), frozenset({dataflow}), frozenset({parts}))
        for layer, (algorithm, dataflow, parts) in pins.items()
    }
    problem = SelectionProblem(overlay_network(network, machine), array=array, pins=given)
    found = joint(problem, Effort()).mapping
    assert found is not None
    kept = limits(problem.network, found)
    files = overlay_files(selection_control(network, problem.network, found), network, limits=kept)
    steps = {one["name"]: one["cycles"] for one in json.loads(files["overlay.json"])["steps"]}
    said = {layer: own.cycles for layer, own in causes(problem.network, found).items()}
    assert not beyond({layer: steps[layer] for layer in pins}, said)


def test_kernels_behind_parts_of_a_depth_have_the_last_product_before_them() -> None:
    machine, network = load_machine("dynamap-u200")[0], load_layers("zfnet512", batch=5)
    assert isinstance(machine, OverlayMachine)
    problem = SelectionProblem(overlay_network(network, machine), array=(47, 128))
    found = joint(problem, Effort()).mapping
    assert found is not None
    kept = limits(problem.network, found)
    assert kept.parts["gemm1"][0] > 1
    files = overlay_files(selection_control(network, problem.network, found), network, limits=kept)
    steps = {one["name"]: one["cycles"] for one in json.loads(files["overlay.json"])["steps"]}
    said = {layer: own.cycles for layer, own in causes(problem.network, found).items()}
    assert not beyond(steps, said)


def branching(folder: Path) -> LayerNetwork:
    """A pool and, behind it in the file, a convolution that reads what the pool reads."""
    net = NetworkBuilder("branching", 8, 40, 40)
    x = net.convolution(net.input, "conv1", 16, 3, pad=1)
    pool = net.pool(x, "pool1", 3, 2)
    y = net.convolution(
        net.concatenation("concat1", [pool, net.convolution(x, "conv2", 12, 3, 2)]), "conv3", 16, 1
    )
    (folder / "branching.onnx").write_bytes(net.model(y, 1).SerializeToString())
    return load_layers(str(folder / "branching.onnx"))


def test_a_layer_that_does_not_read_the_pool_before_it_begins_beside_it_and_holds_it_up(
    tmp_path: Path,
) -> None:
    network, machine = branching(tmp_path), load_machine("dynamap-u200")[0]
    assert isinstance(machine, OverlayMachine)
    problem = SelectionProblem(overlay_network(network, machine), array=(16, 16))
    found = joint(problem, Effort()).mapping
    assert found is not None and problem.network.running.beside == {1}
    files = overlay_files(selection_control(network, problem.network, found), network)
    steps = {one["name"]: one["cycles"] for one in json.loads(files["overlay.json"])["steps"]}
    said = causes(problem.network, found)
    # The pool waits for kernels, of which the model does not count until when the first of them is fetched.
    assert not beyond({name: steps[name] for name in ("pool1", "conv2")}, {n: said[n].cycles for n in said})
    pool, alone = problem.network.running.pools[0], one_array((16, 16))
    assert machine.engines is not None
    assert said["pool1"].cycles > pool_time(pool, alone, machine.engines)[0]
    assert sum(one.cycles for one in said.values()) == evaluate(problem.network, found).cycles


def test_small_differences_of_small_layers_are_none_and_others_are_named() -> None:
    assert beyond({"small": 148, "large": 10_400, "none": 0}, {"small": 100, "large": 10_000}) == {}
    assert beyond({"small": 149, "large": 10_501, "none": 49}, {"small": 100, "large": 10_000}) == {
        "small": 0.49,
        "large": 0.0501,
        "none": 1.0,
    }


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
