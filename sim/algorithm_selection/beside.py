"""What runs beside the array, on integers of 8 bits: requantisation, pools, normalisations, elements.

Average pools are exact sums and one division, halves upward (the convolution of Section 3.4 with its factor taken out).
LRN and softmax are computed in double precision; LRN's results are rounded to integers, halves upward.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from mapper.models.algorithm_selection.number.network_number import (
    LOWEST,
    UNSIGNED,
    Integers,
    NetworkNumbers,
    requantised,
)
from mapper.models.algorithm_selection.number.seeded import SCALES
from mapper.models.algorithm_selection.overlay.running import requantises
from mapper.workloads.network.network_layer import NetworkLayer
from mapper.workloads.network.operator_network import NetworkOperator, Window
from mapper.workloads.reference.elementwise import Values, activation, elementwise, unknown
from mapper.workloads.reference.layer import layer_results
from mapper.workloads.reference.movement import moved

UNIT_OF_REALS = 16
"""Softmax, and activations and elementwise operators without a unit, take integers as sixteenths; all but softmax round
halves upward."""
Doubles = npt.NDArray[np.float64]


def finished(layer: NetworkLayer, sums: Integers, numbers: NetworkNumbers) -> Integers:
    """8-bit integers of a layer's sums (images, maps, ...), and what is merged into it and has no unit.

    Raises: InputError if an activation is merged that has no reference.
    """
    own, zero = numbers.layers[layer.name], numbers.zero(layer.output)
    assert own.rounding is not None
    return _merged(layer, (requantised(sums, own.bias, own.factor, own.rounding) + zero).astype(np.int8))


def looked_up(table: Integers, data: Integers) -> Integers:
    """Integers [images, ...] by a table [256, ...] for each place of what follows, or of axes of 1 for all of one."""
    places = np.arange(table[0].size).reshape(table.shape[1:])
    return table.reshape(len(table), -1)[data.astype(np.int64) - LOWEST, places].astype(np.int8)


def saturated(values: Integers | Values) -> Integers:
    return np.clip(values, -128, 127).astype(np.int8)


def beside(
    layer: NetworkLayer, inputs: Sequence[Integers], numbers: NetworkNumbers
) -> tuple[npt.NDArray[Any], ...]:
    """The outputs of a layer that does not run on the array, of ``inputs`` (images, channels, ...): in integers what
    the overlay's other units do, on the host the rest.

    Raises: InputError if the layer has no form in integers here.
    """
    if layer.work == "movement" and numbers.weights is None:
        return tuple(np.asarray(one, np.int8) for one in moved(layer, inputs[0], {}))
    if layer.work == "concatenation" and _alike(layer, numbers):
        return (np.concatenate(inputs, layer.operator.integer("axis")),)
    zeros = numbers.zeros(layer)
    centred = [one.astype(np.int64) - zero for one, zero in zip(inputs, zeros[:-1], strict=True)]
    if layer.work == "max_pool":
        return (_limited(layer, max_pool(centred[0], layer.window, layer.output_shape[2:]), numbers),)
    own = numbers.layers[layer.name]
    if own.table is not None:
        return (looked_up(own.table, inputs[0]),)
    if own.rounding is None and layer.work == "average_pool" and numbers.exact:
        return (_real_average(layer, inputs[0], numbers),)
    if own.rounding is None:
        return _hosted(layer, inputs, numbers)
    if layer.work == "average_pool":
        return (_averaged(layer, centred[0], numbers),)
    if layer.work == "elementwise" and own.times:
        total = np.sum([one * times for one, times in zip(centred, own.times, strict=True)], axis=0)
        return (_rounded(layer, total, numbers),)
    if requantises(layer):
        return (_rounded(layer, centred[0], numbers),)
    if layer.work == "activation" and layer.op in ("Relu", "Clip", "LeakyRelu"):
        return (_limited(layer, centred[0], numbers),)
    return _seeded(layer, inputs, numbers)


def _seeded(
    layer: NetworkLayer, inputs: Sequence[Integers], numbers: NetworkNumbers
) -> tuple[npt.NDArray[Any], ...]:
    """What has no unit, where integers are drawn and mean themselves or sixteenths."""
    if layer.work == "softmax":
        return (softmax(inputs[0] / UNIT_OF_REALS, layer.operator.integers("axes")),)
    if layer.work == "lrn":
        number = layer.operator.number
        constants = (number("alpha"), number("beta"), number("bias"))
        normal = local_response(inputs[0].astype(np.float64), layer.operator.integer("size", 1), constants)
        return (saturated(np.floor(normal + 0.5).astype(np.int64)),)
    if layer.work == "batch_normalization":
        return (finished(layer, inputs[0], numbers),)
    if layer.work == "activation":
        return (_activated(layer.operator, inputs[0]),)
    if layer.work == "elementwise" and len(inputs) == len(layer.operator.operands):
        return (_sixteenths(elementwise(layer.operator, [_reals(one) for one in inputs])),)
    raise unknown(layer.operator)


def _hosted(
    layer: NetworkLayer, inputs: Sequence[Integers], numbers: NetworkNumbers
) -> tuple[npt.NDArray[Any], ...]:
    """On the host, in single precision."""
    reals = tuple(
        numbers.formats[given.memory].values(one) for one, given in zip(inputs, layer.inputs, strict=True)
    )
    made = layer_results(layer, reals, numbers.weights or {})
    return tuple(
        numbers.formats[name].integers(one) for (name, _), one in zip(layer.outputs, made, strict=True)
    )


def _alike(layer: NetworkLayer, numbers: NetworkNumbers) -> bool:
    """Whether the parts of a concatenation mean what the whole means."""
    whole = numbers.formats.get(layer.output)
    return all(numbers.formats.get(one.memory) == whole for one in layer.inputs)


def _rounded(layer: NetworkLayer, sums: Integers, numbers: NetworkNumbers) -> Integers:
    """Through the requantisers with one factor, or none where nothing is rounded as single precision."""
    own, zero = numbers.layers[layer.name], numbers.zeros(layer)[-1]
    assert own.rounding is not None
    if not own.rounding.single:
        return _limited(layer, sums, numbers, own.rounding.shift)
    made = requantised(sums, own.bias[:1], own.factor[:1], own.rounding)
    return np.asarray(made + zero).astype(np.int8)


def _limited(layer: NetworkLayer, values: Integers, numbers: NetworkNumbers, shift: int = 0) -> Integers:
    """Through the requantisers without bias and factor; ``values`` are without a zero point."""
    rounding, zero = numbers.layers[layer.name].rounding, numbers.zero(layer.output)
    if rounding is not None:
        plain = replace(rounding, shift=shift, single=False)
        values = requantised(values, np.zeros(1, np.int64), np.ones(1, np.int64), plain)
    return _merged(layer, (values + zero).astype(np.int8))


def _averaged(layer: NetworkLayer, centred: Integers, numbers: NetworkNumbers) -> Integers:
    own, zero = numbers.layers[layer.name], numbers.zero(layer.output)
    assert own.rounding is not None
    total, count = window_sums(centred, layer.window, layer.output_shape[2:])
    if own.rounding.single:
        return (requantised(total, own.bias[:1], own.factor[:1], own.rounding) + zero).astype(np.int8)
    return _limited(layer, (2 * total + count) // (2 * count), numbers)


def _real_average(layer: NetworkLayer, data: Integers, numbers: NetworkNumbers) -> Integers:
    """As onnxruntime's QLinearAveragePool: numbers of single precision added in order, and rounded with the zero
    point, that of integers without sign, which it makes of others."""
    source, target = numbers.formats[layer.inputs[0].memory], numbers.formats[layer.output]
    total, count = window_sums(source.values(data), layer.window, layer.output_shape[2:])
    mean = total / count.astype(np.float32) / np.float32(target.scale or 1)
    made = np.rint(mean + np.float32(target.zero + UNSIGNED)).astype(np.int64) - UNSIGNED
    return _merged(layer, saturated(made))


def max_pool(data: Integers, window: Window, output: tuple[int, ...]) -> Integers:
    """The pooling unit of Section 3.4: the horizontal unit's largest of each window's rows, then the vertical unit's
    of those."""
    pads = window.covering_pads(data.shape[2:], output)
    filled = np.pad(data.astype(np.int16), ((0, 0), (0, 0), *pads), constant_values=-(2**15))
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
    total, count = window_sums(data.astype(np.int64), window, output)
    return np.asarray((2 * total + count) // (2 * count)).astype(np.int8)


def window_sums(
    data: npt.NDArray[Any], window: Window, output: tuple[int, ...]
) -> tuple[npt.NDArray[Any], Integers]:
    """The sum of each window's pixels, and how many it counts."""
    pads = window.covering_pads(data.shape[2:], output)
    filled = np.pad(data, ((0, 0), (0, 0), *pads))
    inside = np.ones(data.shape[2:], np.int64)
    if window.count_pads:
        inside = np.pad(inside, window.pads, constant_values=1)
        pads = tuple((0, end - own) for (_, end), (_, own) in zip(pads, window.pads, strict=True))
    counted = np.pad(inside, pads)[np.newaxis, np.newaxis]
    total = np.zeros((*data.shape[:2], *output), data.dtype)
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
    return total, count


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


def _merged(layer: NetworkLayer, made: Integers) -> Integers:
    """What is merged into a layer and is no work of the requantisers."""
    done = ("Relu", "Clip", *(one.op for one in layer.merged[-1:] if one.op == "LeakyRelu"))
    for operator in layer.merged:
        if operator.op not in SCALES and operator.op not in done:
            made = _activated(operator, made)
    return made


def _activated(operator: NetworkOperator, values: Integers) -> Integers:
    if operator.op in ("Relu", "Clip"):
        return np.maximum(values, 0)
    return _sixteenths(activation(operator, _reals(values), {}))


def _reals(values: Integers) -> Values:
    return np.asarray(values / UNIT_OF_REALS, np.float32)


def _sixteenths(reals: Values) -> Integers:
    """Halves upward; what is no number is 0."""
    return saturated(np.floor(np.nan_to_num(reals) * UNIT_OF_REALS + 0.5))
