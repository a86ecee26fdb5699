"""LeakyReLU's slope as the requantisers have it."""

from __future__ import annotations

import numpy as np

from mapper.workloads.network.operator_network import NetworkOperator

SLOPE_BITS = 16


def slope_of(operator: NetworkOperator) -> int:
    """What results below zero are taken times, in 1/2^16: the last of LeakyReLU's slopes from which no 8-bit integer
    comes out otherwise than in 32-bit arithmetic, or the nearest if there is none.
    """
    alpha = np.float32(operator.number("alpha", 0.01))
    below = np.arange(-128, 0)
    wanted = np.floor((below / 16).astype(np.float32) * alpha * np.float32(16) + np.float32(0.5)).astype(
        np.int64
    )
    near = int(alpha * (1 << SLOPE_BITS))
    for slope in range(near + 2, near - 3, -1):
        if np.array_equal((below * slope + (1 << SLOPE_BITS >> 1)) >> SLOPE_BITS, wanted):
            return slope
    return near
