"""Hostile proofs of modulo schedules end soon, and are called what they are."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from mapper.formulations.modulo_schedule.problem import ModuloProblem
from tests.checkers.modulo_schedule.checking import CHECKER, Document, bound_again, claim_of, proof_of, status
from tests.checkers.modulo_schedule.test_proofs import posed, solved


def proof() -> Document:
    problem: ModuloProblem = posed("dot", "srp-2x2")
    return proof_of(problem, claim_of(solved(problem)))


def at(document: Document, path: str, value: Any) -> Document:
    part: Any = document
    *keys, last = [int(key) if key.isdecimal() else key for key in path.split(".")]
    for key in keys:
        part = part[key]
    part[last] = value
    return bound_again(document)


EVERYTHING = [{"at": "all", "classes": ["any"]}] * 400
MALFORMED = {
    "an II of 0": ("evidence.mapping.ii", 0),
    "an II that is true": ("evidence.mapping.ii", True),
    "an II that is text": ("evidence.mapping.ii", "3"),
    "a PE beyond the array": ("evidence.mapping.placements.0.0", 4),
    "a time that is huge": ("evidence.mapping.placements.0.1", 10**400),
    "a time before the first": ("evidence.mapping.placements.0.1", -1),
    "a placement with a third number": ("evidence.mapping.placements.0", [0, 0, 0]),
    "placements that are a name": ("evidence.mapping.placements", {"0": [0, 0]}),
    "no routes": ("evidence.mapping.routes", []),
    "a route through a register that is not there": ("evidence.mapping.routes.0", [1024]),
    "a rule that is unknown": ("evidence.bound", {"rule": "trust me"}),
    "a rule with a field too many": ("evidence.bound.by", "the solver"),
    "a cycle of an edge that is not there": ("evidence.bound.edges.0", 99),
    "an edge from before the loop": ("problem.edges.0.0", -1),
    "a distance that is negative": ("problem.edges.0.3", -1),
    "an edge without latency": ("problem.edges.0", [0, 0, None]),
    "an array without PEs": ("problem.machine.rows", 0),
    "an array of many PEs": ("problem.machine.rows", 10**6),
    "links of no known pattern": ("problem.machine.links", ["everywhere"]),
    "a link to outside": ("problem.machine.links", [[[0, 0], [0, 2]]]),
    "a unit of no known kind": ("problem.machine.pes.0.classes", ["luck"]),
    "a machine with a field too many": ("problem.machine.bonus", 1),
    "a shared file without registers": (
        "problem.machine.shared_register_file",
        {"registers": 0, "read_ports": None, "write_ports": None, "at": "all"},
    ),
    "no PEs of any kind": ("problem.machine.pes", []),
    "links that are a table": ("problem.machine.links", {"mesh": 1}),
    "an operation that is text": ("problem.operations.0", "ab"),
    "another objective": ("problem.objective", "most"),
    "a bound that is text": ("claim.bound", "3"),
    "evidence with a field too many": ("evidence.note", ""),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_proof_is_called_so(name: str) -> None:
    assert status(at(proof(), *MALFORMED[name])) == "malformed"


def test_evidence_that_leads_nowhere_is_refuted() -> None:
    document = proof()
    for bound in (
        {"rule": "cycle", "edges": [0, 0]},
        {"rule": "ports"},
        {"rule": "fixed"},
        {"rule": "operands", "edges": list(range(len(document["problem"]["edges"])))},
    ):
        assert status(at(document, "evidence.bound", bound)) == "refuted"


def test_large_arrays_and_long_evidence_cost_seconds_at_the_most() -> None:
    document = proof()
    machine = {
        **document["problem"]["machine"], "rows": 64, "columns": 64, "pes": EVERYTHING,
        "links": ["row_bus", "column_bus"] * 100, "shared_register_file": None,
    }  # fmt: skip
    document = at(document, "problem.machine", machine)
    began = time.process_time()
    assert status(document) in ("certified", "refuted")
    assert (
        status(at(document, "evidence.bound", {"rule": "operands", "edges": [0] * 10**6})) == "not certified"
    )
    assert status(at(document, "evidence.bound", {"rule": "survival", "iterations": 4096})) == "not certified"
    assert time.process_time() - began < 30


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"schema": ' + "9" * 100_000 + "}",
        '{"a": 1, "a": 2}',
        "\x00",
        '{"schema": 1e999}',
        "NaN",
        "",
    ],
    ids=["nested", "huge", "twice", "binary", "float", "no number", "empty"],
)
def test_a_hostile_file_is_malformed(tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CHECKER.resource, "setrlimit", lambda *limits: None)
    monkeypatch.setattr(CHECKER.signal, "signal", lambda *handler: None)
    (tmp_path / "proof.json").write_text(text)
    assert CHECKER.main(str(tmp_path / "proof.json")) == 2


def test_numbers_that_are_hard_to_tell_apart_end_soon() -> None:
    """Python gives them one hash, so that a set of them takes a minute to fill, in which no signal is heard."""
    alike = [at * ((1 << 61) - 1) for at in range(100_000)]
    began = time.process_time()
    assert status(at(proof(), "evidence.bound", {"rule": "units", "operations": alike})) == "malformed"
    assert status(at(proof(), "problem.machine.pes.0.classes", alike)) == "malformed"
    assert time.process_time() - began < 10


def test_statements_about_a_long_interval_are_not_written() -> None:
    """A single operation has few places, but as many times as the interval has cycles, and pairs of them."""
    document = at(proof(), "problem.fixed_ii", 1 << 20)
    for field, value in (("operations", [["a", "add"]]), ("edges", [])):
        document["problem"][field] = value
    document["claim"] = {"status": "bounded", "value": None, "bound": 1}
    document["evidence"]["mapping"] = None
    bound = {"rule": "clauses", "below": {"rule": "fixed"}, "steps": [[]]}
    began = time.process_time()
    assert status(at(document, "evidence.bound", bound)) == "not certified"
    assert time.process_time() - began < 5
