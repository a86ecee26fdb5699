"""Small ONNX networks with gates, branches that are joined at other sizes, and weights of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from mapper.workloads.network.building import network_layers
from mapper.workloads.network.network_layer import LayerNetwork
from mapper.workloads.onnx.file import parse_model
from mapper.workloads.onnx.operator import operators_of


def layers(model: onnx.ModelProto) -> LayerNetwork:
    """The network of a model, read here and not in a process of its own."""
    return network_layers(operators_of(parse_model(model.SerializeToString(), "net"), "net"))


class Graph:
    """A network under construction: every method adds a node with random weights and returns the tensor it makes."""

    def __init__(self, *shape: int, seed: int = 0) -> None:
        self.shape, self.random = (1, *shape), np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.held: list[onnx.TensorProto] = []
        self.channels = {"x": shape[0]}

    def convolution(self, data: str, filters: int, kernel: int = 3, stride: int = 1, **more: Any) -> str:
        channels = self.channels[data]
        products = channels * kernel * kernel
        weight = self._held((filters, channels // more.get("group", 1), kernel, kernel), 2 / products)
        options = {"strides": [stride] * 2, "pads": [kernel // 2] * 4, **more}
        return self._add("Conv", [data, weight, self._held((filters,), 0.05)], filters, **options)

    def transposed(self, data: str, filters: int, kernel: int = 2, **more: Any) -> str:
        channels = self.channels[data]
        weight = self._held((channels, filters, kernel, kernel), 2 / channels)
        options = {"strides": [2, 2], **more}
        return self._add("ConvTranspose", [data, weight, self._held((filters,), 0.05)], filters, **options)

    def linear(self, data: str, inputs: int, outputs: int) -> str:
        weight = self._held((outputs, inputs), 2 / inputs)
        return self._add("Gemm", [data, weight, self._held((outputs,), 0.05)], outputs, transB=1)

    def pool(self, data: str, **more: Any) -> str:
        return self.apply("MaxPool", data, **{"kernel_shape": [2, 2], "strides": [2, 2], **more})

    def enlarged(self, data: str, factor: int = 2, **more: Any) -> str:
        scales = self._constant(np.array([1, 1, factor, factor], np.float32))
        return self._add("Resize", [data, "", scales], self.channels[data], **{"mode": "nearest", **more})

    def joined(self, *data: str) -> str:
        return self._add("Concat", list(data), sum(self.channels[one] for one in data), axis=1)

    def apply(self, op: str, *data: str, **more: Any) -> str:
        return self._add(op, list(data), max(self.channels[one] for one in data), **more)

    def shaped(self, data: str, *shape: int) -> str:
        return self._add("Reshape", [data, self._constant(np.array(shape, np.int64))], shape[1])

    def gated(self, data: str, op: str = "Sigmoid", gate_first: bool = False, **more: Any) -> str:
        """Squeeze and excite: a number for each map, made of the mean of all, by which its pixels are multiplied."""
        channels = self.channels[data]
        squeezed = self.apply("GlobalAveragePool", data)
        excited = self.apply("Relu", self.convolution(squeezed, max(1, channels // 2), 1))
        gate = self.apply(op, self.convolution(excited, channels, 1), **more)
        return self.apply("Mul", *((gate, data) if gate_first else (data, gate)))

    def model(self, *outputs: str) -> onnx.ModelProto:
        given = [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)]
        made = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
        graph = helper.make_graph(self.nodes, "net", given, made, self.held)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)

    def _held(self, shape: tuple[int, ...], variance: float) -> str:
        return self._constant(self.random.normal(0, variance**0.5, shape).astype(np.float32))

    def _constant(self, values: Any) -> str:
        name = f"w{len(self.held)}"
        self.held.append(numpy_helper.from_array(values, name))
        return name

    def _add(self, op: str, inputs: list[str], channels: int, **more: Any) -> str:
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], **more))
        self.channels[name] = channels
        return name


def squeeze_and_excite(op: str = "Sigmoid", gate_first: bool = False) -> onnx.ModelProto:
    net = Graph(3, 8, 10)
    x = net.apply("Relu", net.convolution("x", 6))
    return net.model(net.convolution(net.gated(x, op, gate_first), 4))


def linear_gate() -> onnx.ModelProto:
    """Squeeze and excite whose two layers are fully connected, as many exporters write it."""
    net = Graph(3, 8, 10)
    x = net.apply("Relu", net.convolution("x", 6))
    flat = net.shaped(net.apply("GlobalAveragePool", x), 1, 6)
    gate = net.apply("Sigmoid", net.linear(net.apply("Relu", net.linear(flat, 6, 3)), 3, 6))
    return net.model(net.convolution(net.apply("Mul", x, net.shaped(gate, 1, 6, 1, 1)), 4))


def u_net(transposed: bool = False) -> onnx.ModelProto:
    """Two levels down and up again, with a map of each level kept for the way up."""
    net = Graph(2, 12, 16)
    first = net.apply("Relu", net.convolution("x", 4))
    second = net.apply("Relu", net.convolution(net.pool(first), 6))
    deep = net.apply("Relu", net.convolution(net.pool(second), 8))
    for kept, filters in ((second, 6), (first, 4)):
        up = net.transposed(deep, filters) if transposed else net.enlarged(deep)
        deep = net.apply("Relu", net.convolution(net.joined(kept, up), filters))
    return net.model(net.convolution(deep, 2, 1))


def tiny_yolo() -> onnx.ModelProto:
    """Two heads, the second of which reads an enlarged map beside an earlier one."""
    net = Graph(3, 32, 32)
    x = net.apply("LeakyRelu", net.convolution("x", 6), alpha=0.1)
    early = net.apply("LeakyRelu", net.convolution(net.pool(x), 8), alpha=0.1)
    deep = net.apply("LeakyRelu", net.convolution(net.pool(early), 12), alpha=0.1)
    deep = net.apply("MaxPool", deep, kernel_shape=[2, 2], strides=[1, 1], auto_pad="SAME_UPPER")
    deep = net.apply("LeakyRelu", net.convolution(deep, 8, 1), alpha=0.1)
    up = net.enlarged(net.apply("LeakyRelu", net.convolution(deep, 4, 1), alpha=0.1))
    head = net.apply("LeakyRelu", net.convolution(net.joined(up, early), 8), alpha=0.1)
    return net.model(net.convolution(deep, 18, 1), net.convolution(head, 18, 1))
