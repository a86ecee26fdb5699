"""Networks as a TCPA runs them: layers that stream pixels to each other in raster order [Heidorn2019, sec. 3]."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from mapper.models.pe_allocation.stream.way import JOINED, Way, after, enlarged
from mapper.workloads.document import InputError
from mapper.workloads.network.network_layer import LayerNetwork, NetworkLayer

Pair = tuple[int, int]
Operation = Literal["convolution", "pool", "elementwise"]

ON_ARRAY: dict[str, Operation] = {
    "convolution": "convolution",
    "transposed_convolution": "convolution",
    "max_pool": "pool",
    "average_pool": "pool",
    "elementwise": "elementwise",
    "activation": "elementwise",
    "batch_normalization": "elementwise",
}
"""Which work the array does, and on which functional units."""


@dataclass(frozen=True)
class StreamLayer:
    """One layer of the array, with the paper's letters where it has some [Heidorn2019, sec. 3.1].

    ``filters`` M and ``depth`` N: output maps, and input maps that one of them reads (of its group). As in the
    paper's calculus a pool has M = 1 and N = its maps; an element-wise layer has M = its maps and N = its
    operands. ``size`` R x C of each input, ``output_size``; ``kernel``, ``strides``, ``dilations`` by rows and
    columns; ``pads`` above and left of the image. A global pool strides by its whole window. ``channels`` are
    the maps of each input, ``maps`` those that leave. ``feeds``: positions of the layers whose pixels it reads
    (concatenations and what runs on the processor passed through), in order; empty if it reads the frame only.
    ``op``: the operator's type, which says what a pool or an element-wise layer computes; ``merged``: the types of
    the operators merged into it. ``spread``: of a transposed convolution, whose windows slide over its input with zeros
    after each row and column, so that ``size`` has so many times as many; else (1, 1).
    """

    name: str
    source: str
    operation: Operation
    filters: int
    depth: int
    size: Pair
    output_size: Pair
    kernel: Pair
    strides: Pair
    dilations: Pair
    pads: Pair
    channels: int
    maps: int
    groups: int
    feeds: tuple[int, ...]
    macs: int
    op: str = ""
    merged: tuple[str, ...] = ()
    spread: Pair = (1, 1)

    @property
    def window(self) -> int:
        """K^2: products (comparisons, additions) of one window and map."""
        return self.kernel[0] * self.kernel[1]

    @property
    def new_pixels(self) -> int:
        """F = min(K^2, S^2): pixels that each window needs beyond those of the one before (Eq. 7)."""
        return min(self.window, self.strides[0] * self.strides[1])

    @property
    def positions(self) -> int:
        """Pixels of one output map."""
        return self.output_size[0] * self.output_size[1]

    @property
    def pixels(self) -> int:
        """Pixels of one input map."""
        return self.size[0] * self.size[1]

    @property
    def weight_words(self) -> int:
        """B^w = M*N*K^2 of a convolution; other layers have no weights [Heidorn2019, sec. 5.3]."""
        return self.filters * self.depth * self.window if self.operation == "convolution" else 0

    def stretch(self, feed: StreamLayer) -> Pair:
        """How often each row and column of what ``feed`` makes is counted among those that this layer's windows slide
        over: more than once after nearest upsampling, before the windows of a transposed convolution (``spread``), and
        of a map of one pixel that goes with every position, such as a gate."""
        (high, wide), (rows, columns) = self.size, feed.output_size
        return max(1, high // rows), max(1, wide // columns)

    @property
    def reach(self) -> Pair:
        """Rows and columns that a window spans, dilation included."""
        (high, wide), (down, across) = self.kernel, self.dilations
        return (high - 1) * down + 1, (wide - 1) * across + 1


@dataclass(frozen=True)
class HostLayer:
    """An operator that runs on the tile's processor, outside latency and throughput [Heidorn2019, sec. 5]."""

    name: str
    op: str
    reason: str
    macs: int


@dataclass(frozen=True)
class StreamNetwork:
    """Layers of the array in topological order, and what runs on the processor."""

    name: str
    layers: tuple[StreamLayer, ...]
    host: tuple[HostLayer, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(layer.name for layer in self.layers)

    @property
    def macs(self) -> int:
        """Multiply-accumulates of the array's layers for one frame."""
        return sum(layer.macs for layer in self.layers)

    @cached_property
    def readers(self) -> tuple[tuple[int, ...], ...]:
        """For every layer the positions of those that read it."""
        found: list[list[int]] = [[] for _ in self.layers]
        for position, layer in enumerate(self.layers):
            for feed in layer.feeds:
                found[feed].append(position)
        return tuple(map(tuple, found))

    @cached_property
    def sinks(self) -> tuple[int, ...]:
        """Layers that no other layer of the array reads."""
        return tuple(position for position, readers in enumerate(self.readers) if not readers)


def stream_network(network: LayerNetwork) -> StreamNetwork:
    """The layers of ``network`` that a TCPA runs, and those it leaves to the processor.

    Raises: InputError if no layer is one for the array, images come in batches, or a layer reads maps that are no
    stream of pixels.
    """
    layers: list[StreamLayer] = []
    host: list[HostLayer] = []
    passed: dict[str, tuple[Way, ...]] = {}
    for layer in network.layers:
        ways = tuple(dict.fromkeys(way for feed in layer.feeds for way in passed[feed]))
        if layer.work in ON_ARRAY and len(layer.output_shape) == 4 and not _is_cropped(layer):
            made = _stream_layer(layer, tuple(sorted({way.feed for way in ways})))
            for way in ways:
                size = (made.size[0] // made.spread[0], made.size[1] // made.spread[1])
                way.refuse_other(network.name, made.name, size)
            passed[layer.name] = (Way(len(layers), made.name, made.output_size, made.output_size),)
            layers.append(made)
            continue
        passed[layer.name] = tuple(after(layer, way) for way in ways)
        if layer.work != JOINED and enlarged(layer) is None:
            reason = "runs on the tile's processor, outside the array's latency and throughput"
            host.append(HostLayer(layer.name, layer.op, reason, layer.macs))
    if not layers:
        remedy = "has no convolution, pool or element-wise layer of images; give a network that has one"
        raise InputError(network.name, "layers", remedy)
    return StreamNetwork(network.name, tuple(layers), tuple(host))


def _is_cropped(layer: NetworkLayer) -> bool:
    """Whether the pads of a transposed convolution cut rows or columns off its input."""
    if layer.work != "transposed_convolution" or layer.operator.window is None:
        return False
    window = layer.operator.window
    spans = (dilation * (size - 1) for size, dilation in zip(window.kernel, window.dilations, strict=True))
    return any(span < begin for span, (begin, _) in zip(spans, window.pads, strict=True))


def _stream_layer(layer: NetworkLayer, feeds: tuple[int, ...]) -> StreamLayer:
    images, channels, rows, columns = _image(layer, layer.inputs[0].shape)
    _, maps, high, wide = _image(layer, layer.output_shape)
    if images != 1:
        remedy = f"has a batch of {images}; frames are streamed one after another: give --batch 1"
        raise InputError(layer.name, "images", remedy)
    operation = ON_ARRAY[layer.work]
    merged = tuple(operator.op for operator in layer.merged)
    window = layer.operator.window
    if window is None:
        # One word a map and operand, pixel by pixel.
        operands = len(layer.inputs)
        return StreamLayer(
            layer.name, layer.source, operation, maps, operands, (high, wide), (high, wide),
            (1, 1), (1, 1), (1, 1), (0, 0), channels, maps, 1, feeds, 0, layer.op, merged,
        )  # fmt: skip
    kernel = (window.kernel[0], window.kernel[1])
    strides = (window.strides[0], window.strides[1])
    pads = (window.pads[0][0], window.pads[1][0])
    spread = (1, 1)
    if layer.work == "transposed_convolution":
        # The convolution of the map with zeros between its pixels, by the kernel turned round.
        reach = [dilation * (size - 1) for size, dilation in zip(kernel, window.dilations, strict=True)]
        spread, strides, pads = strides, (1, 1), (reach[0] - pads[0], reach[1] - pads[1])
    if operation == "pool" and (high, wide) == (1, 1):
        strides = kernel
    groups = window.groups if operation == "convolution" else 1
    filters, depth = (maps, channels // groups) if operation == "convolution" else (1, channels)
    return StreamLayer(
        layer.name, layer.source, operation, filters, depth, (rows * spread[0], columns * spread[1]),
        (high, wide), kernel, strides, (window.dilations[0], window.dilations[1]), pads,
        channels, maps, groups, feeds, layer.macs, layer.op, merged, spread,
    )  # fmt: skip


def _image(layer: NetworkLayer, shape: tuple[int, ...]) -> tuple[int, int, int, int]:
    if len(shape) != 4:
        raise InputError(
            layer.name, layer.op, "is not on images of rows and columns; the array streams those"
        )
    return shape[0], shape[1], shape[2], shape[3]
