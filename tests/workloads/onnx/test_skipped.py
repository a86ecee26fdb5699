"""Operators that are no loop nest are listed, with the work they would have cost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from onnx import helper

from mapper.workloads.network.network import Network
from mapper.workloads.onnx.file import read_model
from mapper.workloads.onnx.network import network_of

SaveModel = Callable[..., str]
node = helper.make_node


def read(path: str, batch: int | None = None) -> Network:
    """What the child process of ``read_network`` does, in this process."""
    return network_of(read_model(Path(path)), "net", batch)


def test_skipped_operators_are_named_by_node_or_by_position(save_model: SaveModel) -> None:
    nodes = [
        node("Relu", ["x"], ["a"], "named"),
        node("Relu", ["a"], ["b"]),
        node("MatMul", ["b", "w"], ["y"]),
    ]
    skipped = read(save_model(nodes, {"x": [2, 3]}, {"w": [3, 4]})).skipped
    assert [(entry.name, entry.op, entry.macs) for entry in skipped] == [
        ("named", "Relu", 0),
        ("n1", "Relu", 0),
    ]


def test_constants_shapes_identity_and_dropout_are_not_listed(save_model: SaveModel) -> None:
    nodes = [
        node("Constant", [], ["k"], value_floats=[1.0]),
        node("Add", ["w", "k"], ["v"]),
        node("Identity", ["x"], ["i"]),
        node("Dropout", ["i"], ["d"]),
        node("Shape", ["d"], ["s"]),
        node("Reshape", ["d", "s"], ["r"]),
        node("MatMul", ["r", "v"], ["y"]),
    ]
    skipped = read(save_model(nodes, {"x": [2, 3]}, {"w": [3, 4]})).skipped
    assert [entry.op for entry in skipped] == ["Reshape"]


@pytest.mark.parametrize(
    ("op", "shapes", "attributes", "macs"),
    [
        ("ConvTranspose", [[2, 6, 5, 5], [6, 4, 3, 3]], {"group": 1}, 2 * 6 * 25 * 4 * 9),
        ("ConvTranspose", [[2, 6, 5, 5], [6, 4, 3, 3]], {"group": 2}, 2 * 6 * 25 * 4 * 9),
        ("LSTM", [[7, 2, 5], [1, 12, 5], [1, 12, 3]], {"hidden_size": 3}, 7 * 2 * (12 * 5 + 12 * 3)),
        ("GRU", [[7, 2, 5], [1, 9, 5], [1, 9, 3]], {"hidden_size": 3}, 7 * 2 * (9 * 5 + 9 * 3)),
        ("Einsum", [[2, 3, 4], [2, 4, 5]], {"equation": "bij,bjk->bik"}, 2 * 3 * 4 * 5),
        ("Einsum", [[6, 3, 4], [4, 5]], {"equation": "...ij,jk->...ik"}, 6 * 3 * 4 * 5),
    ],
)
def test_work_that_is_no_nest_is_counted(
    save_model: SaveModel, op: str, shapes: list[list[int]], attributes: dict[str, Any], macs: int
) -> None:
    weights = {f"w{place}": shape for place, shape in enumerate(shapes[1:])}
    nodes = [node(op, ["x", *weights], ["t"], **attributes), node("MatMul", ["m", "m"], ["y"])]
    network = read(save_model(nodes, {"x": shapes[0], "m": [2, 2]}, weights))
    assert [(entry.op, entry.macs) for entry in network.skipped] == [(op, macs)]
    assert network.macs == 8 + macs


@pytest.mark.parametrize(
    ("op", "shapes", "macs"),
    [
        ("Conv", [[1, 2, 3, 3, 3, 3], [4, 2, 2, 2, 2, 2]], 4 * 2 * 16 * 16),
        ("MatMul", [[2] * 8 + [3], [2] * 7 + [3, 2]], 2**7 * 2 * 3 * 2),
    ],
)
def test_a_layer_with_too_many_axes_is_skipped_with_its_work(
    save_model: SaveModel, op: str, shapes: list[list[int]], macs: int
) -> None:
    nodes = [node(op, ["x", "w"], ["t"]), node("MatMul", ["m", "m"], ["y"])]
    network = read(save_model(nodes, {"x": shapes[0], "m": [2, 2]}, {"w": shapes[1]}))
    assert [(entry.op, entry.macs) for entry in network.skipped] == [(op, macs)]
    assert [layer.name for layer in network.layers] == ["gemm1"]
