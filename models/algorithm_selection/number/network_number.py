"""The integers of a network on the overlay: what maps in DRAM mean, and each layer's kernels and requantisation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from mapper.workloads.network.network_layer import NetworkLayer

Integers = npt.NDArray[Any]
LOWEST, HIGHEST = -128, 127
UNSIGNED = 128
"""What integers without sign are more: those that onnxruntime makes of all before it computes with them."""


@dataclass(frozen=True)
class Format:
    """What the 8-bit integers of a tensor mean: ``scale`` * (integer - ``zero``). ``offset``: what onnxruntime's
    integers are more (128 for unsigned ones). Without a scale they are numbers of their own."""

    scale: float | None = None
    zero: int = 0
    offset: int = 0

    def integers(self, values: npt.NDArray[Any]) -> Integers:
        """``values`` in this format as onnxruntime's QuantizeLinear has them: halves to even, saturated."""
        scaled = np.rint(values.astype(np.float32) / np.float32(self.scale or 1)).astype(np.int64)
        return np.asarray(np.clip(scaled + self.zero, LOWEST, HIGHEST).astype(np.int8))

    def values(self, integers: Integers) -> npt.NDArray[np.float32]:
        return (integers.astype(np.int32) - self.zero).astype(np.float32) * np.float32(self.scale or 1)


@dataclass(frozen=True)
class Rounding:
    """How sums become 8-bit integers: ((sum + bias) * factor) / 2^``shift``, halves upward, or as single precision
    rounds where ``single``; limited to [``lowest``, ``highest``], which leave the zero point out; what is below zero is
    then taken times ``slope`` / 2^16."""

    shift: int
    lowest: int = LOWEST
    highest: int = HIGHEST
    slope: int = 1 << 16
    single: bool = False


@dataclass(frozen=True, eq=False)
class LayerNumbers:
    """``kernels`` (k1, k2, channels of a group, maps), ``bias`` and ``factor`` of every map. ``sums``: the largest
    magnitude that a sum may have. ``times``: factors of the operands of an addition, and ``zeros`` the zero points
    of those and of its result as the units take them, where they are others than the formats'. ``rounding``: None
    of a layer that only the host has numbers for. ``table``: its results for the integers from -128 on, if it has
    such a form, [256] or a table for each place of its maps [256, ...], of all where an axis is 1."""

    kernels: Integers
    bias: Integers
    factor: Integers
    rounding: Rounding | None
    sums: int | None = None
    times: tuple[int, ...] = ()
    zeros: tuple[int, ...] = ()
    table: Integers | None = None


@dataclass(frozen=True, eq=False)
class NetworkNumbers:
    """``layers`` by name, ``formats`` by tensor (those that are missing are plain integers). ``weights``: the network's
    own by name, none where all numbers are drawn. ``origin`` says where they are from, ``exact`` whether the network
    itself is in integers."""

    layers: Mapping[str, LayerNumbers]
    formats: Mapping[str, Format] = field(default_factory=dict)
    weights: Mapping[str, npt.NDArray[Any]] | None = None
    origin: str = ""
    exact: bool = False

    def zero(self, tensor: str) -> int:
        return self.formats.get(tensor, Format()).zero

    def zeros(self, layer: NetworkLayer) -> tuple[int, ...]:
        """Zero points of a layer's operands and of its result, as the units take them."""
        own = self.layers[layer.name].zeros
        return own or tuple(self.zero(name) for name in (*(one.memory for one in layer.inputs), layer.output))


def requantised(sums: Integers, bias: Integers, factor: Integers, rounding: Rounding) -> Integers:
    """8-bit integers, zero point apart, of ``sums`` whose second axis are maps."""
    along = (1, -1) + (1,) * (sums.ndim - 2)
    whole = sums.astype(np.int64) + bias.reshape(along)
    if rounding.single:
        # A factor of at most 24 significant bits over a power of two is a number of single precision.
        scale = (factor.astype(np.float64) / 2.0**rounding.shift).astype(np.float32).reshape(along)
        product = whole.astype(np.float32) * scale
        limited = np.rint(np.clip(product, rounding.lowest, rounding.highest)).astype(np.int64)
    else:
        scaled = (whole * factor.reshape(along) + (1 << rounding.shift >> 1)) >> rounding.shift
        limited = np.clip(scaled, rounding.lowest, rounding.highest)
    bent = (limited * rounding.slope + (1 << 15)) >> 16
    return np.asarray(np.where(limited < 0, bent, limited))
