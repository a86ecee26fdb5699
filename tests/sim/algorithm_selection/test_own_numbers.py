"""A network's own weights on the overlay: onnxruntime's integers where it is quantised, a stated error otherwise."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mapper.codegen.algorithm_selection.overlay import overlay_files
from mapper.kind.algorithm_selection.numbers import run_of
from mapper.kind.algorithm_selection.part import read_network
from mapper.models.algorithm_selection.choice import Choice
from mapper.models.algorithm_selection.control.sequence import Control, control
from mapper.sim.algorithm_selection.network import Overlay
from mapper.sim.algorithm_selection.own import beside_onnxruntime
from mapper.sim.algorithm_selection.rtl.network import run_network
from mapper.workloads.network.builder import NetworkBuilder
from mapper.workloads.network.network import NO_DIMS
from mapper.workloads.network.network_layer import LayerNetwork
from tests.sim.algorithm_selection.overlay_bench import machine
from tests.sim.algorithm_selection.quantised import drawn_weights, joined_file, operator_file, quantised_file


def sequence_of(network: LayerNetwork) -> Control:
    choices = {
        layer.name: Choice("im2col", "NS")
        for layer in network.layers
        if layer.work in ("convolution", "fully_connected")
    }
    return control(network, (4, 4), choices, dict.fromkeys(network.operators.tensors))


@pytest.mark.parametrize("seed", range(6))
def test_a_quantised_network_gives_the_integers_of_onnxruntime(seed: int, tmp_path: Path) -> None:
    path = quantised_file(tmp_path, seed, signed=seed % 2 == 1, per_map=seed % 3 == 0)
    network = read_network(str(path), None, NO_DIMS).value
    run = run_of(network, seed)
    assert run.numbers.exact and run.model is not None and run.frame is not None
    work = Overlay(network, sequence_of(network), run.numbers, run.inputs)
    for _ in work.run():
        pass
    found = beside_onnxruntime(network, run.numbers, run.model, run.frame, work.results, run.integers or {})
    assert found["equal"], found


def test_convolutions_of_integers_keep_them(tmp_path: Path) -> None:
    network = read_network(str(operator_file(tmp_path, 4)), None, NO_DIMS).value
    assert [layer.op for layer in network.layers] == ["QLinearConv", "QLinearConv"]
    run = run_of(network, 4)
    assert run.numbers.exact and run.model is not None and run.frame is not None
    work = Overlay(network, sequence_of(network), run.numbers, run.inputs)
    for _ in work.run():
        pass
    found = beside_onnxruntime(network, run.numbers, run.model, run.frame, work.results, run.integers or {})
    assert found["equal"], found


def test_parts_of_a_concatenation_need_the_scale_of_the_whole(tmp_path: Path) -> None:
    alike = run_of(read_network(str(joined_file(tmp_path, (0.05, 0.05))), None, NO_DIMS).value, 0)
    assert alike.numbers.exact
    unlike = run_of(read_network(str(joined_file(tmp_path, (0.05, 0.06))), None, NO_DIMS).value, 0)
    assert not unlike.numbers.exact and unlike.model is None
    assert "concat1: scale: of " in unlike.numbers.origin and "quantise both alike" in unlike.numbers.origin


def test_the_verilog_gives_the_integers_of_a_quantised_network_from_the_image_that_is_generated(
    tmp_path: Path,
) -> None:
    network = read_network(str(quantised_file(tmp_path, 1, per_map=True)), None, NO_DIMS).value
    run, sequence = run_of(network, 1), sequence_of(network)
    files = overlay_files(sequence, network, run.numbers)
    assert isinstance(files["dram.bin"], bytes)
    done = run_network(machine((4, 4)), sequence, network, files, run.numbers, run.inputs)
    assert [one.name for one in done] == [layer.name for layer in network.layers]
    assert all(one.equal for one in done), done


def test_a_network_in_floats_is_rounded_per_tensor_with_a_stated_error(tmp_path: Path) -> None:
    net = NetworkBuilder("floats", 3, 10, 9)
    x = net.apply("Clip", "clip1", net.convolution(net.input, "conv1", 8, 3, pad=1))
    x = net.apply(
        "LeakyRelu", "leaky1", net.convolution(net.pool(x, "pool1", 2, 2), "conv2", 6, 3), alpha=0.1
    )
    x = net.apply("Softmax", "softmax1", net.linear(net.apply("Flatten", "flatten", x), "fc1", 6 * 3 * 2, 7))
    path = tmp_path / "floats.onnx"
    path.write_bytes(drawn_weights(net.model(x, 7), 5).SerializeToString())
    network = read_network(str(path), None, NO_DIMS).value
    run = run_of(network, 0)
    assert run.model is not None and run.frame is not None
    work = Overlay(network, sequence_of(network), run.numbers, run.inputs)
    for _ in work.run():
        pass
    found = beside_onnxruntime(network, run.numbers, run.model, run.frame, work.results, {})
    assert not found["exact"] and found["equal"] is None
    assert set(found["layers"]) == {"conv1", "pool1", "conv2", "gemm1", "softmax1"}
    assert all(one["mean"] < 0.05 for one in found["layers"].values()), found
    assert np.abs(work.results[network.outputs[0].memory]).max() > 0
