"""``--fix padding=off|auto|LOOP:BOUND``: tiles that do not divide a loop run over its end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import yaml

import mapper
from bench.tiling.eyeriss import document
from mapper import InputError, Options
from mapper.api.problem import pose


def test_the_chips_mappings_are_evaluated_with_whole_strips(tmp_path: Path) -> None:
    path = tmp_path / "eyeriss.yaml"
    path.write_text(yaml.safe_dump(document()), encoding="utf-8")
    padded = Options(fix={"conv1.padding": "Oy:56"})
    solution = mapper.evaluate("alexnet-eyeriss", "eyeriss-168", path, "latency", padded).to_json()
    assert solution["certificate"]["verified"]
    cycles = [part["breakdown"]["processing_cycles"] for part in solution["parts"]]
    assert [round(count / 200_000, 2) for count in cycles] == [15.33, 35.56, 21.84, 15.93, 10.62]
    without = mapper.evaluate("alexnet-eyeriss", "eyeriss-168", path, "latency").to_json()
    assert [part["certificate"]["verified"] for part in without["parts"]] == [False, True, True, True, True]


def test_a_padded_loop_is_solved_simulated_and_written_with_its_new_bound() -> None:
    solution = mapper.solve("matmul", options=Options(fix={"padding": "I:200"}))
    document = solution.to_json()
    assert document["certificate"]["proven"]
    factors = document["parts"][0]["mapping"]["tiling"]["I"]
    assert factors["dram"] * factors["spm"] * factors["rf"] * factors["spatial"] == 200


@pytest.mark.parametrize("text", ["I:195", "I:392", "Z:8", "I", "I:200,I:200", "I:many"])
def test_a_padding_that_is_none_is_one_line(text: str) -> None:
    with pytest.raises(InputError, match="padding"):
        mapper.solve("matmul", options=Options(fix={"padding": text}))


TOKENS = """
schema: mapper.nest/1
name: scores
loops: {I: 197, J: 197, K: 64}
operands:
  - {tensor: O, index: [I, J], access: read_write}
  - {tensor: A, index: [I, K]}
  - {tensor: B, index: [K, J]}
"""


@pytest.fixture
def tokens(tmp_path: Path) -> str:
    path = tmp_path / "scores.yaml"
    path.write_text(TOKENS, encoding="utf-8")
    return str(path)


def test_197_tokens_are_padded_by_default_to_a_twelfth_of_the_cycles(tokens: str, tmp_path: Path) -> None:
    solution = mapper.solve(tokens, "eyeriss-168", "latency")
    document = solution.to_json()
    part = document["parts"][0]
    assert document["problem"]["options"]["fix"] == {"padding": "auto"}
    assert part["certificate"]["proven"] and part["certificate"]["verified"]
    assert part["cost"]["cycles"] == 53_572
    for loop, bound in part["mapping"]["padded"].items():
        factors = part["mapping"]["tiling"][loop]
        assert factors["dram"] * factors["spm"] * factors["rf"] * factors["spatial"] == bound > 197
    assert any("padding" in line and "times less than 676,538" in line for line in _lines(solution))
    simulated = mapper.simulate(document)
    assert simulated["outputs_equal"] and simulated["cost_simulated"]["cycles"] == 53_572
    found = mapper.evaluate(tokens, "eyeriss-168", written(tmp_path, part["mapping"]), "latency").to_json()
    assert found["cost"] == document["cost"]


def test_without_padding_a_line_says_what_it_would_win(tokens: str) -> None:
    # Without streams, whose searches over all bounds need machine code of their own.
    solution = mapper.solve(tokens, "eyeriss-168-tiles", "latency", fix={"padding": "off"})
    document = solution.to_json()
    assert document["cost"]["cycles"] == 880_000
    assert document["certificate"]["proven"]
    assert "padded" not in document["parts"][0]["mapping"]
    assert any(
        "with I 197 → 200, J 197 → 200 cycles" in line and "--fix padding=auto" in line
        for line in _lines(solution)
    )


@pytest.fixture
def block(tmp_path: Path) -> str:
    """Three products over 197 tokens, of which the second repeats the first, as an ONNX file."""
    weights = [
        onnx.numpy_helper.from_array(np.ones(shape, np.float32), name)
        for name, shape in {"q": (64, 64), "k": (64, 64), "v": (64, 128)}.items()
    ]
    nodes = [onnx.helper.make_node("MatMul", ["x", name], [f"x{name}"]) for name in ("q", "k", "v")]
    kind = onnx.TensorProto.FLOAT
    x = onnx.helper.make_tensor_value_info("x", kind, [197, 64])
    ends = [onnx.helper.make_tensor_value_info(f"x{name}", kind, None) for name in ("q", "k", "v")]
    path = tmp_path / "block.onnx"
    onnx.save(onnx.helper.make_model(onnx.helper.make_graph(nodes, "block", [x], ends, weights)), path)
    return str(path)


def test_a_network_says_in_one_line_what_was_padded_and_what_it_won(block: str, mapper: Any) -> None:
    words = ("solve", block, "--objective", "latency", "--store", "none")
    padded, plain = mapper(*words)[1], mapper(*words, "--fix", "padding=off")[1]
    taken = [json.loads(mapper(*words, *more, "--json")[1])["certificate"]["value"]
             for more in ((), ("--fix", "padding=off"))]  # fmt: skip
    assert taken[0] < taken[1]
    (line,) = [line for line in padded.splitlines() if line.startswith("  padding")]
    assert "gemm1 I 197 → " in line and "; gemm3 " in line and "gemm2" not in line
    assert f"{1 - taken[0] / taken[1]:.1%} less than {taken[1]:,} with bounds as they are" in line
    (line,) = [line for line in plain.splitlines() if line.startswith("  padding")]
    assert "off; with gemm1 I 197 → 200; gemm3 I 197 → 200, cycles would be" in line


def _lines(solution: mapper.Solution) -> list[str]:
    posed, part = solution.posed, solution.parts[0]
    lines: list[str] = posed.kind.describe(posed.parts[0].problem, part)
    return lines


def written(folder: Path, mapping: dict[str, Any]) -> Path:
    path = folder / "mapping.json"
    path.write_text(json.dumps(mapping), encoding="utf-8")
    return path


def test_a_padded_mapping_is_refused_where_padding_is_off(tokens: str, tmp_path: Path) -> None:
    mapping = {
        "tiling": {
            loop: {"dram": bound, "spm": 1, "rf": 1, "spatial": 1}
            for loop, bound in {"I": 200, "J": 197, "K": 64}.items()
        },
        "order": {"dram": ["I", "J", "K"], "spm": ["I", "J", "K"]},
        "padded": {"I": 200},
    }
    path = written(tmp_path, mapping)
    assert mapper.evaluate(tokens, "eyeriss-168", path).to_json()["certificate"]["verified"]
    found = mapper.evaluate(tokens, "eyeriss-168", path, fix={"padding": "off"}).to_json()
    assert [rule["rule"] for rule in found["certificate"]["broken"]] == ["padding"]
    for padded, said in (({"Z": 8}, "padded"), ({"I": 394}, "padded.I"), ({"I": 100}, "padded.I")):
        with pytest.raises(InputError, match=said):
            mapper.evaluate(tokens, "eyeriss-168", written(tmp_path, mapping | {"padded": padded}))


@pytest.mark.parametrize("text", ["auto", "M:80"])
def test_the_papers_layers_have_the_papers_bounds(text: str) -> None:
    with pytest.raises(InputError, match="resnet-dmazerunner/conv5_2 is defined with its bounds"):
        mapper.solve("resnet-dmazerunner/conv5_2", fix={"padding": text})
    assert pose("resnet-dmazerunner").options.fix == {"padding": "off"}


def test_a_solution_of_before_padding_is_judged_with_bounds_as_they_are(tokens: str) -> None:
    document = mapper.solve(tokens, "eyeriss-168", "latency", fix={"padding": "off"}).to_json()
    document["problem"]["options"]["fix"] = None
    assert mapper.simulate(document)["outputs_equal"]
    with_bound = mapper.solve(tokens, "eyeriss-168", "latency", fix={"padding": "I:200"}).to_json()
    del with_bound["parts"][0]["mapping"]["padded"]
    assert mapper.simulate(with_bound)["outputs_equal"]
