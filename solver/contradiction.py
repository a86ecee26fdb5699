"""Claims about one problem that cannot all be true: one of them is a false proof, whichever it is."""

from __future__ import annotations

import itertools
from typing import Any

from mapper.solver.outcome import Outcome


class ContradictionError(Exception):
    """Two outcomes of one problem contradict each other; ``reason`` says how, in a line. ``documents``: both as
    solution documents, once somebody has made them."""

    def __init__(
        self,
        first: Outcome[Any],
        second: Outcome[Any],
        reason: str,
        documents: tuple[dict[str, Any], ...] = (),
    ) -> None:
        super().__init__(first, second, reason, documents)
        self.first, self.second, self.reason, self.documents = first, second, reason, documents

    def __str__(self) -> str:
        return self.reason


def contradiction(
    first: Outcome[Any], second: Outcome[Any], most: bool = False, slack: float = 0.0
) -> str | None:
    """Why two outcomes of one problem cannot both hold, in a line; None if they can.

    An outcome claims that its mapping has its value, that no mapping is better than its bound, that none is better than
    its value if that is proven, and that there is none if that is proven. A heuristic or a restricted search claims
    nothing else. ``most``: more is better. ``slack``: see ``beats``.
    """
    for claim, found in itertools.product((first, second), repeat=2):
        if found.mapping is None or found.value is None:
            continue
        prover, finder = claim.method or "one search", found.method or "one search"
        if claim.proven and claim.mapping is None:
            return f"{prover} proves that there is no mapping, {finder} has one worth {found.value}"
        proven = claim.value if claim.proven and claim.value is not None else None
        for limit in (claim.bound, proven):
            if limit is not None and beats(found.value, limit, most, slack):
                least = f"{prover} proves that no mapping is worth {'more' if most else 'less'} than {limit}"
                return f"{least}, {finder} has one worth {found.value}"
    return None


def refuse_contradiction(
    first: Outcome[Any], second: Outcome[Any], most: bool = False, slack: float = 0.0
) -> None:
    """Let no two outcomes of one problem pass that cannot both hold.

    Raises: ContradictionError.
    """
    reason = contradiction(first, second, most, slack)
    if reason is not None:
        raise ContradictionError(first, second, reason)


def beats(value: int | float, limit: int | float, most: bool = False, slack: float = 0.0) -> bool:
    """Whether ``value`` is better than ``limit``. Integers compare exactly; where one is a float, values that differ by
    no more than ``slack`` are the same, since sums in another order are."""
    if not (value > limit if most else value < limit):
        return False
    if isinstance(value, int) and isinstance(limit, int):
        return True
    return abs(value - limit) > slack
