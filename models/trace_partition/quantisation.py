"""Weights and biases of a network's layers in Q8.8."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mapper.models.trace_partition.trace_layer import TraceNetwork
from mapper.workloads.network_layer import LayerNetwork

Words = npt.NDArray[np.int16]
Doubles = npt.NDArray[np.float64]
FRACTION_BITS = 8
ONE = 1 << FRACTION_BITS


@dataclass(frozen=True, eq=False)
class LayerData:
    """A layer's constants as Q8.8 words.

    ``kernel``: of a convolution (filters, kernel rows, kernel columns, input channels of a group); of a lane layer
    (window class, kernel rows, kernel columns, channels), classes as ``window_classes`` counts them; empty for a
    maximum pool. ``bias``: one word per filter or channel (zeros where the layer has none); empty for a maximum pool.
    """

    kernel: Words
    bias: Words


def quantised(
    network: LayerNetwork, trace: TraceNetwork, weights: Mapping[str, npt.NDArray[Any]]
) -> dict[str, LayerData]:
    """The constants of every layer of ``trace`` on the accelerator, by name."""
    raise NotImplementedError


def words(values: npt.NDArray[Any]) -> Words:
    """Numbers in Q8.8: halves to even, saturated, what is no number as 0."""
    with np.errstate(invalid="ignore"):
        scaled = np.rint(np.asarray(values, np.float64) * ONE)
    limits = np.iinfo(np.int16)
    return np.clip(np.nan_to_num(scaled, nan=0.0), limits.min, limits.max).astype(np.int16)
