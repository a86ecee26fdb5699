"""Windows of convolutions and pools as the accelerator has them: two axes, pads as far as the last window reaches."""

from __future__ import annotations

from dataclasses import dataclass

from mapper.models.trace_partition.lowering.view import Geometry
from mapper.workloads.document import InputError
from mapper.workloads.network.network_layer import NetworkLayer

Pair = tuple[int, int]


@dataclass(frozen=True)
class TraceWindow:
    """``TraceLayer``'s fields of the same names."""

    kernel: Pair
    stride: Pair
    dilation: Pair
    upsample: Pair
    pads: tuple[Pair, Pair]


def trace_window(layer: NetworkLayer, given: Geometry, made: Geometry) -> TraceWindow:
    """The window of a convolution, transposed convolution or pool of one or two axes from a map ``given`` to one
    ``made``.

    Raises: InputError for pads that cut the map.
    """
    window = layer.window
    kernel, strides, dilations = map(_pair, (window.kernel, window.strides, window.dilations))
    begins = _pair(tuple(begin for begin, _ in window.pads), 0)
    upsample = (1, 1)
    if layer.work == "transposed_convolution":
        # The convolution of the spread map by the kernel turned round.
        reach = [step * (size - 1) for step, size in zip(dilations, kernel, strict=True)]
        begins = (reach[0] - begins[0], reach[1] - begins[1])
        upsample, strides = strides, (1, 1)
    if min(begins) < 0 or any(min(pair) < 0 for pair in window.pads):
        raise InputError(layer.name, layer.op, "has pads that cut its input; put a Slice before it")
    sizes = tuple(
        (size - 1) * step + 1 for size, step in zip((given.height, given.width), upsample, strict=True)
    )
    ends = [
        max(0, (count - 1) * stride + dilation * (width - 1) + 1 - size - begin)
        for count, stride, dilation, width, size, begin in zip(
            (made.height, made.width), strides, dilations, kernel, sizes, begins, strict=True
        )
    ]
    pads = ((begins[0], ends[0]), (begins[1], ends[1]))
    return TraceWindow(kernel, strides, dilations, upsample, pads)


def _pair(values: tuple[int, ...], missing: int = 1) -> Pair:
    """Values per axis; what has one axis is a map of one row."""
    return (missing, values[0]) if len(values) == 1 else (values[0], values[1])
