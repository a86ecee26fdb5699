"""How maps come from one layer of the array to the next.

Between two layers of the array a map may be joined with others, have its channels chosen or reordered, be enlarged by
the nearest pixel, and pass operators of the processor that compute pixel by pixel. Whatever moves pixels in another way
is no stream in raster order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from mapper.workloads.document import InputError
from mapper.workloads.network.network_layer import NetworkLayer
from mapper.workloads.network.resize import nearest_factors
from mapper.workloads.reference.movement import has_movement, moved

Pair = tuple[int, int]
JOINED = "concatenation"
BY_PIXEL = frozenset({JOINED, "lrn", "activation", "elementwise", "batch_normalization"})
"""Work that makes a pixel of the pixels at the same place, if it keeps the size."""


@dataclass(frozen=True)
class Way:
    """Maps on their way: the layer of the array (position and name) that made them, of ``made`` rows and columns, how
    large they are by now, and the operator that has made something else of them than a stream of these pixels."""

    feed: int
    maker: str
    made: Pair
    size: Pair
    broken_by: NetworkLayer | None = None

    def refuse_other(self, source: str, reader: str, size: Pair) -> None:
        """Raises: InputError if a layer whose windows slide over ``size`` rows and columns cannot read the maps as they
        stream. A map of one pixel goes with every position, whatever has been made of it."""
        if self.made == (1, 1) or (self.broken_by is None and self.size == size):
            return
        said = f"reads {_said(size)} pixels of {self.maker}, which makes {_said(self.made)}"
        if self.broken_by is not None:
            between = self.broken_by
            said += f", and {between.name} ({between.op} {between.source[:40]!r}) makes no stream of them"
        remedy = (
            "maps stream in raster order, enlarged by the nearest pixel at most; end the network before it"
        )
        raise InputError(source, reader, f"{said}; {remedy}")


def _said(size: Pair) -> str:
    return f"{size[0]}x{size[1]}"


def after(layer: NetworkLayer, way: Way) -> Way:
    """What becomes of a way at an operator that the array does not run."""
    factors = enlarged(layer)
    if factors is not None:
        return replace(way, size=(way.size[0] * factors[0], way.size[1] * factors[1]))
    if way.broken_by is not None or _keeps_pixels(layer):
        return way
    return replace(way, broken_by=layer)


def enlarged(layer: NetworkLayer) -> Pair | None:
    """How many times as many rows and columns an operator makes that takes the nearest pixel."""
    if layer.work != "movement" or len(layer.output_shape) != 4:
        return None
    factors = nearest_factors(layer.operator, layer.inputs[0].shape, layer.output_shape)
    return None if factors is None or factors[:2] != (1, 1) else (factors[2], factors[3])


def _keeps_pixels(layer: NetworkLayer) -> bool:
    """Whether each pixel of what the operator makes comes of the pixels at the same place in what it reads."""
    if layer.work == "movement":
        return all(_moves_channels(layer, shape) for _, shape in layer.outputs)
    by_channel = layer.work == "softmax" and layer.operator.integers("axes") == (1,)
    shape = layer.output_shape
    return (layer.work in BY_PIXEL or by_channel) and all(
        len(one.shape) == len(shape) == 4 and one.shape[2:] in (shape[2:], (1, 1)) for one in layer.inputs
    )


def _moves_channels(layer: NetworkLayer, shape: tuple[int, ...]) -> bool:
    """Whether pixels stay in raster order, whatever becomes of their channels."""
    given = layer.inputs[0].shape
    pixels = math.prod(shape[-2:])
    if not has_movement(layer) or math.prod(given) % pixels:
        return False
    places = np.arange(math.prod(given), dtype=np.float32).reshape(given) % pixels
    return all(
        np.array_equal(one.reshape(-1) % pixels, np.arange(one.size) % pixels)
        for one in moved(layer, places, {})
    )
