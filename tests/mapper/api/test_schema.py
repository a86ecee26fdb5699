"""Documents that are read and written are as their JSON Schemas say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

import mapper as package
from mapper.arch.source import machine_names, preset_text
from mapper.kind import ENTRIES
from mapper.kind.part import Options
from mapper.schema import schema, schema_names
from mapper.schema.document import READ
from mapper.workloads.catalogue import CATALOGUE, document_text
from mapper.workloads.document import InputError

MACHINES = [one.name.replace("NxM", "4x4") for one in machine_names()]
NESTS = [name for name, entry in CATALOGUE.items() if entry.origin == "document"]
PROBLEMS = [
    ("resnet-dmazerunner/conv5_2", "dmazerunner-256"),
    ("gemm", "srp-4x4"),
    ("mnist-tcpa", "tcpa-4x4"),
    ("lenet5", "dynamap-u200"),
    ("lenet5/pool2", "snowflake-1cc"),
]


def refused(name: str, document: Any) -> list[str]:
    """What the schema has against a document."""
    plain = json.loads(json.dumps(document))
    return [
        f"{list(error.path)}: {error.message}"
        for error in Draft202012Validator(schema(name)).iter_errors(plain)
    ]


@pytest.mark.parametrize("name", schema_names())
def test_every_schema_is_one_itself(name: str) -> None:
    Draft202012Validator.check_schema(schema(name))
    assert schema(name)["$id"] == f"mapper.{name}/1" and schema(f"mapper.{name}/1") == schema(name)


@pytest.mark.parametrize("name", MACHINES)
def test_every_preset_is_as_the_schema_of_its_machine_says(name: str) -> None:
    document = yaml.safe_load(preset_text(name) or "")
    assert refused(document["schema"], document) == []
    assert refused(document["schema"], {**document, "colour": "red"})


@pytest.mark.parametrize("name", NESTS)
def test_every_nest_of_the_catalogue_is_as_its_schema_says(name: str) -> None:
    document = yaml.safe_load(document_text(name) or "")
    assert refused(document["schema"], document) == []


def test_there_is_a_schema_for_the_machines_of_every_kind() -> None:
    assert {entry.schema for entry in ENTRIES if entry.schema} <= {f"mapper.{name}/1" for name in READ}


@pytest.mark.parametrize(("workload", "arch"), PROBLEMS)
def test_solutions_and_simulations_of_every_kind_are_as_their_schemas_say(workload: str, arch: str) -> None:
    solution = package.solve(workload, arch).to_json()
    assert refused("solution", solution) == []
    assert refused("simulation", package.simulate(solution)) == []
    del solution["certificate"]["proven"]
    assert refused("solution", solution) != []


def test_comparisons_sweeps_fronts_and_proofs_are_as_their_schemas_say() -> None:
    layer = "resnet-dmazerunner/conv5_2"
    compared = package.compare(layer, methods=["branch-and-bound", "random"])
    assert refused("comparison", compared.to_json()) == []
    beside = package.side_by_side("lenet5", ["tcpa-16x16", "dynamap-u200"])
    assert refused("comparison", beside.to_json()) == []
    assert refused("sweep", package.sweep(layer, None, {"rf.bytes": [256, 512]}).to_json()) == []
    front = package.front("mnist-tcpa", "tcpa-4x4", options=Options(max_pes=8))
    assert refused("front", front.to_json()) == []
    proofs = {"schema": "mapper.proofs/1", "proofs": package.certify(package.solve(layer))}
    assert refused("proofs", proofs) == []


def test_a_name_that_has_no_schema_is_answered_by_the_nearest() -> None:
    with pytest.raises(InputError, match="is no document; did you mean solution"):
        schema("solutoin")


def test_the_command_prints_the_schema_for_an_editor(mapper: Any, tmp_path: Path) -> None:
    assert mapper("schema")[1].split() == list(schema_names())
    assert json.loads(mapper("schema", "cgra")[1]) == schema("cgra")
