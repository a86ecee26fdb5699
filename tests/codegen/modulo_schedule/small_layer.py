"""Small layers, covers of their nests with remainders in every loop, and their operands as memory holds them."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

from mapper.arch.cgra import CgraMachine
from mapper.formulations.modulo_schedule.network.program.cover import CoverSearch, Sizes
from mapper.models.modulo_schedule.network.algorithm import IM2ROW, Algorithm
from mapper.models.modulo_schedule.network.nest import Box, Nest
from mapper.models.modulo_schedule.network.way.layer import algorithms
from mapper.models.modulo_schedule.network.winograd import WINOGRAD
from mapper.workloads.network.network_layer import LayerInput, NetworkLayer, Work
from mapper.workloads.network.operator_network import Attribute, NetworkOperator, Shape, Window
from mapper.workloads.reference.window import output_sizes

Words = npt.NDArray[np.float32]
LARGEST_BODY = 24


def window_of(kernel: int, stride: int = 1, pad: int = 0, **options: Any) -> Window:
    """A square window."""
    dilation = options.pop("dilation", 1)
    return Window((kernel,) * 2, (stride,) * 2, ((pad, pad),) * 2, (dilation,) * 2, **options)


def activation(op: str, **attributes: Attribute) -> NetworkOperator:
    return NetworkOperator("act", "act", op, ("y",), ("z",), attributes=tuple(attributes.items()))


def layer_of(
    work: Work,
    op: str,
    shape: Shape,
    output: Shape,
    weights: tuple[tuple[str, Shape], ...] = (),
    window: Window | None = None,
    merged: NetworkOperator | None = None,
    attributes: tuple[tuple[str, Attribute], ...] = (),
) -> NetworkLayer:
    """A layer that reads ``x``, in both operands if it adds elements."""
    inputs = ("x", "other") if work == "elementwise" else ("x",)
    operands = (*inputs, *(name for name, _ in weights))
    operator = NetworkOperator("layer", "layer", op, operands, ("y",), weights, window, attributes)
    given = tuple(LayerInput(name, shape, name, None) for name in inputs)
    tensor = "z" if merged else "y"
    return NetworkLayer(operator, work, given, ((tensor, output),), (merged,) if merged else ())


def convolution_layer(
    shape: Shape, filters: int, window: Window, merged: NetworkOperator | None = None, bias: bool = True
) -> NetworkLayer:
    weights: list[tuple[str, Shape]] = [("w", (filters, shape[1] // window.groups, *window.kernel))]
    weights += [("b", (filters,))] if bias else []
    output = (shape[0], filters, *output_sizes(shape[2:], window))
    return layer_of("convolution", "Conv", shape, output, tuple(weights), window, merged)


def pool_layer(op: str, shape: Shape, window: Window, output: tuple[int, ...] | None = None) -> NetworkLayer:
    work: Work = "max_pool" if op == "MaxPool" else "average_pool"
    sizes = output or output_sizes(shape[2:], window)
    return layer_of(work, op, shape, (*shape[:2], *sizes), window=window)


def product_layer(rows: int, depth: int, columns: int, merged: NetworkOperator | None = None) -> NetworkLayer:
    """A fully connected layer whose matrix lies as (columns, depth)."""
    weights: tuple[tuple[str, Shape], ...] = (("w", (columns, depth)), ("b", (columns,)))
    attributes: tuple[tuple[str, Attribute], ...] = (("transB", 1), ("alpha", 1.0), ("beta", 1.0))
    return layer_of(
        "fully_connected", "Gemm", (rows, depth), (rows, columns), weights, None, merged, attributes
    )


def product_of_two(
    first: Shape, second: Shape, output: Shape, op: str = "MatMul", **attributes: Attribute
) -> NetworkLayer:
    """A product whose factors are both data."""
    operator = NetworkOperator(
        "layer", "layer", op, ("x", "other"), ("y",), attributes=tuple(attributes.items())
    )
    given = tuple(LayerInput(name, shape, name, None) for name, shape in (("x", first), ("other", second)))
    return NetworkLayer(operator, "matrix_product", given, (("y", output),))


def drawn_cover(nest: Nest, innermost: str, seed: int) -> tuple[Box, ...]:
    """Boxes that cover the nest, by weights that only depend on the seed: factors that divide nothing win too."""

    def weigh(main: Sizes, factors: Sizes) -> int | None:
        size = 1
        for factor in factors:
            size *= factor
        if size > LARGEST_BODY:
            return None
        return zlib.crc32(repr((seed, main, factors)).encode()) % 100 - 20

    return CoverSearch(nest, innermost, weigh).ranked(1)[0].boxes


def driven(layer: NetworkLayer, machine: CgraMachine) -> tuple[Algorithm, ...]:
    """The layer's algorithms in which VLIW mode lays out what the nests read, if anybody has to."""
    found = algorithms(layer, machine)
    return tuple(one for one in found if one.im2col != "array" and one.name not in WINOGRAD)


def im2col(padded: Words, window: Window, rows: int, columns: int) -> Words:
    """(channels * kernel rows * kernel columns, positions) of one image and group."""
    (down, right), (dilated, dilation) = window.strides, window.dilations
    parts = [
        channel[
            r * dilated : r * dilated + (rows - 1) * down + 1 : down,
            q * dilation : q * dilation + (columns - 1) * right + 1 : right,
        ].reshape(-1)
        for channel in padded
        for r in range(window.kernel[0])
        for q in range(window.kernel[1])
    ]
    return np.stack(parts)


def im2row(padded: Words, window: Window, rows: int, pitch: int, words: int) -> Words:
    """Per channel and output row ``pitch * stride`` columns of ``kernel rows`` words; words that no window of the
    output covers are NaN, as are those after the last row that straddling windows need, to make ``words`` in all."""
    height, stride = window.kernel[0], window.strides[1]
    laid = np.full((len(padded), rows, pitch * stride, height), np.nan, np.float32)
    for row in range(rows):
        band = padded[:, row * stride : row * stride + height, : pitch * stride]
        laid[:, row, : band.shape[2]] = band.swapaxes(1, 2)
    tail = np.full(max(0, words - laid.size), np.nan, np.float32)
    return np.concatenate([laid.reshape(-1), tail])


def weights_by_column(weights: Words) -> Words:
    """Weights of (filters, channels, rows, columns) as optCGRA's kernels take them."""
    return np.ascontiguousarray(weights.swapaxes(2, 3))


def pitch_of(algorithm: Algorithm, rows: int) -> int:
    """Positions that lie side by side in one row: those of the outputs, and what straddles the row's end."""
    assert algorithm.name == IM2ROW
    return algorithm.nests[1].extents["l"] // rows
