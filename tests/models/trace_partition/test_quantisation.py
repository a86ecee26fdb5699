"""Constants of layers in Q8.8."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.models.trace_partition.data.fixed_point import words
from mapper.models.trace_partition.data.quantisation import LayerData, quantised, spread_weights
from mapper.models.trace_partition.data.seeded_weight import sensible_weights
from mapper.models.trace_partition.lowering.building import trace_network
from mapper.models.trace_partition.lowering.host_call import host_calls
from mapper.workloads.document import InputError
from mapper.workloads.network.weight import seeded_weights
from mapper.workloads.source import load_layers
from tests.sim.trace_partition.onnx_layer import layers, model, node, sixteenths


def constants(nodes: list[onnx.NodeProto], shape: tuple[int, ...], **weights: Any) -> dict[str, LayerData]:
    network = layers(model(nodes, shape, weights))
    return quantised(network, trace_network(network), weights)


def test_numbers_are_rounded_to_even_and_saturate() -> None:
    values = np.array([0.5, 1.5, -0.5, -1.5, 1e9, -1e9]) / 256
    assert words(values).tolist() == [0, 2, 0, -2, 32767, -32768]
    assert words(np.array([np.nan, np.inf, 127.999], np.float32)).tolist() == [0, 32767, 32767]


def test_a_kernel_has_its_channels_innermost() -> None:
    kernel = sixteenths((6, 2, 3, 2), 1)
    data = constants(
        [node("Conv", ["x", "w", "b"], ["y"], group=2)], (1, 4, 6, 6), w=kernel, b=sixteenths((6,), 2)
    )
    assert np.array_equal(data["conv1"].kernel, kernel.transpose(0, 2, 3, 1) * 256)
    assert np.array_equal(data["conv1"].bias, sixteenths((6,), 2) * 256)


def test_scales_are_folded_in_their_order_and_rounded_once() -> None:
    weights = {
        "w": sixteenths((3, 2, 1, 1), 1), "b": sixteenths((3,), 2), "s": np.array([0.3, 1.7, 2.0], np.float32),
        "o": np.array([0.1, -1.0, 3.0], np.float32), "m": np.array([0.7, 0.2, -0.4], np.float32),
        "v": np.array([1.0, 0.5, 4.0], np.float32), "k": np.array([[[2.0]], [[3.0]], [[-1.0]]], np.float32),
        "a": np.array([[[0.25]]], np.float32),
    }  # fmt: skip
    nodes = [
        node("Conv", ["x", "w", "b"], ["c"]),
        node("BatchNormalization", ["c", "s", "o", "m", "v"], ["n"], epsilon=0.0),
        node("Mul", ["k", "n"], ["p"]),
        node("Sub", ["p", "a"], ["q"]),
        node("Relu", ["q"], ["y"]),
    ]
    data = constants(nodes, (1, 2, 4, 4), **weights)["conv1"]
    exact = {name: value.astype(np.float64).reshape(-1) for name, value in weights.items()}
    factor = exact["s"] / np.sqrt(exact["v"]) * exact["k"]
    shift = (exact["o"] - exact["m"] * exact["s"] / np.sqrt(exact["v"])) * exact["k"] - exact["a"]
    assert np.array_equal(
        data.kernel.reshape(3, 2), np.rint(exact["w"].reshape(3, 2) * factor[:, np.newaxis] * 256)
    )
    assert np.array_equal(data.bias, np.rint((exact["b"] * factor + shift) * 256))


def test_a_normalisation_by_itself_is_a_layer_of_one_product_a_channel() -> None:
    weights = {name: np.array([1.0, 2.0], np.float32) for name in "sb"} | {
        "m": np.array([1.0, 1.0], np.float32), "v": np.array([4.0, 1.0], np.float32)
    }  # fmt: skip
    nodes = [node("BatchNormalization", ["x", "s", "b", "m", "v"], ["y"], epsilon=0.0)]
    (data,) = constants(nodes, (1, 2, 4, 4), **weights).values()
    assert data.kernel.shape == (1, 1, 1, 2)
    assert (data.kernel.reshape(-1).tolist(), data.bias.tolist()) == ([128, 512], [128, 0])


def test_a_transposed_kernel_is_turned_round_group_by_group() -> None:
    kernel = sixteenths((4, 3, 2, 2), 1)
    data = constants([node("ConvTranspose", ["x", "w"], ["y"], group=2)], (1, 4, 3, 3), w=kernel)
    turned = data["convtranspose1"].kernel
    assert turned.shape == (6, 2, 2, 2)
    for group, filter_, channel in np.ndindex(2, 3, 2):
        own = kernel[2 * group + channel, filter_, ::-1, ::-1]
        assert np.array_equal(turned[3 * group + filter_, :, :, channel], own * 256)


def test_a_products_columns_follow_the_pixels_of_the_map_it_reads() -> None:
    matrix = sixteenths((12, 2), 1)
    nodes = [node("Relu", ["x"], ["r"]), node("Flatten", ["r"], ["f"]), node("Gemm", ["f", "w"], ["y"])]
    data = constants(nodes, (1, 3, 2, 2), w=matrix)["gemm1"].kernel.reshape(2, 2, 2, 3)
    for row, column, channel in np.ndindex(2, 2, 3):
        assert np.array_equal(data[:, row, column, channel], matrix[channel * 4 + row * 2 + column] * 256)


def test_filters_of_a_maximum_of_halves_keep_their_order() -> None:
    kernel = sixteenths((6, 2, 1, 1), 1)
    nodes = [
        node("Conv", ["x", "w"], ["a"]), node("Split", ["a"], ["b", "c"], axis=1), node("Max", ["b", "c"], ["y"])
    ]  # fmt: skip
    assert np.array_equal(
        constants(nodes, (1, 2, 4, 4), w=kernel)["conv1"].kernel.reshape(6, 2), kernel[..., 0, 0] * 256
    )


@settings(derandomize=True, deadline=None)
@given(st.integers(0, 6), st.integers(1, 20), st.integers(0, 6), st.integers(1, 20))
def test_the_weights_of_an_average_add_up_to_one(top: int, rows: int, left: int, columns: int) -> None:
    weights = spread_weights((top, top + rows), (left, left + columns), (30, 30))
    inside = weights[top : top + rows, left : left + columns]
    assert weights.sum() == inside.sum() == 256
    assert inside.max() - inside.min() <= 1


def test_an_average_over_what_lies_inside_has_weights_for_every_class() -> None:
    nodes = [node("AveragePool", ["x"], ["y"], kernel_shape=[3, 3], pads=[1, 1, 1, 1])]
    (data,) = constants(nodes, (1, 2, 4, 4)).values()
    assert data.kernel.shape == (9, 3, 3, 2)
    assert data.kernel[0, :, :, 0].tolist() == [[0, 0, 0], [0, 64, 64], [0, 64, 64]]
    assert (data.kernel.sum((1, 2)) == 256).all()


def test_additions_and_copies_multiply_by_one_and_maximum_pools_by_nothing() -> None:
    nodes = [node("Relu", ["x"], ["r"]), node("Add", ["x", "r"], ["a"]), node("GlobalMaxPool", ["a"], ["y"])]
    data = constants(nodes, (1, 2, 4, 4))
    assert [one.kernel.reshape(-1).tolist() for one in data.values()] == [[256, 256], [256, 256], []]


def test_a_missing_weight_is_named() -> None:
    network = load_layers("lenet5")
    weights = seeded_weights(network.operators, 1)
    del weights["conv2.bias"]
    with pytest.raises(InputError, match=r"tensor 'conv2\.bias': has no value of shape \[50\]"):
        quantised(network, trace_network(network), weights)


def test_calls_of_the_host_are_numbered_and_carry_their_constants() -> None:
    nodes = [node("Conv", ["x", "w"], ["a"]), node("PRelu", ["a", "s"], ["b"]), node("Softmax", ["b"], ["y"])]
    weights = {"w": sixteenths((2, 2, 1, 1), 1), "s": np.array([[[0.25]], [[0.5]]], np.float32)}
    network = layers(model(nodes, (1, 2, 3, 3), weights))
    calls = host_calls(network, trace_network(network), weights)
    assert [(call.number, call.op) for call in calls] == [(1, "PRelu"), (2, "Softmax")]
    assert dict(calls[0].attributes)["mapper.value.c0"] == (0.25, 0.5)
    with pytest.raises(InputError, match="which the host needs"):
        host_calls(network, trace_network(network))


def test_weights_of_added_maps_are_drawn_smaller() -> None:
    network = load_layers("resnet18")
    trace = trace_network(network)
    sensible, seeded = sensible_weights(network, trace, 3), seeded_weights(network.operators, 3)
    changed = {name: float(sensible[name].max() / seeded[name].max()) for name in sensible}
    assert {changed["res3b.conv2.weight"], changed["res3b.conv2.bias"]} == {0.25}
    assert changed["res3b.conv1.weight"] == 1.0
