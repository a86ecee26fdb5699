"""Tilings under the two models: posed, solved, simulated, written down and read again."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import mapper
from mapper.api.problem import pose, pose_again
from mapper.arch.dataflow import PHYSICAL_RULES, DataflowMachine
from mapper.arch.source import load_machine
from mapper.kind.part import Options
from mapper.workloads.document import InputError

PHYSICAL = Options(model="physical")
NEST = """
schema: mapper.nest/1
name: product
loops: {I: 4, J: 6, K: 8}
operands:
  - {tensor: O, index: [I, J], access: read_write}
  - {tensor: A, index: [I, K]}
  - {tensor: B, index: [K, J]}
"""


@pytest.fixture
def nest(tmp_path: Path) -> str:
    path = tmp_path / "product.yaml"
    path.write_text(NEST, encoding="utf-8")
    return str(path)


def machine_file(folder: Path, **sections: Any) -> str:
    """``dmazerunner-256`` with sections changed, as a file."""
    document = load_machine("dmazerunner-256")[0].model_dump(mode="json", by_alias=True)
    for section, changes in sections.items():
        document[section] |= changes
    path = folder / "machine.yaml"
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    return str(path)


def test_a_solution_under_physical_rules_is_simulated_to_the_cycle(nest: str) -> None:
    solution = mapper.solve(nest, "dmazerunner-256", options=PHYSICAL, fix={"padding": "off"})
    assert solution.certificate.proven
    document = solution.to_json()
    assert document["problem"]["options"]["model"] == "physical"
    assert set(document["parts"][0]["breakdown"]["stall_cycles"]) == {
        "cold_start", "noc", "dma", "reduction", "drain",
    }  # fmt: skip
    run = mapper.simulate(document)
    assert run["outputs_equal"]
    assert run["cost_model"] == run["cost_simulated"]
    assert run["cost_model"]["cycles"] == document["parts"][0]["cost"]["cycles"]


def test_the_models_differ_and_published_is_the_default(nest: str) -> None:
    named, unnamed, physical = (
        mapper.solve(nest, "dmazerunner-256", options=options).to_json()
        for options in (Options(model="published"), Options(), PHYSICAL)
    )
    assert unnamed["problem"]["options"]["model"] is None
    assert named["cost"] == unnamed["cost"] != physical["cost"]


def test_a_model_that_there_is_not_is_refused(nest: str) -> None:
    with pytest.raises(InputError, match=r"^--model: euclidean: must be published or physical"):
        pose(nest, "dmazerunner-256", options=Options(model="euclidean"))


def test_a_machine_may_have_physical_rules_of_its_own(nest: str, tmp_path: Path) -> None:
    own = machine_file(tmp_path, rules=PHYSICAL_RULES.model_dump(mode="json"))
    assert (
        mapper.solve(nest, own).to_json()["cost"]
        == mapper.solve(nest, "dmazerunner-256", options=PHYSICAL).to_json()["cost"]
    )


def test_one_scratch_pad_buffer_takes_more_cycles_than_two(tmp_path: Path) -> None:
    single = machine_file(tmp_path, spm={"bytes": 65536, "double_buffered": False})
    for model in ("published", "physical"):
        one, two = (
            mapper.solve("resnet-dmazerunner/conv5_2", arch, "latency", Options(model=model))
            for arch in (single, "dmazerunner-256")
        )
        assert one.certificate.proven and two.certificate.proven
        assert one.to_json()["cost"]["cycles"] > two.to_json()["cost"]["cycles"]


@pytest.mark.parametrize(
    ("preset", "rule"),
    [("dmazerunner-256", "exposed"), ("dmazerunner-256-fine", "exposed"), ("eyeriss-168-tiles", "buffered")],
)
def test_what_the_original_did_is_a_rule_of_its_machine(preset: str, rule: str) -> None:
    machine, _ = load_machine(preset)
    assert isinstance(machine, DataflowMachine)
    assert (machine.rules.leaving_sums, machine.rules.timing) == (rule, "steady")


def test_a_document_of_before_the_rule_had_a_name_keeps_its_costs(nest: str, tmp_path: Path) -> None:
    document = mapper.solve(nest, "dmazerunner-256").to_json()
    before = copy.deepcopy(document)
    for rule in ("leaving_sums", "timing"):
        del before["problem"]["machine"]["rules"][rule]
    again = pose_again(before, "before.json")
    assert isinstance(again.machine, DataflowMachine)
    assert again.machine.rules.leaving_sums == "exposed"
    assert mapper.simulate(before)["cost_model"] == document["cost"]


def test_the_checker_does_not_certify_a_timeline(nest: str, tmp_path: Path) -> None:
    path = tmp_path / "proofs.json"
    proofs = mapper.certify(mapper.solve(nest, "dmazerunner-256", options=PHYSICAL))
    path.write_text(json.dumps({"schema": "mapper.proofs/1", "proofs": proofs}), encoding="utf-8")
    ((part, status, reason),) = mapper.check(path)
    assert (part, status) == ("product", "not certified")
    assert "timeline" in reason
