"""What opcodes mean: integers of 32 and 64 bits in two's complement, IEEE single and double precision rounded to
nearest.

An opcode without a suffix computes in 32 bits, with ``.i64`` in integers of 64 bits and with ``.f64`` in double
precision. ``A_to_B`` converts between the types ``i32 u32 i64 u64 f32 f64`` as C does; ``itof`` and ``ftoi`` are
``i32_to_f32`` and ``f32_to_i32`` by their older names.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from mapper.workloads.graph.dataflow_graph import Number

Integers = Callable[..., int]
Floats = Callable[..., float]


def wrapped(value: int, bits: int = 32) -> int:
    """``value`` as a two's-complement integer of ``bits`` bits."""
    half = 1 << (bits - 1)
    return ((value + half) & ((1 << bits) - 1)) - half


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


def _truncate(value: float, low: int, high: int) -> int:
    """C's conversion; NaN gives 0 and what does not fit the nearest end, where C leaves it undefined."""
    if value != value:
        return 0
    return low if value <= low else high if value >= high else int(value)


def _integers(bits: int) -> dict[str, tuple[int, Integers]]:
    mask, amount = (1 << bits) - 1, bits - 1
    return {
        "add": (2, lambda a, b: a + b),
        "sub": (2, lambda a, b: a - b),
        "mul": (2, lambda a, b: a * b),
        "div": (2, _divide),
        "rem": (2, _remainder),
        "udiv": (2, lambda a, b: (a & mask) // (b & mask) if b & mask else 0),
        "urem": (2, lambda a, b: (a & mask) % (b & mask) if b & mask else 0),
        "and": (2, lambda a, b: a & b),
        "or": (2, lambda a, b: a | b),
        "xor": (2, lambda a, b: a ^ b),
        "shl": (2, lambda a, b: a << (b & amount)),
        "shr": (2, lambda a, b: (a & mask) >> (b & amount)),
        "sar": (2, lambda a, b: a >> (b & amount)),
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


INTEGER_OPERATIONS = _integers(32)
"""Per opcode of integers its arity and its meaning before it is wrapped to 32 bits. Shifts use the five low
bits of their amount. ``udiv`` and ``urem`` take their operands as unsigned."""

WIDE_OPERATIONS = {f"{opcode}.i64": found for opcode, found in _integers(64).items()}
"""The same in 64 bits; shifts use the six low bits of their amount."""

FloatType = type[np.float32] | type[np.float64]


def _floats(kind: FloatType) -> dict[str, tuple[int, Floats]]:
    return {
        "fadd": (2, lambda a, b: float(kind(a) + kind(b))),
        "fsub": (2, lambda a, b: float(kind(a) - kind(b))),
        "fmul": (2, lambda a, b: float(kind(a) * kind(b))),
        "fdiv": (2, lambda a, b: float(kind(a) / kind(b))),
        "fmax": (2, lambda a, b: float(np.fmax(kind(a), kind(b)))),
        "fmin": (2, lambda a, b: float(np.fmin(kind(a), kind(b)))),
        "fabs": (1, lambda a: math.fabs(kind(a))),
        "sqrt": (1, lambda a: float(np.sqrt(kind(a)))),
    }


FLOAT_OPERATIONS = _floats(np.float32)
"""Per opcode from floats to a float its arity and meaning (a NaN loses against a number, as in C's fmaxf)."""

DOUBLE_OPERATIONS = {f"{opcode}.f64": found for opcode, found in _floats(np.float64).items()}
"""The same in double precision."""

FLOAT_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "fcmp_lt": lambda a, b: a < b,
    "fcmp_le": lambda a, b: a <= b,
    "fcmp_gt": lambda a, b: a > b,
    "fcmp_ge": lambda a, b: a >= b,
    "fcmp_eq": lambda a, b: a == b,
    "fcmp_ne": lambda a, b: a != b,
}
DOUBLE_COMPARISONS = {f"{opcode}.f64": found for opcode, found in FLOAT_COMPARISONS.items()}

TYPES = {
    "i32": (32, True),
    "u32": (32, False),
    "i64": (64, True),
    "u64": (64, False),
    "f32": None,
    "f64": None,
}
"""Types that conversions name: bits and sign of integers."""
CONVERSIONS = {f"{a}_to_{b}": (a, b) for a in TYPES for b in TYPES if a != b} | {
    "itof": ("i32", "f32"),
    "ftoi": ("f32", "i32"),
}

ARITY: dict[str, tuple[int, int]] = {
    opcode: (count, count)
    for table in (INTEGER_OPERATIONS, WIDE_OPERATIONS, FLOAT_OPERATIONS, DOUBLE_OPERATIONS)
    for opcode, (count, _) in table.items()
} | {
    **{opcode: (2, 2) for opcode in (*FLOAT_COMPARISONS, *DOUBLE_COMPARISONS)},
    **{opcode: (1, 1) for opcode in CONVERSIONS},
    "mov": (1, 1),
    "select": (3, 3),
    "load": (1, 2),
    "store": (2, 3),
}
"""Per known opcode the least and the largest number of operands. ``load`` takes an index and, if any, a
predicate; ``store`` an index, a value and, if any, a predicate; ``select`` a condition, and what it gives if
the condition is not 0, and otherwise."""


def is_known(opcode: str) -> bool:
    """Whether ``opcode`` has a numeric meaning here (other people's graphs may use any)."""
    return opcode in ARITY


def converted(value: Number, source: str, target: str) -> Number:
    """``value`` of type ``source`` as C converts it to ``target``. Unsigned integers are held by the signed ones of
    the same bits."""
    kind, wanted = TYPES[source], TYPES[target]
    if kind is not None:
        bits, signed = kind
        value = wrapped(int(value), bits) if signed else int(value) & ((1 << bits) - 1)
    if wanted is None:
        with np.errstate(all="ignore"):
            # By way of a double an integer of 64 bits would be rounded twice.
            return (
                float(np.float32(value) if kind is None else _single(int(value)))
                if target == "f32"
                else float(value)
            )
    bits, signed = wanted
    if kind is None:
        low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
        value = _truncate(float(value), low, high)
    return wrapped(int(value), bits)


def _single(value: int) -> float:
    """The single-precision number nearest to an integer, to the even one of two."""
    excess = max(0, abs(value).bit_length() - 24)
    kept, rest = abs(value) >> excess, abs(value) & ((1 << excess) - 1)
    half = 1 << excess >> 1
    kept += rest > half or (rest == half != 0 and kept & 1)
    return math.copysign(float(kept << excess), value)


def evaluate(opcode: str, operands: tuple[Number, ...]) -> Number:
    """What ``opcode`` makes of ``operands``: an int of its bits, or a float that its precision can hold.

    ``load`` and ``store`` touch memory and are not evaluated here. ``mov`` and ``select`` hand on what they get.
    Raises: KeyError if the opcode has no numeric meaning.
    """
    if opcode in INTEGER_OPERATIONS:
        return wrapped(int(INTEGER_OPERATIONS[opcode][1](*map(int, operands))))
    if opcode in WIDE_OPERATIONS:
        return wrapped(int(WIDE_OPERATIONS[opcode][1](*map(int, operands))), 64)
    if opcode in FLOAT_OPERATIONS:
        with np.errstate(all="ignore"):
            return FLOAT_OPERATIONS[opcode][1](*operands)
    if opcode in DOUBLE_OPERATIONS:
        with np.errstate(all="ignore"):
            return DOUBLE_OPERATIONS[opcode][1](*operands)
    if opcode in FLOAT_COMPARISONS:
        return int(FLOAT_COMPARISONS[opcode](rounded(operands[0]), rounded(operands[1])))
    if opcode in DOUBLE_COMPARISONS:
        return int(DOUBLE_COMPARISONS[opcode](float(operands[0]), float(operands[1])))
    if opcode == "mov":
        return operands[0]
    if opcode == "select":
        return operands[1] if operands[0] != 0 else operands[2]
    return converted(operands[0], *CONVERSIONS[opcode])
