"""Maps that stay on the chip of the generated overlay: in the program, in the Verilog, and beside the model."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest

from mapper.codegen.algorithm_selection.cutting import cuts
from mapper.codegen.algorithm_selection.instruction import Move
from mapper.codegen.algorithm_selection.layout.store_program import staying_places
from mapper.codegen.algorithm_selection.overlay import overlay_files
from mapper.codegen.algorithm_selection.piece import Limits
from mapper.codegen.algorithm_selection.program import programs, timeline
from mapper.kind.algorithm_selection.numbers import run_of
from mapper.kind.algorithm_selection.part import read_network
from mapper.models.algorithm_selection.choice import Algorithm, Choice, Dataflow
from mapper.models.algorithm_selection.control.sequence import Control, control
from mapper.models.algorithm_selection.number.seeded import seeded_numbers
from mapper.models.algorithm_selection.overlay.running import running
from mapper.sim.algorithm_selection.network import seeded_inputs
from mapper.sim.algorithm_selection.rtl.network import RtlStep, run_network
from mapper.workloads.network.builder import NetworkBuilder
from mapper.workloads.network.network import NO_DIMS
from mapper.workloads.network.network_layer import LayerNetwork
from mapper.workloads.source import load_layers
from tests.sim.algorithm_selection.quantised import QuantisedBuilder
from tests.sim.algorithm_selection.rtl.overlay_bench import machine, sizes
from tests.sim.trace_partition.onnx_layer import layers, model, node

ROOM = Limits(tensor=1 << 14)


def chain(folder: Path) -> LayerNetwork:
    """Three convolutions in a row, a pool, and two fully connected layers in a row."""
    net = NetworkBuilder("chain", 3, 10, 9)
    x = net.apply("Relu", "relu1", net.convolution(net.input, "conv1", 7, 3, pad=1))
    x = net.apply("Relu", "relu2", net.convolution(x, "conv2", 6, 3, pad=1))
    x = net.pool(net.convolution(x, "conv3", 5, 3, 2), "pool1", 2, 2)
    x = net.linear(net.apply("Flatten", "flatten", x), "fc1", 5 * 2 * 2, 12)
    path = folder / "chain.onnx"
    path.write_bytes(
        net.model(net.linear(net.apply("Relu", "relu3", x), "fc2", 12, 4), 4).SerializeToString()
    )
    return load_layers(str(path))


def kept(
    network: LayerNetwork, array: tuple[int, int], algorithms: dict[str, Algorithm], dataflow: Dataflow = "NS"
) -> Control:
    """All maps stay that may."""
    names = [one.name for one in network.layers if one.work in ("convolution", "fully_connected")]
    choices = {name: Choice(algorithms.get(name, "im2col"), dataflow) for name in names}
    direct = running(network, {name: at for at, name in enumerate(names)}).direct
    stay = frozenset(network.layer(names[at]).inputs[0].memory for at in direct)
    plain = dict.fromkeys(network.operators.tensors)
    return replace(control(network, array, choices, plain, stay), wires=sizes(array).wires)


def steps(network: LayerNetwork, sequence: Control, limits: Limits = ROOM) -> tuple[RtlStep, ...]:
    files = overlay_files(sequence, network, seeded_numbers(network, 11), limits)
    numbers, inputs = seeded_numbers(network, 11), seeded_inputs(network, 11)
    return run_network(machine(sequence.array), sequence, network, files, numbers, inputs)


def moves(network: LayerNetwork, sequence: Control, limits: Limits = ROOM) -> list[Move]:
    places = staying_places(sequence, limits.tensor, 1 << 2)
    counts = cuts(sequence, timeline(sequence), limits, places)
    made = programs(sequence, network, counts, stays=places)
    return [one for program in made for one in program.instructions if isinstance(one, Move)]


@pytest.mark.parametrize(
    ("array", "second", "third", "dataflow"),
    [
        ((4, 4), "im2col", "kn2row", "WS"),
        ((4, 4), "winograd-4x4", "im2col", "NS"),
        ((3, 5), "kn2row", "im2col", "IS"),
        ((3, 5), "winograd", "kn2row", "NS"),
    ],
)
def test_maps_that_stay_are_never_in_dram_and_reach_the_next_layer_word_by_word(
    array: tuple[int, int], second: Algorithm, third: Algorithm, dataflow: Dataflow, tmp_path: Path
) -> None:
    network = chain(tmp_path)
    done = steps(network, kept(network, array, {"conv2": second, "conv3": third}, dataflow))
    assert [one.name for one in done] == ["conv1", "conv2", "conv3", "pool1", "gemm1", "gemm2"]
    assert all(one.equal for one in done), done
    # To a cycle: the last of a run is not followed by another.
    assert all(abs(one.cycles - one.timeline) <= 1 for one in done), done


def test_a_map_that_is_said_to_stay_and_is_written_to_dram_is_no_equal_result(tmp_path: Path) -> None:
    network = chain(tmp_path)
    sequence = kept(network, (4, 4), {})
    numbers, inputs = seeded_numbers(network, 11), seeded_inputs(network, 11)
    files = overlay_files(sequence, network, numbers)
    places = json.loads(str(files["overlay.json"]))
    assert places["on_chip"] == []
    places["on_chip"] = [{"tensor": sequence.convolutions[0].output}]
    said = {**files, "overlay.json": json.dumps(places)}
    done = run_network(machine((4, 4)), sequence, network, said, numbers, inputs)
    assert [one.name for one in done if not one.equal] == ["conv1"]


def test_neither_a_store_nor_a_load_of_a_map_that_stays_names_its_region_of_dram(tmp_path: Path) -> None:
    network = chain(tmp_path)
    sequence = kept(network, (4, 4), {})
    stay = [
        sequence.region(one.output) for one in sequence.convolutions if sequence.region(one.output).on_chip
    ]
    assert [one.tensor for one in stay] == [sequence.convolutions[at].output for at in (0, 1, 3)]

    def touched(limits: Limits) -> set[str]:
        found = set()
        for one in moves(network, sequence, limits):
            for place, path in ((one.source, one.taken), (one.target, one.put)):
                for region in stay:
                    if place == "dram" and region.address <= path.start < region.address + region.words:
                        found.add(region.tensor)
        return found

    assert touched(Limits()) == {one.tensor for one in stay}
    assert touched(ROOM) == set()


def test_maps_that_are_there_at_once_lie_at_either_end_of_a_buffer_that_is_no_larger_than_they_need(
    tmp_path: Path,
) -> None:
    network = chain(tmp_path)
    sequence = kept(network, (4, 4), {})
    files = overlay_files(sequence, network, limits=ROOM)
    first, second, rows = json.loads(str(files["overlay.json"]))["on_chip"]
    # 90 positions of 7 and of 6 maps, in two rows of four banks each; 12 numbers of a fully connected layer.
    assert {first["first"], second["first"]} == {0, 180} and first["rows"] == second["rows"] == 90
    assert rows["rows"] == 1
    assert "`define OVERLAY_TENSOR_DEPTH 360" in str(files["rtl/parameters.svh"])
    assert f"are never in DRAM: {first['tensor']}, {second['tensor']}" in str(files["listing.txt"])


def test_a_map_that_does_not_fit_beside_the_one_that_is_read_meanwhile_goes_through_dram(
    tmp_path: Path,
) -> None:
    network = chain(tmp_path)
    sequence = kept(network, (4, 4), {})
    names = [one.output for one in sequence.convolutions]
    assert [*staying_places(sequence, 4 * 360, 4)] == [names[0], names[1], names[3]]
    assert [*staying_places(sequence, 4 * 359, 4)] == [names[0], names[3]]
    assert [*staying_places(sequence, 4 * 179, 4)] == [names[3]]
    done = steps(network, sequence, Limits(tensor=4 * 200))
    assert all(one.equal for one in done), done


def test_what_a_layer_beside_the_overlay_makes_does_not_stay(tmp_path: Path) -> None:
    net = NetworkBuilder("beside", 3, 8, 8)
    x = net.apply("Sigmoid", "sigmoid1", net.convolution(net.input, "conv1", 5, 3, pad=1))
    x = net.convolution(net.convolution(x, "conv2", 6, 1), "conv3", 4, 3)
    (tmp_path / "beside.onnx").write_bytes(net.model(x, 4).SerializeToString())
    network = load_layers(str(tmp_path / "beside.onnx"))
    sequence = kept(network, (4, 4), {})
    places = json.loads(str(overlay_files(sequence, network, limits=ROOM)["overlay.json"]))
    assert sequence.region(sequence.convolutions[0].output).on_chip
    assert [one["tensor"] for one in places["on_chip"]] == [sequence.convolutions[1].output]


def test_all_images_of_a_map_stay_together(tmp_path: Path) -> None:
    weights = {
        "w1": np.zeros((6, 4, 3, 3), np.float32),
        "w2": np.zeros((6, 3, 3, 3), np.float32),
        "w3": np.zeros((5, 6, 1, 1), np.float32),
    }
    nodes = [
        node("Conv", ["x", "w1"], ["a"], name="a", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        # Two groups, whose channels begin inside a row of banks.
        node("Conv", ["a", "w2"], ["b"], name="b", kernel_shape=[3, 3], pads=[1, 0, 1, 0], group=2),
        node("Conv", ["b", "w3"], ["c"], name="c", kernel_shape=[1, 1]),
    ]
    network = layers(model(nodes, (2, 4, 6, 5), weights))
    sequence = kept(network, (4, 4), {})
    # Kernels in two parts, each of which reads the map again and writes some of its channels.
    cut: list[dict[str, tuple[int, int]]] = [{}, {one.name: (1, 2) for one in sequence.convolutions}]
    for parts in cut:
        done = steps(network, sequence, replace(ROOM, parts=parts))
        assert len(done) == 3 and all(one.equal for one in done), done
        assert all(abs(one.cycles - one.timeline) <= 1 for one in done), done


def test_maps_of_a_quantised_network_stay_without_their_zero_points(tmp_path: Path) -> None:
    net = QuantisedBuilder(1, signed=False, per_map=True)
    x = net.quantised("x", 0.02, 128)
    x = net.quantised(net.convolution(x, 0.02, "conv1", (3, 6)), 0.03, 70)
    x = net.quantised(net.convolution(x, 0.03, "conv2", (6, 5)), 0.04, 131)
    x = net.quantised(net.node("GlobalAveragePool", [x], "mean1"), 0.04, 100)
    onnx.save(
        net.model(net.quantised(net.node("Flatten", [x], "flat"), 0.04, 100), 8), str(tmp_path / "net.onnx")
    )
    network = read_network(str(tmp_path / "net.onnx"), None, NO_DIMS).value
    run, sequence = run_of(network, 1), kept(network, (4, 4), {})
    files = overlay_files(sequence, network, run.numbers, ROOM)
    assert all(run.numbers.zero(layer.output) for layer in network.layers if layer.work == "convolution")
    assert json.loads(str(files["overlay.json"]))["on_chip"]
    done = run_network(machine((4, 4)), sequence, network, files, run.numbers, run.inputs)
    assert done[0].name == "conv1" and all(one.equal for one in done), done
