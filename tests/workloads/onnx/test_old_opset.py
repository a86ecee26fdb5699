"""Models of ONNX's first six opsets are brought to the seventh and mean what they meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from mapper.workloads.document import InputError
from mapper.workloads.onnx.file import parse_model
from mapper.workloads.source import load_layers, load_network

RANDOM = np.random.default_rng(1)
WEIGHT = RANDOM.standard_normal((4, 3, 3, 3)).astype(np.float32)
BIAS = RANDOM.standard_normal(4).astype(np.float32)
PRODUCT = RANDOM.standard_normal((64, 10)).astype(np.float32)
FACTOR = RANDOM.standard_normal((3, 5)).astype(np.float32)
Array = npt.NDArray[np.float32]


def old_model(opset: int, nodes: list[onnx.NodeProto], shape: list[int], **weights: Array) -> bytes:
    """A model of that opset from ``x`` to ``y``, its weights among the inputs as was the rule."""
    tensors = [numpy_helper.from_array(value, name) for name, value in weights.items()]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)]
    inputs += [helper.make_tensor_value_info(one.name, one.data_type, list(one.dims)) for one in tensors]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    graph = helper.make_graph(nodes, "old", inputs, outputs, tensors)
    opsets = [helper.make_opsetid("", opset)]
    data: bytes = helper.make_model(graph, opset_imports=opsets, ir_version=3).SerializeToString()
    return data


def result(data: bytes, given: Array) -> Array:
    model = parse_model(data, "old.onnx").proto
    model.ir_version = max(model.ir_version, 4)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    found: Array = session.run(None, {"x": given})[0]
    return found


def network(opset: int) -> bytes:
    """A convolution, a bias under axis 1, and a flattening, as the opset writes them."""
    old: dict[str, Any] = {"consumed_inputs": [0]} if opset < 6 else {}
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], kernel_shape=[3, 3], name="first"),
        helper.make_node("Add", ["c", "b"], ["a"], axis=1, broadcast=1, **old),
        helper.make_node("Relu", ["a"], ["r"], **old),
        helper.make_node("Flatten", ["r"], ["y"]),
    ]
    return old_model(opset, nodes, [1, 3, 6, 6], w=WEIGHT, b=BIAS)


@pytest.mark.parametrize("opset", range(1, 7))
def test_a_network_of_an_old_opset_computes_what_it_did(opset: int) -> None:
    given = RANDOM.standard_normal((1, 3, 6, 6)).astype(np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(given[0], (3, 3), axis=(1, 2))
    expected = np.einsum("oikl,ihwkl->ohw", WEIGHT, windows) + BIAS[:, None, None]
    np.testing.assert_allclose(
        result(network(opset), given)[0], np.maximum(expected, 0).ravel(), rtol=1e-5, atol=1e-5
    )


def classifier(opset: int) -> bytes:
    """A convolution, normalised, dropout, a reshaping, and a product with a bias, as the opset writes them."""
    alone: dict[str, Any] = {"is_test": 1} if opset < 7 else {}
    old: dict[str, Any] = {"consumed_inputs": [0]} if opset < 6 else {}
    normal: dict[str, Any] = {"consumed_inputs": [0, 0, 0, 1, 1]} if opset < 6 else {}
    added: dict[str, Any] = {"broadcast": 1, "axis": 1} if opset < 7 else {}
    biased: dict[str, Any] = {"broadcast": 1} if opset < 7 else {}
    weights = {"w": WEIGHT, "s": BIAS, "m": BIAS / 2, "v": BIAS**2, "p": PRODUCT, "g": PRODUCT[0]}
    flat = helper.make_node("Reshape", ["d"], ["f"], shape=[1, -1])
    if opset >= 5:
        weights["to"] = np.array([1, -1])
        flat = helper.make_node("Reshape", ["d", "to"], ["f"])
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], kernel_shape=[3, 3], name="first"),
        helper.make_node("BatchNormalization", ["c", "s", "s", "m", "v"], ["n"], **normal, **alone),
        helper.make_node("Relu", ["n"], ["r"], **old),
        helper.make_node("Dropout", ["r"], ["d"], ratio=0.5, **alone),
        flat,
        helper.make_node("Gemm", ["f", "p", "g"], ["h"], **biased, name="second"),
        helper.make_node("Add", ["h", "g"], ["y"], **added, **old),
    ]
    return old_model(opset, nodes, [1, 3, 6, 6], **weights)


@pytest.mark.parametrize("opset", range(1, 7))
def test_operators_after_which_old_opsets_know_no_shapes_are_read(opset: int, tmp_path: Path) -> None:
    given = RANDOM.standard_normal((1, 3, 6, 6)).astype(np.float32)
    np.testing.assert_allclose(result(classifier(opset), given), result(classifier(7), given), rtol=1e-5)
    path = tmp_path / "old.onnx"
    path.write_bytes(classifier(opset))
    assert [layer.source for layer in load_network(str(path)).layers] == ["first", "second"]


@pytest.mark.parametrize("axis", [None, -3, 1, 2])
def test_an_operand_stands_under_the_axis_that_it_was_given(axis: int | None) -> None:
    shape = [2, 3, 5, 3, 5]
    attributes: dict[str, Any] = {"broadcast": 1} if axis is None else {"broadcast": 1, "axis": axis}
    start = 3 if axis is None else axis % 5
    factor = RANDOM.standard_normal(tuple(shape[start : start + 2])).astype(np.float32)
    data = old_model(6, [helper.make_node("Mul", ["x", "f"], ["y"], **attributes)], shape, f=factor)
    given = RANDOM.standard_normal(tuple(shape)).astype(np.float32)
    expected = given * factor.reshape(*factor.shape, *[1] * (5 - start - 2))
    np.testing.assert_allclose(result(data, given), expected, rtol=1e-6)


def test_its_layers_have_the_shapes_and_names_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "old.onnx"
    path.write_bytes(network(3))
    assert [layer.source for layer in load_network(str(path)).layers] == ["first"]
    assert load_layers(str(path)).layers


def test_what_cannot_be_converted_is_one_line_with_the_reason() -> None:
    data = old_model(6, [helper.make_node("Mul", ["x", "f"], ["y"], broadcast=1, axis=4)], [3, 5], f=FACTOR)
    with pytest.raises(InputError, match=r"opset_import: opset 6 cannot be converted to 7 .*has no axis 4"):
        parse_model(data, "old.onnx")


def test_an_old_model_whose_data_lie_elsewhere_is_refused() -> None:
    model = onnx.ModelProto.FromString(network(6))
    model.graph.initializer[0].data_location = TensorProto.EXTERNAL
    with pytest.raises(InputError, match="opset 6 cannot have external data"):
        parse_model(model.SerializeToString(), "old.onnx")
