"""Max pools as instructions of the overlay [Meng2021, sec. 3.4]: of maps in DRAM, and of results on their way there."""

from __future__ import annotations

import math
from dataclasses import replace

from mapper.codegen.algorithm_selection.instruction import (
    Instruction,
    Level,
    Move,
    Path,
    Pooling,
    Requantisation,
    at,
)
from mapper.codegen.algorithm_selection.layout.store_program import address, plain, restore, store
from mapper.codegen.algorithm_selection.piece import Piece
from mapper.models.algorithm_selection.control.sequence import Control, ConvolutionStep, OtherStep, Region
from mapper.models.algorithm_selection.number.network_number import NetworkNumbers
from mapper.models.algorithm_selection.overlay.on_the_way import Pooled
from mapper.workloads.document import InputError
from mapper.workloads.network.network_layer import NetworkLayer

BELOW_ALL = -(2**15)
"""What padding reads as: below every operand."""


def max_pool(
    control: Control, step: OtherStep, layer: NetworkLayer, numbers: NetworkNumbers
) -> list[Instruction]:
    """The pooling units take the padded map pixel by pixel, all lanes a channel each. Maps come from DRAM and go there;
    those that lie there in another layout than the 3-D tensor go through the tensor buffer."""
    source, target = control.region(step.inputs[0]), control.region(step.outputs[0])
    size, out = layer.inputs[0].shape[2:], layer.output_shape[2:]
    zero, rounding = numbers.zero(target.tensor), numbers.layers[step.name].rounding
    finish = None
    if layer.merged and rounding is not None:
        finish = Requantisation(0, 0, rounding.lowest, rounding.highest, rounding.slope, table=False)
    made: list[Instruction] = []
    for image in range(layer.inputs[0].shape[0]):
        if not plain(source):
            made.append(restore(source, image, math.prod(size), ("output",), zero))
        made.append(replace(_stream(layer, source, target, image), zeros=(zero, zero), requantisation=finish))
        if not plain(target):
            made.append(store(target, image, 0, math.prod(out), 1, zero))
    return made


def results_of(control: Control, name: str) -> str:
    """The tensor that a step makes."""
    return next(
        step.outputs[0] for step in control.steps if isinstance(step, OtherStep) and step.name == name
    )


def check_pooled(step: ConvolutionStep, pooled: Pooled, target: Region, count: int) -> None:
    """Raises: InputError if a max pool cannot take the results of so many pieces on their way."""
    height = step.shape.output_size[0]
    if step.m or not plain(target) or not pooled.suits(height, count):
        raise InputError(step.name, pooled.name, f"does not take the results of {count} pieces on their way")


def pooled_move(
    move: Move,
    piece: Piece,
    whole: ConvolutionStep,
    target: Region,
    pooled: Pooled,
    places: tuple[int, int],
) -> Move:
    """Results that pass the pooling units, row by row of the map and, in a row, channels after channels: a stream goes
    on with the rows that the one before has left in the units. ``places``: rows of the sums from one row of the map to
    the next, and the first channel."""
    step, (rows, columns), height = piece.step, piece.step.shape.output_size, whole.shape.output_size[0]
    begin, end = pooled.taken(piece.output_row, piece.output_row + rows, height)
    made = pooled.done(begin), pooled.done(end)
    corner, (pitch, first) = (begin - pooled.before[0] - piece.output_row, -pooled.before[1]), places
    taken = Path(
        at(corner[0] * pitch + corner[1], 0),
        (
            Level(pooled.size[1], at(1, 0), 0, 1),
            Level(step.output_columns, at(0, 1)),
            Level(end - begin, at(pitch, 0), 1, 0),
        ),
        (rows, columns),
        corner,
        lane=1,
    )
    high, wide = pooled.out
    put = Path(
        target.address + (piece.image * high + made[0]) * wide * target.apart + first,
        (
            Level(wide, target.apart),
            Level(step.output_columns, 1),
            Level(made[1] - made[0], wide * target.apart),
        ),
        lane=1,
    )
    pooling = Pooling(pooled.kernel, pooled.stride, pooled.size, begin > 0)
    return replace(move, taken=taken, put=put, unit="max_pool", pooling=pooling, fill=BELOW_ALL)


def _stream(layer: NetworkLayer, source: Region, target: Region, image: int) -> Move:
    (_, channels, *size), window, out = layer.inputs[0].shape, layer.window, layer.output_shape[2:]
    stride = window.strides[0]
    padded = tuple((count - 1) * stride + kernel for count, kernel in zip(out, window.kernel, strict=True))
    corner = (-window.pads[0][0], -window.pads[1][0])
    if plain(source):
        right, deep, start = source.apart, 1, address(source, image)
    else:
        right, deep, start = at(1, 0), at(0, 1), 0
    taken = Path(
        start + (corner[0] * size[1] + corner[1]) * right,
        (Level(padded[1], right, 0, 1), Level(padded[0], size[1] * right, 1, 0), Level(channels, deep)),
        (size[0], size[1]),
        corner,
        lane=2,
    )
    if plain(target):
        levels: tuple[Level, ...] = (Level(math.prod(out), target.apart), Level(channels, 1))
        put = Path(address(target, image), levels, lane=1)
    else:
        put = Path(0, (Level(math.prod(out), at(1, 0)), Level(channels, at(0, 1))), lane=1)
    return Move(
        "dram" if plain(source) else "tensor",
        "dram" if plain(target) else "tensor",
        taken,
        put,
        "max_pool",
        (math.prod(size), math.prod(out)),
        pooling=Pooling((window.kernel[0], window.kernel[1]), stride, (padded[0], padded[1])),
        fill=BELOW_ALL,
        halves=(0, 1),
        # Else it would hold up kernels for as long as it reads.
        waits=("kernel",) if plain(source) else ("input", "kernel"),
    )
