"""Whether the shapes around an operator fit together, for documents that people may have changed."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from mapper.workloads.network.operator_network import CONVOLUTIONS, POOLS, NetworkOperator, Shape, Window
from mapper.workloads.network.work import ACTIVATIONS, ELEMENTWISE, RENAMING


def geometry_fault(operator: NetworkOperator, tensors: Mapping[str, Shape]) -> str | None:
    """What is wrong with the shapes of a convolution, pool, product, normalisation, operator on elements,
    concatenation, or operator that only renames; None if they fit, or if the type is another one."""
    weights = dict(operator.weights)
    shapes = [weights.get(name) or tensors.get(name, ()) for name in operator.operands if name]
    if operator.output not in tensors or not shapes:
        return None
    given, made = shapes[0], tensors[operator.output]
    if operator.op in CONVOLUTIONS or operator.op == "ConvTranspose" or operator.op in POOLS:
        return _window_fault(operator, shapes, made)
    if operator.op in ("Gemm", "MatMul"):
        return _product_fault(operator, shapes, made)
    if operator.op == "BatchNormalization":
        fits = len(shapes) == 5 and len(given) > 1 and given == made
        return None if fits and set(shapes[1:]) == {given[1:2]} else "must have four constants per channel"
    if operator.op in RENAMING or operator.op == "Dropout":
        return None if math.prod(given) == math.prod(made) else "must keep the number of elements"
    if operator.op in ELEMENTWISE or operator.op in ACTIVATIONS:
        return None if _broadcast(shapes) == made else f"does not make {list(made)} of its operands"
    if operator.op == "Concat":
        return _concatenation_fault(operator, shapes, made)
    return None


def _window_fault(operator: NetworkOperator, shapes: list[Shape], made: Shape) -> str | None:
    window, given = operator.window, shapes[0]
    if window is None:
        return "lacks its window"
    rank = len(window.kernel)
    if not rank or len(given) != rank + 2 or len(made) != rank + 2 or given[0] != made[0]:
        return f"has a window over {rank} axes between shapes {list(given)} and {list(made)}"
    if operator.op == "ConvTranspose":
        expected, kernel = [_spread_sizes(given[2:], window)], (given[1], made[1] // window.groups)
    else:
        expected, kernel = _slid_sizes(given[2:], window), (made[1], given[1] // window.groups)
    if made[2:] not in expected:
        return f"makes sizes {list(expected[0])} of {list(given[2:])}, not {list(made[2:])}"
    if operator.op in POOLS:
        return None if given[1] == made[1] else "must keep the number of channels"
    place = 3 if operator.op == "QLinearConv" else 1
    weight = shapes[place] if place < len(shapes) else ()
    divides = given[1] % window.groups == made[1] % window.groups == 0
    if not divides or weight != (*kernel, *window.kernel):
        return f"cannot have weights {list(weight)} in {window.groups} groups of {given[1]} channels"
    biased = operator.op in ("Conv", "ConvTranspose") and len(shapes) > 2
    return "must have one bias per output channel" if biased and shapes[2] != made[1:2] else None


def _slid_sizes(sizes: Shape, window: Window) -> list[Shape]:
    """Sizes of the output; of a pool that rounds up also without windows that begin beyond the input."""
    spans = [
        size + sum(pads) - dilation * (width - 1) - 1
        for size, pads, dilation, width in zip(
            sizes, window.pads, window.dilations, window.kernel, strict=True
        )
    ]
    down = tuple(span // stride + 1 for span, stride in zip(spans, window.strides, strict=True))
    if min(spans) < 0 or not window.ceil:
        return [down]
    up = tuple(-(-span // stride) + 1 for span, stride in zip(spans, window.strides, strict=True))
    begun = tuple(
        count - ((count - 1) * stride >= size + begin)
        for count, stride, size, (begin, _) in zip(up, window.strides, sizes, window.pads, strict=True)
    )
    return [begun, up]


def _spread_sizes(sizes: Shape, window: Window) -> Shape:
    more = window.output_pads or (0,) * len(sizes)
    return tuple(
        stride * (size - 1) + extra + dilation * (width - 1) + 1 - sum(pads)
        for size, stride, extra, dilation, width, pads in zip(
            sizes, window.strides, more, window.dilations, window.kernel, window.pads, strict=True
        )
    )


def _product_fault(operator: NetworkOperator, shapes: list[Shape], made: Shape) -> str | None:
    if len(shapes) < 2 or not shapes[0] or not shapes[1]:
        return "needs two factors"
    first, second = shapes[:2]
    if operator.op == "Gemm":
        first = first[::-1] if operator.integer("transA") else first
        second = second[::-1] if operator.integer("transB") else second
        if not len(first) == len(second) == 2:
            return "needs two matrices"
    a = first if len(first) > 1 else (1, *first)
    b = second if len(second) > 1 else (*second, 1)
    lead = _broadcast([a[:-2], b[:-2]])
    ends = (a[-2:-1] if len(first) > 1 else ()) + (b[-1:] if len(second) > 1 else ())
    if a[-1] != b[-2] or lead is None or made != (*lead, *ends):
        return f"cannot multiply {list(first)} by {list(second)} to {list(made)}"
    biased = operator.op == "Gemm" and len(shapes) > 2
    return f"cannot add {list(shapes[2])}" if biased and _broadcast([made, shapes[2]]) != made else None


def _concatenation_fault(operator: NetworkOperator, shapes: list[Shape], made: Shape) -> str | None:
    axis = operator.integer("axis")
    alike = {(shape[:axis], shape[axis + 1 :]) for shape in (*shapes, made) if axis in range(len(shape))}
    total = sum(shape[axis] for shape in shapes if axis in range(len(shape)))
    fits = len(alike) == 1 and axis in range(len(made)) and total == made[axis]
    return None if fits else f"does not make {list(made)} of its operands along axis {axis}"


def _broadcast(shapes: list[Shape]) -> Shape | None:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None
