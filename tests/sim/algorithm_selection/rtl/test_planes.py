"""Maps that lie in DRAM channel by channel: where, who reads and writes them, and word by word on the Verilog."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from mapper.codegen.algorithm_selection.cutting import cuts
from mapper.codegen.algorithm_selection.instruction import Level, Move, at
from mapper.codegen.algorithm_selection.overlay import overlay_files
from mapper.codegen.algorithm_selection.piece import Limits
from mapper.codegen.algorithm_selection.program import programs, timeline
from mapper.models.algorithm_selection.choice import Algorithm, Choice, Dataflow
from mapper.models.algorithm_selection.control.sequence import Control, control
from mapper.models.algorithm_selection.number.network_number import HIGHEST, LOWEST, Format, NetworkNumbers
from mapper.models.algorithm_selection.number.seeded import seeded_numbers
from mapper.sim.algorithm_selection.network import seeded_inputs
from mapper.sim.algorithm_selection.rtl.network import run_network
from mapper.workloads.nest.layer_nest import Convolution
from mapper.workloads.network.builder import NetworkBuilder
from mapper.workloads.network.network_layer import LayerNetwork
from mapper.workloads.source import load_layers
from tests.sim.algorithm_selection.rtl.overlay_bench import layer_control, machine, sizes

NO_PATH = "channel by channel, for which the Verilog has no path"


def fire(folder: Path, images: int) -> LayerNetwork:
    """A fire module, concatenated once more with another convolution before what reads it."""
    net = NetworkBuilder("fire", 3, 7, 6)
    x = net.apply("Relu", "relu1", net.convolution(net.input, "squeeze", 6, 1))
    both = [net.convolution(x, "expand1", 7, 1), net.convolution(x, "expand3", 9, 3, pad=1)]
    inner = net.concatenation("inner", both)
    whole = net.concatenation("outer", [net.convolution(net.input, "side", 3, 3, pad=1), inner])
    path = folder / "fire.onnx"
    path.write_bytes(net.model(net.convolution(whole, "last", 5, 1), 5).SerializeToString())
    return load_layers(str(path), images)


def numbers_with_zeros(network: LayerNetwork, zeros: Mapping[str, int]) -> NetworkNumbers:
    """Drawn ones, of maps that have zero points in DRAM."""
    numbers = seeded_numbers(network, 11)
    layers = dict(numbers.layers)
    for layer in network.layers:
        rounding, zero = layers[layer.name].rounding, zeros.get(layer.output, 0)
        if rounding is not None:
            within = replace(rounding, lowest=max(rounding.lowest, LOWEST - zero), highest=HIGHEST - zero)
            layers[layer.name] = replace(layers[layer.name], rounding=within)
    return replace(numbers, layers=layers, formats={name: Format(zero=zero) for name, zero in zeros.items()})


def in_planes(
    network: LayerNetwork,
    array: tuple[int, int],
    whole: str = "",
    pointwise: Algorithm = "im2col",
    dataflow: Dataflow = "NS",
    algorithm: Algorithm = "kn2row",
) -> Control:
    """What the squeezing layer makes, and a ``whole`` of concatenated maps."""
    choices = {
        layer.name: Choice(algorithm if layer.convolution.kernel == (3, 3) else pointwise, dataflow)
        for layer in network.layers
        if layer.work == "convolution"
    }
    planes = frozenset(network.layer(name).output for name in ("conv1", whole) if name)
    plain = dict.fromkeys(network.operators.tensors)
    return replace(control(network, array, choices, plain, planes=planes), wires=sizes(array).wires)


MANY = Limits(parts={"conv3": (2, 2), "conv5": (1, 2)}, pieces={"conv1": 3, "conv2": 2, "conv4": 3})
MORE = Limits(
    parts={"conv2": (1, 3), "conv3": (3, 1)}, pieces={"conv1": 4, "conv4": 2, "conv5": 7}, ahead=True
)


@pytest.mark.parametrize(
    ("array", "images", "pointwise", "dataflow", "limits"),
    [((4, 4), 2, "im2col", "WS", MANY), ((3, 5), 1, "kn2row", "IS", MORE)],
)
def test_a_fire_module_in_planes_leaves_what_the_functional_model_leaves(
    array: tuple[int, int],
    images: int,
    pointwise: Algorithm,
    dataflow: Dataflow,
    limits: Limits,
    tmp_path: Path,
) -> None:
    network = fire(tmp_path, images)
    sequence = in_planes(network, array, "concat2", pointwise, dataflow)
    squeezed, *others = [one.tensor for one in sequence.regions if one.layout == "planes"]
    numbers = numbers_with_zeros(network, dict.fromkeys(others, -17) | {squeezed: 9})
    files = overlay_files(sequence, network, numbers, limits)
    done = run_network(machine(array), sequence, network, files, numbers, seeded_inputs(network, 11))
    names = ["conv1", "conv2", "conv3", "concat1", "conv4", "concat2", "conv5"]
    assert [one.name for one in done] == names
    assert all(one.equal for one in done), done
    # To a cycle: the last of a run is not followed by another.
    assert all(abs(one.cycles - one.timeline) <= 1 for one in done), done


def test_parts_of_a_concatenation_in_planes_lie_one_after_the_other(tmp_path: Path) -> None:
    network = fire(tmp_path, 2)
    sequence = in_planes(network, (4, 4), "concat2")
    names = ("concat2", "conv4", "concat1", "conv2", "conv3")
    regions = {name: sequence.region(network.layer(name).output) for name in names}
    begin, plane = regions["concat2"].address, 7 * 6
    first = {name: (one.address - begin) // plane for name, one in regions.items()}
    assert first == {"concat2": 0, "conv4": 0, "concat1": 3, "conv2": 3, "conv3": 10}
    assert [one.pitch for one in regions.values()] == [0, 19, 19, 19, 19]
    assert all(one.layout == "planes" for one in regions.values())
    alone = in_planes(network, (4, 4))
    assert [one.layout for one in alone.regions].count("planes") == 1


def test_lanes_are_positions_of_one_channel(tmp_path: Path) -> None:
    network = fire(tmp_path, 2)
    sequence, limits = in_planes(network, (4, 4), "concat2"), Limits(pieces={"conv3": 2})
    counts = cuts(sequence, timeline(sequence), limits)
    made = {one.name: one.instructions for one in programs(sequence, network, counts)}
    moves = [one for one in reversed(made["conv3"]) if isinstance(one, Move)]
    load = next(one for one in moves if one.target == "input")
    store = next(one for one in moves if one.source == "result")
    # The second image's rows from the fourth on, of which the first window begins a row above.
    given, own = (sequence.region(network.layer(name).output) for name in ("conv1", "conv3"))
    assert load.taken.start == given.address + 6 * 42 + 2 * 6 and load.taken.rows(4) == 8 * 6
    assert load.taken.levels == (Level(5 * 6, 1), Level(6, 42))
    assert load.put.levels == (Level(5 * 6, at(1, 0)), Level(6, at(0, 1)))
    assert store.taken.levels == (Level(4 * 6, at(1, 0)), Level(9, at(0, 1)))
    assert store.put.start == own.address + 19 * 42 + 3 * 6
    assert store.put.levels == (Level(4 * 6, 1), Level(9, 42))


def test_pools_and_whoever_else_has_no_path_for_planes_run_beside_the_overlay(tmp_path: Path) -> None:
    net = NetworkBuilder("beside", 3, 6, 5)
    x = net.convolution(net.input, "squeeze", 4, 1)
    same = {"kernel_shape": [3, 3], "strides": [1, 1], "pads": [1] * 4}
    made = [net.apply("MaxPool", "largest", x, **same), net.apply("AveragePool", "mean", x, **same)]
    made += [
        net.apply("Relu", "relu1", x),
        net.apply("Add", "sum", x, x),
        net.convolution(x, "wide", 4, 3, 1, 1),
    ]
    whole = net.concatenation("whole", made)
    (tmp_path / "net.onnx").write_bytes(
        net.model(net.convolution(whole, "last", 2, 1), 2).SerializeToString()
    )
    network = load_layers(str(tmp_path / "net.onnx"))
    steps = in_planes(network, (4, 4), algorithm="winograd")
    reasons = [one.reason for one in programs(steps, network) if one.reason]
    assert len(reasons) == 5 and all(NO_PATH in one for one in reasons), reasons


@pytest.mark.parametrize("end", [0, 1])
@pytest.mark.parametrize(
    ("algorithm", "kernel", "stride", "pad", "groups", "ends"),
    [
        ("im2col", 1, 1, 0, 1, ()),
        ("kn2row", 3, 1, 1, 1, ()),
        ("kn2row", 3, 1, 0, 1, (1,)),
        ("kn2row", 3, 1, 1, 2, (0,)),
        ("kn2row", 1, 2, 0, 1, (0,)),
        ("im2col", 3, 1, 1, 1, (0,)),
        ("im2col", 1, 2, 0, 1, (0,)),
        ("winograd", 3, 1, 1, 1, (0, 1)),
    ],
)
def test_which_layers_read_planes_and_which_write_them(
    algorithm: Algorithm, kernel: int, stride: int, pad: int, groups: int, ends: tuple[int, ...], end: int
) -> None:
    sides = ((kernel, kernel), (stride, stride), (1, 1), ((pad, pad), (pad, pad)))
    sequence = layer_control(
        Convolution(1, 4, 6, (6, 5), *sides, groups), Choice(algorithm, "NS"), stored="tensor3d"
    )
    regions = list(sequence.regions)
    regions[end] = replace(regions[end], layout="planes")
    (program,) = programs(replace(sequence, regions=tuple(regions)))
    assert (NO_PATH in program.reason) == (not program.instructions) == (end in ends)
