"""What is raised where two answers to one problem cannot both be true: a proof is wrong, and nobody knows which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mapper.solver.method import Outcome


class ContradictionError(Exception):
    """``first`` and ``second`` are outcomes of one problem that exclude each other; ``reason`` says how, in a line."""

    def __init__(self, first: Outcome[Any], second: Outcome[Any], reason: str) -> None:
        super().__init__(first, second, reason)
        self.first = first
        self.second = second
        self.reason = reason

    def __str__(self) -> str:
        return self.reason
