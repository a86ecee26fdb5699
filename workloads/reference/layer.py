"""What a layer of a network computes, in single precision with a stated order of additions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from mapper.workloads.network.network_layer import LayerInput, LayerNetwork, NetworkLayer
from mapper.workloads.network.operator_network import NetworkOperator
from mapper.workloads.network.work import ACTIVATIONS
from mapper.workloads.reference.elementwise import (
    Tensors,
    activation,
    elementwise,
    has_activation,
    has_elementwise,
    scale,
    unknown,
)
from mapper.workloads.reference.movement import has_movement, moved
from mapper.workloads.reference.window import (
    Order,
    Values,
    average_pool,
    convolution,
    max_pool,
    transposed_convolution,
)


def network_results(
    network: LayerNetwork, given: Tensors, weights: Tensors, order: Callable[[NetworkLayer], Order]
) -> dict[str, Values]:
    """What every layer makes, by tensor, the network's inputs included: layers run in order, each with the
    additions of its convolution in the ``order`` of its own.

    Raises: InputError if a layer has no reference here.
    """
    memory = {tensor: np.asarray(given[tensor], np.float32) for tensor in network.operators.inputs}
    for layer in network.layers:
        inputs = tuple(stored(one, memory) for one in layer.inputs)
        results = layer_results(layer, inputs, weights, order(layer))
        memory |= {tensor: result for (tensor, _), result in zip(layer.outputs, results, strict=True)}
    return memory


def stored(given: LayerInput, memory: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """The tensor that lies in ``memory`` where ``given`` says."""
    flat = memory[given.memory].reshape(-1)
    return flat[given.offset : given.offset + int(np.prod(given.shape))].reshape(given.shape)


def layer_results(
    layer: NetworkLayer, inputs: tuple[Values, ...], weights: Tensors, order: Order = "gemm"
) -> tuple[Values, ...]:
    """The layer's outputs, of ``inputs`` (one array per ``layer.inputs``) and ``weights`` by name.

    Convolutions add in ``order`` (see ``window_reference``), and so do all others in the one order that their
    functions state; what is merged follows on each element, in its order.

    Raises: InputError if the layer, or what is merged into it, has no reference here.
    """
    if layer.work == "movement":
        return tuple(np.asarray(result, np.float32) for result in moved(layer, inputs[0], weights))
    result = _result(layer, inputs, weights, order)
    for operator in layer.merged:
        result = applied(operator, result, weights)
    return (np.asarray(result, np.float32),)


def has_reference(layer: NetworkLayer) -> bool:
    """Whether ``layer_results`` computes the layer, what is merged into it left aside."""
    operator = layer.operator
    if layer.work in ("convolution", "transposed_convolution", "fully_connected", "matrix_product"):
        return operator.op in ("Conv", "ConvTranspose", "Gemm", "MatMul")
    if layer.work == "activation":
        return has_activation(operator)
    if layer.work == "elementwise":
        return has_elementwise(operator)
    return has_movement(layer) if layer.work == "movement" else layer.work != "other"


def matrix_product(first: Values, second: Values, start: Values | float = 0.0) -> Values:
    """``first`` (..., rows, depth) times ``second`` (..., depth, columns), leading axes broadcast: each output
    starts with ``start`` (broadcast), and products are added one by one in the order of k."""
    lead = np.broadcast_shapes(first.shape[:-2], second.shape[:-2])
    total = np.zeros((*lead, first.shape[-2], second.shape[-1]), np.float32)
    total += start
    for k in range(first.shape[-1]):
        total += first[..., k, np.newaxis] * second[..., k, np.newaxis, :]
    return total


def _result(layer: NetworkLayer, inputs: tuple[Values, ...], weights: Tensors, order: Order) -> Values:
    operator, sizes = layer.operator, layer.output_shape[2:]
    if layer.work in ("convolution", "transposed_convolution") and operator.op in ("Conv", "ConvTranspose"):
        kernel, bias = _weight(layer.weight, weights), _weight(layer.bias, weights)
        convolve = convolution if operator.op == "Conv" else transposed_convolution
        if kernel is not None:
            return convolve(inputs[0], kernel, layer.window, bias, order)
    if operator.op == "Gemm":
        return _gemm(operator, _operands(layer, inputs, weights))
    if operator.op == "MatMul":
        return _matmul(layer, *_operands(layer, inputs, weights))
    if layer.work == "max_pool":
        return max_pool(inputs[0], layer.window, sizes)
    if layer.work == "average_pool":
        return average_pool(inputs[0], layer.window, sizes)
    if layer.work in ("activation", "batch_normalization"):
        return applied(operator, inputs[0], weights)
    if layer.work == "elementwise":
        return elementwise(operator, _operands(layer, inputs, weights))
    if layer.work == "concatenation":
        return np.concatenate(_operands(layer, inputs, weights), operator.integer("axis"))
    if layer.work == "softmax":
        return _softmax(operator, inputs[0])
    if layer.work == "lrn":
        return _lrn(operator, inputs[0])
    raise unknown(operator)


def applied(operator: NetworkOperator, data: Values, weights: Tensors) -> Values:
    """What an operator that is merged into a layer makes of the layer's result."""
    if operator.op in ACTIVATIONS:
        return activation(operator, data, weights)
    if operator.op == "BatchNormalization":
        return scale(operator, data, weights)
    constant = {name for name, _ in operator.weights}
    operands = [weights[name].astype(np.float32) if name in constant else data for name in operator.operands]
    return elementwise(operator, operands)


def _operands(layer: NetworkLayer, inputs: tuple[Values, ...], weights: Tensors) -> list[Values]:
    """Data and constants in the operator's positions."""
    constant = {name for name, _ in layer.operator.weights}
    data = iter(inputs)
    return [
        weights[name].astype(np.float32) if name in constant else next(data)
        for name in filter(None, layer.operator.operands)
    ]


def _weight(weight: tuple[str, tuple[int, ...]] | None, weights: Tensors) -> Values | None:
    return None if weight is None else weights[weight[0]].astype(np.float32)


def _gemm(operator: NetworkOperator, operands: list[Values]) -> Values:
    """A sum starts with ``beta * C``; where ``alpha`` is not 1 it starts with 0, and both follow."""
    first, second = operands[:2]
    first = first.T if operator.integer("transA") else first
    second = np.ascontiguousarray(second.T) if operator.integer("transB") else second
    alpha, beta = (operator.number(name, 1.0) for name in ("alpha", "beta"))
    addend: Values | float = 0.0
    if len(operands) > 2:
        addend = operands[2] if beta == 1.0 else operands[2] * np.float32(beta)
    if alpha == 1.0:
        return matrix_product(first, second, addend)
    return np.asarray(matrix_product(first, second) * np.float32(alpha) + addend, np.float32)


def _matmul(layer: NetworkLayer, first: Values, second: Values) -> Values:
    """Vectors count as one row or one column, as in numpy's ``matmul``."""
    rows = first if first.ndim > 1 else first[np.newaxis]
    columns = second if second.ndim > 1 else second[:, np.newaxis]
    return matrix_product(rows, columns).reshape(layer.output_shape)


def _softmax(operator: NetworkOperator, data: Values) -> Values:
    axes = operator.integers("axes")
    shifted = data - data.max(axes, keepdims=True)
    powers = np.exp(shifted)
    total = powers.sum(axes, keepdims=True)
    return np.asarray(shifted - np.log(total) if operator.op == "LogSoftmax" else powers / total, np.float32)


def _lrn(operator: NetworkOperator, data: Values) -> Values:
    """Local response normalisation over ``size`` neighbouring channels (ONNX, LRN)."""
    size, channels = operator.integer("size", 1), data.shape[1]
    begin, end = (size - 1) // 2, size // 2
    squares = data * data
    total = np.zeros_like(data)
    for offset in range(-begin, end + 1):
        low, high = max(0, -offset), min(channels, channels - offset)
        total[:, low:high] += squares[:, low + offset : high + offset]
    alpha, beta, bias = (np.float32(operator.number(name)) for name in ("alpha", "beta", "bias"))
    return np.asarray(data / (bias + alpha / np.float32(size) * total) ** beta, np.float32)
