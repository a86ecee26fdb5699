"""What convolutions and pools compute, in single precision with a stated order of additions.

Every output is a chain of float32 additions, each rounded; numpy works on all outputs at once, but the chain of
each is exactly the stated one, with products rounded before they are added (no fused multiply-add).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from mapper.workloads.network.operator_network import Window

Values = npt.NDArray[np.float32]
Order = Literal["gemm", "optcgra"]


def convolution(data: Values, kernel: Values, window: Window, bias: Values | None, order: Order) -> Values:
    """A convolution of any rank; ``data`` is (images, channels, sizes...), ``kernel`` (filters, channels of a
    group, sizes...), ``bias`` (filters,).

    An output starts with its bias, or 0. With ``gemm`` [Bae2018, Fig. 3] the products are added to it one by one:
    channels outside, then the kernel's axes from the first (rows) to the last (columns). With ``optcgra``
    [Bae2018, Fig. 4] the products of one channel's window are summed first, column after column, starting with the
    first product, and that sum is added to the output. Positions in the padding give products with 0.
    """
    images, filters, groups = data.shape[0], kernel.shape[0], window.groups
    depth, positions = kernel.shape[1], list(np.ndindex(*window.kernel))
    output = output_sizes(data.shape[2:], window)
    grouped = data.reshape(images, groups, depth, *data.shape[2:])
    weights = kernel.reshape(groups, filters // groups, depth, *window.kernel)
    total = np.zeros((images, groups, filters // groups, *output), np.float32)
    if bias is not None:
        total += bias.reshape(groups, filters // groups, *(1 for _ in output))
    if order == "optcgra":
        positions = [position[::-1] for position in np.ndindex(*window.kernel[::-1])]
    ones = (1,) * len(output)
    for channel in range(depth):
        padded = _padded(grouped[:, :, channel], window, output, 0.0)
        products = (
            _patch(padded, window, output, position)[:, :, np.newaxis]
            * weights[(..., channel, *position)].reshape(groups, filters // groups, *ones)
            for position in positions
        )
        if order == "optcgra":
            total += _sum(products)
        else:
            for product in products:
                total += product
    return total.reshape(images, filters, *output)


def transposed_convolution(
    data: Values, kernel: Values, window: Window, bias: Values | None, order: Order
) -> Values:
    """The transposed convolution; ``kernel`` is (channels, filters of a group, sizes...).

    It is the convolution, in that function's order, of the data with ``stride - 1`` zeros between neighbours by
    the kernel turned around.
    """
    images, channels, groups = data.shape[0], data.shape[1], window.groups
    sizes = [stride * (size - 1) + 1 for size, stride in zip(data.shape[2:], window.strides, strict=True)]
    spread = np.zeros((images, channels, *sizes), np.float32)
    spread[_along(slice(None, None, stride) for stride in window.strides)] = data
    turned = kernel.reshape(groups, channels // groups, *kernel.shape[1:]).swapaxes(1, 2)
    turned = np.flip(turned, tuple(range(3, turned.ndim)))
    spans = [dilation * (size - 1) for size, dilation in zip(window.kernel, window.dilations, strict=True)]
    more = window.output_pads or (0,) * len(sizes)
    pads = tuple(
        (span - begin, span - end + extra)
        for span, (begin, end), extra in zip(spans, window.pads, more, strict=True)
    )
    cropped = spread[_along(slice(max(-begin, 0), None if end >= 0 else end) for begin, end in pads)]
    kept = tuple((max(begin, 0), max(end, 0)) for begin, end in pads)
    ones = (1,) * len(sizes)
    straight = Window(window.kernel, ones, kept, window.dilations, groups)
    filters = turned.reshape(-1, channels // groups, *window.kernel)
    return convolution(cropped, filters, straight, bias, order)


def max_pool(data: Values, window: Window, output: tuple[int, ...]) -> Values:
    """The largest number of each window by C's ``fmaxf``, in which a NaN loses: rows outside, columns inside,
    from minus infinity on; padding takes no part. ``output`` are the output's sizes per axis."""
    padded = _padded(data, window, output, -np.inf)
    total = np.full((*data.shape[:2], *output), -np.inf, np.float32)
    for position in np.ndindex(*window.kernel):
        total = np.fmax(total, _patch(padded, window, output, position))
    return total


def average_pool(data: Values, window: Window, output: tuple[int, ...]) -> Values:
    """The mean of each window: numbers are added row by row, from 0 on, and the sum is divided once, by how many
    they are (positions in the padding included where ``count_pads`` says so, those beyond it never)."""
    padded = _padded(data, window, output, 0.0)
    total = np.zeros((*data.shape[:2], *output), np.float32)
    for position in np.ndindex(*window.kernel):
        total += _patch(padded, window, output, position)
    return np.asarray(total / counted_positions(window, data.shape[2:], output), np.float32)


def counted_positions(window: Window, sizes: tuple[int, ...], output: tuple[int, ...]) -> Values:
    """(1, 1, *output): how many numbers the mean of each window is of, as ``average_pool`` counts them."""
    inside = np.ones((1, 1, *sizes), np.float32)
    if window.count_pads:
        inside = np.pad(inside, ((0, 0), (0, 0), *window.pads), constant_values=1.0)
        unpadded = Window(
            window.kernel, window.strides, ((0, 0),) * len(output), window.dilations, ceil=window.ceil
        )
        counted = _padded(inside, unpadded, output, 0.0)
    else:
        counted = _padded(inside, window, output, 0.0)
    count = np.zeros((1, 1, *output), np.float32)
    for position in np.ndindex(*window.kernel):
        count += _patch(counted, window, output, position)
    return count


def output_sizes(sizes: tuple[int, ...], window: Window) -> tuple[int, ...]:
    """Sizes of a convolution's output, or of a pool's that rounds down."""
    return tuple(
        (size + sum(pad) - dilation * (width - 1) - 1) // stride + 1
        for size, pad, width, stride, dilation in zip(
            sizes, window.pads, window.kernel, window.strides, window.dilations, strict=True
        )
    )


def _sum(products: Iterator[Values]) -> Values:
    total = next(products)
    for product in products:
        total += product
    return total


def _padded(data: Values, window: Window, output: tuple[int, ...], fill: float) -> npt.NDArray[Any]:
    """The data with padding, so far at the end that the last window of a pool that rounds up fits too."""
    pads = window.covering_pads(data.shape[2:], output)
    return np.pad(data, ((0, 0), (0, 0), *pads), constant_values=fill)


def _patch(
    padded: npt.NDArray[Any], window: Window, output: tuple[int, ...], position: tuple[int, ...]
) -> npt.NDArray[Any]:
    """What lies under one position of the kernel, for all outputs."""
    steps = (
        slice(at * dilation, at * dilation + (count - 1) * stride + 1, stride)
        for at, count, stride, dilation in zip(
            position, output, window.strides, window.dilations, strict=True
        )
    )
    return padded[_along(steps)]


def _along(axes: Iterable[slice]) -> tuple[slice, ...]:
    """Slices of the axes after the first two."""
    return (slice(None), slice(None), *axes)
