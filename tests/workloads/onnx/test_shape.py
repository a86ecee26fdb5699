"""Shapes and batches of ONNX files, however the file expresses them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from mapper.workloads.document import InputError
from mapper.workloads.network.network import Network
from mapper.workloads.onnx.file import read_model
from mapper.workloads.onnx.network import network_of
from mapper.workloads.source import load_network

SaveModel = Callable[..., str]
node = helper.make_node


def read(path: str, batch: int | None = None) -> Network:
    """What the child process of ``read_network`` does, in this process."""
    return network_of(read_model(Path(path)), "net", batch)


def batches(path: str, batch: int | None = None) -> list[int]:
    return [next(iter(layer.nest.trip_counts.values())) for layer in read(path, batch).layers]


@pytest.mark.parametrize("batch", [1, 5])
def test_an_open_batch_is_given_on_the_command_line(save_model: SaveModel, batch: int) -> None:
    path = save_model([node("Conv", ["x", "w"], ["y"])], {"x": ["N", 3, 8, 8]}, {"w": [4, 3, 3, 3]})
    assert read(path, batch).batch == batch
    assert batches(path, batch) == [batch]


def test_an_open_batch_that_is_not_given_is_named(save_model: SaveModel) -> None:
    path = save_model([node("Conv", ["x", "w"], ["y"])], {"x": ["N", 3, 8, 8]}, {"w": [4, 3, 3, 3]})
    with pytest.raises(InputError, match=r"input 'x': dimension 0 \('N'\) is open; give --batch"):
        read(path)


@pytest.mark.parametrize("batch", [None, 2])
def test_another_open_dimension_is_named(save_model: SaveModel, batch: int | None) -> None:
    nodes = [node("Relu", ["x"], ["r"]), node("Conv", ["r", "w"], ["y"])]
    path = save_model(nodes, {"x": [1, 3, "H", 8]}, {"w": [4, 3, 3, 3]})
    with pytest.raises(InputError, match=r"input 'x': dimension 2 \('H'\) is open; give --dim H=SIZE"):
        read(path, batch)


def test_a_fixed_batch_is_replaced(save_model: SaveModel) -> None:
    path = save_model([node("Conv", ["x", "w"], ["y"])], {"x": [1, 3, 8, 8]}, {"w": [4, 3, 3, 3]})
    assert (batches(path), batches(path, 7)) == ([1], [7])


@pytest.mark.parametrize("target", [[1, 192], [1, -1], [-1, 192], [0, -1]])
def test_a_reshape_that_holds_the_batch_follows_it(save_model: SaveModel, target: list[int]) -> None:
    nodes = [node("Reshape", ["x", "shape"], ["r"]), node("Gemm", ["r", "w"], ["y"])]
    path = save_model(nodes, {"x": [1, 3, 8, 8]}, {"w": [192, 10]}, constants={"shape": target})
    assert batches(path, 6) == [6]


def test_reshapes_that_fold_the_batch_into_rows_and_back_follow_it(save_model: SaveModel) -> None:
    nodes = [
        node("Reshape", ["x", "rows"], ["r"]),
        node("MatMul", ["r", "w"], ["m"]),
        node("Reshape", ["m", "back"], ["b"]),
        node("MatMul", ["b", "w"], ["y"]),
    ]
    constants = {"rows": [20, 16], "back": [2, 10, 16]}
    path = save_model(nodes, {"x": [2, 10, 16]}, {"w": [16, 16]}, constants=constants)
    assert batches(path, 6) == [60, 6]


def test_a_reshape_of_weights_keeps_its_target(save_model: SaveModel) -> None:
    nodes = [node("Reshape", ["w", "shape"], ["r"]), node("MatMul", ["x", "r"], ["y"])]
    path = save_model(nodes, {"x": [1, 4]}, {"w": [2, 10]}, constants={"shape": [4, 5]})
    assert batches(path, 3) == [3]


def test_a_batch_that_an_operator_cannot_follow_is_named(save_model: SaveModel) -> None:
    nodes = [
        node("Expand", ["token", "shape"], ["e"]),
        node("Concat", ["e", "x"], ["c"], axis=1),
        node("MatMul", ["c", "w"], ["y"]),
    ]
    weights = {"token": [1, 1, 8], "w": [8, 8]}
    path = save_model(nodes, {"x": [1, 4, 8]}, weights, constants={"shape": [1, 1, 8]})
    assert batches(path) == [1]
    with pytest.raises(InputError, match="Concat 'n1'"):
        read(path, 2)


@pytest.mark.parametrize("name", ["shufflenet", "alexnet", "inception-v2", "densenet121"])
def test_networks_of_the_wheel_do_their_work_per_image(name: str) -> None:
    assert load_network(name, 4).macs == 4 * load_network(name).macs


def test_shapes_that_are_computed_from_shapes_are_followed(save_model: SaveModel) -> None:
    nodes = [
        node("Shape", ["x"], ["s"]),
        node("Gather", ["s", "zero"], ["n"], axis=0),
        node("Concat", ["n", "rest"], ["target"], axis=0),
        node("Reshape", ["x", "target"], ["r"]),
        node("MatMul", ["r", "w"], ["y"]),
    ]
    constants = {"zero": [0], "rest": [-1]}
    path = save_model(nodes, {"x": [4, 3, 5]}, {"w": [15, 2]}, constants=constants)
    network = read(path, 9)
    assert network.layers[0].nest.trip_counts == {"I": 9, "J": 2, "K": 15}
    assert [skipped.op for skipped in network.skipped] == ["Reshape"]


def test_both_branches_of_a_condition_may_tell_a_shape(save_model: SaveModel) -> None:
    branches = []
    for op in ("Relu", "Abs"):
        result = helper.make_tensor_value_info(f"{op}_out", TensorProto.FLOAT, None)
        branches.append(helper.make_graph([node(op, ["x"], [f"{op}_out"])], op, [], [result]))
    condition = helper.make_tensor("c", TensorProto.BOOL, [], [True])
    nodes = [
        node("Constant", [], ["c"], value=condition),
        node("If", ["c"], ["i"], then_branch=branches[0], else_branch=branches[1]),
        node("MatMul", ["i", "w"], ["y"]),
    ]
    network = read(save_model(nodes, {"x": [2, 3]}, {"w": [3, 4]}))
    assert network.macs == 24
    assert [skipped.op for skipped in network.skipped] == ["If"]


def test_a_shape_that_the_file_stores_stands_in_for_an_unknown_operator(save_model: SaveModel) -> None:
    nodes = [node("Strange", ["x"], ["s"], domain="a.b"), node("MatMul", ["s", "w"], ["y"])]

    def store(model: onnx.ModelProto) -> None:
        model.graph.value_info.append(helper.make_tensor_value_info("s", TensorProto.FLOAT, [2, 3]))

    network = read(save_model(nodes, {"x": [2, 3]}, {"w": [3, 4]}, change=store))
    assert network.macs == 24
    assert network.skipped[0].reason == "unknown operator of a.b; its work is not counted"


def test_local_functions_are_unfolded(save_model: SaveModel) -> None:
    opset = helper.make_opsetid("", 17)
    body = [node("MatMul", ["a", "b"], ["c"])]
    function = helper.make_function("own", "Product", ["a", "b"], ["c"], body, [opset])

    def define(model: onnx.ModelProto) -> None:
        model.functions.append(function)
        model.opset_import.append(helper.make_opsetid("own", 1))

    nodes = [
        node("Product", ["x", "w"], ["y"], domain="own"),
        node("Product", ["y", "w"], ["z"], domain="own"),
    ]
    network = read(save_model(nodes, {"x": [2, 3]}, {"w": [3, 3]}, change=define))
    assert [layer.nest.iterations for layer in network.layers] == [18, 18]


def test_external_data_are_named_among_the_inputs(save_model: SaveModel, tmp_path: Path) -> None:
    (tmp_path / "net.data").write_bytes(bytes(48))

    def move(model: onnx.ModelProto) -> None:
        tensor = model.graph.initializer[0]
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in (("location", "net.data"), ("offset", "0"), ("length", "48")):
            tensor.external_data.add(key=key, value=value)

    path = save_model([node("MatMul", ["x", "w"], ["y"])], {"x": [2, 3]}, {"w": [3, 4]}, change=move)
    assert [entry.path for entry in load_network(path).inputs] == [path, str(tmp_path / "net.data")]


def test_shapes_in_external_data_are_read(save_model: SaveModel, tmp_path: Path) -> None:
    (tmp_path / "net.data").write_bytes((-1).to_bytes(8, "little", signed=True) + (6).to_bytes(8, "little"))

    def move(model: onnx.ModelProto) -> None:
        (tensor,) = (entry for entry in model.graph.initializer if entry.name == "shape")
        tensor.ClearField("int64_data")
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="net.data")

    nodes = [node("Reshape", ["x", "shape"], ["r"]), node("MatMul", ["r", "w"], ["y"])]
    path = save_model(nodes, {"x": [4, 3]}, {"w": [6, 5]}, constants={"shape": [0, 0]}, change=move)
    assert read(path).layers[0].nest.trip_counts == {"I": 2, "J": 5, "K": 6}


@pytest.mark.parametrize("opset", [7, 9, 11, 13, 18, onnx.defs.onnx_opset_version()])
def test_opsets_from_7_on_are_read(save_model: SaveModel, opset: int) -> None:
    path = save_model(
        [node("Conv", ["x", "w"], ["y"])], {"x": [1, 3, 8, 8]}, {"w": [4, 3, 3, 3]}, opset=opset
    )
    assert batches(path) == [1]
