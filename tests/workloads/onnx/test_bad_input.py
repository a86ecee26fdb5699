"""Broken and hostile ONNX files are one line each, in little time and memory."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper

from mapper.workloads.document import InputError
from mapper.workloads.network.published import lenet5
from mapper.workloads.onnx.file import read_model
from mapper.workloads.onnx.network import network_of

SaveModel = Callable[..., str]
node = helper.make_node
CONV = node("Conv", ["x", "w"], ["y"], "conv")


def fault(path: str, batch: int | None = None) -> str:
    """The one line a file is refused with, read as the child process of ``read_network`` does."""
    with pytest.raises(InputError) as caught:
        network_of(read_model(Path(path)), "net", batch)
    assert str(caught.value).startswith(path)
    assert "\n" not in str(caught.value)
    return str(caught.value).removeprefix(f"{path}: ")


@pytest.mark.parametrize("keep", [0, 1, 10, 100, 1000, 1700])
def test_a_truncated_file_is_refused(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "cut.onnx"
    path.write_bytes(lenet5().SerializeToString()[:keep])
    assert "export" in fault(str(path))


@pytest.mark.parametrize(
    "content", [b"", b"\x00" * 100, b"schema: mapper.nest/1", b"\xff" * 1000, b"\x0a" * 999]
)
def test_what_is_no_protobuf_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "garbage.onnx"
    path.write_bytes(content)
    assert "export" in fault(str(path))


def test_a_folder_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "folder.onnx"
    path.mkdir()
    assert "is not a file" in fault(str(path))


@pytest.mark.parametrize(
    ("nodes", "inputs", "weights", "expected"),
    [
        ([node("Relu", ["x"], ["y"])], {"x": [1]}, {}, "has no convolution or matrix product (only Relu)"),
        (
            [node("Odd", ["x"], ["y"], domain="a")],
            {"x": [1]},
            {},
            "has no convolution or matrix product (only Odd)",
        ),
        ([CONV], {}, {"w": [4, 3, 3, 3]}, "Conv 'conv': reads 'x', which nothing makes"),
        (
            [CONV, node("Reshape", ["y"], [])],
            {"x": [1, 3, 8, 8]},
            {"w": [4, 3, 3, 3]},
            "'n1': has no outputs; remove it",
        ),
        ([node("Conv", ["x"], ["y"])], {"x": [1, 3, 8, 8]}, {}, "Conv 'n0': lacks input 1"),
        ([CONV], {"x": [1, 3, 8, 8]}, {"w": [4, 2, 3, 3]}, "3 channels do not fit weights [4, 2, 3, 3]"),
        ([CONV], {"x": [1, 3, 8, 8]}, {"w": [4, 3]}, "cannot convolve [1, 3, 8, 8] with [4, 3]"),
        ([CONV], {"x": [1, 3, 8, 8]}, {"w": [4, 3, 9, 9]}, "kernel [9, 9] is larger than its padded input"),
        (
            [CONV],
            {"x": [1, 3, 8, 8]},
            {"w": [4, 3, 0, 3]},
            "'w' has the dimensions [4, 3, 0, 3]; sizes must be",
        ),
        ([CONV], {"x": [1, 3, 8, 8]}, {"w": [4, 3, -3, 3]}, "sizes must be positive"),
        ([CONV], {"x": [1, 3, -8, 8]}, {"w": [4, 3, 3, 3]}, "input 'x': dimension 2 is open"),
        ([CONV], {"x": None}, {"w": [4, 3, 3, 3]}, "input 'x': has no shape"),
        ([CONV], {"x": [1, 3, 8, 8]}, {"w": [1 << 40, 3, 3, 3]}, "Conv 'conv': 1e+15 iterations"),
        (
            [CONV],
            {"x": [1, 3, 1 << 31, 1 << 31]},
            {"w": [4, 3, 3, 3]},
            "is beyond this program; lower its sizes",
        ),
        ([CONV], {"x": [1] * 40}, {"w": [4, 3, 3, 3]}, "tensor 'x': has more than 32 dimensions"),
        (
            [node("MatMul", ["x", "w"], ["y"])],
            {"x": [2, 3]},
            {"w": [4, 5]},
            "cannot multiply [2, 3] by [4, 5]",
        ),
        ([node("Gemm", ["x", "w"], ["y"])], {"x": [2, 3, 4]}, {"w": [4, 5]}, "needs two matrices"),
        (
            [node("MatMul", ["x", "w"], ["y"])],
            {"x": [2, 2, 3]},
            {"w": [3, 3, 5]},
            "cannot broadcast [2, 2, 3] with [3, 3, 5]",
        ),
        (
            [node("Odd", ["x"], ["t"], "odd", domain="a"), node("MatMul", ["t", "t"], ["y"])],
            {"x": [2, 2]},
            {},
            "the shape of 't' is unknown (Odd 'odd': an operator that ONNX does not define (domain 'a'))",
        ),
        (
            [node("NonZero", ["x"], ["t"]), node("MatMul", ["w", "t"], ["y"])],
            {"x": [2, 2]},
            {"w": [2, 2]},
            "the shape of 't' is unknown (NonZero 'n0': its sizes depend on values",
        ),
    ],
)
def test_a_graph_that_cannot_be_posed_is_refused(
    save_model: SaveModel,
    nodes: list[onnx.NodeProto],
    inputs: dict[str, Any],
    weights: dict[str, list[int]],
    expected: str,
) -> None:
    assert expected in fault(save_model(nodes, inputs, weights))


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"strides": [0, 1]}, "strides and dilations must be positive"),
        ({"strides": [1]}, "strides must be 2 integers"),
        ({"strides": "wide"}, "strides must be 2 integers"),
        ({"strides": [1 << 40, 1]}, "strides must be 2 integers up to 2^31"),
        ({"pads": [-1, 0, 0, 0]}, "pads must not be negative"),
        ({"pads": [1 << 31] * 4}, "is beyond this program; lower its sizes"),
        ({"auto_pad": "SOMEHOW"}, "auto_pad b'SOMEHOW' is not"),
        ({"kernel_shape": [5, 5]}, "kernel_shape is not that of its weights"),
        ({"group": 0}, "in 0 groups"),
        ({"group": -1}, "in -1 groups"),
    ],
)
def test_a_convolution_with_impossible_attributes_is_refused(
    save_model: SaveModel, attributes: dict[str, Any], expected: str
) -> None:
    path = save_model(
        [node("Conv", ["x", "w"], ["y"], **attributes)], {"x": [1, 3, 8, 8]}, {"w": [4, 3, 3, 3]}
    )
    assert expected in fault(path)


@pytest.mark.parametrize("opset", [0, onnx.defs.onnx_opset_version() + 1, -3])
def test_an_opset_out_of_range_is_refused(save_model: SaveModel, opset: int) -> None:
    path = save_model([CONV], {"x": [1, 3, 8, 8]}, {"w": [4, 3, 3, 3]}, opset=opset)
    assert f"opset_import: opset {opset} is not among 1 to" in fault(path)


@pytest.mark.parametrize("version", [-1, 1 << 31, (1 << 63) - 1])
def test_a_version_that_no_domain_has_is_refused(save_model: SaveModel, version: int) -> None:
    def imported(model: onnx.ModelProto) -> None:
        model.opset_import.append(helper.make_opsetid("own", version))

    path = save_model([CONV], {"x": [1, 3, 8, 8]}, {"w": [4, 3, 3, 3]}, change=imported)
    assert fault(path) == f"opset_import: {version} is not a version of domain 'own'; correct it"


def test_a_cycle_is_refused(save_model: SaveModel) -> None:
    nodes = [node("MatMul", ["a", "b"], ["c"], "first"), node("Relu", ["c"], ["b"])]
    assert "MatMul 'first': waits for its own output" in fault(save_model(nodes, {"a": [2, 2]}))


def test_a_tensor_made_twice_is_refused(save_model: SaveModel) -> None:
    nodes = [node("Relu", ["x"], ["y"]), node("MatMul", ["x", "x"], ["y"])]
    assert "tensor 'y': is made twice" in fault(save_model(nodes, {"x": [2, 2]}))


def test_a_reshape_that_loses_elements_is_named_where_a_layer_needs_it(save_model: SaveModel) -> None:
    nodes = [node("Reshape", ["x", "s"], ["r"], "shrink"), node("MatMul", ["r", "r"], ["y"])]
    path = save_model(nodes, {"x": [3, 5]}, constants={"s": [2, 2]})
    assert "Reshape 'shrink': makes 4 elements of 15" in fault(path)


def test_a_name_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "name.onnx"
    path.write_bytes(lenet5().SerializeToString().replace(b"conv1.out", b"conv\xff.out"))
    assert "UTF-8" in fault(str(path)) or "is not an ONNX model" in fault(str(path))


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("/etc/hostname", "lies outside the model's folder"),
        ("../secret", "lies outside the model's folder"),
        ("link", "lies outside the model's folder"),
        ("missing", "is not a readable file"),
        ("", "has its data nowhere"),
        ("a\0b", "has its data nowhere"),
        ("short", "lies beyond the end of 'short'"),
        ("sub", "is not a readable file"),
    ],
)
def test_external_data_elsewhere_or_incomplete_are_refused(
    save_model: SaveModel, tmp_path: Path, location: str, expected: str
) -> None:
    (tmp_path / "short").write_bytes(b"1234")
    (tmp_path / "sub").mkdir()
    (tmp_path / "link").symlink_to("/etc/hostname")

    def move(model: onnx.ModelProto) -> None:
        tensor = model.graph.initializer[0]
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in (("location", location), ("offset", "0"), ("length", "432")):
            tensor.external_data.add(key=key, value=value)

    path = save_model([CONV], {"x": [1, 3, 8, 8]}, {"w": [4, 3, 3, 3]}, change=move)
    assert expected in fault(path)


def chain_of_functions(model: onnx.ModelProto, depth: int, calls: int) -> None:
    """``f0`` calls ``f1`` several times, which calls ``f2`` several times, and so on."""
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    model.opset_import.append(opsets[1])
    for level in range(depth):
        last = level == depth - 1
        body = [
            node(
                "Relu" if last else f"f{level + 1}",
                [f"t{call}"],
                [f"t{call + 1}"],
                domain="" if last else "own",
            )
            for call in range(calls)
        ]
        model.functions.append(helper.make_function("own", f"f{level}", ["t0"], [f"t{calls}"], body, opsets))


@pytest.mark.parametrize(("depth", "calls"), [(30, 2), (8, 9), (1000, 1)])
def test_functions_that_unfold_without_end_are_refused(save_model: SaveModel, depth: int, calls: int) -> None:
    path = save_model(
        [node("f0", ["x"], ["y"], domain="own"), node("MatMul", ["y", "y"], ["z"])],
        {"x": [2, 2]},
        change=lambda model: chain_of_functions(model, depth, calls),
    )
    assert "functions" in fault(path) or "operators" in fault(path)


def test_a_function_that_calls_itself_is_refused(save_model: SaveModel) -> None:
    def define(model: onnx.ModelProto) -> None:
        opset = helper.make_opsetid("own", 1)
        body = [node("f", ["a"], ["b"], domain="own")]
        model.functions.append(helper.make_function("own", "f", ["a"], ["b"], body, [opset]))
        model.opset_import.append(opset)

    path = save_model([node("f", ["x"], ["y"], domain="own")], {"x": [2, 2]}, change=define)
    assert "function 'f': calls itself" in fault(path)


def doubling(count: int) -> list[onnx.NodeProto]:
    """A shape tensor of 2^count entries, if anyone were to make it."""
    nodes = [node("Shape", ["x"], ["s0"])]
    nodes += [node("Concat", [f"s{i}", f"s{i}"], [f"s{i + 1}"], axis=0) for i in range(count)]
    return [*nodes, node("ConstantOfShape", [f"s{count}"], ["v"]), node("MatMul", ["v", "v"], ["y"])]


def filled(*sizes: int) -> list[onnx.NodeProto]:
    """Weights of these sizes, if anyone were to make them."""
    shape = helper.make_tensor("shape", TensorProto.INT64, [len(sizes)], sizes)
    return [
        node("Constant", [], ["s"], value=shape),
        node("ConstantOfShape", ["s"], ["v"]),
        node("MatMul", ["x", "v"], ["y"]),
    ]


HOSTILE: dict[str, list[onnx.NodeProto]] = {
    "a shape that doubles forty times": doubling(40),
    "weights of 10^12 elements": [*filled(2, 10**12), node("Relu", ["v"], ["r"])],
    "weights of 10^18 elements": filled(10**9, 10**9),
    "a chain of five thousand operators": [
        *(node("Relu", ["x" if i == 0 else f"t{i}"], [f"t{i + 1}"]) for i in range(5000)),
        node("MatMul", ["t5000", "w"], ["y"]),
    ],
    "one operator with twenty thousand inputs": [
        node("Sum", ["x"] * 20_000, ["t"]),
        node("MatMul", ["t", "w"], ["y"]),
    ],
    "a range of 10^15": [
        node("Constant", [], ["a"], value_int=0),
        node("Constant", [], ["b"], value_int=10**15),
        node("Constant", [], ["c"], value_int=1),
        node("Range", ["a", "b", "c"], ["r"]),
        node("ConstantOfShape", ["r"], ["v"]),
        node("MatMul", ["v", "v"], ["y"]),
    ],
    "a tile of 10^12": [
        node("Constant", [], ["n"], value_ints=[10**12]),
        node("Constant", [], ["one"], value_ints=[1]),
        node("Tile", ["one", "n"], ["r"]),
        node("Reshape", ["x", "r"], ["v"]),
        node("MatMul", ["v", "v"], ["y"]),
    ],
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_small_file_takes_neither_a_gigabyte_nor_a_minute(save_model: SaveModel, name: str) -> None:
    path = save_model(HOSTILE[name], {"x": [2, 2]}, {"w": [3, 3]})
    assert Path(path).stat().st_size < 150_000
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    fault(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500_000
    assert time.process_time() - start < 60
