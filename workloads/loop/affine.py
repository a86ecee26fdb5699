"""Index expressions as polynomials with integer coefficients in the iteration and the loop's live-ins."""

from __future__ import annotations

Form = dict[tuple[str, ...], int]
"""Per product of symbols (sorted names) its coefficient; the empty product is the constant."""

ITERATION = "#iteration"
"""The symbol of the iteration number, counted from 0."""
MOST_TERMS = 64
MOST_FACTORS = 8
"""Live-ins that one term multiplies."""
LARGEST_FACTOR = 1 << 31


def constant(value: int) -> Form:
    """The form of a number."""
    return {(): value} if value else {}


def symbol(name: str) -> Form:
    """The form of a live-in, or of the iteration."""
    return {(name,): 1}


def plus(left: Form, right: Form, sign: int = 1) -> Form:
    """``left`` + ``sign`` * ``right``."""
    total = dict(left)
    for term, factor in right.items():
        total[term] = total.get(term, 0) + sign * factor
    return {term: factor for term, factor in total.items() if factor}


def times(left: Form, right: Form) -> Form | None:
    """The product, or None if it has more than ``MOST_TERMS`` terms."""
    if len(left) * len(right) > MOST_TERMS:
        return None
    total: Form = {}
    for one, factor in left.items():
        for other, second in right.items():
            term = tuple(sorted(one + other))
            total[term] = total.get(term, 0) + factor * second
    return {term: factor for term, factor in total.items() if factor}


def bounded(form: Form | None) -> Form | None:
    """``form``, or None if 32 bits do not hold its numbers, or it has more terms than are worth to follow.

    Forms are exact where the machine wraps; beyond its word they would say nothing of it, and grow without end.
    """
    if form is None or len(form) > MOST_TERMS or any(len(term) > MOST_FACTORS for term in form):
        return None
    return form if all(abs(factor) <= LARGEST_FACTOR for factor in form.values()) else None


def as_number(form: Form | None) -> int | None:
    """The value of a form without symbols, else None."""
    if form is None or any(form.keys() - {()}):
        return None
    return form.get((), 0)


def split(form: Form) -> tuple[int, Form] | None:
    """``form`` as stride per iteration and the rest, or None where the stride is not a number."""
    stride, rest = 0, {}
    for term, factor in form.items():
        if term == (ITERATION,):
            stride = factor
        elif ITERATION in term:
            return None
        else:
            rest[term] = factor
    return stride, rest


def at(form: Form, iteration: int, values: dict[str, int]) -> int:
    """The value of ``form`` in ``iteration`` where the live-ins have ``values``."""
    total = 0
    for term, factor in form.items():
        for name in term:
            factor *= iteration if name == ITERATION else values[name]
        total += factor
    return total
