"""One convolution as its control step runs it: layout, products, accumulation, in integers of any size."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from mapper.models.algorithm_selection.control.sequence import ConvolutionStep
from mapper.models.algorithm_selection.control.walk import rounds
from mapper.models.algorithm_selection.gemm_call import GemmCall
from mapper.sim.algorithm_selection.address import Integers, to_map
from mapper.sim.algorithm_selection.winograd import restored_tiles, transformed_data, transformed_kernels

EXACT = 1 << 53
"""Doubles hold every integer below."""


def convolve(step: ConvolutionStep, matrix: Integers, kernels: Integers) -> Integers:
    """Sums (O1, O2, maps) of one image whose input lies as ``matrix`` in the Input Buffer (``step.walk``); ``kernels``
    are (k1, k2, channels of a group, maps)."""
    data, weights = operands(step, matrix, kernels)
    return assembled(step, (multiply(call, data, weights) for call in step.calls))


def operands(step: ConvolutionStep, matrix: Integers, kernels: Integers) -> tuple[Integers, Integers]:
    """What the array reads: the Input and the Kernel Buffer's matrices after the linear transforms of Winograd."""
    if step.m == 0:
        return matrix, kernels.reshape(step.weight_rows, step.weight_columns)
    pieces = rounds(step.shape)[0] * rounds(step.shape)[1]
    return transformed_data(matrix, pieces, step.m), transformed_kernels(kernels, step.m)


def assembled(step: ConvolutionStep, products: Iterable[Integers]) -> Integers:
    """Sums (O1, O2, maps) of the products of ``step.calls``."""
    buffer = np.zeros((step.output_rows, step.output_columns), np.int64)
    for call, product in zip(step.calls, products, strict=True):
        _add(step, call, buffer, product)
    if step.restore is None:
        return buffer.reshape(*step.shape.output_size, -1)
    return to_map(step.restore, restored_tiles(buffer, step.m))[0]


def multiply(call: GemmCall, matrix: Integers, weights: Integers) -> Integers:
    """The product of one call.

    numpy multiplies integers without BLAS, some thirty times slower than doubles. Doubles give the same numbers: no
    partial sum, in whatever order, exceeds depth * largest factor * largest factor, and below 2^53 every integer is a
    double, so that nothing is ever rounded. The bound is tested before each product.

    Raises: OverflowError if the bound does not hold.
    """
    left = matrix[call.input_row : call.input_row + call.a, call.input_column : call.input_column + call.b]
    right = weights[
        call.weight_row : call.weight_row + call.b, call.weight_column : call.weight_column + call.c
    ]
    if call.b * _largest(left) * _largest(right) >= EXACT:
        raise OverflowError(f"a product of depth {call.b} may leave the integers that doubles hold")
    return np.asarray(left.astype(np.float64) @ right.astype(np.float64)).astype(np.int64)


def _add(step: ConvolutionStep, call: GemmCall, buffer: Integers, product: Integers) -> None:
    if call.patch is None or call.shift is None:
        place = buffer[
            call.output_row : call.output_row + call.a, call.output_column : call.output_column + call.c
        ]
        place[:] = place + product if call.accumulate else product
        return
    # Pad-and-Accumulate: only the part of the shifted patch that overlaps the output counts.
    rows, columns = step.shape.output_size
    (down, right), patch = call.shift, product.reshape(*call.patch, -1)
    output = buffer.reshape(rows, columns, -1)
    top, left = max(down, 0), max(right, 0)
    bottom, end = min(rows, call.patch[0] + down), min(columns, call.patch[1] + right)
    if top < bottom and left < end:
        output[top:bottom, left:end, call.output_column : call.output_column + call.c] += patch[
            top - down : bottom - down, left - right : end - right
        ]


def _largest(values: Integers) -> int:
    return max(abs(int(values.max(initial=0))), abs(int(values.min(initial=0))))
