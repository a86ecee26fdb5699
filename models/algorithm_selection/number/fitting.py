"""Factors with which the overlay's units make a table of integers, such as onnxruntime's: every entry of it, or as many
as can be.

Scales are real numbers, and what two processors make of them differs where a quotient is near a half. A layer of one
operand has 256 results and one of two 65,536, so that all can be tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mapper.models.algorithm_selection.number.mantissa import mantissas
from mapper.models.algorithm_selection.number.network_number import (
    HIGHEST,
    LOWEST,
    UNSIGNED,
    Integers,
    Rounding,
    requantised,
)

NEIGHBOURS = 6
"""Numbers of single precision on either side of a scale that are tried."""
LARGEST_FACTORS = 32_000
"""The most that the factors of two operands are together: their sums are then exact in single precision."""
EXACT_SUMS = 1 << 24
LAST_BITS = 1e-6
MOST = 100
CLOSE = 2e-3
"""What is so near to a half of the result may come out otherwise with other factors."""
OWN = np.arange(LOWEST, HIGHEST + 1)


@dataclass(frozen=True, eq=False)
class Fit:
    """``times``: factors of the operands. ``bias``, ``factor`` and ``rounding``: those of their sum. ``zero``: what is
    added to the result. ``wrong``: entries of the table that come out otherwise."""

    times: tuple[int, ...]
    bias: int
    factor: int
    rounding: Rounding
    zero: int
    wrong: int


@dataclass(frozen=True, eq=False)
class _Table:
    """``wanted`` results of ``operands`` [their number, entries] without their zero points, within ``limits``."""

    operands: Integers
    wanted: Integers
    limits: tuple[int, int]

    def part(self, chosen: npt.NDArray[np.bool_]) -> _Table:
        return _Table(self.operands[:, chosen], self.wanted[chosen], self.limits)

    def tried(self, times: tuple[int, ...], bias: int, scale: np.float32, zero: int) -> Fit:
        factor, shift = mantissas(np.array([scale], np.float32))
        rounding = Rounding(shift, self.limits[0] - zero, self.limits[1] - zero, single=True)
        sums = np.array(times) @ self.operands
        made = requantised(sums.reshape(1, 1, -1), np.array([bias]), factor, rounding).reshape(-1)
        return Fit(times, bias, int(factor[0]), rounding, zero, int((made + zero != self.wanted).sum()))


def fitted_rescaling(ratio: float, zeros: tuple[int, int], table: Integers) -> Fit:
    """The units' numbers for ``table`` [256], by an integer from -128 on: without its zero point times ``ratio``,
    halves to the even number, plus the result's zero point. Limits, and so ReLU, are those of the table."""
    whole = _Table((OWN - zeros[0])[np.newaxis], table, (int(table.min()), int(table.max())))
    return min((whole.tried((1,), 0, near, zeros[1]) for near in _near(ratio)), key=lambda one: one.wrong)


def fitted_addition(ratios: tuple[float, float], zeros: tuple[int, int, int], table: Integers) -> Fit:
    """The units' numbers for ``table`` [256, 256], by two integers from -128 on: without their zero points times their
    ``ratios``, plus the result's zero point, the last of ``zeros``. As onnxruntime does, the latter, of integers
    without sign, is in the sum when that is rounded, so that it decides what is even."""
    operands = np.indices(table.shape).reshape(2, -1) + LOWEST - np.array(zeros[:2])[:, np.newaxis]
    whole = _Table(operands, table.reshape(-1), (int(table.min()), int(table.max())))
    exact = np.array(ratios) @ operands
    close = whole.part(np.abs(exact - np.floor(exact) - 0.5) < CLOSE)
    best: tuple[Fit, np.float32] | None = None
    for times, bias, scale in _sums(ratios, zeros[2] + UNSIGNED):
        for near in _near(scale):
            found = close.tried(times, bias, near, -UNSIGNED)
            if best is None or found.wrong < best[0].wrong:
                best = found, near
            if not found.wrong:
                return whole.tried(times, bias, near, -UNSIGNED)
    assert best is not None
    return whole.tried(best[0].times, best[0].bias, best[1], -UNSIGNED)


def meets_halves(ratio: float, largest: int) -> bool:
    """Whether an integer up to ``largest`` times ``ratio`` lies so near between two integers that the last bits of
    single precision decide."""
    products = np.arange(largest + 1) * ratio
    apart = np.abs(products - np.floor(products) - 0.5)
    return bool((apart < LAST_BITS * np.maximum(1, products))[products < 2 * HIGHEST + 2].any())


def _sums(ratios: tuple[float, float], zero: int) -> Iterator[tuple[tuple[int, int], int, float]]:
    """Factors of the operands, the zero point in units of their sum, and what such a unit is: those first that are
    nearest to the ratios and to the zero point."""
    relation = ratios[0] / ratios[1]
    if not 1 < LARGEST_FACTORS * relation < LARGEST_FACTORS**2:  # one operand is nothing beside the other
        larger, times = max(ratios), (1, 0) if relation > 1 else (0, 1)
        yield times, round(zero / larger), larger
        return
    second = np.arange(1, LARGEST_FACTORS)
    first = np.maximum(np.rint(second * relation), 1)
    scale = (ratios[0] / first + ratios[1] / second) / 2
    bias = np.rint(zero / scale)
    apart = HIGHEST * np.abs(first / (second * relation) - 1) + np.abs(bias * scale - zero)
    allowed = (first + second <= LARGEST_FACTORS) & (np.abs(bias) + 255 * (first + second) < EXACT_SUMS)
    for place in np.argsort(np.where(allowed, apart, np.inf), kind="stable")[:MOST]:
        if allowed[place]:
            yield (int(first[place]), int(second[place])), int(bias[place]), float(scale[place])


def _near(scale: float) -> Iterator[np.float32]:
    """``scale`` in single precision, and what is next to it."""
    up = down = np.float32(scale)
    yield up
    for _ in range(NEIGHBOURS):
        up, down = np.nextafter(up, np.float32(np.inf)), np.nextafter(down, np.float32(0))
        yield up
        yield down
