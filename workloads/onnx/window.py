"""Windows of ONNX convolutions and pools, with everything that ONNX leaves implicit resolved."""

from __future__ import annotations

import onnx

from mapper.workloads.document import InputError
from mapper.workloads.network.operator_network import CONVOLUTIONS, POOLS, Window
from mapper.workloads.onnx.graph import Operator
from mapper.workloads.onnx.layer import OPERAND_INPUTS, integers, resolved_pads
from mapper.workloads.onnx.shape.inference import GraphShapes

WINDOW_ATTRIBUTES = frozenset(
    {
        "auto_pad", "ceil_mode", "count_include_pad", "dilations", "group", "kernel_shape", "output_padding",
        "output_shape", "pads", "strides",
    }
)  # fmt: skip


def operator_window(operator: Operator, shapes: GraphShapes) -> Window | None:
    """The window of a convolution, transposed convolution or pool; None of other operators.

    Raises: InputError if its attributes contradict each other or the shapes.
    """
    if operator.domain or not operator.node.input:
        return None
    if operator.op in CONVOLUTIONS:
        place = OPERAND_INPUTS[operator.op][1]
        return _window(operator, shapes, shapes.sizes(operator.node.input[place], operator)[2:])
    if operator.op == "ConvTranspose" and len(operator.node.input) > 1:
        return _transposed(operator, shapes, shapes.sizes(operator.node.input[1], operator)[2:])
    if operator.op not in POOLS:
        return None
    sizes = shapes.sizes(operator.node.input[0], operator)[2:]
    if operator.op.startswith("Global"):
        ones = (1,) * len(sizes)
        return Window(sizes, ones, ((0, 0),) * len(sizes), ones)
    return _window(operator, shapes, integers(operator, "kernel_shape", (0,) * len(sizes), shapes.source))


def _window(operator: Operator, shapes: GraphShapes, kernel: tuple[int, ...]) -> Window:
    source, sizes = shapes.source, shapes.sizes(operator.node.input[0], operator)[2:]
    strides = integers(operator, "strides", (1,) * len(sizes), source)
    dilations = integers(operator, "dilations", (1,) * len(sizes), source)
    if len(kernel) != len(sizes) or not sizes or min(*kernel, *strides, *dilations) < 1:
        remedy = "kernel, strides and dilations must be positive, one per axis"
        raise InputError(source, operator.field(), remedy)
    (groups,), (ceil,), (counted,) = (
        integers(operator, key, (default,), source)
        for key, default in (("group", 1), ("ceil_mode", 0), ("count_include_pad", 0))
    )
    pads = resolved_pads(operator, source, sizes, kernel, strides, dilations)
    return Window(kernel, strides, pads, dilations, groups, bool(ceil), bool(counted))


def _transposed(operator: Operator, shapes: GraphShapes, kernel: tuple[int, ...]) -> Window:
    """Where ``output_shape`` or SAME tells the output's size, the pads follow from it: their odd element is at
    the end with SAME_UPPER, else at the beginning (ONNX, ConvTranspose). An output larger than without pads
    has the more elements at its end."""
    source, sizes = shapes.source, shapes.sizes(operator.node.input[0], operator)[2:]
    rank = len(sizes)
    strides = integers(operator, "strides", (1,) * rank, source)
    dilations = integers(operator, "dilations", (1,) * rank, source)
    output_pads = integers(operator, "output_padding", (0,) * rank, source)
    (groups,) = integers(operator, "group", (1,), source)
    if len(kernel) != rank or not rank or min(*kernel, *strides, *dilations) < 1:
        remedy = "kernel, strides and dilations must be positive, one per axis"
        raise InputError(source, operator.field(), remedy)
    given = {entry.name: onnx.helper.get_attribute_value(entry) for entry in operator.node.attribute}
    mode = given.get("auto_pad", b"NOTSET")
    if "output_shape" not in given and mode not in (b"SAME_UPPER", b"SAME_LOWER"):
        pads = resolved_pads(operator, source, sizes, kernel, strides, dilations)
        return Window(kernel, strides, pads, dilations, groups, output_pads=output_pads)
    found = shapes.sizes(operator.node.output[0], operator)[2:]
    if len(found) != rank:
        raise InputError(source, operator.field(), f"makes {len(found)} axes of {rank}; repair the graph")
    totals = [
        stride * (size - 1) + more + dilation * (width - 1) + 1 - output
        for size, width, stride, dilation, more, output in zip(
            sizes, kernel, strides, dilations, output_pads, found, strict=True
        )
    ]
    halves = [(max(total, 0) // 2, -(-max(total, 0) // 2)) for total in totals]
    pads = tuple(half if mode == b"SAME_UPPER" else half[::-1] for half in halves)
    grown = tuple(more + max(-total, 0) for more, total in zip(output_pads, totals, strict=True))
    return Window(kernel, strides, pads, dilations, groups, output_pads=grown)
