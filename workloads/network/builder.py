"""Building ONNX networks from layer tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import onnx
from onnx import TensorProto, helper

OPSET = 17
IR_VERSION = 8


class NetworkBuilder:
    """A network under construction. Every method adds one node and returns the tensor it makes.

    Weights are ``ConstantOfShape`` nodes, so that files stay small whatever the network; each holds
    1 / fan-in, which keeps activations of the order of the input.
    """

    def __init__(self, name: str, *image: int) -> None:
        """``image``: channels, rows, columns of the input ``image``, whose batch is 1."""
        self.name = name
        self.input = "image"
        self._image = (1, *image)
        self._channels = {self.input: image[0]}
        self._nodes: list[onnx.NodeProto] = []
        self._weights: list[onnx.NodeProto] = []
        self._shapes: list[onnx.TensorProto] = []

    def convolution(
        self,
        data: str,
        name: str,
        out_channels: int,
        kernel: int | tuple[int, int],
        stride: int = 1,
        pad: int | tuple[int, int] = 0,
    ) -> str:
        """A convolution with bias; ``pad`` is the same at both ends of an axis."""
        size = kernel if isinstance(kernel, tuple) else (kernel, kernel)
        rim = pad if isinstance(pad, tuple) else (pad, pad)
        channels = self._channels[data]
        weights = self._weight(f"{name}.weight", (out_channels, channels, *size), channels * math.prod(size))
        bias = self._weight(f"{name}.bias", (out_channels,), out_channels)
        options = {"kernel_shape": size, "strides": (stride, stride), "pads": (*rim, *rim)}
        return self._add("Conv", name, [data, weights, bias], out_channels, **options)

    def linear(self, data: str, name: str, inputs: int, outputs: int) -> str:
        """A fully connected layer on rows of ``inputs`` numbers."""
        weights = self._weight(f"{name}.weight", (outputs, inputs), inputs)
        bias = self._weight(f"{name}.bias", (outputs,), outputs)
        return self._add("Gemm", name, [data, weights, bias], outputs, transB=1)

    def pool(
        self,
        data: str,
        name: str,
        kernel: int,
        stride: int,
        pad: int = 0,
        *,
        mean: bool = False,
        ceil: bool = False,
    ) -> str:
        """Pooling by the maximum or the mean (which does not count padding)."""
        options = {
            "kernel_shape": (kernel,) * 2,
            "strides": (stride,) * 2,
            "pads": (pad,) * 4,
            "ceil_mode": int(ceil),
        }
        return self._add("AveragePool" if mean else "MaxPool", name, [data], self._channels[data], **options)

    def apply(self, op: str, name: str, *data: str, **attributes: Any) -> str:
        """An operator without weights that keeps the number of channels."""
        return self._add(op, name, list(data), self._channels[data[0]], **attributes)

    def concatenation(self, name: str, data: Sequence[str]) -> str:
        """Channels of all, one after another."""
        return self._add("Concat", name, list(data), sum(self._channels[part] for part in data), axis=1)

    def max_feature_map(self, data: str, name: str) -> str:
        """The larger of the first and the second half of the channels."""
        half = self._channels[data] // 2
        first, second = f"{name}.first", f"{name}.second"
        self._nodes.append(helper.make_node("Split", [data], [first, second], f"{name}.split", axis=1))
        return self._add("Max", name, [first, second], half)

    def model(self, result: str, outputs: int) -> onnx.ModelProto:
        """The finished model; ``result`` is a row of ``outputs`` numbers per image."""
        given = helper.make_tensor_value_info(self.input, TensorProto.FLOAT, self._image)
        made = helper.make_tensor_value_info(result, TensorProto.FLOAT, (1, outputs))
        graph = helper.make_graph([*self._weights, *self._nodes], self.name, [given], [made], self._shapes)
        opsets = [helper.make_opsetid("", OPSET)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="mapper")

    def _add(self, op: str, name: str, inputs: list[str], channels: int, **attributes: Any) -> str:
        self._nodes.append(helper.make_node(op, inputs, [f"{name}.out"], name, **attributes))
        self._channels[f"{name}.out"] = channels
        return f"{name}.out"

    def _weight(self, name: str, shape: tuple[int, ...], fan_in: int) -> str:
        self._shapes.append(helper.make_tensor(f"{name}.shape", TensorProto.INT64, [len(shape)], shape))
        value = helper.make_tensor("value", TensorProto.FLOAT, [1], [1 / fan_in])
        self._weights.append(
            helper.make_node("ConstantOfShape", [f"{name}.shape"], [name], name, value=value)
        )
        return name
