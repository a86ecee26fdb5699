"""Costs as whole numbers of 64 bits, for many array shapes at once, and the limit below which they stay."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mapper.workloads.document import InputError
from mapper.workloads.pbqp.instance import LARGEST_TOTAL

Costs = NDArray[np.int64]
Shapes = NDArray[np.int64]
Quantity = Literal["latency", "energy"]
LARGEST = LARGEST_TOTAL
"""Costs stay below, one by one and summed over a graph, as those of any PBQP do: sums of a few of them stay far below
2^63 on the way."""
LARGEST_RULED_OUT = 1 << 62
"""Sums over a graph stay below with what is ruled out in it."""


def row(found: Sequence[int], network: str) -> Costs:
    """One row of costs of a network by that name.

    Raises: InputError if one is too large.
    """
    if max(found, default=0) >= LARGEST:
        raise too_large(network)
    return np.array([found], np.int64)


def below(costs: Costs, network: str) -> Costs:
    """Sums of a few costs, each of which is below the limit, as long as they are below it themselves.

    Raises: InputError if one is not.
    """
    if int(costs.max(initial=0)) >= LARGEST:
        raise too_large(network)
    return costs


def too_large(network: str) -> InputError:
    remedy = (
        "costs of small arrays leave 64 bits; give a smaller batch, or bandwidth and clock in rounder figures"
    )
    return InputError(network, "", remedy)


def whole(units: Fraction | int) -> int:
    assert Fraction(units).denominator == 1, units
    return int(units)
