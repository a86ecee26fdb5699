"""A solution whose proofs were written and checked."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mapper.api.solution import Solution, assemble
from mapper.models.limit import UnfinishedError
from mapper.models.plain import limited
from mapper.proving.checker import Checked, check
from mapper.proving.proof_document import certify, claims_of, write_proofs
from mapper.solver.method import Effort
from mapper.solver.proof import NotCertifiedError

if TYPE_CHECKING:
    from mapper.api.search import Search

LEAST_SECONDS = 2.0
SHARE = 0.2
"""Of what the search took, for proofs where there is a time limit."""
MOST_LINES = 8


@dataclass(frozen=True)
class Certified:
    """A ``solution`` whose certificates say what a checker accepted, what it said of each proof, and the seconds that
    writing and checking them took."""

    solution: Solution
    checked: tuple[Checked, ...]
    written_in: float
    checked_in: float

    def lines(self, path: Path) -> list[str]:
        """What there is to say of the proofs, for people."""
        count = sum(status == "certified" for _, status, _ in self.checked)
        others = [
            f"  {part}: {status}: {reason}" for part, status, reason in self.checked if status != "certified"
        ]
        more = [f"  and {len(others) - MOST_LINES} more"] if len(others) > MOST_LINES else []
        seconds = f"written in {self.written_in:.2f} s, checked in {self.checked_in:.2f} s"
        return [
            f"proofs: {count} of {len(self.checked)} certified, in {path} ({seconds})",
            *others[:MOST_LINES],
            *more,
        ]


def certified(solution: Solution, path: Path, search: Search) -> Certified:
    """``solution`` with its proofs in ``path``, and those of its certificates that a checker accepted marked so. Where
    a search left a gap, and evidence is found and accepted that there is none, the certificate says so.

    Raises: InputError if the file cannot be written.
    """
    closed = _closed(solution, search)
    found = _written(closed, path, search)
    if closed is solution or all(status == "certified" for _, status, _ in found.checked):
        return found
    return _written(solution, path, search)


def _closed(solution: Solution, search: Search) -> Solution:
    """``solution``, of which parts are optimal that have evidence for it; itself where none has."""
    kind, effort = solution.posed.kind, _effort(solution, search)
    proven = set[str]()
    for part, claim in claims_of(solution) if kind.closes_gaps else ():
        if claim.status == "bounded" and claim.mapping is not None and claim.bound is not None:
            try:
                with limited(effort.stopped):
                    kind.prove(part.problem, replace(claim, status="optimal", bound=claim.value), effort)
                proven.add(part.name)
            except (NotCertifiedError, UnfinishedError):
                continue
    if not proven:
        return solution
    parts = []
    for answer in solution.parts:
        own = answer.certificate
        if (answer.same_as or answer.name) in proven:
            own = replace(own, stop="complete", bound=own.value, proven=True, restrictions=())
        parts.append(replace(answer, certificate=own))
    return assemble(solution.posed, parts)


def _written(solution: Solution, path: Path, search: Search) -> Certified:
    began = time.perf_counter()
    write_proofs(certify(solution, _effort(solution, search)), path, "--certificate")
    written = time.perf_counter()
    checked = tuple(check(path))
    ended = time.perf_counter()
    if solution.posed.shares_limit:
        return Certified(solution, checked, written - began, ended - written)
    accepted = {part for part, status, _ in checked if status == "certified"}
    parts = []
    for part in solution.parts:
        holds = (part.same_as or part.name) in accepted and part.certificate.proven
        parts.append(replace(part, certificate=replace(part.certificate, certified=holds)))
    return Certified(assemble(solution.posed, parts), checked, written - began, ended - written)


def _effort(solution: Solution, search: Search) -> Effort:
    """A fifth of the seconds that the search took, and no less than two, where there is a limit; else to the end."""
    if search.time_limit is None:
        return Effort(workers=search.used_workers, seed=search.seed, interrupt=search.interrupt)
    seconds = max(LEAST_SECONDS, SHARE * solution.certificate.seconds)
    return Effort(time.monotonic() + seconds, search.used_workers, search.seed, search.interrupt)
