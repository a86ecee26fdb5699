"""Proofs in words: the space that they cover, why they hold, and what their evidence shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

MOST_NAMED = 12
LONGEST_FIGURE = 30


@dataclass(frozen=True)
class ProofWords:
    """``space``: all mappings that a proof covers, as the kind's documentation defines them. ``reasons``: why a proof
    holds, as a clause after "because", by the name of the method; ``*`` is for all methods. ``reached``: the reason if
    the value itself meets a bound by argument, whatever the method was."""

    space: str
    reasons: Mapping[str, str] = field(default_factory=dict)
    reached: str | None = None


def exact(value: Any) -> str:
    """A number of a proof (an integer or ``"p/q"``) for people, with what a fraction is about."""
    if isinstance(value, str | Fraction):
        number = Fraction(value)
        if number.denominator > 1:
            said = str(number) if len(str(number)) <= LONGEST_FIGURE else "a fraction"
            return f"{said} (about {_about(number)})"
        value = number.numerator
    if abs(value) >> 128:
        return f"{'-' if value < 0 else ''}2^{abs(value).bit_length() - 1} or more"
    return f"{value:,}"


def _about(number: Fraction) -> str:
    try:
        return f"{float(number):,.6g}"
    except OverflowError:
        return "larger than any float"


def counted(count: int, noun: str, several: str | None = None) -> str:
    """``3 operations``; ``several`` where that is not the noun and an s."""
    return f"{count:,} {noun if count == 1 else several or noun + 's'}"


def listed(names: Iterable[object], between: str = ", ") -> str:
    """Names in a row, the first ones of many."""
    every = [str(one) for one in names]
    if len(every) <= MOST_NAMED:
        return between.join(every)
    return between.join(every[:MOST_NAMED]) + f"{between}… ({len(every):,} in all)"


def claimed(claim: Mapping[str, Any], thing: str, measure: str, unit: str, most: bool = False) -> str:
    """The claim as a sentence: no ``thing`` has a ``measure`` less (with ``most``: more) than the bound."""
    status, value, bound = claim["status"], claim["value"], claim["bound"]
    if status == "infeasible":
        return f"Claim: there is no {thing}."
    beyond = "more" if most else "less"
    if status == "optimal":
        held = "and the document's has exactly that"
    elif value is None:
        held = "and the document contains none"
    else:
        held = f"and the document's has {exact(value)}"
    return f"Claim: no {thing} has {measure} of {beyond} than {exact(bound)} {unit}, {held}."
