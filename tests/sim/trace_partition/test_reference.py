"""The machine's arithmetic computes what onnxruntime computes, rounded to Q8.8."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.models.trace_partition.data.fixed_point import words
from mapper.models.trace_partition.data.quantisation import LayerData, quantised
from mapper.models.trace_partition.data.seeded_weight import sensible_weights
from mapper.models.trace_partition.lowering.building import trace_network
from mapper.models.trace_partition.lowering.host_call import host_calls
from mapper.models.trace_partition.lowering.layer import TensorView, TraceLayer
from mapper.sim.onnx_result import onnx_results
from mapper.sim.trace_partition.onnx_result import deviations, made_tensors
from mapper.sim.trace_partition.reference import layer_words, reference
from mapper.workloads.catalogue import CATALOGUE, entry_bytes
from mapper.workloads.document import InputError
from mapper.workloads.network.weight import seeded_inputs
from mapper.workloads.source import load_layers
from tests.sim.trace_partition.onnx_layer import check, model, node, sixteenths

SEED = 5
STATED = {
    "lenet5": (0.05, 0.02), "mnist-tcpa": (0.05, 0.03), "cifar10": (0.05, 0.02), "lightcnn9": (0.11, 0.04),
    "squeezenet": (0.09, 0.02), "shufflenet": (0.05, 0.01), "densenet121": (0.10, 0.03), "resnet18": (0.15, 0.04),
    "resnet50": (0.14, 0.03), "googlenet": (0.11, 0.03), "googlenet-224": (0.12, 0.03), "inception-v2": (0.09, 0.02),
    "inception-v4": (0.18, 0.03), "alexnet": (0.13, 0.04), "alexnet-one-tower": (0.14, 0.04), "zfnet512": (0.18, 0.05),
    "vgg19": (0.28, 0.08), "squeezenet-1.0": (0.08, 0.02), "squeezenet-1.1": (0.09, 0.02),
    "alexnet-darknet": (0.16, 0.05),
}  # fmt: skip
"""The table of docs/snowflake/numbers.md: largest and mean error of a layer, beside the largest number it makes."""
HELD = (0.02, 0.005)
"""The same of weights that Q8.8 holds exactly."""
QUICK = ["lenet5", "mnist-tcpa", "cifar10", "lightcnn9"]
LONG = [name for name in STATED if name not in QUICK]
NORMALISED = ["resnet50", "shufflenet", "densenet121", "inception-v2"]
"""Folding a normalisation gives weights that Q8.8 does not hold."""


@pytest.mark.parametrize(
    ("shape", "kernel", "options"),
    [
        ((1, 4, 9, 8), (6, 4, 3, 3), {"pads": [1, 1, 1, 1]}),
        ((1, 4, 9, 8), (6, 4, 3, 2), {"strides": [2, 1], "pads": [0, 1, 2, 0]}),
        ((1, 4, 9, 8), (6, 2, 3, 3), {"group": 2, "dilations": [1, 2]}),
        ((1, 4, 9, 8), (4, 1, 3, 2), {"group": 4, "pads": [2, 0, 1, 1], "dilations": [2, 1]}),
        ((1, 4, 9, 8), (8, 1, 2, 2), {"group": 4, "auto_pad": "SAME_LOWER"}),
        ((1, 4, 9, 8), (6, 4, 5, 5), {"auto_pad": "SAME_UPPER", "strides": [3, 2]}),
        ((1, 4, 8, 8), (6, 4, 3, 3), {"strides": [2, 2], "pads": [1, 1, 1, 1]}),
        ((1, 4, 5, 3), (7, 4, 1, 1), {}),
        ((1, 4, 5, 3), (7, 4, 1, 1), {"strides": [2, 2]}),
        ((1, 4, 11), (6, 4, 3), {"pads": [2, 1], "strides": [2]}),
    ],
)
def test_a_convolution_is_that_of_onnxruntime(
    shape: tuple[int, ...], kernel: tuple[int, ...], options: dict[str, Any]
) -> None:
    weights = {"w": sixteenths(kernel, 2), "b": sixteenths(kernel[:1], 3)}
    check(model([node("Conv", ["x", "w", "b"], ["y"], **options)], shape, weights), weights)


@pytest.mark.parametrize(
    ("kernel", "options"),
    [
        ((4, 3, 3, 3), {"strides": [2, 3], "pads": [1, 0, 0, 2]}),
        ((4, 3, 2, 2), {"group": 2, "strides": [3, 2], "output_padding": [1, 0]}),
        ((4, 2, 3, 2), {"pads": [2, 1, 2, 1], "dilations": [1, 2]}),
        ((4, 1, 3, 3), {"strides": [2, 2], "group": 4}),
        ((4, 2, 3, 3), {"strides": [2, 2], "auto_pad": "SAME_UPPER"}),
    ],
)
def test_a_transposed_convolution_is_that_of_onnxruntime(
    kernel: tuple[int, ...], options: dict[str, Any]
) -> None:
    weights = {"w": sixteenths(kernel, 2), "b": sixteenths((kernel[1] * options.get("group", 1),), 3)}
    check(model([node("ConvTranspose", ["x", "w", "b"], ["y"], **options)], (1, 4, 6, 5), weights), weights)


@pytest.mark.parametrize("op", ["MaxPool", "AveragePool"])
@pytest.mark.parametrize(
    "options",
    [
        {"kernel_shape": [2, 2], "strides": [2, 2]},
        {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1},
        {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 1]},
        {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1], "ceil_mode": 1},
        {"kernel_shape": [3, 3], "auto_pad": "SAME_UPPER", "strides": [2, 2]},
        {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "count_include_pad": 1},
        {
            "kernel_shape": [3, 3],
            "strides": [2, 2],
            "pads": [1, 0, 0, 1],
            "count_include_pad": 1,
            "ceil_mode": 1,
        },
    ],
)
def test_a_pool_is_that_of_onnxruntime(op: str, options: dict[str, Any]) -> None:
    # Average weights are whole 256ths: n of them are off by at most 1/512 each, times the largest number.
    options = {key: value for key, value in options.items() if op != "MaxPool" or key != "count_include_pad"}
    nodes = [node("Conv", ["x", "one"], ["a"], group=3), node(op, ["a"], ["y"], **options)]
    weights = {"one": np.ones((3, 1, 1, 1), np.float32)}
    steps = 0.5 if op == "MaxPool" else 0.5 + 9 * 0.5 * 1.5
    check(model(nodes, (1, 3, 8, 7), weights), weights, steps)


@pytest.mark.parametrize("op", ["GlobalAveragePool", "GlobalMaxPool"])
def test_a_global_pool_is_that_of_onnxruntime(op: str) -> None:
    check(model([node(op, ["x"], ["y"])], (1, 3, 4, 4), {}), {})


@pytest.mark.parametrize("options", [{}, {"transB": 1}, {"alpha": 0.5, "beta": 2.0, "transB": 1}])
def test_a_fully_connected_layer_reads_a_map_in_its_own_order(options: dict[str, Any]) -> None:
    weights = {
        "k": sixteenths((3, 2, 3, 3), 1, 3),
        "w": sixteenths((5, 36) if options.get("transB") else (36, 5), 2, 8) * 2,
        "b": sixteenths((5,), 3),
    }
    nodes = [
        node("Conv", ["x", "k"], ["a"]),
        node("Flatten", ["a"], ["f"]),
        node("Gemm", ["f", "w", "b"], ["y"], **options),
    ]
    check(model(nodes, (1, 2, 5, 6), weights), weights, 0.5 + 36 * 0.5)


def test_a_product_with_a_merged_bias_is_that_of_onnxruntime() -> None:
    weights = {"w": sixteenths((12, 5), 2), "b": sixteenths((5,), 3)}
    nodes = [
        node("Flatten", ["x"], ["f"]),
        node("MatMul", ["f", "w"], ["a"]),
        node("Add", ["a", "b"], ["c"]),
        node("Relu", ["c"], ["y"]),
    ]
    check(model(nodes, (1, 2, 3, 2), weights), weights)


CHAINS = {
    "residual": [
        node("Conv", ["x", "w"], ["a"]), node("Conv", ["x", "v"], ["b"]), node("Add", ["b", "a"], ["c"]),
        node("Relu", ["c"], ["y"]),
    ],
    "sum of three": [
        node("Conv", ["x", "w"], ["a"]), node("Conv", ["x", "v"], ["b"]), node("Conv", ["x", "w"], ["c"]),
        node("Sum", ["b", "a", "c"], ["y"]),
    ],
    "twice the same": [node("Conv", ["x", "w"], ["a"]), node("Add", ["a", "a"], ["y"])],
    "scaled sum": [
        node("Conv", ["x", "w"], ["a"]), node("Conv", ["x", "v"], ["b"]), node("Add", ["b", "a"], ["c"]),
        node("Mul", ["c", "s"], ["d"]), node("Relu", ["d"], ["y"]),
    ],
    "maximum of halves": [
        node("Conv", ["x", "w"], ["a"]), node("Split", ["a"], ["b", "c"], axis=1), node("Max", ["b", "c"], ["y"]),
    ],
    "rectified halves": [
        node("Conv", ["x", "w"], ["a"]), node("Relu", ["a"], ["r"]), node("Split", ["r"], ["b", "c"], axis=1),
        node("Max", ["c", "b"], ["y"]),
    ],
    "halves that others read": [
        node("Conv", ["x", "w"], ["a"]), node("Split", ["a"], ["b", "c"], axis=1), node("Max", ["b", "c"], ["y"]),
        node("Relu", ["b"], ["z"]),
    ],
    "concatenation": [
        node("Conv", ["x", "w"], ["a"]), node("Conv", ["x", "v"], ["b"]), node("Concat", ["b", "a"], ["c"], axis=1),
        node("Relu", ["c"], ["y"]),
    ],
    "nested concatenation": [
        node("Conv", ["x", "u"], ["a"]), node("Conv", ["x", "u"], ["b"]), node("Concat", ["b", "a"], ["c"], axis=1),
        node("Relu", ["c"], ["r"]), node("Concat", ["c", "r", "b", "x"], ["y"], axis=1),
    ],
    "the same part twice": [
        node("Conv", ["x", "w"], ["a"]), node("Concat", ["a", "a"], ["y"], axis=1), node("Relu", ["a"], ["z"]),
    ],
    "part of a split concatenated": [
        node("Conv", ["x", "w"], ["a"]), node("Split", ["a"], ["b", "c"], axis=1),
        node("Concat", ["c", "a", "b"], ["y"], axis=1),
    ],
    "rows concatenated": [node("Conv", ["x", "w"], ["a"]), node("Concat", ["a", "a"], ["y"], axis=2)],
    "leaky": [node("Conv", ["x", "w"], ["a"]), node("LeakyRelu", ["a"], ["y"], alpha=0.25)],
    "sloped": [node("Conv", ["x", "w"], ["a"]), node("PRelu", ["a", "s"], ["y"])],
    "clipped": [node("Conv", ["x", "w"], ["a"]), node("Clip", ["a", "low", "high"], ["y"])],
    "gated": [
        node("Conv", ["x", "w"], ["a"]), node("GlobalMaxPool", ["a"], ["g"]), node("Mul", ["a", "g"], ["y"]),
    ],
    "normalised alone": [
        node("MaxPool", ["x"], ["a"], kernel_shape=[2, 2]), node("Mul", ["a", "t"], ["b"]), node("Add", ["b", "t"],
        ["c"]), node("Relu", ["c"], ["y"]),
    ],
    "shuffle": [
        node("Conv", ["x", "w"], ["a"]), node("Reshape", ["a", "five"], ["b"]),
        node("Transpose", ["b"], ["c"], perm=[0, 2, 1, 3, 4]), node("Reshape", ["c", "four"], ["d"]),
        node("Conv", ["d", "w6"], ["y"]),
    ],
    "reshaped": [
        node("Conv", ["x", "w"], ["a"]), node("Reshape", ["a", "wide"], ["b"]), node("Relu", ["b"], ["c"]),
        node("MaxPool", ["c"], ["y"], kernel_shape=[2, 2]),
    ],
    "split by rows": [
        node("Conv", ["x", "w"], ["a"]), node("Split", ["a"], ["b", "c"], axis=2), node("Add", ["b", "c"], ["y"]),
    ],
    "flattened part": [
        node("Conv", ["x", "w"], ["a"]), node("Conv", ["x", "v"], ["b"]), node("Concat", ["b", "a"], ["c"], axis=1),
        node("Relu", ["c"], ["y"]), node("Flatten", ["a"], ["f"]), node("Gemm", ["f", "m"], ["z"]),
    ],
    "half flattened": [
        node("Conv", ["x", "w"], ["a"]), node("Split", ["a"], ["b", "c"], axis=1), node("Flatten", ["c"], ["f"]),
        node("Gemm", ["f", "h"], ["z"]), node("Relu", ["b"], ["y"]),
    ],
    "spread from one pixel": [
        node("Flatten", ["x"], ["f"]), node("Gemm", ["f", "p"], ["a"]), node("Reshape", ["a", "spread"], ["b"]),
        node("Conv", ["b", "w"], ["y"]),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", CHAINS)
def test_chains_of_layers_are_those_of_onnxruntime(name: str) -> None:
    weights = {
        "w": sixteenths((6, 4, 3, 3), 2, 8), "v": sixteenths((6, 4, 3, 3), 3, 8), "s": sixteenths((6, 1, 1), 4),
        "t": sixteenths((4, 1, 1), 5), "w6": sixteenths((6, 6, 1, 1), 6, 4), "m": sixteenths((96, 3), 7, 3),
        "h": sixteenths((48, 3), 8, 3), "p": sixteenths((144, 64), 9, 3), "u": sixteenths((6, 4, 1, 1), 10), "low":
        np.float32(-1.5), "high": np.float32(2.25),
    }  # fmt: skip
    constants = {
        "five": [1, 2, 3, 4, 4], "four": [1, 6, 4, 4], "wide": [1, 6, 2, 8], "spread": [1, 4, 4, 4],
    }  # fmt: skip
    read = {operand for entry in CHAINS[name] for operand in entry.input}
    own = {key: value for key, value in weights.items() if key in read}
    held = {key: value for key, value in constants.items() if key in read}
    # Rounding of a layer before grows with the weights of those after it.
    grows = {"shuffle": 1.5, "spread from one pixel": 9.0, "flattened part": 4.5, "half flattened": 3.0}
    check(model(CHAINS[name], (1, 4, 6, 6), own, held), own, grows.get(name, 1.5))


def layer(work: str, channels: int, made: int, **more: Any) -> TraceLayer:
    """A layer of one pixel from tensor ``x`` to ``y``."""
    source, result = TensorView("x", 1, 1, channels, channels), TensorView("y", 1, 1, made, made)
    return TraceLayer("layer", "", "Conv", work, source, result, **more)  # type: ignore[arg-type]


def dot(maps: list[int], kernel: list[int], bias: int, **more: Any) -> int:
    """One sum in the machine's arithmetic."""
    data = LayerData(np.array(kernel, np.int16).reshape(1, 1, 1, -1), np.array([bias], np.int16))
    memory = {"x": np.array(maps, np.int16), "r": np.array([more.pop("added", 0)], np.int16)}
    return int(layer_words(layer("convolution", len(maps), 1, **more), data, memory)[0, 0, 0])


def by_definition(maps: list[int], kernel: list[int], bias: int, added: int) -> int:
    total = sum(a * b for a, b in zip(maps, kernel, strict=True)) + (bias << 8) + (added << 8)
    wrapped = (total + (1 << 31)) % (1 << 32) - (1 << 31)
    return max(-(1 << 15), min((1 << 15) - 1, (wrapped + 128) >> 8))


WORD = st.integers(-(1 << 15), (1 << 15) - 1)


@settings(derandomize=True, deadline=None)
@given(st.lists(st.tuples(WORD, WORD), min_size=1, max_size=40), WORD, WORD)
def test_sums_wrap_are_rounded_and_saturate(pairs: list[tuple[int, int]], bias: int, added: int) -> None:
    maps, kernel = [one for one, _ in pairs], [one for _, one in pairs]
    residual = TensorView("r", 1, 1, 1, 1)
    assert dot(maps, kernel, bias, residual=residual, added=added) == by_definition(maps, kernel, bias, added)


def test_halves_are_rounded_up_and_sums_wrap_only_beyond_32_bits() -> None:
    assert [dot([value], [1], 0) for value in (127, 128, -128, -129, 383, 384)] == [0, 1, 0, -1, 1, 2]
    assert dot([32767, 32767], [32767, 32767], 0) == 32767
    assert dot([-32768] * 2, [-32768] * 2, 0) == -32768  # 2^31 is -2^31 in 32 bits
    assert dot([300], [256], -400, relu=True) == 0


def test_the_maximum_of_two_halves_is_taken_of_rounded_results() -> None:
    data = LayerData(np.array([[[[128]]], [[[127]]]], np.int16), np.zeros(2, np.int16))
    assert layer_words(layer("convolution", 1, 1, mfm=True), data, {"x": np.ones(1, np.int16)})[0, 0, 0] == 1


def test_an_image_of_another_size_is_refused() -> None:
    network = load_layers("lenet5")
    trace = trace_network(network)
    with pytest.raises(InputError, match=r"needs \[28, 28, 1\] rows, columns, channels"):
        reference(trace, {}, (), {"image": np.zeros((1, 28, 28), np.int16)})


def check_network(name: str, held: bool) -> None:
    """Every layer of a network of the catalogue is as near to onnxruntime's as stated; ``held``: with weights that are
    whole 256ths."""
    network = load_layers(name)
    trace = trace_network(network)
    weights = sensible_weights(network, trace, SEED)
    if held:
        weights = {key: np.rint(value * np.float32(256)) / np.float32(256) for key, value in weights.items()}
    inputs = seeded_inputs(network.operators, SEED)
    images = {key: words(value[0].transpose(1, 2, 0)) for key, value in inputs.items()}
    memory = reference(trace, quantised(network, trace, weights), host_calls(network, trace, weights), images)
    wanted = tuple(
        dict.fromkeys((*made_tensors(network, trace).values(), *(key for key, _ in trace.outputs)))
    )
    results = onnx_results(onnx.ModelProto.FromString(entry_bytes(name)), weights, inputs, wanted)
    layers, outputs = deviations(network, trace, memory, results)
    assert len(layers) == len(trace.layers)
    assert len(outputs) == len(trace.outputs)
    largest, mean = HELD if held else STATED[name]
    for one in layers:
        # What softmax makes of a thousand classes is less than Q8.8 tells apart; the classes' numbers are compared.
        if not one.name.startswith("softmax"):
            assert 0.05 < one.scale < 100, one
            assert one.relative <= largest and one.relative_mean <= mean, one


def test_the_error_of_every_network_of_the_catalogue_is_stated() -> None:
    assert {name for name, entry in CATALOGUE.items() if entry.origin != "document"} == STATED.keys()


@pytest.mark.parametrize("name", QUICK)
def test_every_layer_is_near_that_of_onnxruntime(name: str) -> None:
    check_network(name, held=False)


@pytest.mark.parametrize("name", QUICK)
def test_every_layer_with_weights_of_q8_8_is_that_of_onnxruntime_but_for_rounded_results(name: str) -> None:
    check_network(name, held=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_every_layer_of_a_large_network_is_near_that_of_onnxruntime(name: str) -> None:
    check_network(name, held=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in LONG if name not in NORMALISED])
def test_every_layer_of_a_large_network_with_weights_of_q8_8_is_that_of_onnxruntime(name: str) -> None:
    check_network(name, held=True)


def test_the_host_enlarges_a_map_by_the_nearest_pixel() -> None:
    weights = {"w": sixteenths((4, 3, 3, 3), 2), "v": sixteenths((2, 4, 1, 1), 3)}
    nodes = [
        node("Conv", ["x", "w"], ["a"], pads=[1, 1, 1, 1]),
        node("Resize", ["a", "", "s"], ["b"], mode="nearest"),
        node("Conv", ["b", "v"], ["y"]),
    ]
    scales = {"s": np.array([1, 1, 2, 3], np.float32)}
    check(model(nodes, (1, 3, 4, 5), {**weights, **scales}), weights, 0.5 + 4 * 0.75)
