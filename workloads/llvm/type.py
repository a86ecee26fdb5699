"""Types of LLVM IR: their sizes, and what computes them."""

from __future__ import annotations

import re

from mapper.workloads.loop.kind import CHAR, DOUBLE, FLOAT, INT, LONG, SHORT_INT, ValueType

SCALARS: dict[str, ValueType] = {
    "i1": INT, "i8": CHAR, "i16": SHORT_INT, "i32": INT, "i64": LONG, "float": FLOAT, "double": DOUBLE,
}  # fmt: skip
BYTES = {"i1": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "float": 4, "double": 8, "ptr": 8}
_ARRAY = re.compile(r"\[(\d+) x (.*)\]\Z", re.DOTALL)


def size_of(text: str) -> int | None:
    """Bytes of a type as IR writes it; None for structures and vectors."""
    array = _ARRAY.match(text)
    if array is None:
        return BYTES.get(text)
    inner = size_of(array[2])
    return None if inner is None else int(array[1]) * inner


def element(text: str) -> str | None:
    """The type of the elements of an array."""
    array = _ARRAY.match(text)
    return None if array is None else array[2]


def pointed_type(instruction: str) -> str:
    """The type that a ``getelementptr`` steps in."""
    rest = re.split(r"\bgetelementptr\b", instruction, maxsplit=1)[1]
    rest = re.sub(r"^(\s*(inbounds|nuw|nusw|nsw|inrange\([^)]*\)))*\s*", "", rest)
    depth = 0
    for at, sign in enumerate(rest):
        depth += (sign in "[{<(") - (sign in "]}>)")
        if sign == "," and depth == 0:
            return rest[:at].strip()
    return rest
