"""A network's own weights on the overlay: onnxruntime's integers where it is quantised, a stated error otherwise."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mapper.codegen.algorithm_selection.overlay import overlay_files
from mapper.codegen.algorithm_selection.program import programs
from mapper.kind.algorithm_selection.numbers import Run, run_of
from mapper.kind.algorithm_selection.part import read_network
from mapper.models.algorithm_selection.choice import Choice
from mapper.models.algorithm_selection.control.sequence import Control, control
from mapper.models.algorithm_selection.number.fitting import fitted_addition
from mapper.sim.algorithm_selection.addition import addition_table
from mapper.sim.algorithm_selection.network import Overlay
from mapper.sim.algorithm_selection.own import beside_onnxruntime
from mapper.sim.algorithm_selection.rtl.network import run_network
from mapper.sim.onnx_result import onnx_results
from mapper.workloads.document import InputError
from mapper.workloads.network.builder import NetworkBuilder
from mapper.workloads.network.network import NO_DIMS
from mapper.workloads.network.network_layer import LayerNetwork
from mapper.workloads.network.quantisation import QuantisedTensor
from tests.sim.algorithm_selection.quantised import (
    averaged_file,
    chain_file,
    constant_file,
    drawn_weights,
    integer_operator_file,
    joined_file,
    operator_file,
    quantised_file,
)
from tests.sim.algorithm_selection.rtl.overlay_bench import machine


def sequence_of(network: LayerNetwork) -> Control:
    choices = {
        layer.name: Choice("im2col", "NS")
        for layer in network.layers
        if layer.work in ("convolution", "fully_connected")
    }
    return control(network, (4, 4), choices, dict.fromkeys(network.operators.tensors))


def equals_onnxruntime(network: LayerNetwork, seed: int) -> Run:
    run = run_of(network, seed)
    assert run.numbers.exact and run.model is not None and run.frame is not None
    work = Overlay(network, sequence_of(network), run.numbers, run.inputs)
    for _ in work.run():
        pass
    found = beside_onnxruntime(network, run.numbers, run.model, run.frame, work.results, run.integers or {})
    assert found["equal"], found
    # Nor are the network's own results others than those of a session that is asked for nothing else.
    for one in network.outputs:
        real = onnx_results(run.model, {}, run.frame, [one.tensor])[one.tensor]
        made = run.numbers.formats[one.memory].values(work.results[one.memory])
        assert np.array_equal(made.reshape(real.shape), real)
    return run


@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in (4, 5))]
)
def test_a_quantised_network_gives_the_integers_of_onnxruntime(seed: int, tmp_path: Path) -> None:
    path = quantised_file(tmp_path, seed, signed=seed % 2 == 1, per_map=seed % 3 == 0)
    equals_onnxruntime(read_network(str(path), None, NO_DIMS).value, seed)


def test_convolutions_of_integers_keep_them(tmp_path: Path) -> None:
    network = read_network(str(operator_file(tmp_path, 4)), None, NO_DIMS).value
    assert [layer.op for layer in network.layers] == ["QLinearConv", "QLinearConv"]
    equals_onnxruntime(network, 4)


@pytest.mark.parametrize("scales", [(0.05, 0.05), (0.05, 0.061)])
def test_parts_of_a_concatenation_may_have_other_scales_than_the_whole(
    scales: tuple[float, float], tmp_path: Path
) -> None:
    network = read_network(str(joined_file(tmp_path, scales)), None, NO_DIMS).value
    unlike = [layer for layer in network.layers if layer.op == "QuantizeLinear"]
    assert len(unlike) == (scales[0] != scales[1])
    equals_onnxruntime(network, 0)


def test_operators_on_integers_give_those_of_onnxruntime(tmp_path: Path) -> None:
    network = read_network(str(integer_operator_file(tmp_path, 2)), None, NO_DIMS).value
    ops = ["QuantizeLinear", "QuantizeLinear", "Concat", "QLinearConv", "Add", "GlobalAveragePool", "Gemm"]
    assert [layer.op for layer in network.layers] == ["QLinearConv", "QLinearConv", "QLinearLeakyRelu", *ops]
    equals_onnxruntime(network, 2)


CONSTANTS: list[tuple[tuple[int, ...], bool, bool, bool]] = [
    ((), False, False, False),
    ((5, 1, 1), True, False, True),
    ((1, 5, 8, 8), False, True, True),
    ((8,), True, True, False),
]
MEETING = [
    pytest.param(op, *one, marks=() if place == at else pytest.mark.slow)
    for place, op in enumerate(("Add", "Sub", "Mul", "Div"))
    for at, one in enumerate(CONSTANTS)
]
"""Every operator and every constant; `make slow` has every operator with every constant."""


@pytest.mark.parametrize(("op", "shape", "floats", "first", "signed"), MEETING)
def test_a_constant_that_meets_integers_gives_those_of_onnxruntime_beside_the_overlay(
    op: str, shape: tuple[int, ...], floats: bool, first: bool, signed: bool, tmp_path: Path
) -> None:
    path = constant_file(tmp_path, op, shape, floats=floats, first=first, signed=signed)
    network = read_network(str(path), None, NO_DIMS).value
    assert [layer.op for layer in network.layers] == ["Conv", f"QLinear{op}", "Conv"]
    run = equals_onnxruntime(network, 0)
    made = programs(sequence_of(network), network, numbers=run.numbers)
    assert [bool(one.reason) for one in made] == [False, True, False]


@pytest.mark.parametrize(
    "ops",
    [
        ("Add", "Relu"),
        ("Mul", "Add", "LeakyRelu"),
        ("HardSigmoid", "Div", "Sigmoid", "Add"),
        ("PRelu",),
        ("Relu", "Elu"),
    ],
)
def test_constants_and_activations_that_are_rounded_together_give_the_integers_of_onnxruntime(
    ops: tuple[str, ...], tmp_path: Path
) -> None:
    network = read_network(str(chain_file(tmp_path, ops)), None, NO_DIMS).value
    own = next((op for op in ops if op in ("Add", "Div", "Mul", "PRelu")), "Chain")
    assert [layer.op for layer in network.layers] == ["Conv", f"QLinear{own}", "Conv"]
    equals_onnxruntime(network, 0)


def test_a_constant_whose_sum_is_no_integer_is_refused_in_a_line(tmp_path: Path) -> None:
    network = read_network(str(chain_file(tmp_path, ("Add", "Relu"), rounded=False)), None, NO_DIMS).value
    with pytest.raises(InputError, match=r"Add 'met0': has a constant, but no integers on both sides"):
        run_of(network, 0)


def test_a_constant_of_more_numbers_than_tables_are_made_for_is_refused_in_a_line(tmp_path: Path) -> None:
    network = read_network(str(constant_file(tmp_path, "Add", (1, 5, 40, 40))), None, NO_DIMS).value
    with pytest.raises(InputError, match=r"QLinearAdd 'met': has a constant of 8000 numbers; 4096 are read"):
        run_of(network, 0)


def test_every_pair_of_integers_is_added_as_onnxruntime_adds_it() -> None:
    """Also where sums are halves of the result's scale, and its zero point is odd."""
    random = np.random.default_rng(3)
    halves = [
        ([0.1, 0.1, 0.2], [128, 128, 127]),
        ([0.05, 0.1, 0.2], [0, 3, 7]),
        ([1.0, 1e-7, 1.0], [9, 8, 7]),
    ]
    drawn = [
        (np.exp(random.uniform(-3, 0, 3)).tolist(), random.integers(0, 256, 3).tolist()) for _ in range(8)
    ]
    for case, (scales, zeros) in enumerate([*halves, *drawn]):
        offset = 128 * (case % 2)
        first, second, made = (
            QuantisedTensor(float(np.float32(one)), int(zero) - 128 + offset, offset, "")
            for one, zero in zip(scales, zeros, strict=True)
        )
        unit = np.float32(made.scale)
        ratios = float(np.float32(first.scale) / unit), float(np.float32(second.scale) / unit)
        points = (first.zero - offset, second.zero - offset, made.zero - offset)
        fit = fitted_addition(ratios, points, addition_table([first, second, made]))
        assert fit.wrong == 0, (scales, zeros)


def test_means_between_two_integers_are_left_to_the_host_which_rounds_as_onnxruntime(tmp_path: Path) -> None:
    network = read_network(str(averaged_file(tmp_path, 1)), None, NO_DIMS).value
    run = equals_onnxruntime(network, 1)
    made = {one.name: one for one in programs(sequence_of(network), network, numbers=run.numbers)}
    assert "no factor gives all of its integers" in made["pool1"].reason and not made["pool2"].reason


def test_a_rescaling_that_no_factor_gives_is_left_to_the_host_with_the_integers_of_onnxruntime(
    tmp_path: Path,
) -> None:
    network = read_network(str(joined_file(tmp_path, (0.2, 0.1))), None, NO_DIMS).value
    run = equals_onnxruntime(network, 0)
    (layer,) = (layer for layer in network.layers if layer.op == "QuantizeLinear")
    own = run.numbers.layers[layer.name]
    assert own.rounding is None and own.table is not None
    (program,) = (
        one for one in programs(sequence_of(network), network, numbers=run.numbers) if one.name == layer.name
    )
    assert not program.instructions and "no factor gives all of its integers" in program.reason


@pytest.mark.parametrize("write", [integer_operator_file, quantised_file])
def test_the_verilog_gives_the_integers_of_a_quantised_network_from_the_image_that_is_generated(
    write: Callable[[Path, int], Path], tmp_path: Path
) -> None:
    network = read_network(str(write(tmp_path, 1)), None, NO_DIMS).value
    run, sequence = run_of(network, 1), sequence_of(network)
    files = overlay_files(sequence, network, run.numbers)
    assert isinstance(files["dram.bin"], bytes)
    done = run_network(machine((4, 4)), sequence, network, files, run.numbers, run.inputs)
    assert [one.name for one in done] == [one.name for one in network.layers if one.op != "QLinearLeakyRelu"]
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
