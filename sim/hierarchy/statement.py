"""The statement of a nest on many turns at once: operands have an axis for each loop that moves them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mapper.workloads.nest.loop_nest import Operation

Array = NDArray[Any]
Part = tuple[Array, list[int]]
"""An operand, and the loop along each of its axes, by its number."""


def value_of(operation: Operation, parts: Sequence[Part], counts: Sequence[int], result: list[int]) -> Array:
    """The value of the statement along the loops ``result``, summed over all others; loops turn ``counts`` times."""
    others = [loop for loop in range(len(counts)) if loop not in result]
    if operation == "add":
        total = np.zeros([counts[loop] for loop in result], np.int64)
        for part in parts:
            missing = math.prod(counts[loop] for loop in others if loop not in part[1])
            total = total + _product([part], counts, result) * missing
        return total
    used = {loop for _, loops in parts for loop in loops}
    return _product(parts, counts, result) * math.prod(counts[loop] for loop in others if loop not in used)


def _product(parts: Sequence[Part], counts: Sequence[int], result: list[int]) -> Array:
    """Products of all parts, summed over loops that the result lacks."""
    terms: list[Any] = []
    for values, loops in parts:
        terms += [values, loops]
    kind = np.result_type(*(values for values, _ in parts)) if parts else np.int64
    present = {loop for _, loops in parts for loop in loops}
    for loop in result:
        if loop not in present:
            terms += [np.ones(counts[loop], kind), [loop]]
    if not terms:
        return np.ones((), np.int64)
    return np.asarray(np.einsum(*terms, result, optimize=True))
