"""Layers compute what onnxruntime computes on the same model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from mapper.workloads.document import InputError
from mapper.workloads.network.building import network_layers
from mapper.workloads.onnx.file import read_model
from mapper.workloads.onnx.operator import operators_of
from mapper.workloads.reference.elementwise import Tensors
from mapper.workloads.reference.layer import network_results, stored
from mapper.workloads.reference.window import Order

SaveModel = Callable[..., str]
node = helper.make_node
INTEGERS = 5


def small_integers(shape: tuple[int, ...], seed: int) -> Any:
    """Integers so small that every sum of products is exact."""
    return np.random.default_rng(seed).integers(-INTEGERS, INTEGERS + 1, shape).astype(np.float32)


def both(path: str, weights: Tensors, result: str, order: Order = "gemm", seed: int = 1) -> tuple[Any, Any]:
    """The tensor ``result`` by this project and by onnxruntime."""
    import onnxruntime

    proto = onnx.load(path, load_external_data=False)
    kept = [tensor for tensor in proto.graph.initializer if tensor.name not in weights]
    del proto.graph.initializer[:]
    proto.graph.initializer.extend(
        [*kept, *(numpy_helper.from_array(value, name) for name, value in weights.items())]
    )
    network = network_layers(operators_of(read_model(Path(path)), "net"))
    given = {name: small_integers(network.operators.tensors[name], seed) for name in network.operators.inputs}
    memory = network_results(network, given, weights, lambda layer: order)
    own = next(stored(place, memory) for place in network.outputs if place.tensor == result)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return own, session.run([result], given)[0]


def saved(
    save_model: SaveModel, nodes: list[onnx.NodeProto], shape: list[int], weights: dict[str, Any], **more: Any
) -> str:
    shapes = {name: list(value.shape) for name, value in weights.items()}
    made = {name for entry in nodes for name in entry.output}
    read = {name for entry in nodes for name in entry.input}
    outputs = sorted(made - read)
    return save_model(nodes, {"x": shape}, shapes, outputs=outputs, **more)


@pytest.mark.parametrize("order", ["gemm", "optcgra"])
@pytest.mark.parametrize(
    ("kernel", "options"),
    [
        ((6, 4, 3, 3), {"pads": [1, 1, 1, 1]}),
        ((6, 4, 3, 2), {"strides": [2, 1], "pads": [0, 1, 2, 0]}),
        ((6, 2, 3, 3), {"group": 2, "dilations": [1, 2]}),
        ((8, 1, 2, 2), {"group": 4, "auto_pad": "SAME_LOWER"}),
        ((6, 4, 5, 5), {"auto_pad": "SAME_UPPER", "strides": [3, 2]}),
    ],
)
def test_a_convolution_of_integers_is_that_of_onnxruntime(
    save_model: SaveModel, kernel: tuple[int, ...], options: dict[str, Any], order: Order
) -> None:
    weights = {"w": small_integers(kernel, 2), "b": small_integers(kernel[:1], 3)}
    nodes = [node("Conv", ["x", "w", "b"], ["y"], **options)]
    own, other = both(saved(save_model, nodes, [2, 4, 9, 8], weights), weights, "y", order)
    assert np.array_equal(own, other)


@pytest.mark.parametrize(
    ("kernel", "options"),
    [
        ((4, 3, 3, 3), {"strides": [2, 3], "pads": [1, 0, 0, 2]}),
        ((4, 3, 2, 2), {"group": 2, "strides": [3, 2], "output_padding": [1, 0]}),
        ((4, 2, 3, 2), {"pads": [2, 1, 2, 1], "dilations": [1, 2]}),
        ((4, 2, 2, 1), {"pads": [2, 1, 1, 1]}),
        ((4, 2, 3, 3), {"strides": [2, 2], "output_shape": [11, 10]}),
        ((4, 2, 3, 3), {"strides": [2, 2], "output_shape": [14, 12]}),
        ((4, 2, 3, 3), {"strides": [2, 2], "auto_pad": "SAME_UPPER"}),
    ],
)
def test_a_transposed_convolution_of_integers_is_that_of_onnxruntime(
    save_model: SaveModel, kernel: tuple[int, ...], options: dict[str, Any]
) -> None:
    weights = {"w": small_integers(kernel, 2)}
    nodes = [node("ConvTranspose", ["x", "w"], ["y"], **options)]
    own, other = both(saved(save_model, nodes, [2, 4, 6, 5], weights), weights, "y")
    assert np.array_equal(own, other)


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
def test_a_pool_is_that_of_onnxruntime(save_model: SaveModel, op: str, options: dict[str, Any]) -> None:
    if op == "MaxPool":
        options = {key: value for key, value in options.items() if key != "count_include_pad"}
    own, other = both(saved(save_model, [node(op, ["x"], ["y"], **options)], [2, 3, 8, 7], {}), {}, "y")
    np.testing.assert_allclose(own, other, rtol=1e-6)


@pytest.mark.parametrize("options", [{}, {"transB": 1}, {"alpha": 0.5, "beta": 2.0, "transB": 1}])
def test_a_fully_connected_layer_is_that_of_onnxruntime(
    save_model: SaveModel, options: dict[str, Any]
) -> None:
    matrix = (5, 12) if options.get("transB") else (12, 5)
    weights = {"w": small_integers(matrix, 2), "b": small_integers((5,), 3)}
    nodes = [node("Flatten", ["x"], ["f"]), node("Gemm", ["f", "w", "b"], ["y"], **options)]
    own, other = both(saved(save_model, nodes, [3, 2, 3, 2], weights), weights, "y")
    assert np.array_equal(own, other)


@pytest.mark.parametrize(
    ("op", "options"),
    [
        ("Relu", {}), ("LeakyRelu", {"alpha": 0.25}), ("Sigmoid", {}), ("Tanh", {}), ("Elu", {"alpha": 0.5}),
        ("Celu", {"alpha": 2.0}), ("Selu", {}), ("HardSigmoid", {}), ("HardSwish", {}), ("Softplus", {}),
        ("Softsign", {}), ("ThresholdedRelu", {"alpha": 1.5}), ("Mish", {}), ("Abs", {}), ("Exp", {}),
    ],
)  # fmt: skip
def test_an_activation_is_that_of_onnxruntime(
    save_model: SaveModel, op: str, options: dict[str, Any]
) -> None:
    path = saved(save_model, [node(op, ["x"], ["y"], **options)], [2, 3, 4], {}, opset=18)
    own, other = both(path, {}, "y")
    np.testing.assert_allclose(own, other, rtol=1e-5, atol=1e-6)


def test_both_bounds_of_a_clip_are_kept(save_model: SaveModel) -> None:
    def bounds(model: onnx.ModelProto) -> None:
        for name, value in (("low", -2.0), ("high", 3.0)):
            model.graph.initializer.append(helper.make_tensor(name, TensorProto.FLOAT, [], [value]))

    nodes = [node("Clip", ["x", "low"], ["a"]), node("Clip", ["a", "", "high"], ["y"])]
    own, other = both(saved(save_model, nodes, [2, 90], {}, change=bounds), {}, "y")
    assert np.array_equal(own, other)
    assert (own.min(), own.max()) == (-2.0, 3.0)


def test_what_is_merged_follows_on_each_element(save_model: SaveModel) -> None:
    weights = {
        "w": small_integers((6, 4, 3, 3), 2),
        "s": small_integers((6,), 3) + np.float32(7),
        "b": small_integers((6,), 4),
        "m": small_integers((6,), 5),
        "v": np.full((6,), 16 - 1e-5, np.float32),
        "k": small_integers((6, 1, 1), 6),
        "p": small_integers((6, 1, 1), 7),
    }
    nodes = [
        node("Conv", ["x", "w"], ["a"]),
        node("BatchNormalization", ["a", "s", "b", "m", "v"], ["c"]),
        node("Sub", ["c", "k"], ["d"]),
        node("PRelu", ["d", "p"], ["y"]),
    ]
    path = saved(save_model, nodes, [1, 4, 5, 5], weights)
    own, other = both(path, weights, "y")
    assert len(network_layers(operators_of(read_model(Path(path)), "net")).layers) == 1
    np.testing.assert_allclose(own, other, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize(
    "nodes",
    [
        [node("Concat", ["x", "x", "k"], ["y"], axis=1)],
        [node("Transpose", ["x"], ["a"], perm=[0, 1, 3, 2]), node("MatMul", ["x", "a"], ["y"])],
        [node("MatMul", ["x", "v"], ["y"])],
        [node("MatMul", ["x", "w"], ["a"]), node("Add", ["a", "v"], ["b"]), node("Relu", ["b"], ["y"])],
        [node("Concat", ["x", "x"], ["y"], axis=-1)],
        [node("Add", ["x", "x"], ["a"]), node("Mul", ["k", "a"], ["y"])],
        [node("Sub", ["k", "x"], ["y"])],
        [node("Max", ["x", "k", "x"], ["y"])],
        [node("Transpose", ["x"], ["y"], perm=[0, 2, 1, 3])],
        [node("Transpose", ["x"], ["y"])],
        [node("Split", ["x"], ["a", "b"], axis=2), node("Add", ["a", "b"], ["y"])],
        [node("Split", ["x"], ["a", "b"], axis=1), node("Max", ["a", "b"], ["y"])],
        [node("Split", ["x"], ["a", "b"], axis=2), node("Relu", ["b"], ["y"])],
        [node("Pad", ["x", "pads"], ["y"])],
        [node("Slice", ["x", "begin", "end", "axes", "step"], ["y"])],
        [node("Tile", ["x", "times"], ["y"])],
        [node("Softmax", ["x"], ["y"], axis=1)],
        [node("LogSoftmax", ["x"], ["y"], axis=2)],
        [node("LRN", ["x"], ["y"], size=3, alpha=0.5, beta=0.75, bias=2.0)],
        [node("GlobalAveragePool", ["x"], ["a"]), node("Mul", ["x", "a"], ["y"])],
        [node("Flatten", ["x"], ["a"]), node("Relu", ["a"], ["b"]), node("Unsqueeze", ["b", "zero"], ["y"])],
    ],
    ids=lambda nodes: "-".join(entry.op_type for entry in nodes),
)
@pytest.mark.parametrize("batch", [1, 2])
def test_other_layers_are_those_of_onnxruntime(
    save_model: SaveModel, nodes: list[onnx.NodeProto], batch: int
) -> None:
    constants = {
        "pads": [0, 1, 0, 2, 0, -1, 3, 0], "begin": [3, -1], "end": [-9, 99], "axes": [2, 3], "step": [-2, 1],
        "times": [1, 2, 1, 3], "zero": [0],
    }  # fmt: skip
    weights = {
        "k": small_integers((batch, 4, 4, 3), 8), "v": small_integers((3,), 9), "w": small_integers((3, 3), 10)
    }  # fmt: skip
    path = saved(save_model, nodes, [batch, 4, 4, 3], weights, constants=constants)
    own, other = both(path, weights, "y")
    np.testing.assert_allclose(own, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("op", ["Gelu", "InstanceNormalization", "Resize"])
def test_an_operator_without_a_reference_is_named(save_model: SaveModel, op: str) -> None:
    operands = {"Gelu": ["x"], "InstanceNormalization": ["x", "k", "k"], "Resize": ["x", "", "", "s"]}[op]
    weights = {"k": small_integers((4,), 1)}
    constants = {"s": [1, 4, 8, 8]}
    # Of Resize what interpolates has none.
    options = {"mode": "linear"} if op == "Resize" else {}
    path = saved(
        save_model,
        [node(op, operands, ["y"], **options)],
        [1, 4, 4, 4],
        weights,
        constants=constants,
        opset=20,
    )
    network = network_layers(operators_of(read_model(Path(path)), "net"))
    given = {"x": small_integers((1, 4, 4, 4), 1)}
    with pytest.raises(InputError, match=f"{op} 'y': has no reference computation"):
        network_results(network, given, weights, lambda layer: "gemm")


@pytest.mark.parametrize("rounding", ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
@pytest.mark.parametrize("way", ["half_pixel", "asymmetric", "pytorch_half_pixel", "half_pixel_symmetric"])
@pytest.mark.parametrize("given", ["sizes", "scales"])
def test_a_resize_by_the_nearest_element_is_that_of_onnxruntime(
    save_model: SaveModel, given: str, way: str, rounding: str
) -> None:
    options = {"mode": "nearest", "coordinate_transformation_mode": way, "nearest_mode": rounding}
    sizes = given == "sizes"
    nodes = [node("Resize", ["x", "", "", "s"] if sizes else ["x", "", "s"], ["y"], **options)]
    path = saved(
        save_model, nodes, [1, 2, 5, 6], {}, constants={"s": [1, 2, 12, 9] if sizes else [1, 1, 2, 3]}
    )
    if not sizes:
        proto = onnx.load(path)
        kept = [tensor for tensor in proto.graph.initializer if tensor.name != "s"]
        scales = numpy_helper.from_array(np.array([1, 1, 2.3, 0.6], np.float32), "s")
        del proto.graph.initializer[:]
        proto.graph.initializer.extend([*kept, scales])
        onnx.save(proto, path)
    own, other = both(path, {}, "y")
    assert own.shape == other.shape and np.array_equal(own, other)
