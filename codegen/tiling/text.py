"""Pieces of C text: names, index expressions, loops."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from mapper.workloads.document import InputError
from mapper.workloads.nest.loop_nest import LoopNest, Operand

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def check_names(nest: LoopNest) -> None:
    """Raises: InputError if a loop, operand or tensor has a name that C cannot have."""
    names = [*nest.loops, *(operand.name for operand in nest.operands)]
    for name in [*names, *(operand.tensor or operand.name for operand in nest.operands)]:
        if not NAME.fullmatch(name):
            raise InputError(nest.name, name, "is not a name in C; use letters, digits and underscores")


def linear(terms: Iterable[tuple[int, str]], constant: int = 0) -> str:
    """``2 * s_Ox + r_Fx - 1``."""
    text = ""
    for factor, variable in terms:
        if factor:
            scaled = variable if abs(factor) == 1 else f"{abs(factor)} * {variable}"
            sign = "-" if factor < 0 else "+"
            text += f" {sign} {scaled}" if text else ("-" if factor < 0 else "") + scaled
    if constant or not text:
        text += f" {'-' if constant < 0 else '+'} {abs(constant)}" if text else str(constant)
    return text


def indexed(array: str, places: Iterable[str]) -> str:
    return array + "".join(f"[{place}]" for place in places)


def counted(variable: str, count: int) -> str:
    """The head of a loop that runs ``count`` times."""
    return f"for (long {variable} = 0; {variable} < {count}; {variable}++)"


class Writer:
    """Lines of C with their indentation."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._depth = 0

    def line(self, text: str = "") -> None:
        self._lines.append("    " * self._depth + text if text else "")

    def open(self, head: str) -> None:
        self.line(f"{head} {{" if head else "{")
        self._depth += 1

    def close(self, count: int = 1) -> None:
        for _ in range(count):
            self._depth -= 1
            self.line("}")

    def nested(self, heads: Sequence[str]) -> int:
        """Open loops within each other; returns how many there are to close."""
        for head in heads:
            self.open(head)
        return len(heads)

    def text(self) -> str:
        return "\n".join(self._lines) + "\n"


def subscripts(
    operand: Operand,
    digits: Mapping[str, Sequence[tuple[int, str]]],
    low: Sequence[int],
    words: Sequence[Sequence[tuple[int, str]]] = (),
) -> list[str]:
    """An operand's place in an array that begins at index ``low``, one expression per dimension.

    Loops are written as sums of ``digits`` (weight, variable); ``words`` are added per dimension.
    """
    places = []
    for position, (dimension, first) in enumerate(zip(operand.index, low, strict=True)):
        terms = [
            (factor * weight, variable)
            for loop, factor in dimension.coefficients
            for weight, variable in digits.get(loop, ())
        ]
        terms += words[position] if words else []
        places.append(linear(terms, dimension.constant - first))
    return places
