"""Seeded weights and inputs for networks whose own are unknown, or constants that would hide a wrong layout."""

from __future__ import annotations

import hashlib
import math

import numpy as np

from mapper.workloads.network.operator_network import CONVOLUTIONS, NetworkOperator, OperatorNetwork, Shape
from mapper.workloads.reference.window import Values

LARGEST_INTEGER = 127
_FACTORS = CONVOLUTIONS | {"ConvTranspose", "Gemm", "MatMul"}
_POSITIVE = {("BatchNormalization", 1), ("BatchNormalization", 4), ("Mul", 0), ("Mul", 1), ("Div", 1)}
"""Operands, by type and position, that must not be near 0."""


def seeded_weights(network: OperatorNetwork, seed: int) -> dict[str, Values]:
    """Every weight by name: integers of 8 bits times a power of two, the same for the same seed, name and
    shape, in a part of a network as in the whole.

    The power is such that a convolution or product keeps values in the order of its input's (a spread of
    ``sqrt(2 / products per output)``); variances and factors of scales lie in [0.5, 1), other constants in
    (-0.25, 0.25).
    """
    found: dict[str, Values] = {}
    for operator in network.operators:
        shapes = dict(operator.weights)
        for place, name in enumerate(operator.operands):
            if name in shapes and name not in found:
                found[name] = _weight(operator, place, name, shapes[name], network, seed)
    return found


def seeded_inputs(network: OperatorNetwork, seed: int) -> dict[str, Values]:
    """Every input by name: multiples of 1/128 in (-1, 1), the same for the same seed, name and shape."""
    return {name: _integers(name, network.tensors[name], seed) / np.float32(128) for name in network.inputs}


def _weight(
    operator: NetworkOperator, place: int, name: str, shape: Shape, network: OperatorNetwork, seed: int
) -> Values:
    values = _integers(name, shape, seed)
    if (operator.op, place) in _POSITIVE:
        return np.asarray((np.abs(values) + np.float32(128)) / np.float32(256), np.float32)
    if operator.op in _FACTORS and len(shape) > 1 and operator.macs:
        products = operator.macs / math.prod(network.tensors[operator.output])
        spread = LARGEST_INTEGER / math.sqrt(3)
        return values * np.float32(2.0 ** round(math.log2(math.sqrt(2 / products) / spread)))
    return values / np.float32(512)


def _integers(name: str, shape: Shape, seed: int) -> Values:
    digest = hashlib.sha256(name.encode()).digest()
    random = np.random.default_rng([seed, int.from_bytes(digest[:8], "big")])
    return random.integers(-LARGEST_INTEGER, LARGEST_INTEGER + 1, shape, np.int8).astype(np.float32)
