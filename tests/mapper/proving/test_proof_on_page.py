"""Report pages show the proofs that are given beside their solutions, and refuse those of others."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import mapper as api
from mapper.api.solution import Solution
from mapper.kind import kind_of_proofs
from mapper.proving.prose import FAULTS
from mapper.reporting.drawing import markup
from mapper.reporting.proof_section import judged, proof_elements
from tests.mapper.proving.example import PROOFS, proof, written

DRAWN = {
    "tiling": ("3,685 array tiles", "4,830 boxes"),
    "cycle": ('class="ring"', "latency 3 over distance 1", "1 * II &gt;= 3"),
    "units": ('class="slots"', "10 operations that share 4 slots a cycle: at least 3 cycles"),
    "parity": ('class="board"', "two colours"),
    "allocation": ('class="caps"', "107 cycles a position", "the number of PEs available"),
    "selection": ('class="shapes"', 'data-box="576,6084,1,10"', "20 boxes of shapes cover"),
    "selection, engines": ('class="shapes"', 'data-box="40,128,', "boxes of shapes cover"),
    "pbqp": ('class="order"', "3 of 3 vertices are eliminated"),
    "chain": ("No partition up to this layer costs less",),
}


@cache
def scheduled() -> Solution:
    return api.solve("gemm", "srp-4x4")


def _proofs(*names: str) -> dict[str, Any]:
    return {"schema": "mapper.proofs/1", "proofs": [proof(name) for name in names]}


@pytest.mark.parametrize("name", DRAWN)
def test_a_proof_is_drawn_with_its_numbers(tmp_path: Path, name: str) -> None:
    (found,) = judged(written(tmp_path, proof(name)))
    page = markup(*proof_elements(found))
    for said in (*DRAWN[name], "<h4>Proof</h4>", "What remains trusted"):
        assert said in page


def test_a_page_shows_a_proof_beside_its_solution() -> None:
    page = api.report(scheduled(), _proofs("cycle"))
    assert "<h4>Proof</h4>" in page
    assert "Certified (a checker accepted the proof): no mapping of this space is better" in page
    assert "recurrence sum -&gt; sum: latency 3 over distance 1, so II &gt;= 3" in page
    assert "<td>certified</td>" in page


def test_without_a_proof_the_page_repeats_the_word_of_the_solution() -> None:
    document = scheduled().to_json()
    page = api.report(document)
    assert "Proven by solver: no mapping" in page and "<h4>Proof</h4>" not in page
    document["certificate"]["evidence"] = "certified"
    assert "Certified (a checker accepted the proof): no mapping" in api.report(document)


def test_a_refuted_proof_is_shown_as_such() -> None:
    document = json.loads(json.dumps(_proofs("cycle")))
    document["proofs"][0]["evidence"]["bound"]["edges"] = [0]
    solution = scheduled().to_json()
    solution["certificate"]["evidence"] = "certified"
    page = api.report(solution, document)
    assert "Refuted: the evidence does not show the claim" in page
    assert "Proven by solver: no mapping" in page and "Certified" not in page


@pytest.mark.parametrize("name", ["units", "tiling"])
def test_a_proof_of_another_problem_is_refused_in_one_line(mapper: Any, tmp_path: Path, name: str) -> None:
    solution, page = tmp_path / "solution.json", tmp_path / "page.html"
    solution.write_text(json.dumps(scheduled().to_json()))
    path = written(tmp_path, proof(name) | {"part": "gemm"})
    code, out, err = mapper("report", str(solution), str(path), "-o", str(page))
    assert (code, out, err.count("\n"), page.exists()) == (2, "", 1, False)
    assert "proof of gemm: belongs to no part of the solutions" in err


def test_a_malformed_proof_is_refused_in_one_line(mapper: Any, tmp_path: Path) -> None:
    path = written(tmp_path, proof("cycle") | {"part": 3})
    code, out, err = mapper("report", str(path), "-o", str(tmp_path / "page.html"))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "are malformed" in err


def test_a_proof_that_claims_another_value_is_refused() -> None:
    document = json.loads(json.dumps(_proofs("cycle")))
    document["proofs"][0]["claim"] |= {"value": 4, "status": "bounded"}
    with pytest.raises(api.InputError, match="claims bounded 4, but the solution optimal 3"):
        api.report(scheduled(), document)


@pytest.mark.parametrize("name", PROOFS)
def test_hostile_names_stay_text(name: str) -> None:
    text = json.dumps(proof(name)).replace('"conv1"', '"<script>"').replace('"sum"', '"<script>"')
    kind = kind_of_proofs(proof(name)["kind"])
    assert kind is not None
    try:
        drawn = markup(*kind.proof_picture(json.loads(text), "closed: 3 splits"))
    except FAULTS:
        return
    assert "<script>" not in drawn
