"""Quantised networks: what their integers mean, and the network without the operators that only quantise.

QuantizeLinear and DequantizeLinear leave every number where it is; a processor of integers has nothing to do for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy.typing as npt

from mapper.workloads.network.operator_network import OperatorNetwork

QUANTISING = frozenset({"QuantizeLinear", "DequantizeLinear"})


@dataclass(frozen=True)
class QuantisedTensor:
    """``scale`` * (integer - ``zero``); the integers are the tensor ``integers`` of the file, ``offset`` (128) more
    than integers of 8 bits with sign where they have none."""

    scale: float
    zero: int
    offset: int
    integers: str


@dataclass(frozen=True, eq=False)
class QuantisedWeight:
    """A kernel or a matrix as the file has it, its zero points in its shape's last axes, scales one or one per map, and
    the bias in units of both scales."""

    integers: npt.NDArray[Any]
    zero: npt.NDArray[Any]
    scale: npt.NDArray[Any]
    bias: npt.NDArray[Any] | None


@dataclass(frozen=True, eq=False)
class Quantisation:
    """Tensors by the name that they have without quantising operators, weights by layer."""

    tensors: Mapping[str, QuantisedTensor]
    weights: Mapping[str, QuantisedWeight]


def is_quantised(network: OperatorNetwork) -> bool:
    return any(
        operator.op in QUANTISING or operator.op.startswith("QLinear") for operator in network.operators
    )


def without_quantising(network: OperatorNetwork) -> OperatorNetwork:
    """The network whose operators read what a quantising one reads instead of what it makes."""
    origin: dict[str, str] = {}
    kept = []
    for operator in network.operators:
        operands = tuple(origin.get(name, name) for name in operator.operands)
        if operator.op in QUANTISING and operator.inputs == operator.operands[:1]:
            origin[operator.output] = operands[0]
        else:
            kept.append(replace(operator, operands=operands))
    outputs = tuple(origin.get(name, name) for name in network.outputs)
    inputs = network.inputs
    tensors = {name: shape for name, shape in network.tensors.items() if name not in origin}
    return replace(network, operators=tuple(kept), tensors=tensors, inputs=inputs, outputs=outputs)
