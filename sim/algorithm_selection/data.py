"""Seeded integers of 8 bits: what a network is given, its kernels, biases and factors.

Weights of the catalogue's networks are constants, which would hide a wrong layout."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from mapper.models.algorithm_selection.control.sequence import layer_shape
from mapper.sim.algorithm_selection.address import Integers
from mapper.workloads.network.network_layer import NetworkLayer

UNIT = 128
"""A factor of 1."""
SCALES = ("BatchNormalization", "Mul", "Add", "Sub", "Div")


@dataclass(frozen=True)
class Parameters:
    """Integers of a layer, drawn per name: the same in a part of a network as in the whole. ``bias`` and ``factor``
    (in 1/128) have one entry per map."""

    kernels: Integers
    bias: Integers
    factor: Integers


def given(tensor: str, shape: tuple[int, ...], seed: int) -> Integers:
    """An input of the network."""
    return _drawn(f"input {tensor}", shape, seed)


def parameters(layer: NetworkLayer, seed: int) -> Parameters:
    """Kernels (k1, k2, channels of a group, maps), and what is added and multiplied before requantisation: scales that
    are merged into a layer are one factor and one addend per map, 1 and the bias where nothing is merged."""
    if layer.work in ("convolution", "fully_connected"):
        shape = layer_shape(layer)
        depth, maps = shape.in_channels // shape.groups, shape.out_channels
        kernels = _drawn(f"kernels {layer.name}", (*shape.kernel, depth, maps), seed)
    else:
        maps = layer.output_shape[1] if len(layer.output_shape) > 1 else 1
        kernels = np.zeros((0, 0, 0, maps), np.int8)
    scaled = layer.work == "batch_normalization" or any(one.op in SCALES for one in layer.merged)
    factor = np.full(maps, UNIT, np.int64)
    if scaled:
        factor = UNIT + _drawn(f"factor {layer.name}", (maps,), seed).astype(np.int64) // 2
    with_bias = scaled or layer.bias is not None
    bias = _drawn(f"bias {layer.name}", (maps,), seed).astype(np.int64) * with_bias
    return Parameters(kernels, bias, factor)


def _drawn(name: str, shape: tuple[int, ...], seed: int) -> Integers:
    digest = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")
    return np.random.default_rng([seed, digest]).integers(-128, 128, shape, np.int8)
