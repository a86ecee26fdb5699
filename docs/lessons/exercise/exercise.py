"""An exercise: a function to write, the arguments it is tried on, and a judge of what it returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Judge = Callable[[Any, tuple[Any, ...]], str | None]
"""Takes what the function returned and its arguments; says in a line what is wrong with it, or None."""


@dataclass(frozen=True)
class Exercise:
    """``function`` is called once per entry of ``cases`` (its positional arguments; plain JSON values)."""

    function: str
    cases: tuple[tuple[Any, ...], ...]
    judge: Judge


def equal_to(reference: Callable[..., Any]) -> Judge:
    """The answer must be what ``reference`` returns for the same arguments."""

    def judge(answer: Any, arguments: tuple[Any, ...]) -> str | None:
        expected = reference(*arguments)
        if type(answer) is type(expected) and answer == expected:
            return None
        return f"returned {shortened(answer)}, expected {shortened(expected)}"

    return judge


def shortened(value: Any) -> str:
    """``value`` as a line of at most 80 characters."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
