"""How often a counted loop runs."""

from __future__ import annotations


def trips(symbol: str, start: int, bound: int, step: int) -> int | None:
    """How often ``for (v = start; v symbol bound; v += step)`` runs, None if it never ends."""
    if symbol == "!=":
        distance = bound - start
        return distance // step if distance % step == 0 and distance // step >= 0 else None
    upwards = symbol in ("<", "<=")
    reach = (bound - start if upwards else start - bound) + (1 if symbol in ("<=", ">=") else 0)
    if reach <= 0:
        return 0
    if (step > 0) != upwards:
        return None
    return -(-reach // abs(step))
