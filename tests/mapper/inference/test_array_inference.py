"""Networks on a TCPA run from what was generated, from Python and from the command line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import mapper as api
from mapper.api.inference import Inference
from mapper.kind.pe_allocation.inference import ArrayInference
from tests.sim.pe_allocation import onnx_network
from tests.sim.pe_allocation.onnx_network import Graph


def solved(folder: Path, model: onnx.ModelProto, **options: Any) -> dict[str, Any]:
    onnx.save(model, folder / "net.onnx")
    search = api.Search(method="greedy", workers=1)
    path, fields = str(folder / "net.onnx"), api.Options(**options)
    return api.solve(path, "tcpa-8x8", options=fields, search=search).to_json()


def generated(folder: Path, model: onnx.ModelProto, **options: Any) -> tuple[ArrayInference, dict[str, Any]]:
    solution = solved(folder, model, **options)
    api.generate(solution, folder / "out")
    loaded = api.load(folder / "out")
    assert isinstance(loaded, ArrayInference)
    return loaded, solution


def on_onnxruntime(folder: Path, given: dict[str, Any]) -> list[Any]:
    import onnxruntime

    session = onnxruntime.InferenceSession(str(folder / "net.onnx"), providers=["CPUExecutionProvider"])
    found: list[Any] = session.run(None, given)
    return found


@pytest.fixture(scope="module")
def u_net(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a U-Net and, in ``out``, what is generated of it."""
    folder = tmp_path_factory.mktemp("u-net")
    generated(folder, onnx_network.u_net())
    return folder


@pytest.fixture(scope="module")
def yolo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same of a network of two outputs."""
    folder = tmp_path_factory.mktemp("yolo")
    generated(folder, onnx_network.tiny_yolo())
    return folder


def loaded_from(folder: Path) -> ArrayInference:
    found = api.load(folder / "out")
    assert isinstance(found, ArrayInference)
    return found


def image(*shape: int) -> Any:
    return (np.random.default_rng(3).integers(-127, 128, shape) / 128).astype(np.float32)


def test_a_generated_network_makes_of_an_image_what_onnxruntime_makes(tmp_path: Path) -> None:
    loaded, solution = generated(tmp_path, onnx_network.u_net())
    given = image(1, 2, 12, 16)
    own = loaded.run(given)
    (wanted,) = on_onnxruntime(tmp_path, {"x": given})
    assert isinstance(own, np.ndarray) and own.shape == wanted.shape
    assert np.abs(own - wanted).max() < 0.06 * np.abs(wanted).max()
    assert loaded.cycles == solution["cost"]["cycles"] and loaded.saturated == 0
    short = loaded.run({"x": given[0]})
    assert isinstance(short, np.ndarray) and np.array_equal(own, short)


def test_outputs_come_by_onnxs_names_and_the_processors_layers_are_run(tmp_path: Path) -> None:
    net = Graph(3, 8, 8)
    x = net.convolution("x", 4)
    flat = net.shaped(net.apply("GlobalAveragePool", x), 1, 4)
    loaded, _ = generated(tmp_path, net.model(net.apply("Softmax", net.linear(flat, 4, 5)), x))
    given = image(1, 3, 8, 8)
    own = loaded.run(given)
    assert isinstance(own, dict)
    wanted = on_onnxruntime(tmp_path, {"x": given})
    for values, other in zip(own.values(), wanted, strict=True):
        assert np.abs(values - other).max() < 0.05 * np.abs(other).max()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (np.zeros((3, 3, 3)), "'x'.*has the shape"),
        ({"y": np.zeros((2, 12, 16))}, "is missing|is no input"),
        (np.zeros((2, 12, 16), object), "'x'.*numbers of the shape"),
    ],
)
def test_inputs_that_are_none_are_said_in_a_line(given: Any, said: str, u_net: Path) -> None:
    with pytest.raises(api.InputError, match=said):
        loaded_from(u_net).run(given)


def test_numbers_beyond_the_words_of_an_input_are_counted(u_net: Path) -> None:
    loaded = loaded_from(u_net)
    given = image(1, 2, 12, 16)
    given[0, 0, 0, :3] = 7.0
    loaded.run(given)
    assert loaded.saturated == 3


def test_every_mode_runs_and_makes_the_same(tmp_path: Path) -> None:
    given = image(1, 3, 8, 10)
    answers = []
    for fix in ({}, {"mode": "layer-by-layer"}, {"mode": "mixed"}):
        loaded, _ = generated(tmp_path, onnx_network.squeeze_and_excite(), fix=fix)
        answer = loaded.run(given)
        assert isinstance(answer, np.ndarray)
        answers.append(answer)
    assert all(np.array_equal(answers[0], answer) for answer in answers[1:])


def test_files_that_were_changed_or_are_missing_are_refused(u_net: Path, tmp_path: Path) -> None:
    out = shutil.copytree(u_net / "out", tmp_path / "out")
    text = (out / "configuration.json").read_text()
    (out / "configuration.json").write_text(text.replace('"shift": ', '"shift": 1', 1))
    with pytest.raises(api.InputError, match=r"is not what network\.json says"):
        api.load(out)
    (out / "constants.npz").write_bytes(b"nothing")
    with pytest.raises(api.InputError, match="holds no constants"):
        api.load(out)
    (out / "network.json").unlink()
    with pytest.raises(api.InputError, match="had no numbers of its own"):
        api.load(out)


def test_the_command_writes_what_the_network_makes(mapper: Any, yolo: Path, tmp_path: Path) -> None:
    loaded = loaded_from(yolo)
    given = image(1, 3, 32, 32)
    np.save(tmp_path / "x.npy", given)
    words = ("run", str(yolo / "out"), "--input", str(tmp_path / "x.npy"))
    code, out, _ = mapper(*words, "-o", str(tmp_path / "made"), "--json")
    found = json.loads(out)
    own = loaded.run(given)
    assert code == 0 and found["cycles"] == loaded.cycles and isinstance(own, dict)
    for name, values in own.items():
        assert np.array_equal(np.load(found["outputs"][name]["file"]), values)
    assert found["outputs"].keys() == own.keys()
    code, out, _ = mapper(*words)
    assert code == 0 and "1x18x8x8" in out and f"{found['cycles']:,} cycles" in out


def test_the_command_runs_snowflakes_programs_too(mapper: Any, tmp_path: Path) -> None:
    fix = api.Options(fix={"configuration": "1f1i1c"})
    search = api.Search(method="greedy")
    api.generate(api.solve("lenet5", "snowflake-1cc", options=fix, search=search).to_json(), tmp_path / "out")
    np.save(tmp_path / "x.npy", image(1, 1, 28, 28))
    code, _, _ = mapper(
        "run", str(tmp_path / "out"), "--input", f"image={tmp_path / 'x.npy'}", "-o", str(tmp_path / "y.npy"), "--json"
    )  # fmt: skip
    loaded = api.load(tmp_path / "out")
    assert code == 0 and isinstance(loaded, Inference)
    answer = loaded.run(image(1, 28, 28))
    assert isinstance(answer, np.ndarray) and np.array_equal(np.load(tmp_path / "y.npy"), answer)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "--input: is missing"),
        (("--input", "none.npy"), "none.npy"),
        (("--input", "text.npy"), "is no array; write it by numpy.save"),
        (("--input", "a=x.npy", "--input", "a=x.npy"), "names an input twice"),
        (("--input", "x.npy", "--input", "a=x.npy"), "write NAME=FILE for each"),
        (("--input", "x.npy", "-o", "one.npy"), "is one file for 2 outputs; give a folder"),
    ],
)
def test_what_the_command_cannot_run_is_said_in_a_line(
    mapper: Any,
    yolo: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", image(1, 3, 32, 32))
    Path("text.npy").write_text("no array")
    code, _, err = mapper("run", str(yolo / "out"), *words)
    assert code == 2 and said in err and err.count("\n") == 1


def interpolated() -> Graph:
    net = Graph(3, 6, 6)
    net.convolution(net.enlarged(net.convolution("x", 4)), 2)
    return net


def test_every_command_refuses_a_network_that_does_not_stream_in_the_same_words(
    mapper: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    net = interpolated()
    onnx.save(net.model("t2"), "net.onnx")
    assert mapper("solve", "net.onnx", "--arch", "tcpa-4x4", "--method", "greedy", "-o", "net.json")[0] == 0
    solution = Path("net.json").read_text().replace('"nearest"', '"linear"')
    Path("net.json").write_text(solution)
    next(one for one in net.nodes if one.op_type == "Resize").attribute[0].s = b"linear"
    onnx.save(net.model("t2"), "net.onnx")
    said = []
    for words in (
        ("solve", "net.onnx", "--arch", "tcpa-4x4"),
        ("compare", "net.onnx", "--arch", "tcpa-4x4"),
        ("explain", "net.onnx", "--arch", "tcpa-4x4"),
        ("evaluate", "net.onnx", "--arch", "tcpa-4x4", "--mapping", "net.json"),
        ("simulate", "net.json"),
        ("generate", "net.json", "-o", "out"),
    ):
        code, _, err = mapper(*words)
        assert code == 2, words
        said.append(err)
    assert set(said) == {said[0]} and said[0].count("\n") == 1
    assert "conv2: reads 12x12 pixels of conv1, which makes 6x6, and resize1 (Resize 't1')" in said[0]
    assert "end the network before it" in said[0]
