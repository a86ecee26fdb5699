"""Small networks from end to end on the overlay's Verilog."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

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
from mapper.codegen.algorithm_selection.cutting import cuts
from mapper.codegen.algorithm_selection.overlay import overlay_files
from mapper.codegen.algorithm_selection.piece import Limits
from mapper.codegen.algorithm_selection.program import (
    dram_words,
    parameters,
    programs,
    timeline,
)
from mapper.models.algorithm_selection.choice import Algorithm, Choice, Dataflow
from mapper.models.algorithm_selection.control.sequence import Control, control
from mapper.models.algorithm_selection.number.seeded import seeded_numbers
from mapper.models.algorithm_selection.overlay.on_the_way import pooled
from mapper.models.algorithm_selection.overlay.order import ordered
from mapper.sim.algorithm_selection.network import seeded_inputs
from mapper.sim.algorithm_selection.rtl.machine import lint
from mapper.sim.algorithm_selection.rtl.network import RtlStep, report_rtl, run_network
from mapper.workloads.nest.layer_nest import Convolution
from mapper.workloads.network.builder import NetworkBuilder
from mapper.workloads.network.network_layer import LayerNetwork
from mapper.workloads.source import load_layers
from tests.sim.algorithm_selection.rtl.overlay_bench import DRAM_WORDS, layer_control, machine, sizes


def small_network(folder: Path) -> LayerNetwork:
    """Two convolutions with a pool between them, and a fully connected layer on maps of more than one pixel."""
    net = NetworkBuilder("small", 3, 10, 9)
    x = net.apply("Relu", "relu1", net.convolution(net.input, "conv1", 5, 3, pad=1))
    x = net.convolution(net.pool(x, "pool1", 2, 2), "conv2", 4, 3)
    x = net.linear(net.apply("Flatten", "flatten", x), "fc1", 4 * 3 * 2, 7)
    path = folder / "small.onnx"
    path.write_bytes(net.model(x, 7).SerializeToString())
    return load_layers(str(path))


def branching_network(folder: Path) -> LayerNetwork:
    """Branches of a convolution and of a pool that are concatenated, and LeakyReLU."""
    net = NetworkBuilder("branching", 3, 8, 7)
    x = net.apply("LeakyRelu", "leaky1", net.convolution(net.input, "conv1", 5, 3, pad=1), alpha=0.1)
    left, right = net.convolution(x, "conv2", 6, 1), net.pool(x, "pool1", 1, 1)
    x = net.convolution(net.concatenation("concat1", [left, right]), "conv3", 4, 3)
    path = folder / "branching.onnx"
    path.write_bytes(net.model(x, 4).SerializeToString())
    return load_layers(str(path))


def crossing_network(folder: Path) -> LayerNetwork:
    """Layers that read what the layer before has not made: the input, or what the layer before that has."""
    net = NetworkBuilder("crossing", 4, 7, 6)
    first = net.convolution(net.input, "conv1", 5, 1)
    second = net.convolution(net.input, "conv2", 10, 3, pad=1)
    third = net.convolution(first, "conv3", 9, 3, pad=1)
    fourth = net.convolution(net.input, "conv4", 6, 1)
    whole = net.concatenation("concat1", [second, third, fourth])
    path = folder / "crossing.onnx"
    path.write_bytes(net.model(net.convolution(whole, "conv5", 4, 3), 4).SerializeToString())
    return load_layers(str(path))


def viewing_network(folder: Path) -> LayerNetwork:
    """Channels that are shuffled beside the overlay, as maps of five axes, and halves of maps."""
    relation = [make_tensor("apart", 7, [5], [1, 2, 3, 7, 6]), make_tensor("joined", 7, [4], [1, 6, 7, 6])]
    kernels = {"k1": (6, 4, 1, 1), "k2": (6, 1, 3, 3), "k3": (5, 3, 3, 3), "k4": (4, 3, 1, 1)}
    weights = [make_tensor(name, 1, size, [1.0] * math.prod(size)) for name, size in kernels.items()]
    nodes = [
        make_node("Conv", ["x", "k1"], ["a"], "conv1"),
        make_node("Reshape", ["a", "apart"], ["b"]),
        make_node("Transpose", ["b"], ["c"], "transpose1", perm=[0, 2, 1, 3, 4]),
        make_node("Reshape", ["c", "joined"], ["d"]),
        make_node("Conv", ["d", "k2"], ["e"], "conv2", group=6, pads=[1] * 4),
        make_node("Split", ["e"], ["f", "g"], axis=1),
        make_node("Conv", ["f", "k3"], ["h"], "conv3", pads=[1] * 4),
        make_node("Conv", ["g", "k4"], ["i"], "conv4"),
        make_node("Concat", ["h", "i"], ["y"], axis=1),
    ]
    given, made = (make_tensor_value_info(name, 1, (1, maps, 7, 6)) for name, maps in (("x", 4), ("y", 9)))
    graph = make_graph(nodes, "viewing", [given], [made], [*relation, *weights])
    path = folder / "viewing.onnx"
    path.write_bytes(make_model(graph, opset_imports=[make_opsetid("", 13)]).SerializeToString())
    return load_layers(str(path))


def steps(
    array: tuple[int, int], network: LayerNetwork, sequence: Control, limits: Limits | None = None
) -> tuple[RtlStep, ...]:
    assert dram_words(sequence) <= DRAM_WORDS
    sequence = replace(sequence, wires=sizes(array).wires)
    numbers, inputs = seeded_numbers(network, 11), seeded_inputs(network, 11)
    files = overlay_files(sequence, network, numbers, limits)
    return run_network(machine(array), sequence, network, files, numbers, inputs)


@pytest.mark.parametrize(
    ("array", "first", "second", "dataflow"),
    [
        ((4, 4), "im2col", "winograd", "NS"),
        ((4, 4), "winograd", "kn2row", "WS"),
        ((3, 5), "kn2row", "im2col", "IS"),
        ((3, 5), "winograd", "winograd", "NS"),
    ],
)
def test_a_small_network_leaves_in_dram_what_the_functional_model_leaves(
    array: tuple[int, int], first: Algorithm, second: Algorithm, dataflow: Dataflow, tmp_path: Path
) -> None:
    network = small_network(tmp_path)
    choices = {
        "conv1": Choice(first, dataflow),
        "conv2": Choice(second, dataflow),
        "gemm1": Choice("im2col", dataflow),
    }
    done = steps(array, network, control(network, array, choices, {}))
    assert [one.name for one in done] == ["conv1", "pool1", "conv2", "gemm1"]
    assert all(one.equal for one in done), done
    # To a cycle: the last of a run is not followed by another.
    assert all(abs(one.cycles - one.timeline) <= 1 for one in done), done


def test_pools_and_additions_of_halves_of_maps_run_beside_the_overlay(tmp_path: Path) -> None:
    kernels = make_tensor("k", 1, [3, 4, 1, 1], [1.0] * 12)
    nodes = [
        make_node("Conv", ["x", "k"], ["a"], "conv1"),
        make_node("Split", ["x"], ["b", "c"], axis=1),
        make_node("Add", ["b", "c"], ["d"], "add1"),
        make_node("MaxPool", ["c"], ["e"], "pool1", kernel_shape=[3, 3], pads=[1] * 4),
        make_node("Relu", ["b"], ["f"], "relu1"),
        make_node("Concat", ["d", "e"], ["g"], axis=1),
        make_node("Conv", ["g", "k"], ["h"], "conv2"),
        make_node("Concat", ["a", "h", "f"], ["y"], axis=1),
    ]
    given, made = (make_tensor_value_info(name, 1, (1, maps, 6, 5)) for name, maps in (("x", 4), ("y", 8)))
    graph = make_graph(nodes, "halves", [given], [made], [kernels])
    path = tmp_path / "halves.onnx"
    path.write_bytes(make_model(graph, opset_imports=[make_opsetid("", 13)]).SerializeToString())
    network = load_layers(str(path))
    choices = {name: Choice("im2col", "NS") for name in ("conv1", "conv2")}
    plain = dict.fromkeys(network.operators.tensors)
    done = steps((4, 4), network, control(network, (4, 4), choices, plain))
    assert [one.name for one in done if "concat" not in one.name] == ["conv1", "conv2"]
    assert all(one.equal for one in done), done


@pytest.mark.parametrize("algorithm", ["im2col", "kn2row", "winograd"])
def test_shuffled_channels_and_halves_of_maps_are_read_where_they_lie(
    algorithm: Algorithm, tmp_path: Path
) -> None:
    network = viewing_network(tmp_path)
    choices = {name: Choice("im2col", "NS") for name in ("conv1", "conv4")}
    choices |= {name: Choice(algorithm, "WS") for name in ("conv2", "conv3")}
    done = steps((4, 4), network, control(network, (4, 4), choices, dict.fromkeys(network.operators.tensors)))
    assert [one.name for one in done if "conv" in one.name] == ["conv1", "conv2", "conv3", "conv4"]
    assert all(one.equal for one in done), done


def test_parts_of_a_concatenation_are_written_side_by_side(tmp_path: Path) -> None:
    network = branching_network(tmp_path)
    choices = {name: Choice("im2col", "NS") for name in ("conv1", "conv2", "conv3")}
    plain = dict.fromkeys(network.operators.tensors)
    done = steps((4, 4), network, control(network, (4, 4), choices, plain))
    assert [one.name for one in done] == ["conv1", "conv2", "pool1", "concat1", "conv3"]
    assert all(one.equal for one in done), done
    assert done[3].cycles == 0


PARTS = [{}, {"conv2": 3}, {"conv2": 2, "conv3": 3}, {"conv3": 2, "conv4": 2}]
AHEAD = [
    pytest.param(*one, parts, marks=() if at in (place, 3 - place) else pytest.mark.slow)
    for place, one in enumerate(
        (((4, 4), "winograd", "NS"), ((4, 4), "im2col", "WS"), ((3, 5), "kn2row", "IS"))
    )
    for at, parts in enumerate(PARTS)
]
"""Parts of two sorts with every algorithm; `make slow` has all of them."""


@pytest.mark.parametrize(("array", "algorithm", "dataflow", "parts"), AHEAD)
def test_inputs_and_parts_of_kernels_are_loaded_ahead(
    array: tuple[int, int], algorithm: Algorithm, dataflow: Dataflow, parts: dict[str, int], tmp_path: Path
) -> None:
    network = crossing_network(tmp_path)
    choices = {name: Choice(algorithm, dataflow) for name in ("conv2", "conv3", "conv5")}
    choices |= {name: Choice("im2col", dataflow) for name in ("conv1", "conv4")}
    limits = Limits(parts={name: (1, own) for name, own in parts.items()}, kept=frozenset(parts), ahead=True)
    plain = dict.fromkeys(network.operators.tensors)
    done = steps(array, network, control(network, array, choices, plain), limits)
    assert [one.name for one in done] == ["conv1", "conv2", "conv3", "conv4", "concat1", "conv5"]
    assert all(one.equal for one in done), done
    assert all(abs(one.cycles - one.timeline) <= 1 for one in done), done
    alone = steps(array, network, control(network, array, choices, plain), replace(limits, ahead=False))
    assert sum(one.cycles for one in done) < sum(one.cycles for one in alone)


def pooling_network(folder: Path, maps: int, pads: int) -> LayerNetwork:
    """A max pool that alone reads a convolution's results."""
    net = NetworkBuilder("pooling", 3, 11, 9)
    x = net.apply("LeakyRelu", "leaky1", net.convolution(net.input, "conv1", maps, 3, pad=1), alpha=0.1)
    x = net.apply("MaxPool", "pool1", x, kernel_shape=[3, 3], strides=[2, 2], pads=[pads] * 4)
    path = folder / "pooling.onnx"
    path.write_bytes(net.model(net.convolution(x, "conv2", 4, 1), 4).SerializeToString())
    return load_layers(str(path), 2)


@pytest.mark.parametrize("room", [None, 200])
@pytest.mark.parametrize(
    ("array", "algorithm", "maps", "pads"), [((4, 4), "im2col", 7, 1), ((3, 5), "kn2row", 9, 0)]
)
def test_a_max_pool_takes_results_on_their_way_whatever_the_pieces(
    array: tuple[int, int], algorithm: Algorithm, maps: int, pads: int, room: int | None, tmp_path: Path
) -> None:
    network = pooling_network(tmp_path, maps, pads)
    choices = {"conv1": Choice(algorithm, "NS"), "conv2": Choice("im2col", "NS")}
    sequence = control(network, array, choices, dict.fromkeys(network.operators.tensors))
    done = steps(array, network, sequence, Limits(result=room, pooled=pooled(network)))
    assert [one.name for one in done] == ["conv1", "pool1", "conv2"] and done[1].cycles == 0
    assert all(one.equal for one in done), done
    assert all(abs(one.cycles - one.timeline) <= 1 for one in done), done
    apart = steps(array, network, sequence, Limits(result=room))
    assert sum(one.cycles for one in done) < sum(one.cycles for one in apart)


def test_kernels_wait_for_a_pool_that_another_branch_runs_beside(tmp_path: Path) -> None:
    net = NetworkBuilder("first", 4, 7, 6)
    x = net.convolution(net.input, "conv1", 6, 1)
    pool = net.apply("MaxPool", "pool1", x, kernel_shape=[3, 3], strides=[1, 1], pads=[1] * 4)
    left = net.convolution(net.convolution(x, "conv2", 12, 3, pad=1), "conv3", 20, 1)
    whole = net.concatenation("concat1", [left, net.convolution(pool, "conv4", 5, 1)])
    path = tmp_path / "first.onnx"
    path.write_bytes(net.model(net.convolution(whole, "conv5", 4, 1), 4).SerializeToString())
    machine, _ = load_machine("dynamap-u200")
    assert isinstance(machine, OverlayMachine)
    network = ordered(load_layers(str(path)), machine)
    names = [layer.name for layer in network.layers]
    assert names == ["conv1", "pool1", "conv2", "conv3", "conv4", "concat1", "conv5"]
    choices = {name: Choice("im2col", "NS") for name in names if name.startswith("conv")}
    sequence = control(network, (4, 4), choices, dict.fromkeys(network.operators.tensors))
    done = steps((4, 4), network, sequence, Limits(ahead=True))
    assert all(one.equal for one in done), done
    assert all(abs(one.cycles - one.timeline) <= 1 for one in done), done


def summing_network(folder: Path) -> LayerNetwork:
    """Averages whose windows reach beyond the map, ReLU6, an addition with ReLU, and a global average."""
    net = NetworkBuilder("summing", 3, 9, 8)
    x = net.apply("Relu", "relu1", net.convolution(net.input, "conv1", 5, 3, pad=1))
    mean = net.apply("AveragePool", "mean1", x, kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1])
    x = net.apply("Relu", "relu2", net.convolution(mean, "conv2", 5, 3, pad=1))
    x = net.apply("Relu", "relu3", net.apply("Add", "add1", x, mean))
    x = net.apply("GlobalAveragePool", "mean2", x)
    path = folder / "summing.onnx"
    path.write_bytes(net.model(x, 5).SerializeToString())
    return load_layers(str(path))


def test_averages_and_additions_run_on_the_overlay(tmp_path: Path) -> None:
    network = summing_network(tmp_path)
    choices = {name: Choice("im2col", "NS") for name in ("conv1", "conv2")}
    plain = dict.fromkeys(network.operators.tensors)
    done = steps((4, 4), network, control(network, (4, 4), choices, plain))
    assert [one.name for one in done] == ["conv1", "pool1", "conv2", "add1", "pool2"]
    assert all(one.equal for one in done), done
    assert all(abs(one.cycles - one.timeline) <= 1 for one in done), done


def test_generated_files_lint_and_say_what_runs_beside_the_overlay() -> None:
    network = load_layers("alexnet")
    choices = {
        layer.name: Choice("im2col", "NS")
        for layer in network.layers
        if layer.work in ("convolution", "fully_connected")
    }
    sequence = control(network, (8, 8), choices, {})
    files = overlay_files(sequence, network)
    assert lint({name.removeprefix("rtl/"): text for name, text in files.items()}) == []
    assert "beside the overlay, which waits for `resume`: lrn1: lrn: has no unit" in files["listing.txt"]
    own = parameters(sequence, programs(sequence, network, cuts(sequence, timeline(sequence))))
    assert own.control_lines == len(files["control.hex"].split())


@pytest.mark.parametrize(
    ("shape", "algorithm", "reason"),
    [
        (
            Convolution(1, 2, 8192, (6, 6), (3, 3), (1, 1), (1, 1), ((0, 0), (0, 0))),
            "winograd",
            "pass 32 bits",
        ),
        (Convolution(1, 2, 2, (4, 4), (2, 2), (1, 1), (1, 1), ((1, 1), (1, 1))), "kn2row", "longer than"),
        (Convolution(1, 2, 2, (260, 260), (1, 1), (1, 1), (1, 1), ((0, 0), (0, 0))), "im2col", "65535"),
    ],
)
def test_a_layer_that_the_verilog_cannot_run_stays_beside_it_and_says_why(
    shape: Convolution, algorithm: Algorithm, reason: str
) -> None:
    (program,) = programs(layer_control(shape, Choice(algorithm, "NS")))
    assert not program.instructions and reason in program.reason


@pytest.mark.slow
def test_lenet5_runs_on_the_overlay_that_is_generated_for_it() -> None:
    network = load_layers("lenet5")
    choices = {
        "conv1": Choice("im2col", "NS"),
        "conv2": Choice("kn2row", "WS"),
        "gemm1": Choice("im2col", "IS"),
        "gemm2": Choice("im2col", "NS"),
    }
    sequence = control(network, (8, 8), choices, {})
    done = report_rtl(sequence, network, overlay_files(sequence, network), 1, {}, 5)
    assert done["outputs_equal"] and len(done["steps"]) == 6 and not done["agrees"]
    assert abs(done["cycles"] - sum(one["timeline"] for one in done["steps"])) <= 1
