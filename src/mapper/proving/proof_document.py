"""From a solution to the document of its proofs, ``mapper.proofs/1``."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from mapper.api.problem import PosedProblem, pose_again
from mapper.api.solution import Solution
from mapper.api.verb import read_document
from mapper.kind.kind import AnyPart
from mapper.models.limit import UnfinishedError
from mapper.models.plain import limited
from mapper.solver.certificate import Certificate, certificate_from_json
from mapper.solver.method import Effort
from mapper.solver.proof import Claim, NotCertifiedError, Proof, Status
from mapper.workloads.document import InputError
from mapper.workloads.process.whole_file import write_whole

PROOFS_SCHEMA = "mapper.proofs/1"
SHARED = "layers share --max-latency, and the checker judges each by itself"
Document = dict[str, Any]


def certify(solution: Solution | Path | Mapping[str, Any], effort: Effort | None = None) -> list[Document]:
    """A proof (``mapper.proof/1``) of every part of ``solution`` that is not a repeat of an earlier one. Where there is
    no evidence, its rule is ``none``, with the reason.

    Raises: InputError if the document is no solution.
    """
    if isinstance(solution, Solution):
        problem, claimed = solution.posed, claims_of(solution)
    else:
        source = str(solution) if isinstance(solution, Path) else "the solution"
        document = read_document(solution) if isinstance(solution, Path) else solution
        problem = pose_again(document, source)
        claimed = claims(problem, document, source)
    effort = effort or Effort()
    return [
        _proof(problem, part, claim, effort).to_json(problem.kind.proof_kind, part.name)
        for part, claim in claimed
    ]


def claims_of(solution: Solution) -> Iterator[tuple[AnyPart, Claim[Any]]]:
    """What a solution claims of each different part; no document is made of it, which may be large."""
    kind = solution.posed.kind
    for part, answer in zip(solution.posed.parts, solution.parts, strict=True):
        if answer.same_as is not None:
            continue
        listed = {
            one.name: one.mapping.to_json()
            for one in kind.spread(part.problem, answer)
            if one.mapping is not None
        }
        fields = kind.gather(part.problem, part.name, listed)
        mapping = None if fields is None else kind.read_mapping(fields, part.problem, part.name)
        certificate = answer.certificate
        yield part, Claim(status_of(certificate), mapping, certificate.value, certificate.bound)


def claims(
    problem: PosedProblem, document: Mapping[str, Any], source: str
) -> Iterator[tuple[AnyPart, Claim[Any]]]:
    """What a solution document claims of each different part.

    Raises: InputError if it does not hold what solutions hold.
    """
    listed = document.get("parts")
    if not isinstance(listed, list) or not all(isinstance(part, dict) for part in listed):
        raise InputError(source, "parts", "must list the parts of a solution")
    by_name = {str(part.get("name")): part for part in listed}
    mappings = {name: part.get("mapping") for name, part in by_name.items()}
    seen = set()
    for part in problem.parts:
        if part.key in seen:
            continue
        seen.add(part.key)
        # One search that decides things listed apart is certified by the document.
        own = document if len(problem.parts) == 1 else by_name.get(part.name, {})
        field = f"parts.{part.name[:40]}"
        try:
            certificate = certificate_from_json(own["certificate"])
        except (KeyError, TypeError, ValueError):
            raise InputError(
                source, f"{field}.certificate", "was not written by mapper; solve it again"
            ) from None
        fields = problem.kind.gather(part.problem, part.name, mappings)
        if certificate.found and fields is None:
            raise InputError(source, f"{field}.mapping", "is missing; solve it again")
        mapping = None
        if certificate.found and fields is not None:
            mapping = problem.kind.read_mapping(fields, part.problem, source)
        yield part, Claim(status_of(certificate), mapping, certificate.value, certificate.bound)


def status_of(certificate: Certificate) -> Status:
    if certificate.proven:
        return "optimal" if certificate.found else "infeasible"
    return "bounded"


def _proof(problem: PosedProblem, part: AnyPart, claim: Claim[Any], effort: Effort) -> Proof:
    try:
        if problem.shares_limit:
            raise NotCertifiedError(SHARED)
        if claim.status == "bounded" and (claim.mapping is None or claim.bound is None):
            raise NotCertifiedError("nothing is claimed: there is no mapping or no bound")
        with limited(effort.stopped):
            return problem.kind.prove(part.problem, claim, effort)
    except UnfinishedError:
        reason = "time ended before there was a proof; raise --time-limit"
    except NotCertifiedError as error:
        reason = str(error)
    restated = problem.kind.restated(part.problem) or {}
    return Proof(
        restated, claim.status, _exact(claim.value), _exact(claim.bound), {"rule": "none", "reason": reason}
    )


def _exact(value: int | float | None) -> Fraction | None:
    """The number that a figure of a certificate stands for."""
    return None if value is None or not math.isfinite(value) else Fraction(value)


def write_proofs(proofs: Sequence[Document], path: Path, option: str) -> None:
    """Write the document that holds ``proofs``.

    Raises: InputError if the file cannot be written.
    """
    text = json.dumps(
        {"schema": PROOFS_SCHEMA, "proofs": list(proofs)}, ensure_ascii=False, separators=(",", ":")
    )
    write_whole(path, text + "\n", option)
