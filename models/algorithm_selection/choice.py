"""What is chosen for a layer: an algorithm and the array's dataflow [Meng2021, secs. 2.1 and 3.2]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mapper.models.algorithm_selection.control.walk import Walk, scattered, tensor, toeplitz
from mapper.workloads.document import InputError
from mapper.workloads.nest.layer_nest import Convolution

Algorithm = Literal["im2col", "kn2row", "winograd", "winograd-4x4"]
Dataflow = Literal["NS", "WS", "IS"]
Layout = Literal["toeplitz", "tensor3d", "planes", "winograd", "winograd-4x4"]
"""Planes are the 3-D tensor channel by channel: positions of a channel lie side by side."""

INPUT_LAYOUTS: dict[Algorithm, Layout] = {
    "im2col": "toeplitz",
    "kn2row": "tensor3d",
    "winograd": "winograd",
    "winograd-4x4": "winograd-4x4",
}


@dataclass(frozen=True)
class Choice:
    """How one layer is computed. Kernels come in so many ``parts`` of the layer's maps, if those are more than fit."""

    algorithm: Algorithm
    dataflow: Dataflow
    parts: int = 1

    @property
    def tile(self) -> int:
        """m of Winograd's F(m, 3), 0 for the others."""
        return {"winograd": 2, "winograd-4x4": 4}.get(self.algorithm, 0)


def input_walk(shape: Convolution, choice: Choice) -> Walk:
    """The layout in which a convolution reads its input under ``choice``. The Toeplitz matrix of a 1 x 1 kernel without
    strides and pads is the 3-D tensor."""
    if choice.algorithm == "im2col":
        plain = shape.kernel == shape.strides == (1, 1) and not any(map(any, shape.pads))
        return tensor(shape) if plain else toeplitz(shape)
    return scattered(shape, choice.tile) if choice.tile else tensor(shape)


def check_choice(name: str, shape: Convolution, choice: Choice) -> None:
    """Raises: InputError if the algorithm cannot compute the layer called ``name``."""
    if len(shape.kernel) != 2:
        remedy = "the overlay computes convolutions of two axes only; give a network of those"
        raise InputError(name, "kernel", remedy)
    if choice.tile and not shape.strides == shape.dilations == (1, 1):
        remedy = "Winograd runs without strides and dilations only; take im2col or kn2row"
        raise InputError(name, "algorithm", remedy)
