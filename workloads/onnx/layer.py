"""ONNX operators as loop nests: convolutions of up to three axes, and matrix products."""

from __future__ import annotations

import math
from dataclasses import dataclass

import onnx

from mapper.workloads.document import InputError
from mapper.workloads.nest.layer_nest import AXES, Convolution, convolution_nest, matrix_product_nest
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.nest.nest_file import MOST_ITERATIONS
from mapper.workloads.network.operator_network import CONVOLUTIONS
from mapper.workloads.onnx.graph import Operator
from mapper.workloads.onnx.shape.inference import GraphShapes

OPERAND_INPUTS = {
    "Conv": (0, 1),
    "ConvInteger": (0, 1),
    "QLinearConv": (0, 3),
    "Gemm": (0, 1),
    "MatMul": (0, 1),
    "MatMulInteger": (0, 1),
    "QLinearMatMul": (0, 3),
}
"""Operators that are loop nests, and which of their inputs are the two factors."""

MOST_BATCH_AXES = 6
LARGEST_SIZE = 1 << 31


@dataclass(frozen=True)
class Unmappable:
    """Why an operator with multiply-accumulates is no loop nest here, and how many it has."""

    reason: str
    macs: int


def is_layer(operator: Operator) -> bool:
    """Whether operators of this type are loop nests."""
    return not operator.domain and operator.op in OPERAND_INPUTS


def layer_kind(operator: Operator) -> str:
    """What layers of this type are called: ``conv`` or ``gemm``."""
    return "conv" if operator.op in CONVOLUTIONS else "gemm"


def layer_nest(operator: Operator, shapes: GraphShapes, name: str) -> LoopNest | Unmappable:
    """The loop nest of a layer, its operands indexed as ONNX stores them.

    Raises: InputError if a shape is unknown, sizes contradict each other or the nest is too large.
    """
    data, weights = (_sizes(operator, place, shapes) for place in OPERAND_INPUTS[operator.op])
    if operator.op in CONVOLUTIONS:
        built = _convolution(operator, shapes.source, name, data, weights)
    elif operator.op == "Gemm":
        built = _gemm(operator, shapes.source, name, data, weights)
    else:
        built = _matrix_product(operator, shapes.source, name, data, weights)
    if isinstance(built, LoopNest):
        _check_size(built, operator, shapes.source)
    return built


def integers(operator: Operator, attribute: str, default: tuple[int, ...], source: str) -> tuple[int, ...]:
    """An attribute of integers, as many as the default has.

    Raises: InputError if it is of another type or length, or holds a number beyond 2^31.
    """
    entry = next((entry for entry in operator.node.attribute if entry.name == attribute), None)
    if entry is None:
        return default
    kinds = onnx.AttributeProto
    values = tuple(entry.ints) if entry.type == kinds.INTS else (entry.i,) if entry.type == kinds.INT else ()
    if len(values) != len(default) or any(abs(value) > LARGEST_SIZE for value in values):
        raise InputError(source, operator.field(), f"{attribute} must be {len(default)} integers up to 2^31")
    return values


def _sizes(operator: Operator, place: int, shapes: GraphShapes) -> tuple[int, ...]:
    if place >= len(operator.node.input) or not operator.node.input[place]:
        raise InputError(shapes.source, operator.field(), f"lacks input {place}; repair the graph")
    return shapes.sizes(operator.node.input[place], operator)


def _convolution(
    operator: Operator, source: str, name: str, data: tuple[int, ...], weights: tuple[int, ...]
) -> LoopNest | Unmappable:
    """``data`` is N, C, spatial axes; ``weights`` is M, C / groups, kernel axes."""
    rank = len(weights) - 2
    if rank < 1 or len(data) != rank + 2:
        raise InputError(source, operator.field(), f"cannot convolve {list(data)} with {list(weights)}")
    kernel = weights[2:]
    if integers(operator, "kernel_shape", kernel, source) != kernel:
        raise InputError(source, operator.field(), f"kernel_shape is not that of its weights, {list(kernel)}")
    (groups,) = integers(operator, "group", (1,), source)
    if groups < 1 or weights[1] * groups != data[1] or weights[0] % groups:
        remedy = f"{data[1]} channels do not fit weights {list(weights)} in {groups} groups"
        raise InputError(source, operator.field(), remedy)
    strides = integers(operator, "strides", (1,) * rank, source)
    dilations = integers(operator, "dilations", (1,) * rank, source)
    if min(*strides, *dilations, 1) < 1:
        raise InputError(source, operator.field(), "strides and dilations must be positive")
    shape = Convolution(
        data[0],
        weights[0],
        data[1],
        data[2:],
        kernel,
        strides,
        dilations,
        resolved_pads(operator, source, data[2:], kernel, strides, dilations),
        groups,
    )
    if min(shape.output_size) < 1:
        raise InputError(
            source, operator.field(), f"its kernel {list(kernel)} is larger than its padded input"
        )
    if rank > len(AXES):
        macs = shape.batch * weights[0] * weights[1] * math.prod(kernel) * math.prod(shape.output_size)
        return Unmappable(f"a convolution over more than {len(AXES)} axes", macs)
    return convolution_nest(name, shape)


def resolved_pads(
    operator: Operator,
    source: str,
    sizes: tuple[int, ...],
    kernel: tuple[int, ...],
    strides: tuple[int, ...],
    dilations: tuple[int, ...],
) -> tuple[tuple[int, int], ...]:
    """(begin, end) per axis of a convolution or pool. SAME pads so that the output has ceil(size / stride)
    elements, the odd one at the end (SAME_UPPER) or the beginning (SAME_LOWER).

    Raises: InputError if pads are negative, not as many as needed, or ``auto_pad`` is unknown.
    """
    rank = len(sizes)
    mode = next((entry.s for entry in operator.node.attribute if entry.name == "auto_pad"), b"NOTSET")
    if mode in (b"NOTSET", b""):
        flat = integers(operator, "pads", (0,) * 2 * rank, source)
        if min(flat) < 0:
            raise InputError(source, operator.field(), "pads must not be negative; crop before it")
        return tuple(zip(flat[:rank], flat[rank:], strict=True))
    if mode == b"VALID":
        return ((0, 0),) * rank
    if mode not in (b"SAME_UPPER", b"SAME_LOWER"):
        raise InputError(
            source, operator.field(), f"auto_pad {mode[:20]!r} is not SAME_UPPER, SAME_LOWER or VALID"
        )
    pads = []
    for size, width, stride, dilation in zip(sizes, kernel, strides, dilations, strict=True):
        outputs = -(-size // stride)
        total = max((outputs - 1) * stride + dilation * (width - 1) + 1 - size, 0)
        less, more = total // 2, total - total // 2
        pads.append((less, more) if mode == b"SAME_UPPER" else (more, less))
    return tuple(pads)


def _gemm(
    operator: Operator, source: str, name: str, first: tuple[int, ...], second: tuple[int, ...]
) -> LoopNest:
    if len(first) != 2 or len(second) != 2:
        raise InputError(
            source, operator.field(), f"needs two matrices, not {list(first)} and {list(second)}"
        )
    (swap_a,), (swap_b,) = (integers(operator, key, (0,), source) for key in ("transA", "transB"))
    rows, depth = reversed(first) if swap_a else first
    inner, columns = reversed(second) if swap_b else second
    if depth != inner:
        raise InputError(source, operator.field(), f"cannot multiply {list(first)} by {list(second)}")
    return matrix_product_nest(name, (), rows, columns, depth, transposed=(bool(swap_a), bool(swap_b)))


def _matrix_product(
    operator: Operator, source: str, name: str, first: tuple[int, ...], second: tuple[int, ...]
) -> LoopNest | Unmappable:
    """numpy's ``matmul``: vectors count as one row or column, leading axes are broadcast."""
    a = (1, *first) if len(first) == 1 else first
    b = (*second, 1) if len(second) == 1 else second
    if not first or not second or a[-1] != b[-2]:
        raise InputError(source, operator.field(), f"cannot multiply {list(first)} by {list(second)}")
    rank = max(len(a), len(b)) - 2
    lead_a, lead_b = ((1,) * (rank + 2 - len(factor)) + factor[:-2] for factor in (a, b))
    if any(x != y and 1 not in (x, y) for x, y in zip(lead_a, lead_b, strict=True)):
        raise InputError(source, operator.field(), f"cannot broadcast {list(first)} with {list(second)}")
    batch = tuple(max(x, y) for x, y in zip(lead_a, lead_b, strict=True))
    if rank > MOST_BATCH_AXES:
        macs = math.prod(batch) * a[-2] * a[-1] * b[-1]
        return Unmappable(f"a matrix product over more than {MOST_BATCH_AXES} batch axes", macs)
    return matrix_product_nest(
        name,
        batch,
        a[-2],
        b[-1],
        a[-1],
        [_absent(axis, rank, b, batch) for axis in range(rank)],
        shared_a=[_absent(axis, rank, a, batch) for axis in range(rank)],
    )


def _absent(axis: int, rank: int, factor: tuple[int, ...], batch: tuple[int, ...]) -> bool:
    """Whether a factor lacks a batch axis: it has fewer axes, or repeats its one slice along this one."""
    own = axis - (rank + 2 - len(factor))
    return own < 0 or factor[own] != batch[axis]


def _check_size(nest: LoopNest, operator: Operator, source: str) -> None:
    largest = max(max(nest.trip_counts.values()), *(max(operand.extents) for operand in nest.operands))
    words = max(math.prod(operand.extents) for operand in nest.operands)
    if max(nest.iterations, words) > MOST_ITERATIONS or largest > LARGEST_SIZE:
        remedy = (
            f"{nest.iterations:.0e} iterations over {words:.0e} words is beyond this program; lower its sizes"
        )
        raise InputError(source, operator.field(), remedy)
