"""Functions of one number as the units' look-up tables hold them (docs/snowflake/machine.md): 256 straight pieces of
equal width around 0, and a slope beyond them on each side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from mapper.arch.snowflake import TABLE_SEGMENTS
from mapper.models.trace_partition.data.fixed_point import FRACTION_BITS, ONE, Words, words
from mapper.workloads.network.operator_network import NetworkOperator
from mapper.workloads.reference.elementwise import activation

Values = npt.NDArray[np.float64]
TABLED = frozenset(
    {
        "LeakyRelu", "PRelu", "Sigmoid", "Tanh", "Elu", "Celu", "Mish", "HardSigmoid", "HardSwish",
        "Softplus",
    }
)  # fmt: skip
"""ReLU and Clip need no table; what has a jump, or is steep near 0 and bent far from it, has no good one."""
LARGEST_SHIFT = 8
"""Pieces as wide as 1 reach from one end of Q8.8 to the other."""
_ALL = np.arange(-(1 << 15), 1 << 15, dtype=np.int64)


def has_table(operator: NetworkOperator) -> bool:
    """Whether the operator is a function of one number that a table holds to about a 256th."""
    return (
        operator.op in TABLED
        and operator.operands[:1] == operator.inputs
        and all(np.prod(shape, dtype=int) == 1 for _, shape in operator.weights)
    )


def function_table(
    operator: NetworkOperator, weights: Mapping[str, npt.NDArray[Any]], product: bool = False
) -> Words:
    """The table of an activation, or of a number times its activation (``product``). Of all widths of pieces the one
    whose largest error over all words is least is taken, and of these the least sum of squares."""
    given = {name: weights[name].reshape(()) for name, _ in operator.weights if name in weights}
    numbers: npt.NDArray[Any] = _ALL / ONE
    exact = activation(operator, numbers, given).astype(np.float64)
    exact = np.nan_to_num(exact * numbers if product else exact)
    exact = np.clip(exact * ONE, -(1 << 15), (1 << 15) - 1)
    tables = [_table(exact, shift) for shift in range(LARGEST_SHIFT + 1)]
    errors = [np.abs(mapped(_ALL, table) - exact) for table in tables]
    best = min(range(len(tables)), key=lambda at: (errors[at].max(), float(np.square(errors[at]).sum())))
    return tables[best]


def _table(exact: Values, shift: int) -> Words:
    """``exact``: what becomes of every word, from the least on."""
    half = TABLE_SEGMENTS // 2 << shift
    knots = np.arange(-half, half + 1, 1 << shift)
    values = np.rint(exact[np.minimum(knots, (1 << 15) - 1) + (1 << 15)])
    slopes = []
    for edge, end, value in ((-half, -(1 << 15), values[0]), (half, (1 << 15) - 1, values[-1])):
        slopes.append((exact[end + (1 << 15)] - value) / (end - edge) if end != edge else 0.0)
    return np.concatenate([np.array([shift], np.int16), words(np.array(slopes)), values.astype(np.int16)])


def mapped(given: npt.NDArray[Any], table: Words) -> npt.NDArray[np.int64]:
    """Words through a table: on the straight line between two values, beyond all of them on a line of the first or the
    last slope; saturated."""
    shift, low, high, *values = (int(word) for word in table)
    known = np.array(values, np.int64)
    word, half = given.astype(np.int64), TABLE_SEGMENTS // 2 << shift
    at = np.clip((word >> shift) + TABLE_SEGMENTS // 2, 0, TABLE_SEGMENTS - 1)
    part = word - ((at - TABLE_SEGMENTS // 2) << shift)
    between = known[at] + (((known[at + 1] - known[at]) * part + (1 << shift >> 1)) >> shift)
    rounding = 1 << FRACTION_BITS - 1
    below = known[0] + (((word + half) * low + rounding) >> FRACTION_BITS)
    above = known[-1] + (((word - half) * high + rounding) >> FRACTION_BITS)
    found = np.where(word < -half, below, np.where(word >= half, above, between))
    limited: npt.NDArray[np.int64] = np.clip(found, -(1 << 15), (1 << 15) - 1)
    return limited
