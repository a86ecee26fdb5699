"""Seeded weights with which a network's numbers stay within Q8.8."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mapper.models.trace_partition.lowering.layer import TraceLayer, TraceNetwork
from mapper.workloads.network.network_layer import BIAS_OPERAND, LayerNetwork
from mapper.workloads.network.operator_network import NetworkOperator
from mapper.workloads.network.weight import seeded_weights

_ADDENDS = {"BatchNormalization": (2, 3), "Add": (0, 1), "Sub": (1,)}
"""Operands, by type, that grow with what an operator is given: shift and mean, or what is added."""


def sensible_weights(network: LayerNetwork, trace: TraceNetwork, seed: int) -> dict[str, npt.NDArray[Any]]:
    """``seeded_weights`` that keep the scale through long networks too.

    Those are drawn for convolutions followed by a ReLU and nothing else. What is added to another map is made a
    quarter as large (else sixteen additions saturate); what goes through MFM, or through a depthwise convolution
    without ReLU, half as large.
    """
    weights: dict[str, npt.NDArray[Any]] = dict(seeded_weights(network.operators, seed))
    operators = {operator.name: operator for operator in network.operators.operators}
    done: set[str] = set()
    for layer in trace.traced:
        factor = _factor(layer)
        chain = [
            operators[name] for name in (layer.name, *(name for name, _ in layer.merged)) if name in operators
        ]
        if factor == 1.0 or not chain:
            continue
        for name in _grown(chain[0], chain[1:]):
            if name in weights and name not in done:
                weights[name] = np.asarray(weights[name] * np.float32(factor), np.float32)
                done.add(name)
    return weights


def _factor(layer: TraceLayer) -> float:
    if layer.op not in ("Conv", "ConvTranspose", "Gemm", "MatMul"):
        return 1.0
    if layer.residual is not None:
        return 0.25
    return 0.5 if layer.mfm or (layer.work == "lane" and not layer.relu) else 1.0


def _grown(first: NetworkOperator, merged: list[NetworkOperator]) -> list[str]:
    """The constants that have to grow so that the result does: the kernel, and all that is added later."""
    places = [(first, place) for place in (1, BIAS_OPERAND.get(first.op, 1))]
    places += [(operator, place) for operator in merged for place in _ADDENDS.get(operator.op, ())]
    return [operator.operands[place] for operator, place in places if place < len(operator.operands)]
