"""Arrays of intervals: what a bound's formula says of all tiles of a box at once.

A formula that is evaluated on intervals gives an interval that holds its value for every choice of a number from each
of them (interval arithmetic). Numbers that multiply an interval are at least 0, divisors are positive.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]


class Span:
    """Intervals from ``least`` to ``most``, arrays of one shape."""

    def __init__(self, least: Any, most: Any) -> None:
        self.least, self.most = least, most

    def __array_ufunc__(self, function: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        rule = _RULES.get(function)
        if method != "__call__" or options or rule is None:
            return NotImplemented
        return rule(*inputs)

    def __array_function__(self, function: Any, types: Any, inputs: Any, options: Any) -> Any:
        if function is not np.where or options:
            return NotImplemented
        condition, one, other = inputs
        low, high = (np.where(condition, end(one), end(other)) for end in (least, most))
        return Span(low, high)

    def __add__(self, other: Any) -> Span:
        return Span(self.least + least(other), self.most + most(other))

    def __sub__(self, other: Any) -> Span:
        return Span(self.least - most(other), self.most - least(other))

    def __rsub__(self, other: Any) -> Span:
        return Span(least(other) - self.most, most(other) - self.least)

    def __neg__(self) -> Span:
        return Span(-self.most, -self.least)

    def __mul__(self, other: Any) -> Span:
        if not isinstance(other, Span):
            return Span(self.least * other, self.most * other)
        ends = [one * another for one in (self.least, self.most) for another in (other.least, other.most)]
        return Span(_extreme(np.minimum, ends), _extreme(np.maximum, ends))

    def __floordiv__(self, other: int) -> Span:
        return Span(self.least // other, self.most // other)

    __radd__, __rmul__ = __add__, __mul__

    def along(self, dimension: int) -> Span:
        """The same along one of four dimensions."""
        shape = [1, 1, 1, 1]
        shape[dimension] = -1
        return Span(self.least.reshape(shape), self.most.reshape(shape))


def least(of: Any) -> Any:
    """The lower end of an interval; a number is its own."""
    return of.least if isinstance(of, Span) else of


def most(of: Any) -> Any:
    """The upper end of an interval; a number is its own."""
    return of.most if isinstance(of, Span) else of


def spanned(values: Integers, starts: Integers) -> Span:
    """The intervals of ``values`` [N] from each of ``starts`` [B] to before the next."""
    return Span(np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts))


def _extreme(which: Any, of: list[Any]) -> Any:
    return which(which(of[0], of[1]), which(of[2], of[3]))


def _pair(function: Any) -> Any:
    return lambda one, other: Span(function(least(one), least(other)), function(most(one), most(other)))


_RULES: dict[Any, Any] = {
    np.maximum: _pair(np.maximum),
    np.minimum: _pair(np.minimum),
    np.add: _pair(np.add),
    np.subtract: lambda one, other: Span(least(one) - most(other), most(one) - least(other)),
    np.multiply: lambda one, other: other * one,
}
"""What an array on the left of an interval does with it."""
