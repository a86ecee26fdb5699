"""Compiled programs run from Python: several inputs, outputs, images and accelerators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import mapper as api


def _network(path: Path) -> Path:
    """``y`` = ReLU of a convolution of ``x`` + ``z``, and ``p``, its maximum over 2 x 2."""
    kernel = (np.arange(27).reshape(1, 3, 3, 3) % 5 - 2).astype(np.float32) / 8
    nodes = [
        helper.make_node("Add", ["x", "z"], ["s"]),
        helper.make_node("Conv", ["s", "w"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["y"]),
        helper.make_node("MaxPool", ["y"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
    ]
    floats = TensorProto.FLOAT
    given = [helper.make_tensor_value_info(name, floats, [1, 3, 6, 8]) for name in ("x", "z")]
    made = [helper.make_tensor_value_info(name, floats, None) for name in ("y", "p")]
    graph = helper.make_graph(nodes, "net", given, made, [numpy_helper.from_array(kernel, "w")])
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path / "net.onnx"
    )
    return path / "net.onnx"


def _generated(workload: str, folder: Path, **fix: str) -> Path:
    search = api.Search(method="greedy")
    options = api.Options(fix=fix)
    solution = api.solve(workload, "snowflake-2cc", "latency", options=options, search=search)
    api.generate(solution.to_json(), folder)
    return folder


def test_inputs_are_given_and_outputs_found_by_onnxs_names_and_shapes(tmp_path: Path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    path = _network(tmp_path)
    program = api.load(_generated(str(path), tmp_path / "out", configuration="1f1i1c"))
    random = np.random.default_rng(0)
    given = {name: (random.integers(-64, 65, (1, 3, 6, 8)) / 16).astype(np.float32) for name in ("x", "z")}
    answer = program.run(given)
    assert isinstance(answer, dict) and list(answer) == ["y", "p"]
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    for name, wanted in zip(("y", "p"), session.run(["y", "p"], given), strict=True):
        assert answer[name].shape == wanted.shape
        np.testing.assert_allclose(answer[name], wanted, atol=0.5 / 256 + 1e-6)
    short = program.run({name: array[0] for name, array in given.items()})
    assert isinstance(short, dict)
    np.testing.assert_array_equal(short["p"], answer["p"])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (np.zeros((1, 3, 6, 8)), "arrays by name"),
        ({"x": np.zeros((1, 3, 6, 8))}, "'z'.*missing"),
        ({"x": np.zeros((1, 3, 6, 8)), "z": np.zeros((3, 8, 6))}, "'z'.*has the shape"),
        ({name: np.zeros((3, 6, 8)) for name in ("x", "z", "q")}, "'q'.*is no input; there are x, z"),
    ],
)
def test_inputs_that_are_none_are_said_in_a_line(given: Any, said: str, tmp_path: Path) -> None:
    program = api.load(_generated(str(_network(tmp_path)), tmp_path / "out", configuration="1f1i1c"))
    with pytest.raises(api.InputError, match=said):
        program.run(given)


@pytest.mark.parametrize("configuration", ["2f2i1c", "1f2i2c"])
def test_several_accelerators_and_images_run_at_once(configuration: str, tmp_path: Path) -> None:
    one = api.load(_generated("lenet5", tmp_path / "one", configuration="1f1i1c"))
    two = api.load(_generated("lenet5", tmp_path / "two", configuration=configuration))
    images = np.random.default_rng(1).random((2, 1, 28, 28), dtype=np.float32)
    answers = two.run(*images)
    assert (one.images, two.images) == (1, 2) and isinstance(answers, tuple)
    for image, answer in zip(images, answers, strict=True):
        alone = one.run(image)
        assert isinstance(alone, np.ndarray) and alone.shape == (1, 10)
        np.testing.assert_array_equal(alone, answer)
    with pytest.raises(api.InputError, match="runs on 2 at a time"):
        two.run(images[0])
    # The host has both images' Softmax, 20 elements each at 100 a microsecond.
    assert two.cycles > 80 and one.cycles > 40


def test_boards_have_the_published_clocks_bandwidths_and_power() -> None:
    from mapper.arch.snowflake import SnowflakeMachine
    from mapper.arch.source import load_machine

    found = {}
    for name in ("zc706", "ac510"):
        board, _ = load_machine(name)
        assert isinstance(board, SnowflakeMachine) and board.name == name
        found[name] = (board.clusters, board.clock_mhz, board.bandwidth_gb_s, board.power_w)
    assert found == {"zc706": (1, 200, 4.5, 10), "ac510": (2, 187, 7.0, 24)}
