"""Scales that are folded into the layer before them, in double precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mapper.workloads.network.operator_network import NetworkOperator

Doubles = npt.NDArray[np.float64]


def factor_and_shift(
    operator: NetworkOperator, value: Callable[[str], npt.NDArray[Any]], channels: int
) -> tuple[Doubles, Doubles]:
    """What every channel is multiplied by, and what is then added, by a normalisation or by Mul, Div, Add or Sub of
    constants, which ``value`` gives by name."""
    if operator.op == "BatchNormalization":
        factor, shift, mean, variance = (value(name).astype(np.float64) for name in operator.operands[1:5])
        factor = factor / np.sqrt(variance + operator.number("epsilon"))
        shift = shift - mean * factor
    else:
        (name, _), *_ = operator.weights
        constant = value(name).reshape(-1).astype(np.float64)
        one, none = np.ones(1), np.zeros(1)
        if operator.op in ("Mul", "Div"):
            factor, shift = constant if operator.op == "Mul" else one / constant, none
        else:
            factor, shift = one, constant if operator.op == "Add" else -constant
    # A channel of more than two axes may be several of a machine's.
    return np.repeat(factor, channels // factor.size), np.repeat(shift, channels // shift.size)


def turned(kernel: npt.NDArray[Any], groups: int) -> npt.NDArray[Any]:
    """The kernel of a transposed convolution (channels, filters of a group, ...) as that of the convolution which
    slides over the map with zeros between its pixels: (filters, channels of a group, ...), turned round."""
    grouped = kernel.reshape(groups, -1, *kernel.shape[1:]).swapaxes(1, 2)
    around = np.flip(grouped, tuple(range(3, grouped.ndim)))
    return np.asarray(around.reshape(-1, *around.shape[2:]))
