"""Where tensors lie: maps pixel by pixel, parts of concatenations in the memory of the whole [Chang2018, sec. 3]."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from mapper.models.trace_partition.lowering.layer import TensorView
from mapper.workloads.network.network_layer import LayerInput
from mapper.workloads.network.operator_network import Shape


@dataclass(frozen=True)
class Geometry:
    """A tensor as a map: its elements in ONNX's order are those of channels, rows, columns."""

    channels: int
    height: int
    width: int

    @property
    def pixels(self) -> int:
        return self.height * self.width

    @property
    def words(self) -> int:
        return self.channels * self.pixels


@dataclass(frozen=True)
class Home:
    """Where a tensor lies: from channel ``offset`` on in the pixels of ``tensor``, which are ``pitch`` words apart."""

    tensor: str
    pitch: int
    offset: int


def geometry(shape: Shape) -> Geometry:
    """The map that a tensor of ``shape`` is: the last two axes are rows and columns, those before them channels. Of
    three axes the first is that of one image, whose map has one row, or that of the channels; fewer axes are channels
    of one pixel."""
    height = shape[-2] if len(shape) > 3 or (len(shape) == 3 and shape[0] != 1) else 1
    width = shape[-1] if len(shape) > 2 else 1
    return Geometry(math.prod(shape) // max(1, height * width), height, width)


def whole(tensor: str, form: Geometry) -> TensorView:
    """All of a tensor that lies by itself."""
    return TensorView(tensor, form.height, form.width, form.channels, form.channels)


def channel_part(one: LayerInput, memory: Geometry) -> TensorView | None:
    """The channels of ``one.memory`` that ``one`` consists of, as a map of its own geometry; None if its pixels or
    channels are others than those of the memory."""
    form = geometry(one.shape)
    if form.pixels != memory.pixels or one.offset % memory.pixels:
        return None
    first = one.offset // memory.pixels
    return TensorView(one.memory, form.height, form.width, form.channels, memory.channels, first)


def flat_geometry(one: LayerInput, memory: Geometry) -> Geometry:
    """In which order a fully connected layer's inputs lie: as a map of ``memory``'s pixels if they are whole channels,
    else one after another, as they are after a copy by the host."""
    elements = math.prod(one.shape)
    if one.offset % memory.pixels or elements % memory.pixels:
        return Geometry(elements, 1, 1)
    return Geometry(elements // memory.pixels, memory.height, memory.width)


def is_whole(view: TensorView, form: Geometry) -> bool:
    """Whether ``view`` is all of a tensor of geometry ``form``, pixel for pixel."""
    return (view.offset, view.channels, view.height * view.width) == (0, form.channels, form.pixels)


def moved_home(view: TensorView, homes: Mapping[str, Home]) -> TensorView:
    """``view``, of a tensor that was thought to lie by itself, where the tensor really lies."""
    home = homes.get(view.tensor)
    if home is None:
        return view
    pitch = home.pitch if view.height * view.width > 1 else view.channels
    return replace(view, tensor=home.tensor, pitch=pitch, offset=view.offset + home.offset)


def column(view: TensorView) -> TensorView:
    """The same words as one column."""
    return replace(view, height=view.height * view.width, width=1)
