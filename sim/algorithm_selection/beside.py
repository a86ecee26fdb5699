"""What runs beside the array, on integers of 8 bits: requantisation, pools, normalisations, elements.

Average pools are exact sums and one division, halves upward (the convolution of Section 3.4 with its factor taken out).
LRN and softmax are computed in double precision; LRN's results are rounded to integers, halves upward.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mapper.sim.algorithm_selection.address import Integers
from mapper.sim.algorithm_selection.data import SCALES, UNIT, Parameters
from mapper.workloads.network.network_layer import NetworkLayer
from mapper.workloads.network.operator_network import NetworkOperator, Window
from mapper.workloads.reference.elementwise import activation, unknown
from mapper.workloads.reference.movement import moved

UNIT_OF_REALS = 16
"""Softmax and activations other than Relu and Clip take integers as sixteenths, and the latter round halves upward."""
Doubles = npt.NDArray[np.float64]


def requantised(layer: NetworkLayer, sums: Integers, own: Parameters, shift: int) -> Integers:
    """8-bit integers of a layer's sums (images, maps, ...): plus bias, times factor / 128, divided by 2^shift with
    halves upward, saturated; Relu and Clip follow, Clip as Relu.

    Raises: InputError if an activation is merged that has no reference.
    """
    along = (1, -1) + (1,) * (sums.ndim - 2)
    scaled = (sums.astype(np.int64) + own.bias.reshape(along)) * own.factor.reshape(along)
    bits = shift + round(math.log2(UNIT))
    return _merged(layer, saturated((scaled + (1 << bits >> 1)) >> bits))


def saturated(values: Integers) -> Integers:
    return np.clip(values, -128, 127).astype(np.int8)


def beside(layer: NetworkLayer, inputs: Sequence[Integers], own: Parameters) -> tuple[npt.NDArray[Any], ...]:
    """The outputs of a layer that does not run on the array, of ``inputs`` (images, channels, ...).

    Raises: InputError if the layer has no form in integers here.
    """
    if layer.work == "movement":
        return tuple(np.asarray(one, np.int8) for one in moved(layer, inputs[0], {}))
    if layer.work == "softmax":
        return (softmax(inputs[0] / UNIT_OF_REALS, layer.operator.integers("axes")),)
    if layer.work == "max_pool":
        return (max_pool(inputs[0], layer.window, layer.output_shape[2:]),)
    if layer.work == "average_pool":
        return (average_pool(inputs[0], layer.window, layer.output_shape[2:]),)
    if layer.work == "lrn":
        number = layer.operator.number
        constants = (number("alpha"), number("beta"), number("bias"))
        normal = local_response(inputs[0].astype(np.float64), layer.operator.integer("size", 1), constants)
        return (saturated(np.floor(normal + 0.5).astype(np.int64)),)
    if layer.work == "concatenation":
        return (np.concatenate(inputs, layer.operator.integer("axis")),)
    if layer.work == "batch_normalization":
        return (requantised(layer, inputs[0], own, 0),)
    if layer.work == "activation":
        return (_activated(layer.operator, inputs[0]),)
    if layer.work == "elementwise" and layer.op in ("Add", "Sum") and not layer.operator.weights:
        total = sum((one.astype(np.int64) for one in inputs[1:]), inputs[0].astype(np.int64))
        return (_merged(layer, saturated(np.asarray(total))),)
    raise unknown(layer.operator)


def max_pool(data: Integers, window: Window, output: tuple[int, ...]) -> Integers:
    """The pooling unit of Section 3.4: the horizontal unit's largest of each window's rows, then the vertical unit's
    of those."""
    pads = window.covering_pads(data.shape[2:], output)
    filled = np.pad(data, ((0, 0), (0, 0), *pads), constant_values=-128)
    for axis in (3, 2):
        step, dilation = window.strides[axis - 2], window.dilations[axis - 2]
        reach = (output[axis - 2] - 1) * step + 1
        taken = [
            np.take(filled, np.arange(at * dilation, at * dilation + reach, step), axis)
            for at in range(window.kernel[axis - 2])
        ]
        filled = np.maximum.reduce(taken)
    return filled


def average_pool(data: Integers, window: Window, output: tuple[int, ...]) -> Integers:
    """The mean of each window, halves upward."""
    pads = window.covering_pads(data.shape[2:], output)
    filled = np.pad(data.astype(np.int64), ((0, 0), (0, 0), *pads))
    inside = np.ones(data.shape[2:], np.int64)
    if window.count_pads:
        inside = np.pad(inside, window.pads, constant_values=1)
        pads = tuple((0, end - own) for (_, end), (_, own) in zip(pads, window.pads, strict=True))
    counted = np.pad(inside, pads)[np.newaxis, np.newaxis]
    total = np.zeros((*data.shape[:2], *output), np.int64)
    count = np.zeros((1, 1, *output), np.int64)
    for row in range(window.kernel[0]):
        for column in range(window.kernel[1]):
            rows, columns = (
                slice(at * dilation, at * dilation + (number - 1) * step + 1, step)
                for at, dilation, number, step in zip(
                    (row, column), window.dilations, output, window.strides, strict=True
                )
            )
            total += filled[:, :, rows, columns]
            count += counted[:, :, rows, columns]
    return np.asarray((2 * total + count) // (2 * count)).astype(np.int8)


def local_response(data: Doubles, size: int, constants: tuple[float, float, float]) -> Doubles:
    """ONNX's LRN over ``size`` neighbouring channels; ``constants`` are alpha, beta and bias."""
    alpha, beta, bias = constants
    begin, channels = (size - 1) // 2, data.shape[1]
    sums = np.zeros((data.shape[0], channels + size, *data.shape[2:]))
    squares = np.pad(data * data, ((0, 0), (begin, size - begin), (0, 0), (0, 0)))
    for offset in range(size):
        sums[:, :channels] += squares[:, offset : offset + channels]
    return data / (bias + alpha / size * sums[:, :channels]) ** beta


def softmax(data: Doubles, axes: tuple[int, ...]) -> Doubles:
    powers = np.exp(data - data.max(axes, keepdims=True))
    return np.asarray(powers / powers.sum(axes, keepdims=True))


def _merged(layer: NetworkLayer, values: Integers) -> Integers:
    for operator in layer.merged:
        if operator.op not in SCALES:
            values = _activated(operator, values)
    return values


def _activated(operator: NetworkOperator, values: Integers) -> Integers:
    if operator.op in ("Relu", "Clip"):
        return np.maximum(values, 0)
    made = activation(operator, (values / UNIT_OF_REALS).astype(np.float32), {})
    return saturated(np.floor(made * UNIT_OF_REALS + 0.5).astype(np.int64))
