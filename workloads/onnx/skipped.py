"""ONNX operators that are no loop nest: why, and what they would cost."""

from __future__ import annotations

import math

from mapper.workloads.network.network import SkippedOperator
from mapper.workloads.onnx.graph import Operator
from mapper.workloads.onnx.layer import integers
from mapper.workloads.onnx.shape.inference import GraphShapes

_BOOKKEEPING = frozenset({"Constant", "Identity", "Dropout", "Shape", "Size"})
_NOT_COUNTED = frozenset({"CausalConvWithState", "FlexAttention", "LinearAttention", "DFT", "STFT"})
_RECURRENT = frozenset({"LSTM", "GRU", "RNN"})
_REASONS = {
    "pooling": "AveragePool MaxPool LpPool GlobalAveragePool GlobalMaxPool GlobalLpPool MaxRoiPool RoiAlign "
    "MaxUnpool",
    "normalisation": "LRN BatchNormalization InstanceNormalization GroupNormalization LayerNormalization "
    "RMSNormalization LpNormalization MeanVarianceNormalization",
    "data movement": "Concat Expand Flatten Gather GatherElements GatherND Pad Reshape Resize Slice Split "
    "Squeeze Tile Transpose Unsqueeze Upsample DepthToSpace SpaceToDepth ScatterND ScatterElements",
    "quantisation": "QuantizeLinear DequantizeLinear DynamicQuantizeLinear",
    "softmax": "Softmax LogSoftmax Hardmax",
    "reduction without products": "ReduceMean ReduceSum ReduceMax ReduceMin ArgMax ArgMin TopK",
}
_REASON = {op: reason for reason, ops in _REASONS.items() for op in ops.split()}


def skipped_operator(operator: Operator, shapes: GraphShapes) -> SkippedOperator | None:
    """How an operator that is no layer is listed, with its multiply-accumulates.

    None for what does no work on the data: constants and what is computed from constants alone (weights,
    folded before a network runs), shapes and what is computed from them, Identity, and Dropout, which does
    nothing in inference.
    """
    if operator.domain:
        return _listed(operator, f"unknown operator of {operator.domain[:60]}; its work is not counted")
    if operator.op in _BOOKKEEPING or (shapes.inputs and shapes.data.isdisjoint(operator.reads)):
        return None
    if operator.has_subgraph:
        return _listed(operator, "control flow; the work of its subgraphs is not counted")
    if operator.op in _NOT_COUNTED:
        return _listed(operator, "no loop nest here; its work is not counted")
    macs = _macs(operator, shapes)
    if macs is not None:
        return _listed(operator, "multiply-accumulates that are no loop nest here", macs)
    return _listed(operator, _REASON.get(operator.op, "no multiply-accumulates"))


def _listed(operator: Operator, reason: str, macs: int = 0) -> SkippedOperator:
    return SkippedOperator(operator.label, operator.op, reason, macs)


def _macs(operator: Operator, shapes: GraphShapes) -> int | None:
    """Multiply-accumulates of an operator that has some, None of one that has none."""
    node = operator.node
    if operator.op == "ConvTranspose" and len(node.input) >= 2:
        data, weights = (shapes.sizes(name, operator) for name in node.input[:2])
        return math.prod(data) * math.prod(weights[1:])
    if operator.op == "DeformConv" and len(node.input) >= 2:
        weights, result = (shapes.sizes(name, operator) for name in (node.input[1], node.output[0]))
        return math.prod(result) * math.prod(weights[1:])
    if operator.op in _RECURRENT and len(node.input) >= 3:
        data, weights, recurrence = (shapes.sizes(name, operator) for name in node.input[:3])
        return math.prod(data[:2]) * (math.prod(weights) + math.prod(recurrence))
    if operator.op == "Einsum" and len(node.input) >= 2:
        return _einsum_macs(operator, shapes)
    if operator.op == "Attention" and len(node.input) >= 3:
        return _attention_macs(operator, shapes)
    return None


def _einsum_macs(operator: Operator, shapes: GraphShapes) -> int | None:
    """One product per combination of the indices; an ellipsis stands for the axes that have no letter."""
    equation = next((entry.s for entry in operator.node.attribute if entry.name == "equation"), b"")
    terms = equation.decode("ascii", "replace").replace(" ", "").partition("->")[0].split(",")
    if len(terms) != len(operator.node.input):
        return None
    extents: dict[str, int] = {}
    for term, name in zip(terms, operator.node.input, strict=True):
        sizes = shapes.sizes(name, operator)
        before, ellipsis, after = term.partition("...")
        hidden = len(sizes) - len(before) - len(after) if ellipsis else 0
        letters = [*before, *(f".{place}" for place in range(hidden, 0, -1)), *after]
        if len(letters) != len(sizes):
            return None
        for letter, size in zip(letters, sizes, strict=True):
            extents[letter] = max(size, extents.get(letter, 1))
    return math.prod(extents.values())


def _attention_macs(operator: Operator, shapes: GraphShapes) -> int | None:
    """Scores and their product with the values: queries x keys x (key size + value size), per head."""
    query, key, value = (shapes.sizes(name, operator) for name in operator.node.input[:3])
    past = operator.node.input[4] if len(operator.node.input) > 4 else ""
    keys = key[-2] + (shapes.sizes(past, operator)[-2] if past else 0)
    if len(query) == len(key) == len(value) == 4:
        return math.prod(query[:3]) * keys * (query[3] + value[3])
    (heads,) = integers(operator, "q_num_heads", (0,), shapes.source)
    (shared,) = integers(operator, "kv_num_heads", (0,), shapes.source)
    if len(query) == len(key) == len(value) == 3 and heads > 0 and shared > 0:
        return query[0] * query[1] * keys * (query[2] + value[2] * heads // shared)
    return None
