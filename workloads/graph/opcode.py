"""What opcodes mean: 32-bit integers in two's complement, and IEEE single precision rounded to nearest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from mapper.workloads.graph.dataflow_graph import Number

NumberKind = Literal["int32", "float32"]

Integers = Callable[..., int]
Floats = Callable[..., float]


def wrapped(value: int) -> int:
    """``value`` as a 32-bit two's-complement integer."""
    return ((value + (1 << 31)) & 0xFFFFFFFF) - (1 << 31)


def rounded(value: Number) -> float:
    """``value`` as the nearest single-precision number."""
    with np.errstate(all="ignore"):
        return float(np.float32(value))


def _divide(a: int, b: int) -> int:
    """C's quotient, truncated towards zero; 0 where C leaves a zero divisor undefined."""
    if b == 0:
        return 0
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _remainder(a: int, b: int) -> int:
    return a - b * _divide(a, b) if b else 0


def _truncate(value: float) -> int:
    """C's conversion; NaN gives 0 and what does not fit the nearest end, where C leaves it undefined."""
    if value != value:
        return 0
    return int(max(-(2.0**31), min(2.0**31 - 1, value)))


INTEGER_OPERATIONS: dict[str, tuple[int, Integers]] = {
    "add": (2, lambda a, b: a + b),
    "sub": (2, lambda a, b: a - b),
    "mul": (2, lambda a, b: a * b),
    "div": (2, _divide),
    "rem": (2, _remainder),
    "and": (2, lambda a, b: a & b),
    "or": (2, lambda a, b: a | b),
    "xor": (2, lambda a, b: a ^ b),
    "shl": (2, lambda a, b: a << (b & 31)),
    "shr": (2, lambda a, b: (a & 0xFFFFFFFF) >> (b & 31)),
    "sar": (2, lambda a, b: a >> (b & 31)),
    "lt": (2, lambda a, b: int(a < b)),
    "le": (2, lambda a, b: int(a <= b)),
    "gt": (2, lambda a, b: int(a > b)),
    "ge": (2, lambda a, b: int(a >= b)),
    "eq": (2, lambda a, b: int(a == b)),
    "ne": (2, lambda a, b: int(a != b)),
    "min": (2, min),
    "max": (2, max),
    "abs": (1, abs),
    "neg": (1, lambda a: -a),
    "not": (1, lambda a: ~a),
}
"""Per opcode of integers its arity and its meaning before it is wrapped to 32 bits. Shifts use the five low
bits of their amount."""

FLOAT_OPERATIONS: dict[str, tuple[int, Floats]] = {
    "fadd": (2, lambda a, b: float(np.float32(a) + np.float32(b))),
    "fsub": (2, lambda a, b: float(np.float32(a) - np.float32(b))),
    "fmul": (2, lambda a, b: float(np.float32(a) * np.float32(b))),
    "fdiv": (2, lambda a, b: float(np.float32(a) / np.float32(b))),
    "fmax": (2, lambda a, b: float(np.fmax(np.float32(a), np.float32(b)))),
    "fmin": (2, lambda a, b: float(np.fmin(np.float32(a), np.float32(b)))),
}
"""Per opcode from floats to a float its arity and meaning (a NaN loses against a number, as in C's fmaxf)."""

FLOAT_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "fcmp_lt": lambda a, b: a < b,
    "fcmp_le": lambda a, b: a <= b,
    "fcmp_gt": lambda a, b: a > b,
    "fcmp_ge": lambda a, b: a >= b,
    "fcmp_eq": lambda a, b: a == b,
    "fcmp_ne": lambda a, b: a != b,
}

ARITY: dict[str, tuple[int, int]] = {
    **{opcode: (count, count) for opcode, (count, _) in INTEGER_OPERATIONS.items()},
    **{opcode: (count, count) for opcode, (count, _) in FLOAT_OPERATIONS.items()},
    **{opcode: (2, 2) for opcode in FLOAT_COMPARISONS},
    "mov": (1, 1),
    "select": (3, 3),
    "itof": (1, 1),
    "ftoi": (1, 1),
    "load": (1, 2),
    "store": (2, 3),
}
"""Per known opcode the least and the largest number of operands. ``load`` takes an index and, if any, a
predicate; ``store`` an index, a value and, if any, a predicate; ``select`` a condition, and what it gives if
the condition is not 0, and otherwise."""


def is_known(opcode: str) -> bool:
    """Whether ``opcode`` has a numeric meaning here (other people's graphs may use any)."""
    return opcode in ARITY


def evaluate(opcode: str, operands: tuple[Number, ...]) -> Number:
    """What ``opcode`` makes of ``operands``: an int of 32 bits, or a float that single precision can hold.

    ``load`` and ``store`` touch memory and are not evaluated here. ``mov`` and ``select`` hand on what they get.
    Raises: KeyError if the opcode has no numeric meaning.
    """
    if opcode in INTEGER_OPERATIONS:
        return wrapped(int(INTEGER_OPERATIONS[opcode][1](*map(int, operands))))
    if opcode in FLOAT_OPERATIONS:
        with np.errstate(all="ignore"):
            return FLOAT_OPERATIONS[opcode][1](*operands)
    if opcode in FLOAT_COMPARISONS:
        return int(FLOAT_COMPARISONS[opcode](rounded(operands[0]), rounded(operands[1])))
    if opcode == "mov":
        return operands[0]
    if opcode == "select":
        return operands[1] if operands[0] != 0 else operands[2]
    if opcode == "itof":
        return rounded(int(operands[0]))
    if opcode == "ftoi":
        return _truncate(float(operands[0]))
    raise KeyError(opcode)
