"""By how much the cycles of the generated overlay may differ from the model's, over a network and in each layer."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

TOLERANCE = Fraction(5, 100)
"""Of the model's cycles."""
FLOOR = 48
"""Cycles that a layer may be off whatever it takes: four instructions of a mover are fetched, 12 cycles each, which the
model does not count one by one, as they are fetched while engines run. In a layer of less than 960 cycles that is more
than the tolerance."""


def agrees(cycles: int, model: int) -> bool:
    """Whether all steps together are within the tolerance."""
    return abs(cycles - model) <= TOLERANCE * model


def beyond(cycles: Mapping[str, int], model: Mapping[str, int]) -> dict[str, float]:
    """Steps outside the tolerance, and by how much of what the model says of them; 1 where it says nothing."""
    found = {}
    for name, taken in cycles.items():
        said = model.get(name, 0)
        if abs(taken - said) > max(TOLERANCE * said, Fraction(FLOOR)):
            found[name] = (taken - said) / said if said > 0 else 1.0
    return found


def beyond_line(found: Mapping[str, float]) -> str:
    """In words."""
    if not found:
        return f"every layer is within 5 % or {FLOOR} cycles of what the model says of it"
    named = ", ".join(f"{name} ({100 * off:+.1f} %)" for name, off in found.items())
    return f"more than 5 % and {FLOOR} cycles off what the model says of them: {named}"
