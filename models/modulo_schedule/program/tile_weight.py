"""Weights of Winograd's convolution, transformed before the network runs, and where its sums start."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mapper.models.modulo_schedule.network.winograd import BIAS_POINT, WINOGRAD, tiling
from mapper.workloads.network.network_layer import NetworkLayer

Values = npt.NDArray[np.float32]
Matrix = npt.NDArray[np.float64]
DISTANCES = {4: {0: 1.0, 1: 2.0, -1: 2.0}, 6: {0: 4.0, 1: -6.0, -1: -6.0, 2: 24.0, -2: 24.0}}
"""By words of a tile's side the finite points and what their values are divided by."""


def kernel_transform(words: int, kernel: int) -> Matrix:
    """(words, kernel): the values of a polynomial of the kernel's weights at the points 0, 1, -1 (of six words 2 and -2
    too) and at infinity, each over the product of its distances to the other points, in the sign that goes with the
    transforms of the data."""
    rows = [
        [float(point) ** power / scale for power in range(kernel)]
        for point, scale in DISTANCES[words].items()
    ]
    return np.array([*rows, [0.0] * (kernel - 1) + [1.0]])


def tile_weights(kernel: Values, words: int) -> Values:
    """(filters, channels, words, words) of (filters, channels, k, k): computed in double precision and rounded once."""
    matrix = kernel_transform(words, kernel.shape[-1])
    found = np.einsum("ur,fcrq,vq->fcuv", matrix, kernel.astype(np.float64), matrix, optimize=False)
    return np.asarray(found, np.float32)


def winograd_constants(layer: NetworkLayer, name: str, kernel: Values, bias: Values) -> dict[str, Values]:
    """The arrays ``a``, ``bias`` and ``zero`` of the nests, group by group: points stand column by column in the
    weights and row by row in what sums start with."""
    cut = tiling(layer, WINOGRAD[name])
    assert cut is not None
    groups, words = layer.convolution.groups, cut.words
    weights = tile_weights(kernel, words).reshape(groups, cut.filters, cut.channels, words, words)
    start = np.zeros((groups, words, words, cut.filters), np.float32)
    start[:, BIAS_POINT, BIAS_POINT] = bias.reshape(groups, cut.filters)
    return {
        "a": np.ascontiguousarray(weights.transpose(0, 4, 3, 1, 2)).reshape(-1),
        "bias": start.reshape(-1),
        "zero": np.zeros(1, np.float32),
    }
