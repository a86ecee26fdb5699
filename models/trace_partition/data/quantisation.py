"""Weights and biases of a network's layers in Q8.8."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from mapper.models.scale import factor_and_shift, turned
from mapper.models.trace_partition.data.fixed_point import ONE, Words, words
from mapper.models.trace_partition.data.function_table import function_table, has_table
from mapper.models.trace_partition.lowering.draft import scales_channels
from mapper.models.trace_partition.lowering.layer import TraceLayer, TraceNetwork
from mapper.models.trace_partition.lowering.view import Geometry, flat_geometry, geometry
from mapper.models.trace_partition.tile.window import Span, window_classes
from mapper.workloads.document import InputError
from mapper.workloads.network.network_layer import BIAS_OPERAND, LayerNetwork
from mapper.workloads.network.operator_network import NetworkOperator
from mapper.workloads.network.work import is_scale

Doubles = npt.NDArray[np.float64]
Values = npt.NDArray[Any]
Weights = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True, eq=False)
class LayerData:
    """A layer's constants as Q8.8 words.

    ``kernel``: of a convolution (filters, kernel rows, kernel columns, input channels of a group); of a lane layer
    (window class, kernel rows, kernel columns, channels), classes as ``window_classes`` counts them; empty for a
    maximum pool and where a gate is in its place. ``bias``: one word per filter or channel (zeros where the layer has
    none); empty for a maximum pool. ``table``: of the unit's look-up table (``function_table``); empty if the layer has
    none.
    """

    kernel: Words
    bias: Words
    table: Words = field(default_factory=lambda: np.zeros(0, np.int16))


def quantised(network: LayerNetwork, trace: TraceNetwork, weights: Weights) -> dict[str, LayerData]:
    """The constants of every layer of ``trace`` on the accelerator, by name.

    ``weights`` holds the network's constants by tensor name. Scales are folded in double precision, then every number
    is rounded to Q8.8 once (``words``). The kernel of a transposed convolution is turned round; the columns of a fully
    connected layer follow the pixels of the map that it reads; filters of MFM keep ONNX's order. The weights of an
    average over n positions are 256 / n rounded down or up, so spread that they add up to 256 exactly.

    Raises: InputError if a weight is missing or of another shape than the network says.
    """
    constants = _Constants(network, weights)
    return {layer.name: constants.table(layer, constants.data(layer)) for layer in trace.traced}


def spread_weights(rows: Span, columns: Span, kernel: tuple[int, int]) -> Words:
    """Weights (kernel rows, kernel columns) of an average over a clipped window: row by row the i-th is the difference
    of 256 i / n rounded at both its ends; 0 outside."""
    count = (rows[1] - rows[0]) * (columns[1] - columns[0])
    found = np.zeros(kernel, np.int16)
    edges = (np.arange(count + 1) * ONE + count // 2) // max(count, 1)
    found[slice(*rows), slice(*columns)] = np.diff(edges).reshape(rows[1] - rows[0], columns[1] - columns[0])
    return found


class _Constants:
    def __init__(self, network: LayerNetwork, weights: Weights) -> None:
        self.network, self.weights = network, weights
        self.operators = {operator.name: operator for operator in network.operators.operators}
        self.shapes = {
            name: shape for operator in self.operators.values() for name, shape in operator.weights
        }

    def data(self, layer: TraceLayer) -> LayerData:
        if layer.work == "max":
            return LayerData(np.zeros(0, np.int16), np.zeros(0, np.int16))
        if layer.average is not None:
            kernels = [spread_weights(*spans, layer.kernel) for spans in window_classes(layer).spans]
            averages = np.repeat(np.stack(kernels)[..., np.newaxis], layer.filters, axis=3)
            return LayerData(averages, np.zeros(layer.filters, np.int16))
        if layer.gate is not None:
            return LayerData(np.zeros(0, np.int16), np.zeros(layer.filters, np.int16))
        operator = self.operators.get(layer.name)
        kernel, bias = self._unscaled(layer, operator)
        scales = [self.operators[name] for name, _ in layer.merged if name in self.operators]
        if layer.work == "lane" and layer.op != "Conv" and operator is not None:
            scales = [operator, *scales]
        for one in scales:
            if self._is_scale(one, layer):
                factor, shift = factor_and_shift(one, self._values, layer.filters)
                # Filters come first in a convolution's kernel, channels last in a lane layer's.
                along = factor if layer.work == "lane" else factor.reshape(-1, 1, 1, 1)
                kernel, bias = kernel * along, bias * factor + shift
        return LayerData(words(kernel), words(bias))

    def table(self, layer: TraceLayer, data: LayerData) -> LayerData:
        """``data`` with the look-up table of the layer's activation."""
        if layer.table is None:
            return data
        operators = [self.operators[name] for name in (layer.name, *(name for name, _ in layer.merged))]
        function = next(one for one in operators if has_table(one))
        return replace(data, table=function_table(function, self.weights, layer.table == "product"))

    def _unscaled(self, layer: TraceLayer, operator: NetworkOperator | None) -> tuple[Values, Doubles]:
        """Kernel and bias before what is merged, as ``LayerData`` has them."""
        filters = layer.filters
        if operator is None or layer.op not in ("Conv", "ConvTranspose", "Gemm", "MatMul"):
            return np.ones((1, 1, 1, filters)), np.zeros(filters)
        bias = np.zeros(1 if self._is_deep(operator) else filters)
        place = BIAS_OPERAND.get(layer.op, len(operator.operands))
        if place < len(operator.operands) and operator.operands[place]:
            bias = self._values(operator.operands[place]).reshape(-1) + bias
        values = self._values(operator.operands[1])
        if layer.op in ("Gemm", "MatMul"):
            return self._matrix(layer, operator, values, bias)
        if layer.op == "ConvTranspose":
            # (inputs, filters of a group, ...), turned round: the convolution of the spread map.
            values = turned(values, layer.groups)
        if values.ndim == 5 and layer.op == "Conv":
            return self._deep(layer, operator, values), np.repeat(bias, filters // bias.size)
        kernel = values.reshape(filters, -1, *layer.kernel).transpose(0, 2, 3, 1)
        return (kernel.transpose(3, 1, 2, 0) if layer.work == "lane" else kernel), bias

    def _is_deep(self, operator: NetworkOperator) -> bool:
        return operator.op == "Conv" and len(self.shapes[operator.operands[1]]) == 5

    def _deep(self, layer: TraceLayer, operator: NetworkOperator, values: Values) -> Values:
        """The kernel over three axes as one over two: filters of every depth of the result, channels of every depth of
        the input, 0 where the window does not reach."""
        network, window = self.network.layer(layer.name), operator.window
        assert window is not None
        depths, given = network.output_shape[2], network.inputs[0].shape[2]
        filters, inputs, deep, *flat = values.shape
        band = np.zeros((filters, depths, inputs, given, *flat), values.dtype)
        for depth in range(depths):
            for at in range(deep):
                read = depth * window.strides[0] - window.pads[0][0] + at * window.dilations[0]
                if 0 <= read < given:
                    band[:, depth, :, read] = values[:, :, at]
        kernel: Values = band.reshape(filters * depths, inputs * given, *flat).transpose(0, 2, 3, 1)
        return kernel

    def _matrix(
        self, layer: TraceLayer, operator: NetworkOperator, values: Values, bias: Doubles
    ) -> tuple[Values, Doubles]:
        """Rows are outputs; the inputs follow the pixels of the map, each with its channels."""
        if layer.op == "MatMul" or not operator.integer("transB"):
            values = values.T
        if layer.op == "Gemm":
            alpha, beta = (operator.number(name, 1.0) for name in ("alpha", "beta"))
            values, bias = values if alpha == 1.0 else values * np.float64(alpha), bias * beta
        one = self.network.layer(layer.name).inputs[0]
        form = flat_geometry(one, geometry(self.network.operators.tensors[one.memory]))
        if layer.input.height > 1:
            form = Geometry(layer.input.channels, 1, 1)
        maps = values.reshape(layer.filters, form.channels, form.pixels).swapaxes(1, 2)
        return maps.reshape(layer.filters, 1, 1, -1), bias

    def _is_scale(self, operator: NetworkOperator, layer: TraceLayer) -> bool:
        shape = self.network.operators.tensors.get(operator.output)
        if shape is None or not operator.weights:
            return False
        rows = layer.linear and is_scale(operator, shape, len(shape) - 1)
        return rows or scales_channels(operator, shape)

    def _values(self, name: str) -> Values:
        shape = self.shapes[name]
        if name not in self.weights or self.weights[name].shape != shape:
            remedy = f"has no value of shape {list(shape)}; give the network's own weights"
            raise InputError(self.network.name, f"tensor {name[:60]!r}", remedy)
        return np.asarray(self.weights[name])
