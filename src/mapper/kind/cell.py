"""What stands in the cells of tables and pictures: numbers, gaps, and what is proven by whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mapper.solver.certificate import Certificate

PROOFS = {"certified": "certified", "solver": "proven by solver", "bounded": "bounded", "none": "not proven"}
"""What stands for a claim, by a certificate's ``evidence``."""


JUDGED = ("value", "gap", "proof", "seconds")
"""Columns of what a certificate says."""


class Figure(str):
    """A figure for people, and the ``value`` that it stands for, for programs."""

    value: Any

    def __new__(cls, text: str, value: Any) -> Figure:
        figure = super().__new__(cls, text)
        figure.value = value
        return figure


def number(value: Any) -> Figure:
    """A figure for people: whole numbers with separators, large or small ones in powers of ten."""
    return Figure(_rounded(value), value)


def percent(share: float | None, digits: int = 2) -> Figure:
    """A share, such as a gap, as a percentage."""
    return Figure("–" if share is None else f"{share:.{digits}%}", share)


def seconds(taken: float) -> Figure:
    """A duration to a hundredth."""
    return Figure(f"{taken:.2f}", round(taken, 6))


def judged_cells(certificate: Certificate) -> list[str]:
    """What a certificate says, in the columns ``JUDGED``."""
    value, gap = number(certificate.value), percent(certificate.gap)
    return [value, gap, proof(certificate), seconds(certificate.seconds)]


def _rounded(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, int) and abs(value) < 10**12:
        return f"{value:,}"
    if value and (abs(value) >= 1e9 or abs(value) < 1e-3):
        return f"{value:.6e}"
    return f"{value:,.4g}" if isinstance(value, float) else str(value)


def proof(certificate: Certificate) -> str:
    """What is proven and by whom: certified (a checker accepted the proof), proven by solver, or bounded."""
    if certificate.broken:
        return "rejected: " + ", ".join(dict.fromkeys(rule.rule for rule in certificate.broken))
    if not certificate.found:
        proven = f"infeasible, {PROOFS[certificate.evidence]}"
        return proven if certificate.proven else f"none ({certificate.stop.replace('_', ' ')})"
    return PROOFS[certificate.evidence]
