"""A solution whose proofs were written and checked."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mapper.api.solution import Solution, assemble
from mapper.proving.checker import check
from mapper.proving.proof_document import certify, write_proofs
from mapper.solver.method import Effort

if TYPE_CHECKING:
    from mapper.api.solving import Search

LEAST_SECONDS = 2.0
SHARE = 0.2
"""Of what the search took, for proofs where there is a time limit."""


def certified(solution: Solution, path: Path, search: Search) -> Solution:
    """``solution`` with its proofs in ``path``, and those of its certificates that a checker accepted marked so.

    Raises: InputError if the file cannot be written.
    """
    write_proofs(certify(solution, _effort(solution, search)), path, "--certificate")
    accepted = {part for part, status, _ in check(path) if status == "certified"}
    parts = []
    for part in solution.parts:
        holds = (part.same_as or part.name) in accepted and part.certificate.proven
        parts.append(replace(part, certificate=replace(part.certificate, certified=holds)))
    return assemble(solution.posed, parts)


def _effort(solution: Solution, search: Search) -> Effort:
    """A fifth of the seconds that the search took, and no less than two, where there is a limit; else to the end."""
    if search.time_limit is None:
        return Effort(workers=search.used_workers, seed=search.seed, interrupt=search.interrupt)
    seconds = max(LEAST_SECONDS, SHARE * solution.certificate.seconds)
    return Effort(time.monotonic() + seconds, search.used_workers, search.seed, search.interrupt)
