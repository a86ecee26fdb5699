"""im2col and im2row as loops on the array: a convolution's input laid out as its sums read it [Bae2018, sec. IV-A].

A window that may leave the input is read from planes with the padding around them, which VLIW mode copies before; an
input without padding is read where it lies.
"""

from __future__ import annotations

import math

from mapper.models.modulo_schedule.network.nest import Access, Nest
from mapper.workloads.network.network_layer import NetworkLayer

Pair = tuple[int, int]


def gathering(layer: NetworkLayer, sliding: Nest | None) -> tuple[Nest, int]:
    """The nest that fills the buffer ``b`` from ``in``, and the words of the padded planes that it reads, 0 if these
    are the input itself. im2row for the optCGRA nest ``sliding``, im2col without one."""
    shape, planes = layer.convolution, padded_plane(layer, sliding)
    channels, plane = shape.in_channels // shape.groups, math.prod(planes)
    repeats = shape.batch * shape.groups
    padded = 0 if planes == _two(shape.input_size) else repeats * channels * plane
    kernel, (down, right) = _two(shape.kernel), _two(shape.strides)
    rows, columns = _two(shape.output_size)
    loops: tuple[tuple[str, int], ...]
    filled: tuple[int, ...]
    read: tuple[int, ...]
    rolled: tuple[str, ...]
    if sliding is None:
        spread, positions = _two(shape.dilations), rows * columns
        loops = (("c", channels), ("r", kernel[0]), ("q", kernel[1]), ("y", rows), ("x", columns))
        filled = (math.prod(kernel) * positions, kernel[1] * positions, positions, columns, 1)
        read = (plane, spread[0] * planes[1], spread[1], down * planes[1], right)
        name, rolled = "im2col", ("r", "q")
    else:
        across = planes[1]
        loops = (("c", channels), ("y", rows), ("r", kernel[0]), ("x", across))
        filled = (rows * across * kernel[0], across * kernel[0], 1, kernel[0])
        read = (plane, down * across, across, 1)
        name, rolled = "im2row", ("r",)
    names = [loop for loop, _ in loops]
    output = Access("b", tuple(zip(names, filled, strict=True)))
    source = Access("in", tuple(zip(names, read, strict=True)))
    return Nest(name, loops, "copy", output, (source,), repeats, rolled=rolled), padded


def padded_plane(layer: NetworkLayer, sliding: Nest | None) -> Pair:
    """Height and width of the planes that are read: the input with its padding, its rows in whole steps for optCGRA."""
    shape = layer.convolution
    pads = [sum(pad) for pad in shape.pads]
    above, beside = (0, pads[0]) if len(pads) == 1 else (pads[0], pads[1])
    height, width = _two(shape.input_size)
    if sliding is None:
        return height + above, width + beside
    stride = _two(shape.strides)[1]
    return height + above, sliding.loops[-1][1] // _two(shape.output_size)[0] * stride


def _two(sizes: tuple[int, ...]) -> Pair:
    """A plane's sizes; a convolution over one axis has a single row."""
    return (1, sizes[0]) if len(sizes) == 1 else (sizes[0], sizes[1])
