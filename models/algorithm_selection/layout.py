"""Words that a tensor takes in each layout, and the time to store and load it [Meng2021, sec. 5.1.2, Table 2]."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from mapper.arch.overlay import OverlayMachine
from mapper.models.algorithm_selection.choice import Algorithm, Layout
from mapper.models.algorithm_selection.overlay.layer import TILE, OverlayLayer
from mapper.models.algorithm_selection.product import rounds


@dataclass(frozen=True)
class Format:
    """A layout with the sizes on which it depends (of one image and one channel): ``positions`` O1 * O2 and ``window``
    K1 * K2 of the reader for Toeplitz matrices, and ``elements`` H1 * H2 of the tensor."""

    layout: Layout
    images: int
    elements: int
    positions: int = 0
    window: int = 0
    kernel: tuple[int, ...] = ()

    def words(self, channels: int) -> Fraction:
        """Words of so many channels (Table 2 without the bandwidth)."""
        if self.layout == "toeplitz":
            return Fraction(self.images * self.positions * self.window * channels)
        plain = Fraction(self.images * self.elements * channels)
        if self.layout in ("tensor3d", "planes"):
            return plain
        tile = TILE[self.layout]
        return plain * (tile + 2) ** 2 / tile**2


def format_of(layer: OverlayLayer, algorithm: Algorithm) -> Format:
    """The format in which an algorithm reads a layer's input. Plain tensors of one size are one format; others are
    told apart by the kernel, its steps and the map."""
    layout = layer.layout(algorithm)
    if layout == "tensor3d":
        return tensor(layer.images, layer.elements)
    geometry: tuple[int, ...] = (*layer.kernel, *layer.map)
    if layout == "toeplitz":
        geometry += (*layer.strides, *layer.dilations, *(end for pad in layer.pads for end in pad))
        return Format(layout, layer.images, layer.elements, layer.positions, layer.window, geometry)
    return Format(layout, layer.images, layer.elements, kernel=geometry)


def tensor(images: int, elements: int) -> Format:
    """The plain layout of H1 * H2 elements per channel."""
    return Format("tensor3d", images, elements)


def planes(images: int, elements: int) -> Format:
    """The 3-D tensor channel by channel: all H1 * H2 elements of one, then of the next."""
    return Format("planes", images, elements)


def store_units(
    written: Format, channels: int, producer: Algorithm | Layout | None, machine: OverlayMachine
) -> int:
    """Time to store ``channels`` of a tensor in a format, in the machine's units.

    ``producer`` is the algorithm whose result it is, or the layout that it comes from; None for the plain layout. Into
    a Winograd layout from a plain one, fewer channels than a burst waste bandwidth (Eq. 13); from a Winograd layout
    into a Toeplitz matrix ovhd is added.
    """
    words = written.words(channels)
    scattered = producer in TILE
    if written.layout in TILE and not scattered and channels < machine.traffic.burst_words:
        words *= 1 + Fraction(TILE[written.layout] ** 2, written.elements * channels)
    paid = words * machine.units_per_word
    if written.layout == "toeplitz" and scattered:
        paid += machine.traffic.overhead_cycles * machine.units_per_cycle
    return _whole(paid)


def added_units(held: Format, words: int, algorithm: Algorithm, machine: OverlayMachine) -> int:
    """Time to read a stored tensor back where it is added to what ``algorithm`` computes, in the machine's units: every
    word once. What Winograd computes is scattered; into that from another layout, fewer channels than a burst waste
    bandwidth (Eq. 13)."""
    channels = words // (held.images * held.elements)
    if algorithm in TILE and held.layout != algorithm and channels < machine.traffic.burst_words:
        words += held.images * TILE[algorithm] ** 2
    return words * machine.units_per_word


def copied_units(
    held: Format, words: int, written: Format, channels: int, beside: bool, machine: OverlayMachine
) -> tuple[int, int]:
    """Time to read a stored tensor back, and to store it in another format, in the machine's units; nothing where it
    lies in the other (``beside``) in the same format."""
    if beside and held == written:
        return 0, 0
    producer = held.layout if held.layout in TILE else None
    return words * machine.units_per_word, store_units(written, channels, producer, machine)


def weight_words(layer: OverlayLayer, algorithm: Algorithm, machine: OverlayMachine) -> Fraction:
    """Words of the kernels as an algorithm reads them: Winograd's are transformed, (m+2)^2 for 3 x 3."""
    if algorithm not in TILE:
        return Fraction(layer.weights)
    pieces = rounds(layer, machine) * (TILE[algorithm] + 2) ** 2
    return Fraction(layer.weights, layer.window) * pieces


def _whole(units: Fraction) -> int:
    assert units.denominator == 1, units
    return math.floor(units)
