"""Networks on the overlay run from what was generated, from Python and from the command line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx.helper import make_graph, make_model, make_node, make_opsetid, make_tensor_value_info
from typer.testing import CliRunner

import mapper as api
from mapper.cli.app import app
from mapper.kind.algorithm_selection.inference import OverlayInference
from mapper.sim.onnx_session import exact_session
from mapper.workloads.document import InputError
from mapper.workloads.network.builder import NetworkBuilder
from tests.sim.algorithm_selection.quantised import (
    constant_file,
    drawn_weights,
    integer_operator_file,
)


def generated(path: Path) -> OverlayInference:
    options = api.Options(fix={"array": "4x4"})
    solution = api.solve(str(path), "dynamap-u200", options=options, search=api.Search(workers=1))
    api.generate(solution.to_json(), path.parent / "out")
    found = api.load(path.parent / "out")
    assert isinstance(found, OverlayInference)
    return found


def on_onnxruntime(path: Path, image: Any) -> Any:
    session = exact_session(path.read_bytes())
    return session.run(None, {session.get_inputs()[0].name: image})[0]


@pytest.fixture(scope="module")
def quantised(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = integer_operator_file(tmp_path_factory.mktemp("quantised"), 1)
    generated(path)
    return path


def test_a_generated_quantised_network_makes_exactly_what_onnxruntime_makes(quantised: Path) -> None:
    loaded = api.load(quantised.parent / "out" / "overlay.json")
    assert isinstance(loaded, OverlayInference)
    for seed in range(3):
        image = np.random.default_rng(seed).uniform(-1, 1, (1, 3, 6, 6)).astype(np.float32)
        made, again = loaded.run(image), loaded.run({"x": image[0]})
        assert isinstance(made, np.ndarray) and isinstance(again, np.ndarray)
        assert np.array_equal(made, on_onnxruntime(quantised, image)), seed
        assert np.array_equal(made, again)
    assert loaded.saturated == 0
    places = json.loads((quantised.parent / "out" / "overlay.json").read_text())
    assert loaded.cycles == sum(one["cycles"] for one in places["steps"])
    assert "leakyrelu1" in loaded.notes[0]
    loaded.run(np.full((3, 6, 6), 2.0))
    assert loaded.saturated == 3 * 6 * 6


def test_a_network_in_floats_with_layers_beside_the_overlay_is_near_to_onnxruntime(tmp_path: Path) -> None:
    net = NetworkBuilder("floats", 3, 8, 7)
    x = net.apply("LRN", "lrn1", net.convolution(net.input, "conv1", 6, 3, pad=1), size=3)
    x = net.linear(net.apply("Flatten", "flat", net.pool(x, "pool1", 2, 2)), "fc1", 6 * 4 * 3, 5)
    path = tmp_path / "floats.onnx"
    onnx.save(drawn_weights(net.model(x, 5), 3), path)
    image = np.random.default_rng(1).integers(-127, 128, (1, 3, 8, 7)).astype(np.float32) / 128
    made, wanted = generated(path).run(image), on_onnxruntime(path, image)
    assert np.abs(made - wanted).max() < 0.1 * np.abs(wanted).max()


def test_a_convolution_of_rows_that_become_maps_runs_beside_the_overlay(tmp_path: Path) -> None:
    random = np.random.default_rng(7)
    sizes = {"w": (96, 12), "k": (5, 6, 3, 3), "l": (4, 5, 1, 1)}
    weights = [
        onnx.numpy_helper.from_array(random.standard_normal(size).astype(np.float32) / 4, name)
        for name, size in sizes.items()
    ]
    weights.append(onnx.numpy_helper.from_array(np.array([1, 6, 4, 4]), "shape"))
    nodes = [
        make_node("Gemm", ["x", "w"], ["a"], "fc1", transB=1),
        make_node("Reshape", ["a", "shape"], ["b"]),
        make_node("Conv", ["b", "k"], ["c"], "conv1", pads=[1] * 4),
        make_node("Conv", ["c", "l"], ["y"], "conv2"),
    ]
    given, made = (
        make_tensor_value_info(name, 1, size) for name, size in (("x", (1, 12)), ("y", (1, 4, 4, 4)))
    )
    path = tmp_path / "rows.onnx"
    onnx.save(
        make_model(make_graph(nodes, "rows", [given], [made], weights), opset_imports=[make_opsetid("", 13)]),
        path,
    )
    row = random.integers(-127, 128, (1, 12)).astype(np.float32) / 128
    found = generated(path)
    results, wanted = found.run(row), on_onnxruntime(path, row)
    assert np.abs(results - wanted).max() < 0.1 * np.abs(wanted).max()
    assert "conv1" in found.notes[0] and "conv2" not in found.notes[0]


def test_what_meets_a_constant_runs_from_its_tables(tmp_path: Path) -> None:
    path = constant_file(tmp_path, "Mul", (5, 1, 8))
    image = np.random.default_rng(4).uniform(-1, 1, (1, 3, 8, 8)).astype(np.float32)
    found = generated(path)
    made = found.run(image)
    assert isinstance(made, np.ndarray)
    assert np.array_equal(made, on_onnxruntime(path, image)) and "mul1" in found.notes[0]
    fields = json.loads((tmp_path / "out" / "network.json").read_text())
    fields["numbers"]["layers"]["mul1"]["places"] = [8, 1, 5]
    (tmp_path / "out" / "network.json").write_text(json.dumps(fields))
    with pytest.raises(InputError, match=r"numbers.layers.mul1.places: are not those of its table"):
        api.load(tmp_path / "out")


def test_the_shell_runs_what_was_generated(quantised: Path, tmp_path: Path) -> None:
    image = np.random.default_rng(5).uniform(-1, 1, (1, 3, 6, 6)).astype(np.float32)
    np.save(tmp_path / "x.npy", image)
    given = ["run", str(quantised.parent / "out"), "--input", str(tmp_path / "x.npy")]
    done = CliRunner().invoke(app, [*given, "-o", str(tmp_path / "y.npy")])
    assert done.exit_code == 0 and "cycles" in done.output
    assert np.array_equal(np.load(tmp_path / "y.npy"), on_onnxruntime(quantised, image))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("network.json", "the network had no numbers of its own"),
        ("dram.bin", "is not what network.json says"),
        ("control.hex", "is not what network.json says"),
        ("constants.npz", "holds no constants"),
    ],
)
def test_files_that_do_not_belong_together_are_refused(
    name: str, said: str, quantised: Path, tmp_path: Path
) -> None:
    shutil.copytree(quantised.parent / "out", tmp_path / "out")
    if name == "network.json":
        (tmp_path / "out" / name).unlink()
    else:
        (tmp_path / "out" / name).write_bytes(b"0000")
    with pytest.raises(InputError, match=said):
        api.load(tmp_path / "out")
