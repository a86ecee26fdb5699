"""What a compiled network must compute, bit by bit: every layer in single precision, its sums in the stated order.

A sum starts with the bias. Matrix products add channel by channel, kernel row by kernel row, column by column;
optCGRA adds each channel's window, column by column, and then that to the sum; Winograd's convolution adds
at the points of transformed tiles (`mapper.workloads.reference.winograd`). Scales that are merged into a layer are
multiplied into its weights before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from mapper.models.modulo_schedule.network.algorithm import ARRAY_IM2ROW, IM2ROW
from mapper.models.modulo_schedule.network.way.activation import SCALES
from mapper.models.modulo_schedule.network.winograd import WINOGRAD
from mapper.models.modulo_schedule.program.constant import Values, Weights, folded
from mapper.models.modulo_schedule.program.tile_weight import tile_weights
from mapper.workloads.network.network_layer import LayerNetwork, NetworkLayer
from mapper.workloads.reference.layer import applied, layer_results, matrix_product, stored
from mapper.workloads.reference.window import Order, convolution
from mapper.workloads.reference.winograd import winograd_convolution


def layer_reference(
    layer: NetworkLayer, inputs: tuple[Values, ...], weights: Weights, algorithm: str
) -> tuple[Values, ...]:
    """The layer's outputs, of its inputs, if it runs by the algorithm of this name.

    Raises: InputError if the layer has no reference.
    """
    order: Order = "optcgra" if algorithm in (IM2ROW, ARRAY_IM2ROW) else "gemm"
    scales = [one for one in layer.merged if one.op in SCALES]
    if algorithm in WINOGRAD:
        return (_of_tiles(layer, inputs[0], weights, algorithm),)
    if not scales or layer.work not in ("convolution", "fully_connected"):
        return layer_results(layer, inputs, weights, order)
    kernel, bias = folded(layer, weights)
    if layer.work == "convolution":
        result = convolution(inputs[0], kernel, layer.window, bias, order)
    else:
        matrix = kernel.T if layer.operator.integer("transB") else kernel
        result = matrix_product(inputs[0], np.ascontiguousarray(matrix), bias)
    for operator in layer.merged:
        if operator.op not in SCALES:
            result = applied(operator, result, weights)
    return (np.asarray(result, np.float32),)


def _of_tiles(layer: NetworkLayer, data: Values, weights: Weights, algorithm: str) -> Values:
    kernel, bias = folded(layer, weights)
    side, rows, columns = WINOGRAD[algorithm], *layer.output_shape[2:]
    tiles = tile_weights(kernel, side + kernel.shape[-1] - 1)
    result = winograd_convolution(data, tiles, layer.window, bias, (rows, columns))
    for operator in layer.merged:
        if operator.op not in SCALES:
            result = applied(operator, result, weights)
    return np.asarray(result, np.float32)


def network_reference(
    network: LayerNetwork, given: Mapping[str, Values], weights: Weights, algorithm: Callable[[str], str]
) -> dict[str, npt.NDArray[np.float32]]:
    """What every layer makes, by tensor, the network's inputs included; ``algorithm`` gives a layer's by its name.

    Raises: InputError if a layer has no reference.
    """
    memory = {tensor: np.asarray(given[tensor], np.float32) for tensor in network.operators.inputs}
    for layer in network.layers:
        inputs = tuple(stored(one, memory) for one in layer.inputs)
        results = layer_reference(layer, inputs, weights, algorithm(layer.name))
        memory |= {tensor: result for (tensor, _), result in zip(layer.outputs, results, strict=True)}
    return memory
