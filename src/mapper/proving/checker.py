"""Calls the checkers. Each runs as a separate program, just as anybody can run it by hand."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, cast

from mapper.api.problem import pose_again
from mapper.api.verb import read_document
from mapper.kind.checker_lines import CHECKERS
from mapper.proving.proof_document import PROOFS_SCHEMA, claims
from mapper.solver.proof import digest
from mapper.workloads.document import InputError
from mapper.workloads.process.child_process import run

CheckStatus = Literal["certified", "refuted", "malformed", "not certified"]
Checked = tuple[str, CheckStatus, str]
"""A part, what its proof shows, and the reason."""

EXIT_CODES: tuple[tuple[CheckStatus, int], ...] = (("malformed", 2), ("refuted", 1), ("not certified", 3))
SECONDS = 600


def check(path: Path | str, solution: Path | str | None = None) -> list[Checked]:
    """What the checker of its kind says of every proof in ``path``; of each part of ``solution`` too, whether it poses
    the same problem and claims the same value as one of them.

    Raises: InputError if a file cannot be read or the proofs are of no kind.
    """
    path = Path(path)
    document = read_document(path)
    kinds = _kinds(document, str(path))
    found: list[Checked] = []
    for kind in kinds:
        found += _run(CHECKERS / f"check_{kind}.py", path)
    return found if solution is None else [*found, *_bound_to(document, Path(solution))]


def exit_code(checked: list[Checked]) -> int:
    """0 certified, 1 refuted, 2 malformed, 3 not certified: the first of 2, 1, 3 that there is."""
    statuses = {status for _, status, _ in checked}
    return next((code for status, code in EXIT_CODES if status in statuses), 0)


def _kinds(document: Mapping[str, Any], source: str) -> list[str]:
    proofs = document.get("proofs")
    if document.get("schema") != PROOFS_SCHEMA or not isinstance(proofs, list) or not proofs:
        raise InputError(
            source, "schema", f"must be {PROOFS_SCHEMA}; write proofs by mapper solve --certificate"
        )
    kinds = list(dict.fromkeys(str(one.get("kind")) if isinstance(one, dict) else "" for one in proofs))
    known = sorted(one.stem.removeprefix("check_") for one in CHECKERS.glob("check_*.py"))
    if len(kinds) > 1:
        raise InputError(source, "proofs", "are of several kinds; check them one kind at a time")
    if kinds[0] not in known:
        raise InputError(
            source, "proofs.0.kind", f"{kinds[0][:40]!r} has no checker; there are {', '.join(known)}"
        )
    return kinds


def _run(checker: Path, path: Path) -> list[Checked]:
    try:
        done = run([sys.executable, "-I", checker, path.absolute(), "--json"], SECONDS, family=True)
    except subprocess.TimeoutExpired:
        return [("", "not certified", f"the checker takes more than {SECONDS} s")]
    try:
        listed = json.loads(done.stdout)
    except ValueError:
        return [("", "not certified", f"the checker ended with code {done.returncode} and said nothing")]
    return [(str(part), cast(CheckStatus, status), str(reason)) for part, status, reason in listed]


def _bound_to(document: Mapping[str, Any], solution: Path) -> list[Checked]:
    """Whether the parts of a solution are what the proofs are of."""
    fields = read_document(solution)
    problem = pose_again(fields, str(solution))
    proofs = {one["problem_sha256"]: one["claim"] for one in document["proofs"] if _is_read(one)}
    found: list[Checked] = []
    for part, claim in claims(problem, fields, str(solution)):
        restated = problem.kind.restated(part.problem)
        if restated is None:
            found.append((part.name, "not certified", "its problem cannot be restated without a search"))
            continue
        proven = proofs.get(digest(restated))
        if proven is None:
            found.append((part.name, "refuted", f"no proof is about the problem that {solution} poses"))
            continue
        same = proven["status"] == claim.status and is_same(proven["value"], claim.value)
        if same and claim.status == "bounded":
            same = is_same(proven.get("bound"), claim.bound)
        if not same:
            told = f"{proven['status']} {proven['value']}, but the solution {claim.status} {claim.value}"
            found.append((part.name, "refuted", f"the proof claims {told}"))
    return found


def _is_read(proof: Any) -> bool:
    claim = proof.get("claim") if isinstance(proof, dict) else None
    return (
        isinstance(claim, dict)
        and {"status", "value"} <= set(claim)
        and isinstance(proof.get("problem_sha256"), str)
    )


def is_same(exact: Any, value: int | float | None) -> bool:
    """Whether a document's float stands for an exact number: the nearest one does, or one beside it."""
    if exact is None or value is None:
        return exact is None and value is None
    try:
        known = Fraction(exact)
    except (ValueError, TypeError, ZeroDivisionError):
        return False
    return known == Fraction(value) or abs(known - Fraction(value)) <= abs(known) * Fraction(1, 10**12)
