"""The loop nest of an operator computes what onnxruntime computes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from onnx import TensorProto, helper

from mapper.workloads.nest.loop_nest import LoopNest, Operand
from mapper.workloads.onnx.file import parse_model, read_model
from mapper.workloads.onnx.network import network_of

Array = NDArray[np.float32]


def model_of(op: str, data: Sequence[int], weights: Sequence[int], **attributes: Any) -> onnx.ModelProto:
    graph = helper.make_graph(
        [helper.make_node(op, ["x", "w"], ["y"], "only", **attributes)],
        "net",
        [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)
            for name, dims in (("x", data), ("w", weights))
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def nest_of(model: onnx.ModelProto) -> LoopNest:
    network = network_of(parse_model(model.SerializeToString(), "net"), "net")
    return network.layers[0].nest


def computed(model: onnx.ModelProto, x: Array, w: Array) -> Array:
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    result: Array = session.run(None, {"x": x, "w": w})[0]
    return result


def run(nest: LoopNest, first: Array, second: Array) -> Array:
    """The nest's statement at every point of its iteration space, straight from the index expressions."""
    points = np.indices(tuple(nest.trip_counts.values())).reshape(len(nest.loops), -1)
    at = dict(zip(nest.loops, points, strict=True))
    zero = np.zeros(points.shape[1], dtype=np.int64)

    def place(operand: Operand) -> tuple[NDArray[np.int64], ...]:
        return tuple(sum((f * at[loop] for loop, f in d.coefficients), zero) for d in operand.index)

    out, a, b = nest.operands
    result = np.zeros(out.extents, dtype=np.float32)
    np.add.at(result, place(out), first.reshape(a.extents)[place(a)] * second.reshape(b.extents)[place(b)])
    return result


def small_integers(shape: Sequence[int], seed: int) -> Array:
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(np.float32)


@st.composite
def convolutions(draw: st.DrawFn) -> tuple[list[int], list[int], dict[str, Any]]:
    rank, groups = draw(st.integers(1, 3)), draw(st.sampled_from([1, 1, 2, 3]))

    def per_axis(low: int, high: int) -> list[int]:
        return draw(st.lists(st.integers(low, high), min_size=rank, max_size=rank))

    kernel, dilations, strides = per_axis(1, 3), per_axis(1, 2), per_axis(1, 3)
    reach = [d * (k - 1) + 1 for k, d in zip(kernel, dilations, strict=True)]
    sizes = [r + extra for r, extra in zip(reach, per_axis(0, 4), strict=True)]
    channels, filters = groups * draw(st.integers(1, 2)), groups * draw(st.integers(1, 2))
    attributes: dict[str, Any] = {"strides": strides, "dilations": dilations, "group": groups}
    mode = draw(st.sampled_from(["NOTSET", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"]))
    if mode == "NOTSET":
        attributes["pads"] = per_axis(0, 2) + per_axis(0, 2)
    else:
        attributes["auto_pad"] = mode
        if mode.startswith("SAME"):  # onnxruntime refuses dilated SAME padding
            attributes["dilations"] = [1] * rank
    batch = draw(st.integers(1, 2))
    return [batch, channels, *sizes], [filters, channels // groups, *kernel], attributes


@settings(derandomize=True, deadline=None, max_examples=60)
@given(convolutions())
def test_a_convolution_nest_computes_the_convolution(
    case: tuple[list[int], list[int], dict[str, Any]],
) -> None:
    data, weights, attributes = case
    model = model_of("Conv", data, weights, **attributes)
    nest = nest_of(model)
    x, w = small_integers(data, 0), small_integers(weights, 1)
    expected = computed(model, x, w)
    image = nest.operands[1].extents
    total = [padded - size for padded, size in zip(image[-len(data) + 2 :], data[2:], strict=True)]
    before = attributes["pads"][: len(total)] if "pads" in attributes else [t // 2 for t in total]
    if attributes.get("auto_pad") == "SAME_LOWER":
        before = [t - t // 2 for t in total]
    rims = [(0, 0), (0, 0), *((low, t - low) for low, t in zip(before, total, strict=True))]
    assert np.array_equal(run(nest, np.pad(x, rims), w).reshape(expected.shape), expected)


@pytest.mark.parametrize("trans_a", [0, 1])
@pytest.mark.parametrize("trans_b", [0, 1])
def test_a_gemm_nest_computes_the_product_of_the_stored_matrices(trans_a: int, trans_b: int) -> None:
    first, second = (5, 3) if trans_a else (3, 5), (4, 5) if trans_b else (5, 4)
    model = model_of("Gemm", first, second, transA=trans_a, transB=trans_b)
    x, w = small_integers(first, 0), small_integers(second, 1)
    assert np.array_equal(run(nest_of(model), x, w), computed(model, x, w))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((3, 4), (4, 5)),
        ((2, 3, 4), (4, 5)),
        ((3, 4), (2, 4, 5)),
        ((2, 3, 4), (2, 4, 5)),
        ((2, 1, 3, 4), (6, 4, 5)),
        ((1, 3, 4), (7, 1, 4, 5)),
        ((4,), (2, 4, 5)),
        ((2, 3, 4), (4,)),
        ((4,), (4,)),
    ],
)
def test_a_matrix_product_nest_computes_the_broadcast_product(
    first: tuple[int, ...], second: tuple[int, ...]
) -> None:
    model = model_of("MatMul", first, second)
    x, w = small_integers(first, 0), small_integers(second, 1)
    expected = computed(model, x, w)
    assert np.array_equal(run(nest_of(model), x, w).reshape(expected.shape), expected)


def test_a_batch_axis_that_a_factor_lacks_does_not_index_it() -> None:
    output, first, second = nest_of(model_of("MatMul", (2, 3, 4), (4, 5))).operands
    assert (output.extents, first.extents, second.extents) == ((2, 3, 5), (2, 3, 4), (4, 5))


@pytest.mark.parametrize(
    ("op", "inputs", "nest_op"),
    [
        ("ConvInteger", ["x", "w"], "conv1"),
        ("QLinearConv", ["x", "s", "z", "w", "s", "z", "s", "z"], "conv1"),
        ("MatMulInteger", ["m", "n"], "gemm1"),
        ("QLinearMatMul", ["m", "s", "z", "n", "s", "z", "s", "z"], "gemm1"),
    ],
)
def test_quantised_layers_are_layers(
    save_model: Callable[..., str], op: str, inputs: list[str], nest_op: str
) -> None:
    path = save_model(
        [helper.make_node(op, inputs, ["y"], "quantised")],
        {"x": [1, 3, 8, 8], "m": [6, 7]},
        {"w": [4, 3, 3, 3], "n": [7, 5], "s": [], "z": []},
        element=TensorProto.UINT8,
    )
    (layer,) = network_of(read_model(Path(path)), "net").layers
    assert (layer.name, layer.source, layer.op) == (nest_op, "quantised", op)
    assert layer.nest.iterations == (4 * 6 * 6 * 3 * 9 if nest_op == "conv1" else 6 * 7 * 5)


def test_layers_are_counted_per_type_in_topological_order_whatever_the_order_in_the_file(
    save_model: Callable[..., str],
) -> None:
    nodes = [
        helper.make_node("MatMul", ["c", "w"], ["d"], "last"),
        helper.make_node("MatMul", ["a", "w"], ["b"]),
        helper.make_node("Conv", ["x", "k"], ["a"], "first"),
        helper.make_node("Conv", ["b", "k"], ["c"], "second"),
    ]
    path = save_model(nodes, {"x": [1, 1, 4, 4]}, {"w": [4, 4], "k": [1, 1, 1, 1]})
    names = [(layer.name, layer.source) for layer in network_of(read_model(Path(path)), "net").layers]
    assert names == [("conv1", "first"), ("gemm1", "b"), ("conv2", "second"), ("gemm2", "last")]
