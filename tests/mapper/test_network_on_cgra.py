from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from mapper.api.comparison import compare
from mapper.api.solving import Search
from mapper.api.verb import evaluate, generate, simulate, solve
from mapper.kind.modulo_schedule.layer_part import NamedLayer
from mapper.kind.modulo_schedule.view import layer_lines
from mapper.kind.part import Options
from mapper.workloads.document import InputError


@pytest.fixture(scope="module")
def layer(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A small fully connected layer."""
    draw = np.random.default_rng(0)
    weights = [
        onnx.numpy_helper.from_array(draw.normal(size=shape).astype(np.float32), name)
        for name, shape in (("w", (6, 4)), ("b", (4,)))
    ]
    given = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, (1, 6))
    made = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, (1, 4))
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Gemm", ["x", "w", "b"], ["y"])], "layer", [given], [made], weights
    )
    path = tmp_path_factory.mktemp("layer") / "layer.onnx"
    onnx.save(
        onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8), path
    )
    return str(path)


@pytest.fixture(scope="module")
def document(layer: str) -> dict[str, Any]:
    return solve(layer, "srp-3x3").to_json()


def test_a_layer_names_its_algorithm_order_and_factors(document: dict[str, Any]) -> None:
    (part,) = document["parts"]
    mapping = part["mapping"]
    assert set(mapping) == {"algorithm", "order", "unroll", "loops"}
    assert (mapping["algorithm"], sorted(mapping["order"])) == ("gemm+registers", ["i", "j", "k"])
    assert document["problem"]["objective"] == "latency"


def test_every_loop_has_a_schedule_with_its_own_cost_and_certificate(document: dict[str, Any]) -> None:
    for loop in document["parts"][0]["mapping"]["loops"]:
        assert loop["cost"]["ii"] == loop["ii"] >= loop["cost"]["mii"]
        assert loop["certificate"]["proven"] == (loop["ii"] == loop["cost"]["mii"])
        assert len(loop["schedule"]) > 0


def test_intervals_are_undefined_for_a_layer_and_cycles_are_the_sum_of_their_causes(
    document: dict[str, Any],
) -> None:
    (part,) = document["parts"]
    assert [part["cost"][key] for key in ("ii", "mii", "res_mii", "rec_mii", "stages")] == [None] * 5
    assert part["cost"]["cycles"] == sum(part["breakdown"]["cycles"].values())
    assert part["certificate"]["bound"] <= part["certificate"]["value"] == part["cost"]["cycles"]


def test_a_solution_evaluates_to_its_own_cost(document: dict[str, Any], layer: str, tmp_path: Path) -> None:
    path = tmp_path / "solution.json"
    path.write_text(json.dumps(document))
    again = evaluate(layer, "srp-3x3", path)
    assert again.cost == document["cost"] and again.certificate.verified


def test_a_box_that_is_left_out_is_a_broken_rule(
    document: dict[str, Any], layer: str, tmp_path: Path
) -> None:
    wrong = copy.deepcopy(document)
    wrong["parts"][0]["mapping"]["loops"].pop()
    path = tmp_path / "solution.json"
    path.write_text(json.dumps(wrong))
    evaluated = evaluate(layer, "srp-3x3", path)
    assert evaluated.exit_code == 1 and evaluated.cost is None
    assert [rule.rule for rule in evaluated.certificate.broken] == ["every iteration in one box"]


def test_factors_of_more_copies_than_the_document_places_are_refused_before_they_are_made(
    document: dict[str, Any], layer: str, tmp_path: Path
) -> None:
    wrong = copy.deepcopy(document)
    loop = wrong["parts"][0]["mapping"]["loops"][0]
    loop["unroll"] = loop["count"] = dict.fromkeys(loop["unroll"], 64)
    path = tmp_path / "solution.json"
    path.write_text(json.dumps(wrong))
    with pytest.raises(InputError, match=r"must say where the operations of [0-9]+ copies run"):
        evaluate(layer, "srp-3x3", path)


def test_a_loop_whose_schedule_is_broken_claims_no_proof(
    document: dict[str, Any], layer: str, tmp_path: Path
) -> None:
    wrong = copy.deepcopy(document)
    loop = wrong["parts"][0]["mapping"]["loops"][0]
    for placement in loop["schedule"].values():
        placement["pe"] = [0, 0]
    path = tmp_path / "solution.json"
    path.write_text(json.dumps(wrong))
    evaluated = evaluate(layer, "srp-3x3", path).to_json()["parts"][0]["mapping"]["loops"][0]["certificate"]
    assert (
        evaluated["broken"]
        and not evaluated["verified"]
        and not evaluated["proven"]
        and evaluated["bound"] is None
    )


def test_simulated_loops_give_equal_words_in_as_many_cycles(document: dict[str, Any]) -> None:
    found = simulate(document)
    assert found["outputs_equal"] and found["agrees"]
    assert found["cost_simulated"]["cycles"] == document["cost"]["cycles"]


def test_the_code_of_a_layer_is_c_around_configuration_words(
    document: dict[str, Any], tmp_path: Path
) -> None:
    names = {path.name for path in generate(document, tmp_path)}
    assert {"gemm.c", "gemm.0.configuration.json", "gemm.0.listing.txt"} <= names


def test_an_algorithm_can_be_pinned() -> None:
    options = Options(fix={"algorithm": "im2col+gemm"})
    found = solve("lenet5/conv2", "srp-2x2", options=options, search=Search(method="baseline"))
    assert found.parts[0].certificate.found


def test_methods_are_compared_and_those_for_kernels_say_that_they_do_not_fit(layer: str) -> None:
    found = compare(layer, "srp-2x2", methods=["tuner", "algorithm-1", "baseline", "cp-sat"])
    cycles = [row.cost["cycles"] for row in found.rows if row.cost is not None]
    assert len(cycles) == 3 and cycles[0] == min(cycles)
    assert "schedules one kernel" in found.refused["cp-sat"]


def test_what_pes_and_memory_allow_stands_beside_what_is_reached() -> None:
    (part,) = solve("lenet5/gemm2", "srp-2x2", search=Search(method="baseline")).parts
    assert isinstance(part.mapping, NamedLayer) and part.cost is not None
    problem = part.mapping.problem
    allowed, reached = (line for line in layer_lines(problem, part) if "MACs a cycle" in line)
    # Two float PEs do at most a MAC a cycle.
    assert "gemm 1.00 (PEs 1.00, memory " in allowed
    assert f"reached: {problem.layer.macs / part.cost['cycles']:.2f}, " in reached
    assert "of what register-baseline allows" in reached
