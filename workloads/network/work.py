"""What kind of work an operator does, and which operators do none or can be merged into another's."""

from __future__ import annotations

import math
from collections.abc import Mapping

from mapper.workloads.network.network_layer import Work
from mapper.workloads.network.operator_network import CONVOLUTIONS, NetworkOperator, Shape

ACTIVATIONS = frozenset(
    {
        "Relu", "LeakyRelu", "PRelu", "Clip", "Sigmoid", "Tanh", "Elu", "Celu", "Selu", "Gelu", "Mish",
        "HardSigmoid", "HardSwish", "Softplus", "Softsign", "ThresholdedRelu",
    }
)  # fmt: skip
ELEMENTWISE = frozenset(
    {
        "Add", "Sum", "Sub", "Mul", "Div", "Max", "Min", "Mean", "Pow", "Abs", "Neg", "Exp", "Log", "Sqrt",
        "Reciprocal", "Erf", "Floor", "Ceil", "Round", "Sign", "Sin", "Cos",
    }
)  # fmt: skip
_MOVEMENTS = frozenset(
    {
        "Transpose", "Slice", "Split", "Pad", "Gather", "GatherElements", "GatherND", "Expand", "Tile",
        "DepthToSpace", "SpaceToDepth", "Resize", "Upsample", "ScatterElements", "ScatterND",
    }
)  # fmt: skip
_SINGLE: dict[str, Work] = {
    "MaxPool": "max_pool",
    "GlobalMaxPool": "max_pool",
    "AveragePool": "average_pool",
    "GlobalAveragePool": "average_pool",
    "BatchNormalization": "batch_normalization",
    "LRN": "lrn",
    "Softmax": "softmax",
    "LogSoftmax": "softmax",
}
_PRODUCTS = frozenset({"Gemm", "MatMul", "MatMulInteger", "QLinearMatMul"})
RENAMING = frozenset({"Identity", "Flatten", "Reshape", "Squeeze", "Unsqueeze"})
"""Operators that leave every element where it is."""

MERGING = frozenset(
    {
        "convolution", "transposed_convolution", "fully_connected", "matrix_product", "max_pool",
        "average_pool", "elementwise", "batch_normalization",
    }
)  # fmt: skip
"""Kinds of work that scales and an activation can be merged into."""


def work_of(operator: NetworkOperator, read: frozenset[str]) -> Work:
    """The kind of work; ``read`` are the tensors that anybody reads or the network hands out."""
    if read.isdisjoint(operator.outputs[1:]):
        if operator.op in CONVOLUTIONS or operator.op == "ConvTranspose":
            constant = operator.inputs == operator.operands[:1] and len(operator.weights) > 0
            transposed = operator.op == "ConvTranspose"
            return ("transposed_convolution" if transposed else "convolution") if constant else "other"
        if operator.op in _PRODUCTS:
            return "fully_connected" if _is_fully_connected(operator) else "matrix_product"
        if operator.op in _SINGLE and len(operator.inputs) == 1:
            return _SINGLE[operator.op]
    if operator.op in ELEMENTWISE:
        return "elementwise"
    if operator.op in ACTIVATIONS:
        return "activation"
    if operator.op == "Concat":
        return "concatenation"
    interpolates = operator.has("mode") and operator.op in ("Resize", "Upsample")
    if operator.op in _MOVEMENTS and not (interpolates and ("mode", "nearest") not in operator.attributes):
        return "movement"
    return "other"


def view_offsets(
    operator: NetworkOperator, tensors: Mapping[str, Shape], read: frozenset[str]
) -> tuple[int, ...] | None:
    """Where the outputs begin in the input, in elements, if they are parts of it that lie in one piece and in
    the same order; None of an operator that computes or moves anything. ``read`` as of ``work_of``."""
    if len(operator.inputs) != 1 or operator.operands[:1] != operator.inputs:
        return None
    shape = tensors[operator.inputs[0]]
    if operator.op in RENAMING or (operator.op == "Dropout" and not operator.integer("training_mode")):
        return (0,) if read.isdisjoint(operator.outputs[1:]) else None
    if any(tensor not in tensors for tensor in operator.outputs):
        return None
    if operator.op == "Transpose":
        order = operator.integers("perm", tuple(reversed(range(len(shape)))))
        kept = [axis for axis in order if axis in range(len(shape)) and shape[axis] > 1]
        return (0,) if kept == sorted(kept) else None
    if operator.op in ("Concat", "Expand", "Tile") and tensors[operator.output] == shape:
        return (0,)
    if operator.op == "Split" and math.prod(shape[: operator.integer("axis")]) == 1:
        sizes = [math.prod(tensors[tensor]) for tensor in operator.outputs]
        return tuple(sum(sizes[:place]) for place in range(len(sizes)))
    return None


def is_scale(operator: NetworkOperator, shape: Shape, axis: int) -> bool:
    """Whether the operator multiplies by or adds constants, one or one per channel; ``axis`` is that of the
    channels in its input's ``shape``."""
    if operator.op == "BatchNormalization":
        return axis == 1 and len(operator.inputs) == 1 and not operator.integer("training_mode")
    if operator.op not in ("Mul", "Add", "Sub", "Div") or len(operator.inputs) != 1:
        return False
    if operator.op in ("Sub", "Div") and operator.operands[:1] != operator.inputs:
        return False
    return _is_per_channel(operator, shape, axis)


def is_merged_activation(operator: NetworkOperator, shape: Shape, axis: int) -> bool:
    """Whether the operator is an activation whose parameters are none, one, or one per channel."""
    return (
        operator.op in ACTIVATIONS
        and operator.operands[:1] == operator.inputs
        and _is_per_channel(operator, shape, axis)
    )


def _is_per_channel(operator: NetworkOperator, shape: Shape, axis: int) -> bool:
    """Constants are broadcast from the last axis on."""
    place = axis - len(shape)
    return all(
        len(sizes) <= len(shape)
        and all(size == 1 or at - len(sizes) == place for at, size in enumerate(sizes))
        for _, sizes in operator.weights
    )


def _is_fully_connected(operator: NetworkOperator) -> bool:
    place = 3 if operator.op == "QLinearMatMul" else 1
    factor = operator.operands[place] if place < len(operator.operands) else ""
    matrix = dict(operator.weights).get(factor, ())
    rows_first = operator.op != "Gemm" or not operator.integer("transA")
    return operator.inputs == operator.operands[:1] and len(matrix) == 2 and rows_first
