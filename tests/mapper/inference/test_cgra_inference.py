"""Networks compiled for a CGRA are loaded and run: the reference's words bit by bit, in the cycles of the model."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import mapper as api
from mapper.api.solving import Search
from mapper.kind.modulo_schedule.inference import CgraInference
from mapper.kind.modulo_schedule.network_program import weights_of
from mapper.kind.operator_structure import read_operator_structure
from mapper.kind.part import Options
from mapper.models.modulo_schedule.network.algorithm import ARRAY_IM2COL, ARRAY_IM2ROW, IM2COL, IM2ROW, POOL
from mapper.models.modulo_schedule.network.baseline import BASELINE
from mapper.models.modulo_schedule.program.constant import Weights
from mapper.models.modulo_schedule.program.step import Copy
from mapper.sim.modulo_schedule.network.reference import network_reference
from mapper.workloads.document import InputError
from mapper.workloads.network.weight import seeded_inputs
from mapper.workloads.source import load_layers

Shape = tuple[int, ...]


def model(
    nodes: Sequence[onnx.NodeProto],
    weights: Mapping[str, Shape],
    given: Mapping[str, Shape],
    made: Sequence[str],
) -> onnx.ModelProto:
    """A model with drawn weights; variances are positive."""
    draw = np.random.default_rng(0)
    initial = []
    for name, shape in weights.items():
        values = draw.normal(size=shape).astype(np.float32)
        initial.append(numpy_helper.from_array(np.abs(values) if name.startswith("var") else values, name))
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in given.items()]
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in made]
    graph = helper.make_graph(list(nodes), "net", inputs, outputs, initial)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def node(op: str, given: str, made: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op, given.split(), made.split(), made.split()[0], **attributes)


BN: dict[str, Shape] = {"scale": (4,), "shift": (4,), "mean": (4,), "var": (4,)}
NETWORKS = {
    "groups": model(
        [node("Conv", "x w b", "c", group=2, pads=[1, 1, 1, 1]), node("Relu", "c", "y")],
        {"w": (4, 2, 3, 3), "b": (4,)}, {"x": (2, 4, 4, 5)}, ["y"],
    ),
    "strides and wide pads": model(
        [node("Conv", "x w", "y", strides=[2, 2], pads=[2, 1, 1, 2])],
        {"w": (3, 2, 3, 3)}, {"x": (1, 2, 7, 6)}, ["y"],
    ),
    "a convolution by im2col": model(
        [node("Conv", "x w b", "c", dilations=[2, 2], pads=[2, 2, 2, 2]), node("LeakyRelu", "c", "y", alpha=0.1)],
        {"w": (3, 2, 3, 3), "b": (3,)}, {"x": (1, 2, 5, 6)}, ["y"],
    ),
    "a concatenation in place": model(
        [
            node("Conv", "x v", "p"), node("Conv", "x w", "q"), node("Concat", "p q", "j", axis=1),
            node("MaxPool", "j", "y", kernel_shape=[2, 2], strides=[2, 2]),
        ],
        {"v": (2, 3, 1, 1), "w": (1, 3, 1, 1)}, {"x": (1, 3, 4, 4)}, ["y"],
    ),
    "a folded normalisation": model(
        [node("Conv", "x w", "c"), node("BatchNormalization", "c scale shift mean var", "n"), node("Relu", "n", "y")],
        BN | {"w": (4, 3, 1, 1)}, {"x": (1, 3, 4, 4)}, ["y"],
    ),
    "a normalisation and a sum": model(
        [
            node("Relu", "x", "r"), node("BatchNormalization", "r scale shift mean var", "n"),
            node("Add", "n x", "y"),
        ],
        BN, {"x": (2, 4, 3, 3)}, ["y"],
    ),
    "a function that the array lacks": model(
        [node("Conv", "x w", "c"), node("Sigmoid", "c", "y")], {"w": (3, 2, 3, 3)}, {"x": (1, 2, 5, 5)}, ["y"],
    ),
    "padded pools": model(
        [
            node("AveragePool", "x", "a", kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2]),
            node("MaxPool", "a", "m", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
            node("GlobalAveragePool", "m", "y"),
        ],
        {}, {"x": (1, 2, 9, 9)}, ["y"],
    ),
    "a large pool": model(
        [node("AveragePool", "x", "y", kernel_shape=[5, 5], pads=[2, 2, 2, 2])], {}, {"x": (1, 2, 6, 6)}, ["y"],
    ),
    "products of data": model([node("MatMul", "x z", "y")], {}, {"x": (2, 3, 5), "z": (2, 5, 4)}, ["y"]),
    "rows of a matrix": model(
        [node("Gemm", "x w b", "g"), node("Relu", "g", "r"), node("Softmax", "r", "y")],
        {"w": (6, 5), "b": (5,)}, {"x": (3, 6)}, ["y"],
    ),
    "two outputs": model(
        [node("Relu", "x", "p"), node("Conv", "p w", "q")], {"w": (2, 2, 1, 1)}, {"x": (1, 2, 3, 3)}, ["p", "q"],
    ),
    "a local normalisation": model(
        [node("Conv", "x w", "c"), node("LRN", "c", "y", size=3)], {"w": (4, 2, 1, 1)}, {"x": (1, 2, 3, 3)}, ["y"],
    ),
}  # fmt: skip

TUNED = {
    "groups": IM2ROW,
    "strides and wide pads": IM2ROW,
    "a convolution by im2col": IM2COL,
    "a large pool": POOL,
}
"""By Algorithm 1, with what it chooses."""


BLOCKED = {
    "winograd": model(
        [node("Conv", "x w b", "c", group=2, pads=[1, 1, 1, 1]), node("Relu", "c", "y")],
        {"w": (6, 2, 3, 3), "b": (6,)}, {"x": (2, 4, 3, 3)}, ["y"],
    ),
    "winograd-4x4": model(
        [node("Conv", "x w b", "c", pads=[1, 0, 1, 2]), node("LeakyRelu", "c", "y", alpha=0.1)],
        {"w": (5, 9, 3, 3), "b": (5,)}, {"x": (1, 9, 7, 8)}, ["y"],
    ),
    "im2col+gemm+registers": model(
        [node("Conv", "x w b", "c", group=2, strides=[2, 2], pads=[1, 1, 1, 1]), node("Relu", "c", "y")],
        {"w": (6, 1, 3, 3), "b": (6,)}, {"x": (2, 2, 5, 4)}, ["y"],
    ),
    "gemm+registers": model(
        [node("Conv", "x w b", "c"), node("Clip", "c", "y")], {"w": (3, 5, 1, 1), "b": (3,)}, {"x": (2, 5, 1, 3)},
        ["y"],
    ),
}  # fmt: skip
"""By the algorithm that is pinned: counts that no factor divides, strides, groups, padding, images."""

ON_ARRAY = {
    "groups": (ARRAY_IM2ROW, ARRAY_IM2COL),
    "strides and wide pads": (ARRAY_IM2ROW, ARRAY_IM2COL),
    "a convolution by im2col": (ARRAY_IM2COL,),
    "a function that the array lacks": (ARRAY_IM2ROW,),
}
"""What lays its input out on the array, with padding and without."""


def generated(
    workload: str, arch: str, method: str, folder: Path, **fix: str
) -> tuple[api.Solution, CgraInference]:
    options, search = Options(fix=fix), Search(method=method)
    solution = api.solve(workload, arch, "latency", options=options, search=search)
    api.generate(json.loads(json.dumps(solution.to_json())), folder)
    loaded = api.load(folder)
    assert isinstance(loaded, CgraInference)
    return solution, loaded


def checked(solution: api.Solution, loaded: CgraInference, weights: Weights) -> None:
    """Runs drawn inputs and compares every word with the reference, every layer's cycles with the model's, and the
    energy."""
    network = read_operator_structure(loaded.program.structure, "the program")
    given = seeded_inputs(network.operators, 3)
    answer = loaded.run(given)
    algorithms = {part.name: part.to_json()["mapping"]["algorithm"] for part in solution.parts}
    wanted = network_reference(network, given, weights, lambda name: algorithms.get(name, ""))
    answers = answer if isinstance(answer, dict) else {network.operators.outputs[0]: answer}
    assert answers.keys() == set(network.operators.outputs)
    for output in network.outputs:
        own = answers[output.tensor]
        expected = wanted[output.memory].reshape(output.shape)
        assert own.shape == output.shape and own.tobytes() == np.ascontiguousarray(expected).tobytes()
    assert solution.cost is not None and loaded.cycles == solution.cost["cycles"]
    assert loaded.energy_pj == pytest.approx(solution.cost["energy_pj"], rel=1e-12)
    for part in solution.parts:
        assert part.cost is not None
        assert sum(loaded.layer_cycles[part.name].values()) == part.cost["cycles"], part.name


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_makes_the_words_of_the_reference_in_the_cycles_of_the_model(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / "net.onnx"
    path.write_bytes(NETWORKS[name].SerializeToString())
    method = "algorithm-1" if name in TUNED else "baseline"
    solution, loaded = generated(str(path), "srp-3x3", method, tmp_path / "out")
    assert loaded.program.data == str(path)
    used = {part.to_json()["mapping"]["algorithm"] for part in solution.parts}
    assert used & {TUNED.get(name, BASELINE)}
    own = {one.name: numpy_helper.to_array(one) for one in NETWORKS[name].graph.initializer}
    checked(solution, loaded, own)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name == "winograd-4x4" else ()) for name in BLOCKED],
)
def test_blocks_of_sums_make_the_words_of_the_reference_in_the_cycles_of_the_model(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / "net.onnx"
    path.write_bytes(BLOCKED[name].SerializeToString())
    solution, loaded = generated(str(path), "srp-3x3", "algorithm-1", tmp_path / "out", algorithm=name)
    (part,) = solution.parts
    mapping = part.to_json()["mapping"]
    assert mapping["algorithm"] == name
    nests = [one["nest"] for one in mapping["loops"]]
    factors = [factor for one in mapping["loops"] for factor in one["unroll"].values()]
    assert max(factors) > 1 and len(nests) > len(set(nests)), "no block with a remainder"
    own = {one.name: numpy_helper.to_array(one) for one in BLOCKED[name].graph.initializer}
    checked(solution, loaded, own)


@pytest.mark.parametrize(
    ("name", "algorithm"), [(name, one) for name, all_of in ON_ARRAY.items() for one in all_of]
)
def test_what_lays_inputs_out_on_the_array_makes_the_same_words_in_the_cycles_of_the_model(
    name: str, algorithm: str, tmp_path: Path
) -> None:
    path = tmp_path / "net.onnx"
    path.write_bytes(NETWORKS[name].SerializeToString())
    solution, loaded = generated(str(path), "srp-3x3", "algorithm-1", tmp_path / "out", algorithm=algorithm)
    used = {part.to_json()["mapping"]["algorithm"] for part in solution.parts}
    assert used & {algorithm}
    own = {one.name: numpy_helper.to_array(one) for one in NETWORKS[name].graph.initializer}
    checked(solution, loaded, own)
    assert not any(
        step.what in ("im2col", "im2row") for step in loaded.program.steps if isinstance(step, Copy)
    )


def test_who_lays_inputs_out_can_be_pinned(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    path.write_bytes(NETWORKS["strides and wide pads"].SerializeToString())

    def pinned(**fix: str) -> Any:
        named = {key.replace("_", "."): value for key, value in fix.items()}
        solution = api.solve(str(path), "srp-3x3", options=Options(fix=named), search=Search("baseline"))
        return solution.parts[0].to_json()

    on_array, driven = pinned(im2col="array"), pinned(conv1_im2col="driver")
    assert on_array["mapping"]["algorithm"] == ARRAY_IM2ROW and driven["mapping"]["algorithm"] == IM2ROW
    assert on_array["breakdown"]["cycles"]["copy"] < driven["breakdown"]["cycles"]["copy"]
    with pytest.raises(InputError, match="'host' is not one of driver, array"):
        pinned(conv1_im2col="host")
    with pytest.raises(InputError, match="is not one of array-im2row"):
        pinned(conv1_im2col="array", conv1_algorithm=IM2ROW)


def test_a_network_of_the_catalogue_runs_with_seeded_weights(lenet: tuple[api.Solution, Path]) -> None:
    solution, folder = lenet
    loaded = api.load(folder)
    assert isinstance(loaded, CgraInference) and loaded.program.data == "seed 0"
    checked(solution, loaded, weights_of(load_layers("lenet5"), 0)[0])


@pytest.fixture(scope="session")
def lenet(tmp_path_factory: pytest.TempPathFactory) -> tuple[api.Solution, Path]:
    folder = tmp_path_factory.mktemp("lenet") / "out"
    solution, _ = generated("lenet5", "srp-4x4", "baseline", folder)
    return solution, folder


@lru_cache(maxsize=1)
def image() -> npt.NDArray[np.float32]:
    return np.random.default_rng(1).random((1, 28, 28), dtype=np.float32)


def test_an_image_without_its_leading_one_is_the_same(lenet: tuple[api.Solution, Path]) -> None:
    loaded = api.load(lenet[1] / "program.json")
    answer = loaded.run(image())
    assert isinstance(answer, np.ndarray) and answer.shape == (1, 10)
    assert answer.sum() == pytest.approx(1, abs=1e-5)
    np.testing.assert_array_equal(answer, loaded.run({"image": image()[None]}))


def test_wrong_images_are_refused(lenet: tuple[api.Solution, Path]) -> None:
    loaded = api.load(lenet[1])
    assert isinstance(loaded, CgraInference)
    with pytest.raises(api.InputError, match="cycles: are counted by a run"):
        _ = loaded.cycles
    with pytest.raises(api.InputError, match="shape"):
        loaded.run(image()[:, :5])
    with pytest.raises(api.InputError, match="'picture': is no input"):
        loaded.run({"image": image(), "picture": image()})
    with pytest.raises(api.InputError, match="'image': is missing"):
        loaded.run({})
    with pytest.raises(api.InputError, match="one at a time"):
        loaded.run(image(), image())
    with pytest.raises(api.InputError, match="arch"):
        api.load(lenet[1], "srp-2x2")


def test_the_driver_is_listed(lenet: tuple[api.Solution, Path]) -> None:
    text = (lenet[1] / "driver.txt").read_text()
    assert "conv2:" in text and "copy    im2col: 20 x 5 x 5 x 8 x 8 words" in text
    assert "host    the operator: 10 elements, 60 cycles each" in text
    assert "$c_0 [" in text and "&b [" in text


def test_live_ins_stand_in_configurations_by_name(lenet: tuple[api.Solution, Path]) -> None:
    document = json.loads((lenet[1] / "conv1" / "bias.0.configuration.json").read_text())
    operands = [operand for word in document["words"] for operand in word["operands"]]
    assert {"from": "live_in", "position": 1, "name": "bias_0"} in operands
    assert "$bias_0" in (lenet[1] / "conv1" / "bias.0.listing.txt").read_text()


@pytest.mark.parametrize(
    ("field", "value", "match"),
    [
        ("schema", "mapper.solution/1", "schema"),
        ("words", -1, "words"),
        ("constants_sha256", "0" * 64, "does not belong"),
        ("steps", [{"do": "fly"}], "steps"),
    ],
)
def test_a_changed_program_is_refused(
    lenet: tuple[api.Solution, Path], tmp_path: Path, field: str, value: object, match: str
) -> None:
    document = json.loads((lenet[1] / "program.json").read_text()) | {field: value}
    (tmp_path / "program.json").write_text(json.dumps(document))
    (tmp_path / "constants.bin").write_bytes((lenet[1] / "constants.bin").read_bytes())
    with pytest.raises(api.InputError, match=match):
        api.load(tmp_path)


def test_constants_that_are_missing_are_named(lenet: tuple[api.Solution, Path], tmp_path: Path) -> None:
    (tmp_path / "program.json").write_bytes((lenet[1] / "program.json").read_bytes())
    with pytest.raises(api.InputError, match=r"constants\.bin"):
        api.load(tmp_path)


def changed_steps(lenet: tuple[api.Solution, Path], folder: Path, change: Any) -> Any:
    document = json.loads((lenet[1] / "program.json").read_text())
    document["steps"] = change(document["steps"])
    (folder / "program.json").write_text(json.dumps(document))
    (folder / "constants.bin").write_bytes((lenet[1] / "constants.bin").read_bytes())
    return api.load(folder)


def test_a_kernel_that_is_not_loaded_does_not_run(lenet: tuple[api.Solution, Path], tmp_path: Path) -> None:
    loaded = changed_steps(lenet, tmp_path, lambda steps: [one for one in steps if one["do"] != "load"])
    with pytest.raises(api.InputError, match="not loaded"):
        loaded.run(image())


def test_a_start_beyond_memory_is_noticed(lenet: tuple[api.Solution, Path], tmp_path: Path) -> None:
    def far(steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
        first = next(one for one in steps if one["do"] == "run")
        first["arrays"]["c"]["at"] = 1 << 30
        return steps

    with pytest.raises(api.InputError, match="not among"):
        changed_steps(lenet, tmp_path, far).run(image())


def test_the_shell_runs_an_image(lenet: tuple[api.Solution, Path], tmp_path: Path, mapper: Any) -> None:
    np.save(tmp_path / "image.npy", image())
    words = ["run", str(lenet[1]), "--input", str(tmp_path / "image.npy")]
    code, out, errors = mapper(*words, "--json", "-o", str(tmp_path / "made.npy"))
    assert code == 0, errors
    loaded = api.load(lenet[1])
    wanted = loaded.run(image())
    assert json.loads(out)["cycles"] == loaded.cycles
    np.testing.assert_array_equal(np.load(tmp_path / "made.npy"), wanted)
    out = mapper(*words)[1]
    assert "1x10" in out and "in VLIW mode: softmax1, 600 cycles" in out
