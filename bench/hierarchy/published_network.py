"""Networks of which this project has no file, as ONNX: shapes are those that were published, weights one number each.

BERT-base, ViT-base and a decoding step of GPT-2 are twelve blocks of a transformer of 768 numbers a token, with heads
of 64; MobileNet-v2 is its table of bottlenecks at 224 x 224. Activations are ReLU throughout: none of them multiplies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import onnx
from onnx import TensorProto, helper

BLOCKS, WIDTH, INNER, HEADS = 12, 768, 3072, 12
BOTTLENECKS = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)
"""Expansion, channels, repeats and stride of the first, as in MobileNet-v2's table."""


class _Graph:
    """A graph under construction; each method adds nodes and names the tensor that they make."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.nodes: list[onnx.NodeProto] = []
        self.shapes: list[onnx.TensorProto] = []
        self.inputs: list[onnx.ValueInfoProto] = []

    def given(self, name: str, *shape: int) -> str:
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        return name

    def numbers(self, name: str, values: Sequence[int]) -> str:
        self.shapes.append(helper.make_tensor(name, TensorProto.INT64, [len(values)], values))
        return name

    def weights(self, name: str, *shape: int) -> str:
        value = helper.make_tensor("value", TensorProto.FLOAT, [1], [0.01])
        node = helper.make_node(
            "ConstantOfShape", [self.numbers(f"{name}.shape", shape)], [name], name, value=value
        )
        self.nodes.append(node)
        return name

    def apply(self, op: str, name: str, *inputs: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(op, list(inputs), [f"{name}.out"], name, **attributes))
        return f"{name}.out"

    def convolution(self, name: str, data: str, shape: tuple[int, ...], stride: int, **options: Any) -> str:
        """A convolution with weights of this shape and a bias."""
        return self.apply(
            "Conv", name, data, self.weights(f"{name}.w", *shape), self.weights(f"{name}.b", shape[0]),
            kernel_shape=shape[2:], strides=[stride, stride], **options,
        )  # fmt: skip

    def linear(self, name: str, data: str, inputs: int, outputs: int) -> str:
        """A product with weights, and a bias."""
        product = self.apply("MatMul", name, data, self.weights(f"{name}.w", inputs, outputs))
        return self.apply("Add", f"{name}.add", product, self.weights(f"{name}.b", outputs))

    def normalised(self, name: str, data: str) -> str:
        return self.apply(
            "LayerNormalization",
            name,
            data,
            self.weights(f"{name}.w", WIDTH),
            self.weights(f"{name}.b", WIDTH),
        )

    def model(self, result: str) -> onnx.ModelProto:
        made = helper.make_tensor_value_info(result, TensorProto.FLOAT, None)
        graph = helper.make_graph(self.nodes, self.name, self.inputs, [made], self.shapes)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _blocks(graph: _Graph, data: str, tokens: int, past: int) -> str:
    """Twelve blocks of a transformer over ``tokens``, after ``past`` ones whose keys and values are given."""
    heads = graph.numbers("heads", [1, tokens, HEADS, WIDTH // HEADS])
    joined = graph.numbers("joined", [1, tokens, WIDTH])
    for block in range(BLOCKS):
        data = _attention(graph, f"block{block}.", data, past, heads, joined)
        inner = graph.linear(f"block{block}.up", graph.normalised(f"block{block}.norm2", data), WIDTH, INNER)
        outer = graph.linear(
            f"block{block}.down", graph.apply("Relu", f"block{block}.act", inner), INNER, WIDTH
        )
        data = graph.apply("Add", f"block{block}.add2", data, outer)
    return data


def _attention(graph: _Graph, at: str, data: str, past: int, heads: str, joined: str) -> str:
    normal = graph.normalised(f"{at}norm1", data)
    parts = {}
    for one in "qkv":
        split = graph.apply(
            "Reshape", f"{at}{one}.heads", graph.linear(f"{at}{one}", normal, WIDTH, WIDTH), heads
        )
        parts[one] = graph.apply("Transpose", f"{at}{one}.turned", split, perm=[0, 2, 1, 3])
        if past and one != "q":
            before = graph.given(f"{at}past.{one}", 1, HEADS, past, WIDTH // HEADS)
            parts[one] = graph.apply("Concat", f"{at}{one}.all", before, parts[one], axis=2)
    keys = graph.apply("Transpose", f"{at}keys", parts["k"], perm=[0, 1, 3, 2])
    scores = graph.apply(
        "Softmax", f"{at}softmax", graph.apply("MatMul", f"{at}qk", parts["q"], keys), axis=-1
    )
    mixed = graph.apply("MatMul", f"{at}av", scores, parts["v"])
    turned = graph.apply("Transpose", f"{at}back", mixed, perm=[0, 2, 1, 3])
    whole = graph.apply("Reshape", f"{at}whole", turned, joined)
    return graph.apply("Add", f"{at}add1", data, graph.linear(f"{at}projection", whole, WIDTH, WIDTH))


def bert_base() -> onnx.ModelProto:
    graph = _Graph("bert-base")
    return graph.model(_blocks(graph, graph.given("tokens", 1, 128, WIDTH), 128, 0))


def gpt2_step() -> onnx.ModelProto:
    """One token after 1,023."""
    graph = _Graph("gpt2-step")
    return graph.model(_blocks(graph, graph.given("token", 1, 1, WIDTH), 1, 1023))


def vit_base() -> onnx.ModelProto:
    """196 patches of 16 x 16 pixels, and the class token."""
    graph = _Graph("vit-base")
    patches = graph.convolution("patch", graph.given("image", 1, 3, 224, 224), (WIDTH, 3, 16, 16), 16)
    flat = graph.apply("Reshape", "flat", patches, graph.numbers("flat.shape", [1, WIDTH, 196]))
    turned = graph.apply("Transpose", "turned", flat, perm=[0, 2, 1])
    tokens = graph.apply("Concat", "with_class", graph.weights("class", 1, 1, WIDTH), turned, axis=1)
    return graph.model(_blocks(graph, tokens, 197, 0))


def mobilenet_v2() -> onnx.ModelProto:
    graph = _Graph("mobilenet-v2")

    def convolution(data: str, inputs: int, outputs: int, size: int, stride: int = 1, groups: int = 1) -> str:
        name, shape = f"conv{len(graph.nodes)}", (outputs, inputs // groups, size, size)
        return graph.convolution(name, data, shape, stride, pads=[size // 2] * 4, group=groups)

    def active(data: str) -> str:
        return graph.apply("Relu", f"{data}.act", data)

    data, channels = active(convolution(graph.given("image", 1, 3, 224, 224), 3, 32, 3, 2)), 32
    for expansion, outputs, repeats, stride in BOTTLENECKS:
        for turn in range(repeats):
            wide, inner = channels * expansion, data
            if expansion > 1:
                inner = active(convolution(inner, channels, wide, 1))
            inner = active(convolution(inner, wide, wide, 3, stride if turn == 0 else 1, wide))
            inner = convolution(inner, wide, outputs, 1)
            data = graph.apply("Add", f"{inner}.add", data, inner) if turn else inner
            channels = outputs
    pooled = graph.apply("GlobalAveragePool", "pool", active(convolution(data, channels, 1280, 1)))
    flat = graph.apply("Flatten", "flat", pooled)
    weights, bias = graph.weights("classes.w", 1000, 1280), graph.weights("classes.b", 1000)
    return graph.model(graph.apply("Gemm", "classes", flat, weights, bias, transB=1))


NETWORKS: dict[str, Callable[[], onnx.ModelProto]] = {
    "mobilenet-v2": mobilenet_v2,
    "bert-base": bert_base,
    "vit-base": vit_base,
    "gpt2-step": gpt2_step,
}
"""By the name of the file."""
