"""Files of users are read in a process of their own, which may crash."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from mapper.workloads.document import InputError
from mapper.workloads.onnx.process import read_network, read_operators, read_weights
from mapper.workloads.source import load_network

SaveModel = Callable[..., str]
node = helper.make_node


def test_a_file_is_the_network_that_the_catalogue_has() -> None:
    path = Path(onnx.__file__).parent / "backend/test/data/light/light_shufflenet.onnx"
    file, entry = load_network(str(path), 2), load_network("shufflenet", 2)
    assert (file.layers, file.skipped, file.batch) == (entry.layers, entry.skipped, entry.batch)
    assert [(read.path, read.sha256) for read in file.inputs] == [(str(path), entry.inputs[0].sha256)]


def test_a_fault_keeps_its_field_and_remedy(save_model: SaveModel) -> None:
    path = save_model([node("MatMul", ["x", "x"], ["y"])], {"x": [2, "K"]})
    with pytest.raises(InputError) as caught:
        load_network(path)
    assert (caught.value.source, caught.value.field) == (path, "input 'x'")


def test_an_operator_that_crashes_onnx_is_one_line(save_model: SaveModel) -> None:
    nodes = [node("Split", ["x"], ["a", "b"], axis=0, num_outputs=1), node("MatMul", ["a", "a"], ["y"])]
    path = save_model(nodes, {"x": [6, None]}, opset=18)
    with pytest.raises(InputError) as caught:  # what it says depends on the release of onnx
        load_network(path)
    assert str(caught.value).startswith(path)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_an_operator_that_keeps_onnx_busy_for_ever_is_one_line(save_model: SaveModel) -> None:
    nodes = [node("Einsum", ["x"], ["t"], equation="......"), node("MatMul", ["x", "x"], ["y"])]
    with pytest.raises(InputError, match="takes longer than 8 s to read; simplify the model"):
        load_network(save_model(nodes, {"x": [2, 2]}))


def test_a_module_of_the_same_name_in_the_working_directory_is_not_taken(
    save_model: SaveModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "onnx.py").write_text("raise SystemExit(7)")
    monkeypatch.chdir(tmp_path)
    path = save_model([node("MatMul", ["x", "x"], ["y"])], {"x": [2, 2]})
    assert read_network(Path(path)).macs == 8


def test_weights_are_read_with_those_that_are_computed_from_constants(tmp_path: Path) -> None:
    kernel = np.arange(6, dtype=np.float32).reshape(2, 3, 1)
    half = np.array([[1.5, -2.0]], np.float16)
    nodes = [
        node("Transpose", ["raw"], ["kernel"], perm=[1, 0, 2]),
        node("Conv", ["x", "kernel"], ["a"]),
        node("Cast", ["half"], ["wide"], to=1),
        node("Mul", ["a", "wide"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", 1, ["N", 3, 2])],
        [helper.make_tensor_value_info("y", 1, None)],
        [
            numpy_helper.from_array(kernel.transpose(1, 0, 2).copy(), "raw"),
            numpy_helper.from_array(half, "half"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path = tmp_path / "net.onnx"
    onnx.save(model, path, save_as_external_data=True, location="data.bin", size_threshold=0)
    weights, files = read_weights(path, 4)
    assert {name: value.tolist() for name, value in weights.items()} == {
        "kernel": kernel.tolist(),
        "wide": half.tolist(),
    }
    assert {value.dtype for value in weights.values()} == {np.dtype(np.float32)}
    assert [Path(file.path).name for file in files] == ["net.onnx", "data.bin"]
    assert read_operators(path, 4).files == files


@pytest.mark.parametrize(
    ("maker", "fault"),
    [
        ([node("RandomNormal", [], ["w"], shape=[2, 4])], "RandomNormal 'n0': .* not constant"),
        ([node("Shape", ["x"], ["n"]), node("Cast", ["n"], ["w"], to=1)], "Shape 'n0': .* not constant"),
    ],
)
def test_a_weight_that_is_no_constant_is_named(
    save_model: SaveModel, maker: list[onnx.NodeProto], fault: str
) -> None:
    path = save_model([*maker, node("MatMul", ["x", "w"], ["y"])], {"x": [2, 2]})
    with pytest.raises(InputError, match=fault):
        read_weights(Path(path))


def test_a_weight_whose_data_are_too_short_is_named(save_model: SaveModel) -> None:
    def cut(model: onnx.ModelProto) -> None:
        model.graph.initializer[0].raw_data = b"\0" * 5

    path = save_model([node("MatMul", ["x", "w"], ["y"])], {"x": [2, 2]}, {"w": [2, 4]}, change=cut)
    with pytest.raises(InputError, match=r"tensor 'w': has no data of its type and size .* export it again"):
        read_weights(Path(path))


def test_weights_that_a_small_file_would_fill_the_memory_with_are_not_computed(save_model: SaveModel) -> None:
    path = save_model(
        [node("ConstantOfShape", ["size"], ["w"]), node("MatMul", ["x", "w"], ["y"])],
        {"x": [2, 20_000]},
        constants={"size": [20_000, 20_000]},
    )
    with pytest.raises(InputError, match="would take 1525 MiB, which the file computes"):
        read_weights(Path(path))


@pytest.mark.slow
def test_the_largest_weights_that_a_file_may_have_computed_take_less_than_a_gigabyte() -> None:
    path = Path(onnx.__file__).parent / "backend/test/data/light/light_vgg19.onnx"
    # Limited, not measured: a process's peak may be that of the one it was forked from.
    program = f"""
import resource
from pathlib import Path
resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, 1 << 30))
from mapper.workloads.onnx.process import read_weights
weights, _ = read_weights(Path({str(path)!r}))
print(sum(weight.nbytes for weight in weights.values()))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert int(done.stdout) > 500 << 20
