"""Values in Timeloop's files: numbers that may be expressions, lists of factors, permutations, names with ranges."""

from __future__ import annotations

import ast
import math
import operator
import re
import warnings
from collections.abc import Callable
from typing import Any

from mapper.workloads.document import InputError

LONGEST = 2000
Number = int | float
_OPERATIONS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_FACTOR = re.compile(r"([A-Za-z_]\w*?)\s*(<=|=|)\s*(\d{1,18})(?:\s*,\s*(\d{1,18}))?$")
_RANGE = re.compile(r"(.*?)\[\s*(\d{1,12})\s*\.\.\s*(\d{1,12})\s*\]$")
_ITEM = re.compile(r"[A-Za-z_]\w*?\s*(?:<=|=|)\s*\d{1,18}(?:,\d{1,18})?(?![\w.])")
LARGEST = 10**18


def number(value: Any, source: str, field: str) -> Number:
    """A number, or the value of an expression of numbers such as ``64*1024``.

    Raises: InputError if it is neither.
    """
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST:
        return value
    if isinstance(value, str) and len(value) <= 120:
        try:
            with warnings.catch_warnings():
                # Texts such as 1if are read, and warned of, before they are refused.
                warnings.simplefilter("ignore", SyntaxWarning)
                found = _computed(ast.parse(value.strip(), mode="eval").body)
        except (SyntaxError, ValueError, ZeroDivisionError, OverflowError, RecursionError, MemoryError):
            found = math.nan
        if math.isfinite(found) and abs(found) <= LARGEST:
            return found
    raise InputError(source, field, f"{str(value)[:40]!r} is no number; write the number itself")


def _computed(node: ast.expr) -> Number:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_computed(operand)
        case ast.BinOp(left=left, op=own, right=right) if type(own) in _OPERATIONS:
            result = _OPERATIONS[type(own)](_computed(left), _computed(right))
            if abs(result) > LARGEST:
                raise OverflowError
            return result  # type: ignore[no-any-return]
    raise ValueError("not an expression of numbers")


def whole(value: Any, source: str, field: str) -> int:
    """A positive integer.

    Raises: InputError if it is none.
    """
    found = number(value, source, field)
    if found != int(found) or found < 1:
        raise InputError(source, field, f"{str(value)[:40]!r} is no positive integer")
    return int(found)


def name_and_count(text: Any, source: str, field: str) -> tuple[str, int]:
    """``PE[0..15]`` as a name and how many there are.

    Raises: InputError if there is no name.
    """
    if not isinstance(text, str) or not text or len(text) > 200:
        raise InputError(source, field, "must be a name")
    found = _RANGE.fullmatch(text.strip())
    if found is None:
        return text.strip(), 1
    count = int(found[3]) - int(found[2]) + 1
    if count < 1:
        raise InputError(source, field, f"{text[:60]!r} is an empty range")
    return found[1].strip(), count


def factors(value: Any, source: str, field: str) -> list[tuple[str, str, int, int | None]]:
    """``R=1 S=3`` (or ``R1 S3``, ``C<=4``, ``P=14,2``, a list of such) as loop, relation, trips and trips of the last
    pass.

    Raises: InputError if one is of another form.
    """
    if isinstance(value, dict):
        items = [f"{loop}={trips}" for loop, trips in value.items()]
    elif isinstance(value, list):
        items = [str(one) for one in value]
    elif isinstance(value, str) and len(value) <= LONGEST:
        items = _ITEM.findall(value)
        if _bare("".join(items)) != _bare(value):
            raise InputError(source, field, f"{value[:60]!r} is no list of factors such as R=3 S=1")
    else:
        raise InputError(source, field, "must list factors such as R=3 S=1")
    found: list[tuple[str, str, int, int | None]] = []
    for item in items:
        one = _FACTOR.match(item.strip())
        if one is None:
            raise InputError(source, field, f"{item[:40]!r} is no factor such as R=3")
        if any(one[1] == other[0] for other in found):
            raise InputError(source, field, f"{one[1][:40]} has two factors; give one")
        found.append((one[1], one[2] or "=", int(one[3]), int(one[4]) if one[4] else None))
    return found


def _bare(text: str) -> str:
    return re.sub(r"[\s,;]", "", text)


def permutation(value: Any, source: str, field: str) -> list[str]:
    """Loops from the innermost outwards: a list, names with separators, or letters in a row.

    Raises: InputError if it is none of these.
    """
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return [one.strip() for one in value]
    if not isinstance(value, str) or len(value) > LONGEST:
        raise InputError(source, field, "must list loops from the innermost outwards")
    text = value.split("#")[0].strip().strip("[]")
    parts = [part for part in re.split(r"[\s,]+", text) if part]
    letters = "".join(parts)
    if "," not in text and letters.replace("_", "").isalpha() and len(set(letters)) == len(letters):
        # Timeloop takes letters in a row for loops, blanks between them say nothing.
        if "_" in letters:
            raise InputError(
                source, field, "gives the outermost loops, after _; list the innermost ones alone"
            )
        return list(letters)
    return parts


def names(value: Any, source: str, field: str) -> list[str]:
    """A list of names, ``[]`` for none.

    Raises: InputError if it is none.
    """
    if value is None:
        return []
    if isinstance(value, str):
        return [value]
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return list(value)
    raise InputError(source, field, "must be a list of names")
