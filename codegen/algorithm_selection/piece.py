"""A convolution cut into pieces of its output's rows, each of them a convolution of fewer rows, and into parts of its
kernels; what cuts keep to.

What the buffers hold is a piece, so that no layer is too large for them; and while one piece is multiplied, the next
is loaded and the one before is stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from mapper.models.algorithm_selection.choice import Choice
from mapper.models.algorithm_selection.control.sequence import ConvolutionStep, convolution_step
from mapper.models.algorithm_selection.gemm_call import GemmCall
from mapper.models.algorithm_selection.overlay.on_the_way import Pooled
from mapper.workloads.nest.layer_nest import Convolution


@dataclass(frozen=True)
class Limits:
    """Words of the input buffer, in both halves, of each memory of sums, and of the tensor buffer for maps that stay on
    the chip; into how many parts of their depth and of their maps the kernels of layers are cut; the layers whose whole
    input is ``kept`` for all parts; whether inputs are loaded ``ahead``, while the last product of the layer before
    runs; the max pools that take results on their way, by layer; the numbers of ``pieces`` that the model counted."""

    input: int | None = None
    result: int | None = None
    tensor: int = 0
    parts: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    kept: frozenset[str] = frozenset()
    ahead: bool = False
    pooled: Mapping[str, Pooled] = field(default_factory=dict)
    pieces: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Piece:
    """``step`` computes rows ``output_row ...`` of the output of ``image``, of rows ``input_row ...`` of its map."""

    step: ConvolutionStep
    image: int
    input_row: int
    output_row: int


@dataclass(frozen=True)
class Part:
    """Of a layer whose kernels do not fit the buffer: maps ``first`` to ``end`` (of ``maps``) and rows ``top`` to
    ``bottom`` of the kernel matrix. ``begins`` and ``ends``: it is the first, or the last, of the depth; sums of all
    but the last stay where they are. ``kept``: the whole input is one piece, and stays in its buffer for all parts."""

    first: int
    end: int
    maps: int
    top: int
    bottom: int
    begins: bool
    ends: bool
    kept: bool = False


def kernel_parts(step: ConvolutionStep, parts: tuple[int, int], kept: bool = False) -> tuple[Part, ...]:
    """So many parts of the kernels' depth and of their maps, as even as they can be. Depth is cut where one product
    makes a piece, or into taps of kn2row, of which those with one that reaches every output come first, so that no sums
    are cleared before; a part has whole groups. ``kept``: for each the input is still there."""
    maps, rows, groups = step.shape.out_channels, step.weight_rows, step.shape.groups
    if groups > 1 or step.m or step.shape.batch > 1:
        parts = (1, parts[1])
    wide = -(-groups // parts[1]) * (maps // groups) if groups > 1 else -(-maps // parts[1])
    deep = -(-rows // parts[0])
    covering = {
        one.weight_row // deep * deep for one in step.calls if one.patch is not None and covers(step, one)
    }
    tops = sorted(range(0, rows, deep), key=lambda top: top not in covering)
    return tuple(
        Part(
            first,
            min(maps, first + wide),
            maps,
            top,
            min(rows, top + deep),
            top == tops[0],
            top == tops[-1],
            kept,
        )
        for first in range(0, maps, wide)
        for top in tops
    )


def covers(step: ConvolutionStep, call: GemmCall) -> bool:
    """Whether a patch reaches every output position."""
    assert call.patch is not None and call.shift is not None
    return all(
        shift <= 0 and shift + extent >= out
        for shift, extent, out in zip(call.shift, call.patch, step.shape.output_size, strict=True)
    )


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
    return Piece(_placed(own, step, step.weight_address), 0, begin, first)


def _reach(shape: Convolution, first: int, end: int) -> tuple[int, int]:
    """Rows of the map, padding included, that so many rows of the output are made of."""
    low = first * shape.strides[0] - shape.pads[0][0]
    return low, low + (end - 1 - first) * shape.strides[0] + (shape.kernel[0] - 1) * shape.dilations[0] + 1


def _reads(shape: Convolution, first: int, end: int) -> bool:
    low, high = _reach(shape, first, end)
    return low < shape.input_size[0] and high > 0


def part_step(step: ConvolutionStep, part: Part) -> ConvolutionStep:
    """The layer that a part of the maps is."""
    if part.end - part.first == part.maps:
        return step
    if step.shape.groups > 1:
        return groups_of(step, part)
    shape = replace(step.shape, out_channels=part.end - part.first)
    choice = Choice(step.algorithm, step.dataflow)
    own = convolution_step(step.name, shape, choice, load=step.load, relu=step.relu)
    return _placed(own, step, step.weight_address + part.first)


def _placed(own: ConvolutionStep, step: ConvolutionStep, address: int) -> ConvolutionStep:
    """What is cut of a layer reads and writes where that does."""
    return replace(own, weight_address=address, input=step.input, output=step.output, channel=step.channel)


def groups_of(step: ConvolutionStep, part: Part) -> ConvolutionStep:
    """The products of a part's groups; the input is that of all."""
    maps = part.end - part.first
    calls = tuple(
        replace(
            one, weight_column=one.weight_column - part.first, output_column=one.output_column - part.first
        )
        for one in step.calls
        if part.first <= one.output_column < part.end
    )
    address = step.weight_address + part.first
    return replace(step, weight_address=address, weight_columns=maps, output_columns=maps, calls=calls)
