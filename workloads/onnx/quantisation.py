"""What the integers of an ONNX model mean: of QLinearConv and QLinearMatMul, and of operators between DequantizeLinear
and QuantizeLinear."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import numpy_helper

from mapper.workloads.network.network_layer import LayerNetwork, NetworkLayer
from mapper.workloads.network.quantisation import (
    REQUANTISE,
    Quantisation,
    QuantisedTensor,
    QuantisedWeight,
)
from mapper.workloads.network.work import RENAMING
from mapper.workloads.onnx.integer_operator import unfolded

Array = npt.NDArray[Any]
PASSING = frozenset({"MaxPool", "Transpose"})
"""What makes integers of the format of those that it reads."""


def quantisation_of(model: onnx.ModelProto, network: LayerNetwork) -> Quantisation | None:
    """None if a layer of products of ``network``, which is without quantising operators, is in floats."""
    reading = _Reading(unfolded(model))
    tensors = dict(reading.tensors)
    for layer in network.layers:
        # What a layer by itself brings to the format of the one that reads it is in no file.
        for one in layer.inputs:
            if (
                one.layer is not None
                and network.layer(one.layer).op == REQUANTISE
                and layer.output in tensors
            ):
                tensors[one.memory] = replace(tensors[layer.output], integers="")
    weights: dict[str, QuantisedWeight] = {}
    for layer in network.layers:
        if layer.work not in ("convolution", "fully_connected"):
            continue
        own = reading.weight(layer)
        if own is None or not {layer.inputs[0].memory, layer.output} <= tensors.keys():
            return None
        weights[layer.name] = own
    return Quantisation(tensors, weights) if weights else None


def tensor_formats(model: onnx.ModelProto) -> dict[str, QuantisedTensor]:
    """Formats of all tensors that have one, by the names that they have in the network without quantising operators,
    those that are only renamed or reshaped included."""
    reading = _Reading(unfolded(model))
    renamed = {name: origin for name, origin in reading.renamed.items() if origin in reading.tensors}
    return {name: reading.tensors[origin] for name, origin in renamed.items()} | reading.tensors


class _Reading:
    def __init__(self, model: onnx.ModelProto) -> None:
        self.constants: dict[str, Array] = {
            one.name: numpy_helper.to_array(one) for one in model.graph.initializer
        }
        self.tensors: dict[str, QuantisedTensor] = {}
        self.dequantised: dict[str, tuple[Array, Array, Array]] = {}
        self.nodes: dict[str, onnx.NodeProto] = {}
        self.renamed: dict[str, str] = {}
        self._origin: dict[str, str] = {}
        for node in model.graph.node:
            self._add(node)

    def _add(self, node: onnx.NodeProto) -> None:
        for name in node.output:
            self.nodes[name] = node
        if node.op_type == "Constant":
            value = next((one.t for one in node.attribute if one.name == "value"), None)
            if value is not None:
                self.constants[node.output[0]] = numpy_helper.to_array(value)
        elif node.op_type in ("QuantizeLinear", "DequantizeLinear"):
            self._quantised(node)
        elif node.op_type in ("QLinearConv", "QLinearMatMul"):
            self._tensor(self.origin(node.input[0]), node.input[1], node.input[2], node.input[0])
            self._tensor(node.output[0], node.input[6], node.input[7], node.output[0])
        elif node.op_type in RENAMING or node.op_type in PASSING:
            origin = self.origin(node.input[0])
            if node.op_type in RENAMING:
                self._origin[node.output[0]] = self.renamed[node.output[0]] = origin
            elif origin in self.tensors:
                self.tensors[node.output[0]] = self.tensors[origin]

    def _quantised(self, node: onnx.NodeProto) -> None:
        read, made = node.input[0], node.output[0]
        if read in self.constants and node.op_type == "DequantizeLinear":
            scale = self.constants[node.input[1]]
            zero = (
                self.constants[node.input[2]]
                if len(node.input) > 2 and node.input[2]
                else np.zeros(1, np.int8)
            )
            self.dequantised[made] = (self.constants[read], zero, scale)
            return
        origin = self.origin(read)
        self._origin[made] = origin
        zero_name = node.input[2] if len(node.input) > 2 else ""
        self._tensor(origin, node.input[1], zero_name, made if node.op_type == "QuantizeLinear" else read)

    def _tensor(self, name: str, scale: str, zero: str, integers: str) -> None:
        """The last that is said of a tensor holds: what its readers take."""
        if scale not in self.constants or self.constants[scale].size != 1:
            return
        point = self.constants[zero] if zero else np.zeros((), np.uint8)
        if point.dtype not in (np.int8, np.uint8):
            return
        offset = 128 if point.dtype == np.uint8 else 0
        value = float(self.constants[scale].reshape(-1)[0])
        self.tensors[name] = QuantisedTensor(value, int(point.reshape(-1)[0]), offset, integers)

    def origin(self, name: str) -> str:
        return self._origin.get(name, name)

    def weight(self, layer: NetworkLayer) -> QuantisedWeight | None:
        """The integers of a layer's weights, if it has some of 8 bits."""
        operands = layer.operator.operands
        if layer.op.startswith("QLinear"):
            if not all(name in self.constants for name in operands[3:6]):
                return None
            integers, scale, zero = (self.constants[name] for name in operands[3:6])
            bias = self.constants.get(operands[8]) if len(operands) > 8 else None
        elif operands[1] in self.dequantised:
            integers, zero, scale = self.dequantised[operands[1]]
            bias = self._bias(layer, scale)
        else:
            return None
        if integers.dtype not in (np.int8, np.uint8):
            return None
        maps_first = layer.work == "convolution" or layer.operator.integer("transB") == 1
        shape = (-1, *(1,) * (integers.ndim - 1)) if maps_first else (-1,)
        return QuantisedWeight(integers, zero.astype(np.int64).reshape(shape), scale, bias)

    def _bias(self, layer: NetworkLayer, scale: Array) -> Array | None:
        if len(layer.operator.operands) < 3 or not layer.operator.operands[2]:
            return None
        name = layer.operator.operands[2]
        if name in self.dequantised:
            return self.dequantised[name][0]
        if name not in self.constants:
            return None
        source = self.tensors.get(layer.inputs[0].memory)
        unit = np.float64(source.scale if source else 1.0) * scale.astype(np.float64).reshape(-1)
        return np.asarray(np.rint(self.constants[name].astype(np.float64) / unit).astype(np.int64))
