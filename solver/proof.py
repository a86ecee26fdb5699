"""Proofs: what a claim rests on, written down so that a program which shares nothing with this one can check it.

Each kind has `solver/KIND/proof.py`, whose ``prove`` says the problem again as plain numbers, and gives the evidence
for what was claimed of it. `checkers/check_KIND.py` reads both. The words are those of documents (``mapper.proof/1``).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, Literal, TypeVar

M = TypeVar("M", covariant=True)
Status = Literal["optimal", "infeasible", "bounded"]


class NotCertifiedError(Exception):
    """There is no evidence for a claim that a checker could read; the text is the reason."""


@dataclass(frozen=True)
class Claim(Generic[M]):
    """What a search claims of a problem: ``mapping`` is None if the problem is infeasible, ``value`` and ``bound`` are
    in the objective's unit."""

    status: Status
    mapping: M | None
    value: int | float | None
    bound: int | float | None


@dataclass(frozen=True)
class Proof:
    """``problem``: all that a checker needs; ``value``, ``bound``: exact, by the checker's rules, None where the claim
    has none; ``evidence`` has a ``rule``, which names how it is read."""

    problem: Mapping[str, Any]
    status: Status
    value: Fraction | int | None
    bound: Fraction | int | None
    evidence: Mapping[str, Any]

    def to_json(self, kind: str, part: str) -> dict[str, Any]:
        """The document of one part."""
        return {
            "schema": "mapper.proof/1",
            "kind": kind,
            "part": part,
            "problem": self.problem,
            "problem_sha256": digest(self.problem),
            "claim": {"status": self.status, "value": number(self.value), "bound": number(self.bound)},
            "evidence": self.evidence,
        }


def number(value: Fraction | int | None) -> int | str | None:
    """A number as documents hold it: an integer, or ``"p/q"`` in lowest terms."""
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else str(value)
    return value


def digest(problem: Mapping[str, Any]) -> str:
    """The SHA-256 of a problem's JSON with sorted keys and no spaces."""
    text = json.dumps(problem, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
