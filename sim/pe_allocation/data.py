"""Seeded pixels and weights: whole numbers of 8 bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mapper.models.pe_allocation.configuration.layer_data import Integers as Integers
from mapper.models.pe_allocation.configuration.layer_data import LayerData as LayerData
from mapper.models.pe_allocation.configuration.program import Configuration, LayerProgram
from mapper.sim.pe_allocation.own.processor import Processor

LEAST, MOST = -128, 127
SCALE_BITS = 6
"""Scales of normalisations are multiples of 2^-6."""


@dataclass(frozen=True)
class Data:
    """``frames``: for each layer that reads the frame its pixels, frames x rows x columns x maps; ``layers`` in
    order. ``processor``: what stands between layers of a network with numbers of its own, and knows its frames too;
    None where pixels are passed on as they are."""

    frames: dict[int, Integers]
    layers: tuple[LayerData, ...]
    processor: Processor | None = None


def seeded(configuration: Configuration, frames: int, seed: int) -> Data:
    """Frames and weights of ``configuration``; the same for the same seed, whatever the allocation."""
    pixels: dict[tuple[int, ...], Integers] = {}
    by_layer = {}
    for position, layer in enumerate(configuration.layers):
        if layer.sources[0].feed is None:
            size = (a // b for a, b in zip(layer.size, layer.spread, strict=True))
            shape = (*size, layer.sources[0].maps)
            if shape not in pixels:
                stream = np.random.default_rng([seed, 0, *shape])
                pixels[shape] = stream.integers(LEAST, MOST, (frames, *shape), endpoint=True)
            by_layer[position] = pixels[shape]
    return Data(
        by_layer, tuple(_layer_data(layer, seed, place) for place, layer in enumerate(configuration.layers))
    )


def _layer_data(layer: LayerProgram, seed: int, position: int) -> LayerData:
    stream = np.random.default_rng([seed, 1, position])

    def drawn(least: int, most: int, shape: Any) -> Integers:
        return np.asarray(stream.integers(least, most, shape, endpoint=True))

    if layer.rule != "convolution":
        none = np.zeros(0, dtype=np.int64)
        return LayerData(none, none, drawn(1, 1 << SCALE_BITS, layer.maps), drawn(-16, 16, layer.maps))
    weights = drawn(-MOST, MOST, (layer.filters, layer.depth, *layer.kernel))
    most = 1 << (layer.shift + 4)
    none = np.zeros(0, dtype=np.int64)
    return LayerData(weights, drawn(-most, most, layer.filters), none, none)
