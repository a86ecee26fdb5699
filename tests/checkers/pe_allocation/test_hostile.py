"""Files that mean harm end soon, and are not accepted."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.checkers.pe_allocation.example import (
    CHECKER,
    Document,
    bound_again,
    problem_of,
    proof_of,
    verdict_on,
)


def proof(**options: Any) -> Document:
    return copy.deepcopy(proof_of(problem_of("mnist-tcpa", "tcpa-4x4", "latency", **options)))


def nested(depth: int) -> str:
    return '{"schema": "mapper.proofs/1", "proofs": ' + "[" * depth + "]" * depth + "}"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        "{}",
        nested(100_000),
        '{"schema": "mapper.proofs/1", "proofs": [1]}',
        '{"schema": "mapper.proofs/1", "proofs": [1.5]}',
        '{"schema": "mapper.proofs/1", "schema": "mapper.proofs/1", "proofs": []}',
        '{"schema": "mapper.proofs/1", "proofs": [' + "9" * 100_000 + "]}",
        "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"),
    ],
    ids=["empty", "list", "null", "bare", "deep", "number", "float", "twice", "digits", "surrogate"],
)
def test_what_is_no_proof_is_malformed(text: str, tmp_path: Path) -> None:
    path = tmp_path / "hostile.json"
    path.write_bytes(text.encode("latin-1"))
    done = subprocess.run([sys.executable, "-I", CHECKER, path], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (2, "")


WRONG: list[tuple[str, Any]] = [
    ("pes", 1 << 63),
    ("pes", 0),
    ("pes", True),
    ("pes", "16"),
    ("clock_hz", "50000000/3"),
    ("interval", []),
    ("layers", []),
    ("layers", {}),
    ("model", "physics"),
    ("objective", ["latency"]),
    ("sense", "most"),
    ("segments", [1]),
    ("sharing", 1),
    ("extra", 1),
]


@pytest.mark.parametrize(("field", "value"), WRONG, ids=[f"{field}-{value}" for field, value in WRONG])
def test_a_wrong_field_of_the_problem_is_malformed(field: str, value: Any) -> None:
    document = proof()
    document["problem"][field] = value
    assert verdict_on(bound_again(document))[0] == "malformed"


def test_another_problem_under_the_same_hash_is_refuted() -> None:
    document = proof()
    document["problem"]["pes"] = 15
    assert verdict_on(document) == ("refuted", "problem_sha256 is of another problem")


@pytest.mark.parametrize("field", ["filters", "depth", "maps", "units"])
def test_huge_layers_end_soon(field: str) -> None:
    document = proof(model="streaming")
    for layer in document["problem"]["layers"]:
        layer[field] = 1 << 20
        layer["output_size"] = [1 << 16, 1 << 16]
    begun = time.process_time()
    assert verdict_on(bound_again(document))[0] != "certified"
    assert time.process_time() - begun < 10


@pytest.mark.slow
def test_a_tree_without_end_ends_soon() -> None:
    document = proof()
    document["evidence"]["nodes"] = [[0, 1]] * 200_000
    begun = time.process_time()
    assert verdict_on(document)[0] in ("malformed", "refuted")
    assert time.process_time() - begun < 30


def test_leaves_may_not_be_left_open() -> None:
    document = proof()
    trees: list[list[Any]] = [[], ["caps"], [None], [{}], [[0, 1]]]
    trees.append([{"pes": 0, "ends": [], "starts": [], "rates": []}])
    for nodes in trees:
        document["evidence"]["nodes"] = nodes
        assert verdict_on(document)[0] in ("malformed", "refuted")


def test_multipliers_below_zero_are_malformed() -> None:
    document = proof()
    leaf = next(node for node in document["evidence"]["nodes"] if isinstance(node, dict))
    leaf["rates"] = [[1, 0, -(10**9)]]
    assert verdict_on(document)[0] == "malformed"


def test_a_document_with_its_keys_in_another_order_is_the_same() -> None:
    document = proof()
    turned = json.loads(json.dumps(document), object_pairs_hook=lambda pairs: dict(reversed(pairs)))
    assert verdict_on(turned)[0] == "certified"
