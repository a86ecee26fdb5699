"""Seeded integers of 8 bits: what a network is given, its kernels, biases and factors.

Weights of the catalogue's networks are constants, which would hide a wrong layout."""

from __future__ import annotations

import hashlib
import math

import numpy as np

from mapper.models.algorithm_selection.control.sequence import layer_shape, requantisation_shift
from mapper.models.algorithm_selection.number.network_number import (
    LOWEST,
    Integers,
    LayerNumbers,
    NetworkNumbers,
    Rounding,
)
from mapper.models.algorithm_selection.number.slope import SLOPE_BITS, slope_of
from mapper.workloads.network.network_layer import LayerNetwork, NetworkLayer
from mapper.workloads.network.work import ACTIVATIONS

UNIT = 128
"""A factor of 1."""
FACTOR_BITS = 7
SCALES = ("BatchNormalization", "Mul", "Add", "Sub", "Div")


def given(tensor: str, shape: tuple[int, ...], seed: int) -> Integers:
    """An input of the network."""
    return _drawn(f"input {tensor}", shape, seed)


def seeded_numbers(network: LayerNetwork, seed: int) -> NetworkNumbers:
    """Drawn integers for every layer; Clip is ReLU."""
    layers = {layer.name: parameters(layer, seed) for layer in network.layers}
    return NetworkNumbers(layers, origin=f"seed {seed}")


def parameters(layer: NetworkLayer, seed: int) -> LayerNumbers:
    """Integers of a layer, drawn per name: the same in a part of a network as in the whole. Scales that are merged into
    a layer are one factor and one addend per map, 1 and the bias where nothing is merged."""
    shift = 0
    if layer.work in ("convolution", "fully_connected"):
        shape = layer_shape(layer)
        depth, maps = shape.in_channels // shape.groups, shape.out_channels
        kernels = _drawn(f"kernels {layer.name}", (*shape.kernel, depth, maps), seed)
        shift = requantisation_shift(math.prod(shape.kernel) * depth) + FACTOR_BITS
    else:
        maps = layer.output_shape[1] if len(layer.output_shape) > 1 else 1
        kernels = np.zeros((0, 0, 0, maps), np.int8)
        shift = FACTOR_BITS if layer.work == "batch_normalization" else 0
    scaled = layer.work == "batch_normalization" or any(one.op in SCALES for one in layer.merged)
    factor = np.full(maps, UNIT, np.int64)
    if scaled:
        factor = UNIT + _drawn(f"factor {layer.name}", (maps,), seed).astype(np.int64) // 2
    with_bias = scaled or layer.bias is not None
    bias = _drawn(f"bias {layer.name}", (maps,), seed).astype(np.int64) * with_bias
    activated = [one for one in (layer.operator, *layer.merged) if one.op in ACTIVATIONS]
    rectified = any(one.op in ("Relu", "Clip") for one in activated)
    leaky = bool(activated) and activated[-1].op == "LeakyRelu"
    slope = slope_of(activated[-1]) if leaky else 1 << SLOPE_BITS
    rounding = Rounding(shift, 0 if rectified else LOWEST, slope=slope)
    added = layer.work == "elementwise" and layer.op in ("Add", "Sum") and not layer.operator.weights
    times = (1,) * len(layer.inputs) if added else ()
    return LayerNumbers(kernels, bias, factor, rounding, times=times)


def _drawn(name: str, shape: tuple[int, ...], seed: int) -> Integers:
    digest = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")
    return np.random.default_rng([seed, digest]).integers(-128, 128, shape, np.int8)
