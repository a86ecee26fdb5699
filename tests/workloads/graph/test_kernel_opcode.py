"""Opcodes mean 32-bit arithmetic."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.workloads.graph.opcode import evaluate

INT = st.integers(-(1 << 31), (1 << 31) - 1)
FLOAT = st.floats(width=32)


@settings(derandomize=True, deadline=None)
@given(INT, INT)
def test_sums_and_products_wrap_as_numpy_does(a: int, b: int) -> None:
    with np.errstate(over="ignore"):
        assert evaluate("add", (a, b)) == int(np.int32(a) + np.int32(b))
        assert evaluate("sub", (a, b)) == int(np.int32(a) - np.int32(b))
        assert evaluate("mul", (a, b)) == int(np.int32(a) * np.int32(b))


@settings(derandomize=True, deadline=None)
@given(INT, INT.filter(bool))
def test_quotient_and_remainder_make_the_dividend_and_truncate(a: int, b: int) -> None:
    quotient, remainder = evaluate("div", (a, b)), evaluate("rem", (a, b))
    assert (int(quotient) * b + int(remainder) - a) % (1 << 32) == 0
    assert abs(remainder) < abs(b)
    assert remainder == 0 or (remainder < 0) == (a < 0)


@pytest.mark.parametrize("opcode", ["div", "rem"])
def test_a_zero_divisor_gives_zero(opcode: str) -> None:
    assert evaluate(opcode, (7, 0)) == 0


@settings(derandomize=True, deadline=None)
@given(FLOAT, FLOAT)
def test_float_arithmetic_rounds_to_single_precision(a: float, b: float) -> None:
    with np.errstate(all="ignore"):
        wanted = np.float32(a) * np.float32(b)
    assert np.float32(evaluate("fmul", (a, b))).tobytes() == wanted.tobytes() or math.isnan(wanted)


def test_a_logical_shift_fills_with_zeros_and_an_arithmetic_one_with_the_sign() -> None:
    assert evaluate("shr", (-1, 28)) == 15
    assert evaluate("sar", (-16, 2)) == -4
    assert evaluate("shl", (1, 31)) == -(1 << 31)


def test_a_float_becomes_an_integer_by_truncation_within_the_range() -> None:
    numbers = [-1.9, 1.9, 1e20, -1e20, math.nan]
    assert [evaluate("ftoi", (number,)) for number in numbers] == [-1, 1, (1 << 31) - 1, -(1 << 31), 0]


def test_an_integer_becomes_the_nearest_float() -> None:
    assert evaluate("itof", ((1 << 24) + 1,)) == float(1 << 24)


def test_an_opcode_of_other_people_has_no_meaning() -> None:
    with pytest.raises(KeyError):
        evaluate("phi", (1, 2))
