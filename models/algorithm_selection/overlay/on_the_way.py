"""Max pools that take a layer's results on their way to DRAM [Meng2021, sec. 3.4], so that the map between is not
stored."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from mapper.models.algorithm_selection.overlay.lying import joined
from mapper.models.algorithm_selection.overlay.running import pools
from mapper.workloads.network.network_layer import LayerNetwork, NetworkLayer

LINES, LANES, WINDOW = 512, 64, 3
"""Words that the pooling unit of a lane keeps, at so many lanes, of windows of so many rows; at fewer lanes all of them
together keep no more."""


@dataclass(frozen=True)
class Pooled:
    """The pool called ``name``: ``kernel`` (rows, columns) at ``stride`` over maps of ``size`` with their padding,
    which begin so many rows and columns before the map (``before``); it makes maps of ``out``."""

    name: str
    kernel: tuple[int, int]
    stride: int
    before: tuple[int, int]
    size: tuple[int, int]
    out: tuple[int, int]

    def taken(self, first: int, end: int, height: int) -> tuple[int, int]:
        """First and end of the padded rows that rows ``first`` to ``end`` of a map of ``height`` are, with the padding
        above and below it."""
        begin = first + self.before[0] if first else 0
        return begin, self.size[0] if end == height else min(end + self.before[0], self.size[0])

    def done(self, rows: int) -> int:
        """Rows of the pool that so many padded rows make."""
        return max(0, (rows - self.kernel[0]) // self.stride + 1)

    def suits(self, height: int, count: int) -> bool:
        """Whether each of so many pieces of a map makes a row of the pool, as a stream that writes nothing has no
        end."""
        marks = [height * number // count for number in range(count + 1)]
        spans = (self.taken(marks[at], marks[at + 1], height) for at in range(count))
        return all(self.done(end) > self.done(begin) for begin, end in spans)


def pooled(network: LayerNetwork) -> dict[str, Pooled]:
    """By convolution: the max pool right after it that alone reads its results, whose lines the pooling units hold."""
    aliased, outside = joined(network), {one.memory for one in network.outputs}
    readers = [one.memory for layer in network.layers for one in layer.inputs]
    return {
        first.name: _pooled(second)
        for first, second in zip(network.layers, network.layers[1:], strict=False)
        if first.work == "convolution"
        and pools(second)
        and not second.merged
        and readers.count(first.output) == 1
        and first.output not in outside
        and first.output not in aliased
        and _reads(first, second, network.operators.tensors)
        and _fits(second)
    }


def _reads(first: NetworkLayer, second: NetworkLayer, tensors: Mapping[str, tuple[int, ...]]) -> bool:
    """Whether a pool reads all that a convolution makes, in its own shape."""
    one = second.inputs[0]
    return (
        len(first.outputs) == len(second.inputs) == 1
        and one.memory == first.output
        and one.shape == first.output_shape == tensors[one.memory]
    )


def _fits(layer: NetworkLayer) -> bool:
    made, channels = _pooled(layer), layer.inputs[0].shape[1]
    words = made.size[1] * math.ceil(channels / LANES) * max(WINDOW, *made.kernel)
    return words <= LINES * WINDOW and made.done(made.size[0]) > 0


def _pooled(layer: NetworkLayer) -> Pooled:
    window, (down, across) = layer.window, layer.output_shape[2:]
    stride, (high, wide) = window.strides[0], window.kernel
    size = ((down - 1) * stride + high, (across - 1) * stride + wide)
    return Pooled(
        layer.name, (high, wide), stride, (window.pads[0][0], window.pads[1][0]), size, (down, across)
    )
