"""Proofs in prose hold the numbers of the proof, and what no checker accepts is told as such."""

from __future__ import annotations

import copy
import random
from pathlib import Path
from typing import Any

import pytest

from mapper.proving.prose import sentences, tell
from tests.mapper.proving.example import PROOFS, proof, written

FORMS = ("text", "markdown", "latex", "html")
SAID = {
    "tiling": (
        "no tiling has an EDP of less than 6,844,957,271,165,824 pJ*cycles",
        "one of 4,830 boxes",
        "3,685 array tiles: Kept, Delivered",
        "4 splits in SPM tiles: Kept, Hidden",
    ),
    "cycle": ("II) of less than 3 cycles", "recurrence sum -> sum: latency 3 over distance 1, so II >= 3"),
    "units": ("operations of unit", "10 over 4, so II >= 3", "lemma Slots"),
    "parity": ("2 white PEs and 2 black ones", "an odd number of times", "So II >= 2"),
    "clauses": ("II 3 is refuted: ", "the last one is the empty clause", "So II >= 4."),
    "impossible": ("there is no schedule", "no II has a schedule"),
    "allocation": (
        "more than 3125000/1323 (about 2,362.06) fps",
        "a frame every 21,167 cycles or sooner",
        "conv2: at most 107 cycles per position, which no number of PEs reaches",
    ),
    "allocation, latency": ("less than 22,116 cycles", "38 PEs of 64", "256 times 'conv4 ends in time'"),
    "selection": (
        "no selection has a latency of less than 583 cycles",
        "20 boxes of shapes",
        "arrays of 576 to 6084 x 1 to 10: at least 608 cycles",
    ),
    "selection, engines": ("no selection has a latency of less than 7,009 cycles", "49 boxes of shapes"),
    "pbqp": (
        "less than 5 in all",
        "3 vertices, 2 edges",
        "3 vertices are eliminated, in the order",
        "No vertex is left",
    ),
    "hierarchy": ("no mapping has an EDP of less than 6314117777186881536/3125", "leave 25 arrangements"),
    "hierarchy, nothing fits": ("there is no mapping", "inner: the smallest tiles take"),
    "chain": ("a chain of 2 layers", "costs recomputed", "lemma Potentials"),
}


@pytest.mark.parametrize("name", PROOFS)
def test_prose_holds_the_numbers_of_the_proof(tmp_path: Path, name: str) -> None:
    text, checked = tell(written(tmp_path, proof(name)))
    assert [status for _, status, _ in checked] == ["certified"]
    for said in SAID[name]:
        assert said in text
    assert "What remains trusted: " in text


@pytest.mark.parametrize("form", FORMS)
def test_every_format_has_every_sentence(tmp_path: Path, form: str) -> None:
    text, _ = tell(written(tmp_path, proof("cycle")), form)
    for said in ("latency 3 over distance 1", "lemma Recurrence", "What remains trusted"):
        assert said in text


def test_a_tree_of_potentials_is_told_by_its_size() -> None:
    document = copy.deepcopy(proof("pbqp"))
    leaf = [[[0, 1, [1, 0], [0, 0]]]]
    document["evidence"] |= {"order": [2], "tree": [[], 0, [[[0], leaf], [[1], [[], 1, [[[0, 1], [[]]]]]]]]}
    said = " ".join(sentences(document, ("instance", "certified", "")))
    assert "2 vertices are left" in said
    assert "2 vertices branch, 2 leaves, the deepest below 2 branches" in said
    assert "Potentials (1 move)" in said


def test_a_proof_of_another_problem_is_told_as_refuted(mapper: Any, tmp_path: Path) -> None:
    forged = proof("cycle") | {"problem": proof("units")["problem"]}
    code, out, err = mapper("explain", "--proof", str(written(tmp_path, forged)))
    assert (code, err) == (1, "")
    assert "refuted: the evidence does not show the claim (problem_sha256 is of another problem)" in out
    assert "Claim" not in out


def test_what_is_no_proof_is_malformed(mapper: Any, tmp_path: Path) -> None:
    path = written(tmp_path, {"kind": "tiling"})
    code, out, _ = mapper("explain", "--proof", str(path))
    assert code == 2 and "malformed" in out
    path.write_text("[")
    code, out, err = mapper("explain", "--proof", str(path))
    assert (code, out, err.count("\n")) == (2, "", 1)


@pytest.mark.parametrize("words", [("gemm",), ("--arch", "srp-4x4"), ("--fix", "ii=3")])
def test_a_proof_is_told_without_a_workload(mapper: Any, tmp_path: Path, words: tuple[str, ...]) -> None:
    code, out, err = mapper("explain", *words, "--proof", str(written(tmp_path, proof("cycle"))))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "leave out the workload" in err


def _changed(document: Any, rng: random.Random) -> Any:
    """A copy with one value somewhere replaced."""
    found = copy.deepcopy(document)
    at: Any = found
    places: list[tuple[Any, Any]] = []
    while isinstance(at, dict | list) and at and (not places or rng.random() < 0.9):
        key = rng.choice(list(at) if isinstance(at, dict) else range(len(at)))
        places.append((at, key))
        at = at[key]
    holder, key = places[-1]
    holder[key] = rng.choice([None, -1, 0, 1 << 70, "x", "\x1b[31m", [], {}, [[]], "1/3", True])
    return found


@pytest.mark.parametrize("name", PROOFS)
def test_hostile_evidence_that_a_checker_lets_pass_breaks_no_prose(name: str) -> None:
    rng = random.Random(name)
    for _ in range(60):
        changed = _changed(proof(name), rng) | {"kind": proof(name)["kind"]}
        lines = sentences(changed, ("part", "certified", "the chain shows closed: x boxes, 1 y"))
        assert all(line.isprintable() for line in lines)
