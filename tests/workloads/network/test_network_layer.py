"""Operators become the layers that a processor runs one after another, small ones merged into them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import helper

from mapper.workloads.catalogue import CATALOGUE
from mapper.workloads.document import InputError
from mapper.workloads.nest.layer_nest import convolution_nest
from mapper.workloads.network.building import layer_part, network_layers
from mapper.workloads.network.network_layer import LayerNetwork, NetworkLayer
from mapper.workloads.onnx.file import read_model
from mapper.workloads.onnx.operator import operators_of
from mapper.workloads.source import load_layers, load_network

SaveModel = Callable[..., str]
node = helper.make_node
NETWORKS = [name for name, entry in CATALOGUE.items() if entry.origin != "document"]


@cache
def catalogue_layers(name: str) -> LayerNetwork:
    return load_layers(name)


def read(path: str) -> LayerNetwork:
    return network_layers(operators_of(read_model(Path(path)), "net"))


def merged(layer: NetworkLayer) -> list[str]:
    return [operator.op for operator in layer.merged]


def shape_of(network: LayerNetwork) -> list[tuple[str, str, list[str]]]:
    return [(layer.name, layer.work, merged(layer)) for layer in network.layers]


@pytest.mark.parametrize("name", NETWORKS)
def test_layers_have_the_work_of_the_loop_nests(name: str) -> None:
    network, nests = catalogue_layers(name), load_network(name)
    assert [(layer.name, layer.macs) for layer in network.layers if layer.macs] == [
        (layer.name, layer.nest.iterations) for layer in nests.layers
    ]
    assert sum(layer.macs for layer in network.layers) == nests.macs


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=pytest.mark.slow if one == "resnet50" else ()) for one in NETWORKS]
)
def test_the_sizes_of_a_convolution_are_those_of_its_loop_nest(name: str) -> None:
    layers = {layer.name: layer for layer in catalogue_layers(name).layers}
    nests = [layer for layer in load_network(name).layers if layer.op == "Conv"]
    assert [convolution_nest(one.name, layers[one.name].convolution) for one in nests] == [
        one.nest for one in nests
    ]


@pytest.mark.parametrize("name", NETWORKS)
def test_every_operator_is_a_layer_or_belongs_to_one(name: str) -> None:
    network = catalogue_layers(name)
    held = [
        operator.name
        for layer in network.layers
        for operator in (layer.operator, *layer.merged, *layer.views)
    ]
    assert sorted(held) == sorted(operator.name for operator in network.operators.operators)


@pytest.mark.parametrize("name", NETWORKS)
def test_a_layer_reads_the_networks_input_or_what_a_layer_before_it_made(name: str) -> None:
    network = catalogue_layers(name)
    made: dict[str, str | None] = dict.fromkeys(network.operators.inputs)
    for layer in network.layers:
        assert all(made[given.memory] == given.layer for given in layer.inputs)
        made |= {tensor: layer.name for tensor, _ in layer.outputs}
    assert all(given.memory in made for given in network.outputs)


def test_batch_normalisation_and_activation_are_merged_into_the_convolutions_of_resnet() -> None:
    found = Counter((layer.work, *merged(layer)) for layer in load_layers("resnet50").layers)
    assert found == {
        ("convolution", "BatchNormalization", "Relu"): 33,
        ("convolution", "BatchNormalization"): 20,
        ("elementwise", "Relu"): 16,
        ("max_pool",): 1,
        ("average_pool",): 1,
        ("fully_connected",): 1,
        ("softmax",): 1,
    }


def test_batch_normalisation_before_a_convolution_is_a_layer_in_densenet() -> None:
    works = Counter(layer.work for layer in load_layers("densenet121").layers)
    assert (works["convolution"], works["batch_normalization"], works["concatenation"]) == (121, 62, 58)


def test_halves_of_a_split_lie_where_the_convolution_left_them() -> None:
    network = load_layers("lightcnn9")
    first, second = network.layer("max1").inputs
    assert (first.memory, first.layer, first.offset) == ("conv1.out", "conv1", 0)
    assert (second.memory, second.layer, second.offset) == ("conv1.out", "conv1", 48 * 128 * 128)
    assert "movement" not in {layer.work for layer in network.layers}


def test_a_split_inside_the_batch_moves_data() -> None:
    works = Counter(layer.work for layer in load_layers("lightcnn9", 2).layers)
    assert works["movement"] == 10


def test_a_fully_connected_layer_tells_rows_depth_columns_and_bias() -> None:
    layer = load_layers("lenet5", 3).layer("gemm1")
    assert layer.matrix == (3, 800, 500)
    assert (layer.weight, layer.bias) == (("fc1.weight", (500, 800)), ("fc1.bias", (500,)))
    assert (layer.inputs[0].shape, layer.inputs[0].memory, layer.feeds) == (
        (3, 800), "pool2.out", ("pool2",)
    )  # fmt: skip


def test_a_product_with_a_constant_takes_its_bias_from_the_addition_after_it(save_model: SaveModel) -> None:
    nodes = [
        node("MatMul", ["x", "w"], ["a"]),
        node("Add", ["b", "a"], ["c"]),
        node("Gelu", ["c"], ["d"]),
        node("MatMul", ["d", "d"], ["y"]),
    ]
    path = save_model(nodes, {"x": [2, 5, 3]}, {"w": [3, 5], "b": [5]}, opset=20, outputs=["y"])
    network = read(path)
    assert shape_of(network) == [
        ("gemm1", "fully_connected", ["Add", "Gelu"]),
        ("gemm2", "matrix_product", []),
    ]
    first, second = network.layers
    assert (first.matrix, first.weight, first.bias) == ((10, 3, 5), ("w", (3, 5)), None)
    assert (second.weight, [given.layer for given in second.inputs]) == (None, ["gemm1", "gemm1"])


def test_groups_strides_and_bias_of_a_convolution_are_told(save_model: SaveModel) -> None:
    conv = node("Conv", ["x", "w", "b"], ["y"], group=2, strides=[2, 1], dilations=[1, 2])
    network = read(save_model([conv], {"x": [1, 4, 7, 9]}, {"w": [6, 2, 3, 3], "b": [6]}))
    (layer,) = network.layers
    assert (layer.window.groups, layer.window.strides, layer.window.dilations) == (2, (2, 1), (1, 2))
    assert (layer.weight, layer.bias) == (("w", (6, 2, 3, 3)), ("b", (6,)))
    assert (layer.output_shape, layer.macs) == ((1, 6, 3, 5), 6 * 3 * 5 * 2 * 9)


def test_normalisation_is_a_layer_where_another_reads_the_convolution_too(save_model: SaveModel) -> None:
    scales = {name: [3] for name in "sbmv"}
    nodes = [
        node("Conv", ["x", "w"], ["a"]),
        node("BatchNormalization", ["a", *scales], ["c"]),
        node("Add", ["a", "c"], ["y"]),
    ]
    network = read(save_model(nodes, {"x": [1, 2, 4, 4]}, {"w": [3, 2, 1, 1]} | scales, outputs=["y"]))
    assert shape_of(network) == [
        ("conv1", "convolution", []),
        ("batchnormalization1", "batch_normalization", []),
        ("add1", "elementwise", []),
    ]


def test_what_the_network_hands_out_is_not_merged_away(save_model: SaveModel) -> None:
    nodes = [node("Conv", ["x", "w"], ["a"]), node("Relu", ["a"], ["y"])]
    network = read(save_model(nodes, {"x": [1, 2, 4]}, {"w": [3, 2, 1]}, outputs=["a", "y"]))
    assert [layer.work for layer in network.layers] == ["convolution", "activation"]
    assert [given.layer for given in network.outputs] == ["conv1", "relu1"]


def test_nothing_is_merged_behind_an_activation(save_model: SaveModel) -> None:
    nodes = [
        node("MaxPool", ["x"], ["a"], kernel_shape=[2, 2]),
        node("Relu", ["a"], ["b"]),
        node("Identity", ["b"], ["c"]),
        node("Mul", ["c", "k"], ["d"]),
        node("Tanh", ["d"], ["y"]),
    ]
    network = read(save_model(nodes, {"x": [1, 2, 4, 4]}, {"k": [2, 1, 1]}))
    assert shape_of(network) == [("pool1", "max_pool", ["Relu"]), ("mul1", "elementwise", ["Tanh"])]


@pytest.mark.parametrize(
    ("op", "operands", "shape", "is_merged"),
    [
        ("Add", ["a", "k"], [3, 1, 1], True),
        ("Mul", ["k", "a"], [1, 3, 1, 1], True),
        ("Div", ["a", "k"], [1], True),
        ("Div", ["k", "a"], [3, 1, 1], False),
        ("Add", ["a", "k"], [4], False),
        ("Add", ["a", "k"], [3, 4, 4], False),
        ("PRelu", ["a", "k"], [3, 1, 1], True),
        ("PRelu", ["a", "k"], [4], False),
    ],
)
def test_a_constant_is_merged_if_it_is_one_number_or_one_per_channel(
    save_model: SaveModel, op: str, operands: list[str], shape: list[int], is_merged: bool
) -> None:
    nodes = [node("Conv", ["x", "w"], ["a"]), node(op, operands, ["y"])]
    network = read(save_model(nodes, {"x": [1, 2, 4, 4]}, {"w": [3, 2, 1, 1], "k": shape}))
    assert merged(network.layers[0]) == ([op] if is_merged else [])
    assert len(network.layers) == (1 if is_merged else 2)


def test_a_concatenation_keeps_its_axis_and_a_transposition_of_real_axes_moves(save_model: SaveModel) -> None:
    nodes = [
        node("Transpose", ["x"], ["a"], perm=[0, 2, 1]),
        node("Transpose", ["a"], ["b"], perm=[1, 0, 2]),
        node("Unsqueeze", ["b", "axes"], ["c"]),
        node("Concat", ["c", "c"], ["y"], axis=-1),
    ]
    network = read(save_model(nodes, {"x": [1, 2, 3]}, constants={"axes": [0]}, outputs=["y"]))
    moved, joined = network.layers
    assert (moved.work, [view.op for view in moved.views]) == ("movement", ["Transpose", "Unsqueeze"])
    assert (joined.work, joined.operator.integer("axis")) == ("concatenation", 3)
    assert [given.shape for given in joined.inputs] == [(1, 3, 1, 2)] * 2
    assert {given.memory for given in joined.inputs} == {"a"}


@pytest.mark.parametrize(
    ("nodes", "work"),
    [
        ([node("Conv", ["x", "x"], ["y"])], "other"),
        ([node("ConvTranspose", ["x", "w"], ["y"])], "transposed_convolution"),
        ([node("MaxPool", ["x"], ["y", "i"], kernel_shape=[1, 1])], "max_pool"),
        ([node("LRN", ["x"], ["y"], size=3)], "lrn"),
        ([node("Resize", ["x", "", "z"], ["y"], mode="nearest")], "movement"),
        ([node("Resize", ["x", "", "z"], ["y"], mode="linear")], "other"),
        ([node("Dropout", ["x"], ["d"]), node("Softmax", ["d"], ["y"])], "softmax"),
        ([node("InstanceNormalization", ["x", "v", "v"], ["y"])], "other"),
    ],
)
def test_operators_are_told_apart_by_their_kind_of_work(
    save_model: SaveModel, nodes: list[onnx.NodeProto], work: str
) -> None:
    def scales(model: Any) -> None:
        model.graph.initializer.append(helper.make_tensor("z", onnx.TensorProto.FLOAT, [4], [1, 1, 2, 2]))

    weights = {"w": [2, 3, 1, 1], "v": [2]}
    network = read(save_model(nodes, {"x": [2, 2, 1, 1]}, weights, change=scales, outputs=["y"]))
    assert [layer.work for layer in network.layers] == [work]


def test_a_pool_whose_indices_are_read_is_another_kind_of_work(save_model: SaveModel) -> None:
    nodes = [node("MaxPool", ["x"], ["y", "i"], kernel_shape=[2]), node("Cast", ["i"], ["z"], to=1)]
    network = read(save_model(nodes, {"x": [1, 2, 4]}, outputs=["y", "z"]))
    assert [layer.work for layer in network.layers] == ["other", "other"]
    assert network.layers[0].outputs == (("y", (1, 2, 3)), ("i", (1, 2, 3)))


def test_a_dropout_whose_mask_is_handed_out_is_a_layer(save_model: SaveModel) -> None:
    network = read(save_model([node("Dropout", ["x"], ["y", "m"])], {"x": [2, 3]}, outputs=["y", "m"]))
    assert [(layer.work, len(layer.outputs)) for layer in network.layers] == [("other", 2)]


def test_a_part_is_a_layer_with_all_that_is_merged_into_it() -> None:
    part = load_layers("resnet50/add1")
    (layer,) = part.layers
    assert (layer.name, merged(layer), part.operators.inputs) == ("add1", ["Relu"], ("r11", "r13"))


@pytest.mark.parametrize("name", ["lightcnn9", "resnet18", "densenet121"])
def test_a_part_is_the_same_layer_as_in_the_whole(name: str) -> None:
    network = catalogue_layers(name)
    for layer in network.layers:
        (part,) = layer_part(network, layer.name).layers
        assert (part.operator, part.work, part.outputs) == (layer.operator, layer.work, layer.outputs)
        assert (part.merged, part.views) == (layer.merged, layer.views)


@pytest.mark.parametrize(
    ("name", "fault"), [("relu1", "is merged into gemm1"), ("conv7", "no such layer among its 7")]
)
def test_a_layer_that_is_none_is_one_line(name: str, fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        load_layers(f"lenet5/{name}")
