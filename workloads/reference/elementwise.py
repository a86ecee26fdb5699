"""What operators compute that work on single elements, in single precision."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from mapper.workloads.document import InputError
from mapper.workloads.network.operator_network import NetworkOperator

Values = npt.NDArray[np.float32]
Tensors = Mapping[str, npt.NDArray[Any]]

_ONE = np.float32(1)


def activation(operator: NetworkOperator, data: Values, weights: Tensors) -> Values:
    """An activation of each number of ``data``. Relu, Clip and PRelu round nothing but PRelu's product; Relu and
    Clip are C's ``fmaxf`` and ``fminf`` (a NaN becomes the bound); exponentials are numpy's.

    Raises: InputError if the type has no reference here.
    """
    if operator.op == "PRelu":
        return np.where(data < 0, data * weights[operator.operands[1]], data)
    if operator.op == "Clip":
        return _clip(operator, data, weights)
    if operator.op not in _ACTIVATIONS:
        raise unknown(operator)
    alpha, beta = (np.float32(operator.number(name)) for name in ("alpha", "beta"))
    if operator.op == "Selu":
        beta = np.float32(operator.number("gamma"))
    with np.errstate(all="ignore"):
        return np.asarray(_ACTIVATIONS[operator.op](data, alpha, beta), np.float32)


def scale(operator: NetworkOperator, data: Values, weights: Tensors) -> Values:
    """BatchNormalization (of channels along axis 1) as one product and one addition an element: by
    ``scale / sqrt(variance + epsilon)``, of ``B - mean * that``, each operation rounded."""
    names = operator.operands[1:5]
    factor, shift, mean, variance = (weights[name].astype(np.float32) for name in names)
    factor = factor / np.sqrt(variance + np.float32(operator.number("epsilon")))
    shift = shift - mean * factor
    along = (-1, *(1 for _ in data.shape[2:]))
    return np.asarray(data * factor.reshape(along) + shift.reshape(along), np.float32)


def elementwise(operator: NetworkOperator, operands: Sequence[Values]) -> Values:
    """An operator on elements of its operands, broadcast as ONNX does, from the first operand to the last; Max
    and Min are C's ``fmaxf`` and ``fminf``, Mean is a sum and one division.

    Raises: InputError if the type has no reference here.
    """
    with np.errstate(all="ignore"):
        if operator.op in _BINARY:
            return np.asarray(reduce(_BINARY[operator.op], operands), np.float32)
        if operator.op == "Mean":
            return np.asarray(reduce(np.add, operands) / np.float32(len(operands)), np.float32)
        if operator.op in _UNARY:
            return np.asarray(_UNARY[operator.op](operands[0]), np.float32)
    raise unknown(operator)


def has_activation(operator: NetworkOperator) -> bool:
    """Whether ``activation`` computes this type."""
    return operator.op in ("PRelu", "Clip") or operator.op in _ACTIVATIONS


def has_elementwise(operator: NetworkOperator) -> bool:
    """Whether ``elementwise`` computes this type."""
    return operator.op == "Mean" or operator.op in _BINARY or operator.op in _UNARY


def unknown(operator: NetworkOperator) -> InputError:
    """What to raise for an operator without a reference."""
    remedy = "has no reference computation here; remove it, or end the network before it"
    return InputError(f"{operator.op} {operator.source[:60]!r}", "", remedy)


def _clip(operator: NetworkOperator, data: Values, weights: Tensors) -> Values:
    for place, (name, bound) in enumerate((("min", np.fmax), ("max", np.fmin)), 1):
        tensor = operator.operands[place] if place < len(operator.operands) else ""
        if tensor:
            data = bound(data, weights[tensor].astype(np.float32))
        elif operator.has(name):
            data = bound(data, np.float32(operator.number(name)))
    return data


def _sigmoid(x: Values) -> Values:
    return np.asarray(_ONE / (_ONE + np.exp(-x)), np.float32)


def _softplus(x: Values) -> Values:
    return np.asarray(np.log(np.exp(x) + _ONE), np.float32)


def _hard_sigmoid(x: Values, alpha: np.float32, beta: np.float32) -> Values:
    return np.asarray(np.fmax(np.float32(0), np.fmin(_ONE, alpha * x + beta)), np.float32)


_ACTIVATIONS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "Relu": lambda x, a, b: np.fmax(x, np.float32(0)),
    "LeakyRelu": lambda x, a, b: np.where(x < 0, x * a, x),
    "ThresholdedRelu": lambda x, a, b: np.where(x > a, x, np.float32(0)),
    "Sigmoid": lambda x, a, b: _sigmoid(x),
    "Tanh": lambda x, a, b: np.tanh(x),
    "Elu": lambda x, a, b: np.where(x < 0, a * (np.exp(x) - _ONE), x),
    "Celu": lambda x, a, b: np.fmax(x, 0) + np.fmin(a * (np.exp(x / a) - _ONE), np.float32(0)),
    "Selu": lambda x, a, b: b * np.where(x > 0, x, a * np.exp(x) - a),
    "Mish": lambda x, a, b: x * np.tanh(_softplus(x)),
    "HardSigmoid": _hard_sigmoid,
    "HardSwish": lambda x, a, b: x * _hard_sigmoid(x, np.float32(1 / 6), np.float32(0.5)),
    "Softplus": lambda x, a, b: _softplus(x),
    "Softsign": lambda x, a, b: x / (_ONE + np.abs(x)),
}
"""By type, of the data and the attributes ``alpha`` and ``beta`` (Selu: ``gamma``)."""

_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "Add": np.add,
    "Sum": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": np.divide,
    "Max": np.fmax,
    "Min": np.fmin,
    "Pow": np.power,
}
_UNARY: dict[str, Callable[[Any], Any]] = {
    "Abs": np.abs,
    "Neg": np.negative,
    "Exp": np.exp,
    "Log": np.log,
    "Sqrt": np.sqrt,
    "Reciprocal": np.reciprocal,
    "Floor": np.floor,
    "Ceil": np.ceil,
    "Round": np.rint,
    "Sign": np.sign,
    "Sin": np.sin,
    "Cos": np.cos,
}
