"""Activations, gates, and layers that the accelerator has in another form compute what onnxruntime computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

from mapper.models.trace_partition.lowering.layer import TraceLayer
from tests.sim.trace_partition.onnx_layer import check, model, node, sixteenths, traced


@pytest.mark.parametrize(
    ("op", "options"),
    [
        ("Sigmoid", {}), ("Tanh", {}), ("LeakyRelu", {"alpha": 0.1}), ("HardSigmoid", {"alpha": 0.25}),
        ("HardSwish", {}), ("Elu", {}),
    ],
)  # fmt: skip
def test_an_activation_by_table_is_that_of_onnxruntime_but_for_the_rounding(
    op: str, options: dict[str, Any]
) -> None:
    weights = {"w": sixteenths((6, 4, 3, 3), 2)}
    proto = model([node("Conv", ["x", "w"], ["a"]), node(op, ["a"], ["y"], **options)], (1, 4, 6, 7), weights)
    check(proto, weights, 2.0)
    (layer,) = traced(proto).layers
    assert isinstance(layer, TraceLayer) and layer.table == "function" and layer.merged[-1][1] == op


@pytest.mark.parametrize(
    ("kernel", "options"),
    [
        ((6, 4, 3, 3, 3), {"pads": [1, 1, 1, 1, 1, 1]}),
        ((6, 4, 2, 3, 2), {"strides": [2, 1, 2], "pads": [1, 0, 1, 0, 2, 0]}),
        ((6, 2, 3, 1, 1), {"group": 2, "dilations": [2, 1, 1]}),
        ((4, 1, 3, 3, 3), {"group": 4}),
    ],
)
@pytest.mark.parametrize("more", [[], [node("BatchNormalization", ["m", "s", "b", "u", "v"], ["y"])]])
def test_a_convolution_over_three_axes_is_a_sum_of_those_over_two(
    kernel: tuple[int, ...], options: dict[str, Any], more: list[onnx.NodeProto]
) -> None:
    weights = {"w": sixteenths(kernel, 2, 8), "c": sixteenths(kernel[:1], 3)}
    held = {name: sixteenths(kernel[:1], seed) for seed, name in enumerate(("s", "b", "u"))}
    given = weights | ((held | {"v": np.full(kernel[0], 1 - 1e-5, np.float32)}) if more else {})
    proto = model([node("Conv", ["x", "w", "c"], ["m"], **options), *more], (1, 4, 6, 5, 4), given)
    check(proto, given, 40.0 if more else 0.5)  # folded weights are rounded
    trace = traced(proto)
    assert not trace.hosted and len(trace.traced) == 1 and trace.traced[0].work == "convolution"


GATE = [
    node("Conv", ["x", "w"], ["a"]),
    node("GlobalAveragePool", ["a"], ["p"]),
    node("Conv", ["p", "v"], ["q"]),
    node("Sigmoid", ["q"], ["s"]),
]


@pytest.mark.parametrize("operands", [["a", "s"], ["s", "a"]])
@pytest.mark.parametrize("more", [[], [node("Relu", ["m"], ["y"])], [node("HardSwish", ["m"], ["y"])]])
def test_squeeze_and_excite_multiplies_each_channel_on_the_accelerator(
    operands: list[str], more: list[onnx.NodeProto]
) -> None:
    weights = {"w": sixteenths((20, 4, 3, 3), 2, 4), "v": sixteenths((20, 20, 1, 1), 3, 4)}
    proto = model([*GATE, node("Mul", operands, ["m"]), *more], (1, 4, 6, 7), weights)
    check(proto, weights, 14.0)  # the gate is known to a 256th, and multiplies numbers of up to some tens
    trace = traced(proto)
    assert not trace.hosted
    (gated,) = (layer for layer in trace.traced if layer.gate is not None)
    assert gated.gate is not None and gated.gate.channels == gated.output.channels == 20


@pytest.mark.parametrize("again", [False, True])
def test_a_map_times_its_own_sigmoid_is_one_table(again: bool) -> None:
    weights = {"w": sixteenths((6, 4, 3, 3), 2)}
    nodes = [node("Conv", ["x", "w"], ["a"]), node("Sigmoid", ["a"], ["s"]), node("Mul", ["s", "a"], ["y"])]
    proto = model(
        [*nodes, *([node("MaxPool", ["a"], ["z"], kernel_shape=[2, 2])] if again else [])],
        (1, 4, 6, 7),
        weights,
    )
    check(proto, weights, 2.0)
    trace = traced(proto)
    assert not trace.hosted
    # Where something else reads the map too, the table is a layer of its own.
    assert [layer.table for layer in trace.traced] == ([None, "product", None] if again else ["product"])


def test_an_average_over_a_large_map_is_taken_of_columns_and_then_of_rows() -> None:
    proto = model([node("GlobalAveragePool", ["x"], ["y"])], (1, 5, 40, 36), {})
    check(proto, {}, 2.0)
    first, second = traced(proto).traced
    assert (first.kernel, second.kernel) == ((40, 1), (1, 36))


@pytest.mark.parametrize("shape", [(5, 7), (1, 5, 7), (1, 2, 3, 7)])
@pytest.mark.parametrize("more", [[], [node("Add", ["m", "b"], ["y"])], [node("Relu", ["m"], ["y"])]])
def test_a_product_of_several_rows_runs_on_the_accelerator(
    shape: tuple[int, ...], more: list[onnx.NodeProto]
) -> None:
    weights = {"w": sixteenths((7, 4), 2), "b": sixteenths((4,), 3)}
    given = weights if more and more[0].op_type == "Add" else {"w": weights["w"]}
    proto = model([node("MatMul", ["x", "w"], ["m"]), *more], shape, given)
    check(proto, given)
    trace = traced(proto)
    (product,) = trace.traced
    assert product.rows == int(np.prod(shape[:-1])) and product.filters == 4
    assert trace.frames == shape[0]
    assert all(layer.op == "Reshape" for layer in trace.hosted)


@pytest.mark.parametrize(
    ("low", "high"), [(0.0, 6.0), (-1.5, 2.25), (0.0, None), (None, 3.0), (-1000.0, 1000.0), (2.0, 1.0)]
)
@pytest.mark.parametrize("before", ["Conv", "MaxPool", "x"])
def test_clip_is_that_of_onnxruntime_after_any_layer_and_by_itself(
    before: str, low: float | None, high: float | None
) -> None:
    weights = {"w": sixteenths((6, 4, 3, 3), 2)} | {
        name: np.float32(limit) for name, limit in (("low", low), ("high", high)) if limit is not None
    }
    nodes = [node("Conv", ["x", "w"], ["a"])] if before == "Conv" else []
    nodes += [node("MaxPool", ["x"], ["a"], kernel_shape=[2, 2])] if before == "MaxPool" else []
    nodes += [
        node("Clip", ["a" if nodes else "x", *(n if n in weights else "" for n in ("low", "high"))], ["y"])
    ]
    proto = model(nodes, (1, 4, 6, 7), weights)
    check(proto, weights)
    trace = traced(proto)
    assert not trace.hosted and len(trace.traced) == 1


def test_one_number_for_all_channels_is_no_gate() -> None:
    weights = {"w": sixteenths((6, 4, 3), 2), "v": sixteenths((1, 4, 3), 3)}
    nodes = [node("Conv", ["x", "w"], ["a"]), node("Conv", ["x", "v"], ["b"])]
    nodes += [node("GlobalMaxPool", ["b"], ["g"]), node("Mul", ["a", "g"], ["y"])]
    proto = model(nodes, (1, 4, 9), weights)
    check(proto, weights)
    assert [layer.op for layer in traced(proto).hosted] == ["Mul"]
