"""Quantised networks in QDQ form, of seeded integers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

Array = npt.NDArray[Any]


class QuantisedBuilder:
    """``signed`` integers for maps or not; weights have a scale each map where ``per_map``."""

    def __init__(self, seed: int, *, signed: bool, per_map: bool) -> None:
        self.random = np.random.default_rng(seed)
        self.kind: type[np.generic] = np.int8 if signed else np.uint8
        self.least, self.per_map = -128 if signed else 0, per_map
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, name: str, value: npt.ArrayLike) -> str:
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(self, op: str, inputs: list[str], output: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(op, inputs, [output], **attributes))
        return output

    def quantised(self, name: str, scale: float, zero: int) -> str:
        """Through integers and back; ``zero`` counts from the least."""
        given = [
            self.constant(f"{name}.scale", np.float32(scale)),
            self.constant(f"{name}.zero", np.array(self.least + zero, self.kind)),
        ]
        integers = self.node("QuantizeLinear", [name, *given], f"{name}.integers")
        return self.node("DequantizeLinear", [integers, *given], f"{name}.reals")

    def weight(self, name: str, integers: Array, scale: Array) -> str:
        zero = np.zeros(scale.shape, integers.dtype)
        given = [self.constant(f"{name}.{one}", of) for one, of in (("scale", scale), ("zero", zero))]
        axis = {"axis": 0} if scale.ndim else {}
        return self.node(
            "DequantizeLinear", [self.constant(f"{name}.integers", integers), *given], name, **axis
        )

    def convolution(
        self, data: str, scale: float, name: str, maps: tuple[int, int], **attributes: Any
    ) -> str:
        """3 x 3, of ``maps`` (in, out); ``scale``: that of the data."""
        kernel = self.random.integers(-127, 128, (maps[1], maps[0], 3, 3)).astype(np.int8)
        spread = self.random.random(maps[1]) if self.per_map else np.zeros(())
        scales = (0.006 + 0.008 * spread).astype(np.float32)
        bias = self.random.integers(-3000, 3000, maps[1]).astype(np.int32)
        weights = self.weight(f"{name}.w", kernel, scales)
        added = self.weight(f"{name}.b", bias, (np.float32(scale) * scales).astype(np.float32))
        return self.node(
            "Conv", [data, weights, added], name, kernel_shape=[3, 3], pads=[1] * 4, **attributes
        )

    def model(self, result: str, size: int) -> onnx.ModelProto:
        shapes = {"x": [1, 3, size, size], result: [1, 5]}
        first, last = (
            helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()
        )
        graph = helper.make_graph(self.nodes, "quantised", [first], [last], self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def quantised_file(
    folder: Path, seed: int, *, signed: bool = False, per_map: bool = False, size: int = 8
) -> Path:
    """Convolutions with ReLU and zero points, a max pool, an addition, a global average and a product."""
    net = QuantisedBuilder(seed, signed=signed, per_map=per_map)
    x = net.quantised("x", 1 / 127, 128)
    x = net.quantised(net.node("Relu", [net.convolution(x, 1 / 127, "conv1", (3, 6))], "relu1"), 0.031, 0)
    x = net.quantised(net.node("MaxPool", [x], "pool1", kernel_shape=[2, 2], strides=[2, 2]), 0.031, 0)
    left = net.quantised(net.convolution(x, 0.031, "conv2", (6, 8)), 0.07, 117)
    right = net.quantised(net.convolution(left, 0.07, "conv3", (8, 8)), 0.3, 130)
    x = net.quantised(net.node("Add", [left, right], "add1"), 0.33, 125)
    x = net.quantised(net.node("GlobalAveragePool", [x], "mean1"), 0.08, 100)
    x = net.quantised(net.node("Flatten", [x], "flat1"), 0.08, 100)
    weights = net.random.integers(-127, 128, (8, 5)).astype(np.int8)
    x = net.quantised(
        net.node("MatMul", [x, net.weight("w4", weights, np.array(0.01, np.float32))], "gemm1"), 0.06, 120
    )
    path = folder / f"quantised{seed}.onnx"
    onnx.save(net.model(x, size), path)
    return path


def joined_file(folder: Path, scales: tuple[float, float]) -> Path:
    """Two convolutions of such scales side by side in a whole of the first, and a product."""
    net = QuantisedBuilder(1, signed=True, per_map=False)
    x = net.quantised("x", 1 / 127, 128)
    parts = [
        net.quantised(net.convolution(x, 1 / 127, name, (3, 4)), scale, 128)
        for name, scale in zip(("left", "right"), scales, strict=True)
    ]
    x = net.quantised(net.node("Concat", parts, "whole", axis=1), scales[0], 128)
    x = net.quantised(net.node("GlobalAveragePool", [x], "mean"), 0.08, 128)
    x = net.quantised(net.node("Flatten", [x], "flat"), 0.08, 128)
    weights = net.random.integers(-127, 128, (8, 5)).astype(np.int8)
    x = net.quantised(
        net.node("MatMul", [x, net.weight("w", weights, np.array(0.01, np.float32))], "gemm"), 0.06, 128
    )
    path = folder / "joined.onnx"
    onnx.save(net.model(x, 6), path)
    return path


def averaged_file(folder: Path, seed: int) -> Path:
    """Means of four pixels, which lie between two integers, of an odd zero point."""
    net = QuantisedBuilder(seed, signed=True, per_map=False)
    x = net.quantised(
        net.convolution(net.quantised("x", 1 / 127, 128), 1 / 127, "conv1", (3, 5)), 0.0371, 125
    )
    x = net.node("AveragePool", [x], "mean1", kernel_shape=[2, 2], strides=[2, 2])
    x = net.quantised(net.convolution(net.quantised(x, 0.0371, 125), 0.0371, "conv2", (5, 5)), 0.09, 120)
    model = net.model(net.quantised(net.node("GlobalAveragePool", [x], "mean2"), 0.08, 117), 8)
    model.graph.output[0].CopyFrom(
        helper.make_tensor_value_info("mean2.reals", TensorProto.FLOAT, [1, 5, 1, 1])
    )
    path = folder / "averaged.onnx"
    onnx.save(model, path)
    return path


def constant_file(
    folder: Path,
    op: str = "Add",
    shape: tuple[int, ...] = (1, 5, 1, 1),
    *,
    floats: bool = False,
    first: bool = False,
    signed: bool = False,
) -> Path:
    """A convolution whose integers meet a constant of such a shape, of integers or not, as the ``first`` operand or the
    second; and another that reads the result."""
    net = QuantisedBuilder(3, signed=signed, per_map=False)
    x = net.quantised(net.convolution(net.quantised("x", 1 / 127, 128), 1 / 127, "conv1", (3, 5)), 0.04, 120)
    if floats:
        constant = net.constant("c", (net.random.random(shape) + 0.1).astype(np.float32))
    else:
        integers = net.random.integers(110, 256, shape).astype(np.uint8)
        given = [net.constant("c", integers), net.constant("c.scale", np.float32(0.03))]
        constant = net.node("DequantizeLinear", [*given, net.constant("c.zero", np.uint8(100))], "c.reals")
    x = net.quantised(net.node(op, [constant, x] if first else [x, constant], "met"), 0.06, 121)
    size = shape[-1] if shape[-1:] > (8,) else 8
    model = net.model(net.quantised(net.convolution(x, 0.06, "conv2", (5, 5)), 0.4, 125), size)
    model.graph.output[0].CopyFrom(
        helper.make_tensor_value_info("conv2.reals", TensorProto.FLOAT, [1, 5, size, size])
    )
    path = folder / "constant.onnx"
    onnx.save(model, path)
    return path


def chain_file(folder: Path, ops: tuple[str, ...], *, rounded: bool = True) -> Path:
    """Integers that go through several operators, with constants of other shapes, before they are ``rounded`` again, or
    are not before the next convolution."""
    net = QuantisedBuilder(3, signed=False, per_map=False)
    x = net.quantised(net.convolution(net.quantised("x", 1 / 127, 128), 1 / 127, "conv1", (3, 5)), 0.04, 120)
    for place, op in enumerate(ops):
        operands = [x]
        if op in ("Add", "Sub", "Mul", "Div", "PRelu"):
            shape = ((5, 1, 1), (1, 1, 8))[place % 2]
            values = (net.random.random(shape) + 0.2).astype(np.float32)
            operands.append(net.constant(f"constant{place}", values))
        x = net.node(op, operands, f"met{place}")
    if rounded:
        x = net.quantised(x, 0.06, 121)
    model = net.model(net.quantised(net.convolution(x, 0.06, "conv2", (5, 5)), 0.4, 125), 8)
    model.graph.output[0].CopyFrom(
        helper.make_tensor_value_info("conv2.reals", TensorProto.FLOAT, [1, 5, 8, 8])
    )
    path = folder / "chain.onnx"
    onnx.save(model, path)
    return path


def operator_file(folder: Path, seed: int) -> Path:
    """Two convolutions of integers, as QLinearConv, the second with strides and unsigned weights."""
    net = QuantisedBuilder(seed, signed=False, per_map=True)

    def numbers(name: str, scale: float, zero: Any) -> list[str]:
        return [net.constant(f"{name}.scale", np.float32(scale)), net.constant(f"{name}.zero", zero)]

    def convolution(data: str, name: str, maps: tuple[int, int], ends: list[list[str]], stride: int) -> str:
        signed = stride == 1
        kernel = net.random.integers(-127 if signed else 0, 128 if signed else 256, (maps[1], maps[0], 3, 3))
        kind: type[np.generic] = np.int8 if signed else np.uint8
        weights = numbers(f"{name}.w", 0.01, np.array(0 if signed else 121, kind))
        bias = net.constant(f"{name}.b", net.random.integers(-2000, 2000, maps[1]).astype(np.int32))
        operands = [data, *ends[0], net.constant(f"{name}.k", kernel.astype(kind)), *weights, *ends[1], bias]
        return net.node(
            "QLinearConv",
            operands,
            f"{name}.integers",
            kernel_shape=[3, 3],
            pads=[1] * 4,
            strides=[stride] * 2,
        )

    first, middle, last = (
        numbers(name, scale, np.uint8(zero))
        for name, scale, zero in (("x", 1 / 127, 128), ("y", 0.04, 90), ("z", 0.5, 131))
    )
    x = net.node("QuantizeLinear", ["x", *first], "x.integers")
    x = convolution(x, "y", (3, 6), [first, middle], 1)
    x = net.node("DequantizeLinear", [convolution(x, "z", (6, 5), [middle, last], 2), *last], "z")
    model = net.model(x, 9)
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("z", TensorProto.FLOAT, [1, 5, 5, 5]))
    path = folder / "operators.onnx"
    onnx.save(model, path)
    return path


def integer_operator_file(
    folder: Path, seed: int, ends: tuple[float, float, float] = (0.05, 0.06, 0.11)
) -> Path:
    """onnxruntime's own operators on integers: two convolutions side by side, their parts and their whole of such
    scales, LeakyReLU, an addition, a global average and a product."""
    net = QuantisedBuilder(seed, signed=False, per_map=False)

    def numbers(name: str, scale: float, zero: int) -> list[str]:
        return [
            net.constant(f"{name}.scale", np.float32(scale)),
            net.constant(f"{name}.zero", np.uint8(zero)),
        ]

    def kernel(name: str, *shape: int) -> list[str]:
        integers = net.random.integers(-127, 128, shape).astype(np.int8)
        scales = [net.constant(f"{name}.ws", np.float32(0.009)), net.constant(f"{name}.wz", np.int8(0))]
        return [net.constant(f"{name}.w", integers), *scales]

    def convolution(data: list[str], name: str, maps: tuple[int, int], made: list[str]) -> list[str]:
        operands = [*data, *kernel(name, maps[1], maps[0], 3, 3), *made]
        return [net.node("QLinearConv", operands, name, kernel_shape=[3, 3], pads=[1] * 4), *made]

    def own(op: str, operands: list[str], name: str, made: list[str], **attributes: Any) -> list[str]:
        return [net.node(op, operands, name, domain="com.microsoft", **attributes), *made]

    first = numbers("x", 1 / 127, 128)
    x = [net.node("QuantizeLinear", ["x", *first], "x.integers"), *first]
    left = convolution(x, "left", (3, 4), numbers("left", ends[0], 121))
    right = convolution(x, "right", (3, 3), numbers("right", ends[1], 140))
    bent = numbers("bent", 0.0571, 20)
    right = own("QLinearLeakyRelu", [*right, *bent], "bent.integers", bent, alpha=0.1)
    whole = numbers("whole", ends[2], 117)
    x = own("QLinearConcat", [*whole, *left, *right], "whole.integers", whole, axis=1)
    again, total, mean, last = (
        numbers(name, scale, zero)
        for name, scale, zero in (
            ("again", 0.3, 119),
            ("sum", 0.33, 131),
            ("mean", 0.07, 128),
            ("last", 0.09, 125),
        )
    )
    x = own(
        "QLinearAdd", [*x, *convolution(x, "again.integers", (7, 7), again), *total], "sum.integers", total
    )
    x = own("QLinearGlobalAveragePool", [*x, *mean], "mean.integers", mean, channels_last=0)
    x = [net.node("Flatten", [x[0]], "flat.integers"), *mean]
    bias = net.constant("gemm.b", net.random.integers(-500, 500, 5).astype(np.int32))
    x = own("QGemm", [*x, *kernel("gemm", 5, 7), bias, *last], "gemm.integers", last, transB=1)
    model = net.model(net.node("DequantizeLinear", x, "result"), 6)
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    path = folder / "integer_operators.onnx"
    onnx.save(model, path)
    return path


def drawn_weights(model: onnx.ModelProto, seed: int) -> onnx.ModelProto:
    """A network of ``NetworkBuilder``, whose weights are all alike, with others."""
    random = np.random.default_rng(seed)
    shapes = {one.name: tuple(numpy_helper.to_array(one)) for one in model.graph.initializer}
    kept = [node for node in model.graph.node if node.op_type != "ConstantOfShape"]
    for node in model.graph.node:
        if node.op_type == "ConstantOfShape":
            shape = shapes[node.input[0]]
            values = random.standard_normal(shape) / np.sqrt(max(1, int(np.prod(shape[1:]))))
            model.graph.initializer.append(numpy_helper.from_array(values.astype(np.float32), node.output[0]))
    del model.graph.node[:]
    model.graph.node.extend(kept)
    return model
