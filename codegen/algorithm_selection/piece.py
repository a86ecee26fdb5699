"""A convolution cut into pieces of its output's rows, each of them a convolution of fewer rows; what cuts keep to.

What the buffers hold is a piece, so that no layer is too large for them; and while one piece is multiplied, the next
is loaded and the one before is stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from mapper.models.algorithm_selection.choice import Choice
from mapper.models.algorithm_selection.control.sequence import ConvolutionStep, convolution_step
from mapper.workloads.nest.layer_nest import Convolution


@dataclass(frozen=True)
class Limits:
    """Words of the input buffer, in both halves, of each memory of sums, and of the tensor buffer for maps that stay on
    the chip; into how many parts of their depth and of
    their maps the kernels of layers are cut; the layers whose whole input is ``kept`` for all parts; whether inputs are
    loaded ``ahead``, while the last product of the layer before runs."""

    input: int | None = None
    result: int | None = None
    tensor: int = 0
    parts: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    kept: frozenset[str] = frozenset()
    ahead: bool = False


@dataclass(frozen=True)
class Piece:
    """``step`` computes rows ``output_row ...`` of the output of ``image``, of rows ``input_row ...`` of its map."""

    step: ConvolutionStep
    image: int
    input_row: int
    output_row: int


def pieces(step: ConvolutionStep, count: int) -> tuple[Piece, ...]:
    """All images, each in at most ``count`` pieces of as equal a height as tiles allow."""
    cuts = row_cuts(step, count)
    parts = [_piece(step, first, end) for first, end in cuts]
    return tuple(replace(part, image=image) for image in range(step.shape.batch) for part in parts)


def row_cuts(step: ConvolutionStep, count: int) -> Sequence[tuple[int, int]]:
    """First row and end of every piece: whole tiles of Winograd's, and every piece reads something of the map."""
    rows, side = step.shape.output_size[0], max(1, step.m)
    bands = -(-rows // side)
    count = min(count, bands)
    marks = [bands * number // count * side for number in range(count)]
    cuts = list(zip(marks, [*marks[1:], rows], strict=True))
    if all(_reads(step.shape, first, end) for first, end in cuts):
        return cuts
    return [(0, rows)]


def _piece(step: ConvolutionStep, first: int, end: int) -> Piece:
    shape = step.shape
    if (first, end) == (0, shape.output_size[0]):
        return Piece(step, 0, 0, 0)
    low, high = _reach(shape, first, end)
    begin, after = max(low, 0), min(high, shape.input_size[0])
    part = replace(
        shape,
        input_size=(after - begin, shape.input_size[1]),
        pads=((begin - low, high - after), shape.pads[1]),
    )
    own = convolution_step(
        step.name, part, Choice(step.algorithm, step.dataflow), load=step.load, relu=step.relu
    )
    own = replace(own, weight_address=step.weight_address, input=step.input, output=step.output)
    return Piece(own, 0, begin, first)


def _reach(shape: Convolution, first: int, end: int) -> tuple[int, int]:
    """Rows of the map, padding included, that so many rows of the output are made of."""
    low = first * shape.strides[0] - shape.pads[0][0]
    return low, low + (end - 1 - first) * shape.strides[0] + (shape.kernel[0] - 1) * shape.dilations[0] + 1


def _reads(shape: Convolution, first: int, end: int) -> bool:
    low, high = _reach(shape, first, end)
    return low < shape.input_size[0] and high > 0
