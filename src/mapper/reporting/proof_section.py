"""Proofs on a page: read beside the solutions that they are of, checked, and shown as pictures and in words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from mapper.api.solution import assemble
from mapper.api.verb import read_document
from mapper.kind import kind_of_proofs
from mapper.kind.checker_lines import checker, trusted
from mapper.kind.kind import AnyPart
from mapper.proving.checker import Checked, check, is_same
from mapper.proving.proof_document import PROOFS_SCHEMA, status_of
from mapper.proving.prose import FAULTS, sentences, verdict
from mapper.reporting.document import Solved
from mapper.reporting.drawing import node
from mapper.solver.proof import digest
from mapper.workloads.document import InputError
from mapper.workloads.process.temporary import temporary_folder


@dataclass(frozen=True)
class Judged:
    """A proof, and what its checker says."""

    source: str
    proof: Mapping[str, Any]
    checked: Checked


def is_proofs(given: Path | Mapping[str, Any]) -> bool:
    """Whether a document is one of proofs.

    Raises: InputError if it cannot be read.
    """
    fields = read_document(given) if isinstance(given, Path) else given
    return fields.get("schema") == PROOFS_SCHEMA


def judged(given: Path | Mapping[str, Any]) -> list[Judged]:
    """The proofs of a document, checked.

    Raises: InputError if a checker calls one malformed.
    """
    if not isinstance(given, Path):
        with temporary_folder() as folder:
            path = folder / "proofs.json"
            path.write_text(json.dumps(given), encoding="utf-8")
            return judged(path)
    source, checked, proofs = str(given), check(given), read_document(given)["proofs"]
    for part, status, reason in checked:
        if status == "malformed" or len(proofs) != len(checked):
            raise InputError(source, f"proofs of {part[:40] or 'the file'}", f"are {status}: {reason}")
    return [Judged(source, *pair) for pair in zip(proofs, checked, strict=True)]


def beside(solved: Sequence[Solved], proofs: Sequence[Judged]) -> list[tuple[Solved, dict[str, Judged]]]:
    """Every solution with the proofs of its parts by their names, certified where a checker accepts them.

    Raises: InputError if a proof is of no part of any of them, or claims something else.
    """
    found: list[tuple[Solved, dict[str, Judged]]] = [(one, {}) for one in solved]
    for proof in proofs:
        homes = [(own, part) for one, own in found for part in _posed(one, proof)]
        if not homes:
            field = f"proof of {str(proof.proof['part'])[:40]}"
            raise InputError(
                proof.source, field, "belongs to no part of the solutions; give its solution too"
            )
        for own, part in homes:
            own[part.name] = proof
    return [(_certified(one, own), own) for one, own in found]


def _posed(solved: Solved, judged: Judged) -> Iterator[AnyPart]:
    """The parts of a solution that a proof is of."""
    kind = solved.solution.posed.kind
    if kind.proof_kind != judged.proof["kind"]:
        return
    for part, own in zip(solved.solution.posed.parts, solved.solution.parts, strict=True):
        if own.same_as is not None or part.name != judged.proof["part"]:
            continue
        restated = kind.restated(part.problem)
        # Where restating takes a search, no checker certifies.
        unknown = restated is None and judged.checked[1] != "certified"
        if unknown or (restated is not None and digest(restated) == judged.proof["problem_sha256"]):
            claim, known = judged.proof["claim"], own.certificate
            told = claim["status"] == status_of(known) and is_same(claim["value"], known.value)
            if not told and judged.proof["evidence"].get("rule") != "none":
                has = f"{status_of(known)} {known.value}"
                raise InputError(
                    judged.source,
                    f"proof of {part.name[:40]}",
                    f"claims {claim['status']} {str(claim['value'])[:40]}, but the solution {has}; solve it again",
                )
            yield part


def _certified(solved: Solved, own: Mapping[str, Judged]) -> Solved:
    """The solution with its certificates as the checkers say."""
    parts = []
    for part in solved.solution.parts:
        judged = own.get(part.same_as or part.name)
        if judged is not None:
            holds = judged.checked[1] == "certified" and part.certificate.proven
            part = replace(part, certificate=replace(part.certificate, certified=holds))
        parts.append(part)
    return replace(solved, solution=assemble(solved.solution.posed, parts))


def proof_elements(judged: Judged | None) -> list[Element]:
    """A part's proof as a section: what the checker says, pictures, steps in words, and what remains trusted."""
    if judged is None:
        return []
    told = node("ol", *(node("li", line) for line in sentences(judged.proof, judged.checked)))
    elements = [node("h4", "Proof"), node("p", _first_upper(verdict(judged.checked)), class_="verdict")]
    elements += _pictures(judged)
    if len(told):
        elements.append(told)
    elements.append(node("p", f"What remains trusted: {trusted(str(judged.proof['kind']))}."))
    return [node("section", *elements, class_="proof")]


def _first_upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _pictures(judged: Judged) -> list[Element]:
    _, status, reason = judged.checked
    kind = kind_of_proofs(str(judged.proof["kind"]))
    if kind is None or not kind.proof_is_told(status, reason):
        return []
    try:
        return kind.proof_picture(judged.proof, reason)
    except (*FAULTS, checker(kind.proof_kind).EndedError):
        return []
