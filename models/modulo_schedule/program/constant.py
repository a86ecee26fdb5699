"""Constants of a network as the nests of its layers read them: weights, biases, where sums start."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from mapper.models.modulo_schedule.network.algorithm import Algorithm
from mapper.models.modulo_schedule.network.way.activation import SCALES
from mapper.models.modulo_schedule.network.winograd import WINOGRAD
from mapper.models.modulo_schedule.program.tile_weight import winograd_constants
from mapper.workloads.document import InputError
from mapper.workloads.network.network_layer import NetworkLayer
from mapper.workloads.network.operator_network import NetworkOperator

Values = npt.NDArray[np.float32]
Weights = Mapping[str, npt.NDArray[Any]]


def constants_of(layer: NetworkLayer, algorithm: Algorithm, weights: Weights) -> dict[str, Values]:
    """Per array of the algorithm's nests that is constant its words.

    Raises: InputError if the layer has a constant that no nest takes up.
    """
    if not algorithm.nests:
        return {}
    if layer.work == "convolution":
        kernel, bias = folded(layer, weights)
        if algorithm.name in WINOGRAD:
            return winograd_constants(layer, algorithm.name, kernel, bias)
        if algorithm.sliding is not None:
            kernel = kernel.swapaxes(-1, -2)
        return {"a": _flat(kernel), "bias": bias}
    if layer.op in ("Gemm", "MatMul"):
        return _product_constants(layer, weights)
    if layer.work in ("max_pool", "average_pool"):
        return {"start": np.array([-np.inf if layer.work == "max_pool" else 0.0], np.float32)}
    if layer.work == "batch_normalization":
        factor, shift = _normalisation(layer.operator, weights)
        return {"factor": factor, "shift": shift}
    return {}


def folded(layer: NetworkLayer, weights: Weights) -> tuple[Values, Values]:
    """Kernel or matrix (as the file has it) and bias per output channel of a layer, with the scales that are
    merged into it multiplied in, each product rounded.

    Raises: InputError for a scale that is no number per channel.
    """
    assert layer.weight is not None
    kernel = np.asarray(weights[layer.weight[0]], np.float32)
    outputs = layer.output_shape[1] if layer.work == "convolution" else layer.output_shape[-1]
    bias = np.zeros(outputs, np.float32)
    if layer.bias is not None:
        own = np.asarray(weights[layer.bias[0]], np.float32).reshape(-1)
        if own.size not in (1, outputs):
            raise InputError(
                layer.name, layer.bias[0][:40], "is not a number per output; add it in a layer of its own"
            )
        bias = bias + own
    axis = 0 if layer.work == "convolution" or layer.operator.integer("transB") else kernel.ndim - 1
    for operator in layer.merged:
        if operator.op in SCALES:
            factor, shift = _scale(operator, weights, outputs)
            along = [1] * kernel.ndim
            along[axis] = outputs
            kernel = kernel * factor.reshape(along)
            bias = bias * factor + shift
    return kernel, np.asarray(bias, np.float32)


def _product_constants(layer: NetworkLayer, weights: Weights) -> dict[str, Values]:
    operator = layer.operator
    plain = all(operator.number(name, 1.0) == 1.0 for name in ("alpha", "beta"))
    if operator.op == "Gemm" and not plain:
        raise InputError(
            layer.name, "alpha, beta", "are not 1, which no kernel multiplies by; fold them into weights"
        )
    if layer.work == "fully_connected":
        kernel, bias = folded(layer, weights)
        matrix = kernel if operator.integer("transB") else kernel.T
        return {"a": _flat(matrix), "bias": bias}
    found = {}
    shapes = dict(operator.weights)
    for array, name in zip(("a", "b"), operator.operands, strict=False):
        if name in shapes:
            found[array] = _flat(np.asarray(weights[name], np.float32))
    if len(operator.operands) > 2:
        raise InputError(
            layer.name,
            operator.operands[2][:40],
            "is added to a product of data; add it in a layer of its own",
        )
    return found | {
        "bias": np.zeros(layer.output_shape[-2] if len(layer.output_shape) > 1 else 1, np.float32)
    }


def _normalisation(operator: NetworkOperator, weights: Weights) -> tuple[Values, Values]:
    scale, shift, mean, variance = (np.asarray(weights[name], np.float32) for name in operator.operands[1:5])
    factor = scale / np.sqrt(variance + np.float32(operator.number("epsilon")))
    return np.asarray(factor, np.float32), np.asarray(shift - mean * factor, np.float32)


def _scale(operator: NetworkOperator, weights: Weights, outputs: int) -> tuple[Values, Values]:
    if operator.op == "BatchNormalization":
        return _normalisation(operator, weights)
    one, nought = np.ones(outputs, np.float32), np.zeros(outputs, np.float32)
    (name, _), *more = operator.weights
    value = np.asarray(weights[name], np.float32).reshape(-1)
    if (
        more
        or value.size not in (1, outputs)
        or (operator.op in ("Sub", "Div") and operator.operands[0] == name)
    ):
        raise InputError(operator.name, name[:40], "is not a number per channel; leave it out")
    match operator.op:
        case "Mul":
            return one * value, nought
        case "Div":
            return one / value, nought
        case "Sub":
            return one, nought - value
    return one, nought + value


def _flat(values: npt.NDArray[Any]) -> Values:
    return np.ascontiguousarray(values, np.float32).reshape(-1)
