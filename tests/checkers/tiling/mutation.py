"""Changes of a document: numbers moved, entries dropped, swapped and cut."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

Path = tuple[Any, ...]


def mutated(document: dict[str, Any], draw: random.Random) -> dict[str, Any]:
    """A copy that differs in one place."""
    changed = copy.deepcopy(document)
    path = draw.choice([path for path in _paths(document) if path])
    place: Any = changed
    for step in path[:-1]:
        place = place[step]
    value, key = place[path[-1]], path[-1]
    number = _number(value)
    if number is not None:
        place[key] = _text(draw.choice([number + 1, number - 1, number * 2, -number]))
    elif isinstance(value, bool):
        place[key] = not value
    elif isinstance(value, list | dict) and len(value) > 1 and draw.random() < 0.5:
        one, other = draw.sample(list(value) if isinstance(value, dict) else range(len(value)), 2)
        value[one], value[other] = value[other], value[one]
    elif isinstance(value, str | list) and value and draw.random() < 0.5:
        place[key] = value[: len(value) // 2]
    else:
        del place[key]
    return changed


def _paths(value: Any, path: Path = ()) -> Iterator[Path]:
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from _paths(value[key], (*path, key))


def _number(value: Any) -> Fraction | None:
    if type(value) is int:
        return Fraction(value)
    try:
        return Fraction(value) if isinstance(value, str) and "/" in value else None
    except ValueError:
        return None


def _text(number: Fraction) -> int | str:
    return number.numerator if number.denominator == 1 else str(number)
