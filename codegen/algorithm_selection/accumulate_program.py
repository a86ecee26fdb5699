"""Average pools and additions as instructions of the overlay: maps that are added up in the sums of the output buffer
[Meng2021, sec. 3.4].

Each operand, or each pixel of the windows, is loaded into one half of the sums, times a factor and added to what is
there, while the other half leaves through the requantisers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from mapper.codegen.algorithm_selection.convolution_program import Turns
from mapper.codegen.algorithm_selection.instruction import (
    Engine,
    Instruction,
    Level,
    Move,
    Path,
    Requantisation,
    at,
)
from mapper.codegen.algorithm_selection.layout.path import grid_path
from mapper.codegen.algorithm_selection.layout.store_program import address, plain
from mapper.models.algorithm_selection.control.sequence import Control, OtherStep, Region
from mapper.models.algorithm_selection.number.average import Average, average, counts
from mapper.models.algorithm_selection.number.network_number import (
    HIGHEST,
    LOWEST,
    LayerNumbers,
    NetworkNumbers,
)
from mapper.models.algorithm_selection.overlay.running import chunks
from mapper.workloads.document import InputError
from mapper.workloads.network.network_layer import NetworkLayer

Rows = tuple[int, int]


def average_pool(
    control: Control, step: OtherStep, layer: NetworkLayer, numbers: NetworkNumbers, turns: Turns
) -> list[Instruction]:
    """Windows that count different numbers of pixels, as those at an edge may, are added up times different factors.

    Raises: InputError if the map does not lie as the 3-D tensor, or the mean has no factor.
    """
    source, target = _plain(control, step)
    own, zeros = numbers.layers[step.name], (numbers.zero(source.tensor), numbers.zero(target.tensor))
    mean = average(layer, own)
    made: list[Instruction] = []
    for image in range(layer.inputs[0].shape[0]):
        for rows in chunks(layer):
            loads = [
                move
                for part, times in _parts(layer, mean, rows)
                for move in _taps(layer, source, image, part, rows, times)
            ]
            made += _chunk(loads, target, image, rows, _finish(own, mean), zeros, turns)
    return made


def addition(
    control: Control, step: OtherStep, layer: NetworkLayer, numbers: NetworkNumbers, turns: Turns
) -> list[Instruction]:
    """Raises: InputError if a map does not lie as the 3-D tensor."""
    sources = [control.region(one) for one in step.inputs]
    _, target = _plain(control, step)
    own, (*zeros, zero) = numbers.layers[step.name], numbers.zeros(layer)
    made: list[Instruction] = []
    images, channels, *sizes = layer.output_shape
    columns = sizes[1] if len(sizes) > 1 else 1
    finish = _one_factor(own)
    for image in range(images):
        for first, end in chunks(layer):
            positions = (end - first) * columns
            loads = [
                Move(
                    "dram",
                    "result",
                    _lines(source, image, first * columns, positions, channels),
                    grid_path(positions, channels),
                    rows=(0, positions),
                    zeros=(taken, 0),
                    times=times,
                    adds=place > 0,
                    waits=(),
                )
                for place, (source, times, taken) in enumerate(zip(sources, own.times, zeros, strict=True))
            ]
            made += _chunk(loads, target, image, (first, end), finish, (0, zero), turns)
    return made


def activation(
    control: Control, step: OtherStep, layer: NetworkLayer, numbers: NetworkNumbers, turns: Turns
) -> list[Instruction]:
    """A map from DRAM through the requantisers to DRAM.

    Raises: InputError if a map does not lie as the 3-D tensor.
    """
    source, target = _plain(control, step)
    finish = _one_factor(numbers.layers[step.name])
    positions = math.prod(layer.output_shape[2:])
    made: list[Instruction] = []
    for image in range(layer.output_shape[0]):
        taken = _lines(source, image, 0, positions, layer.output_shape[1])
        put = _lines(target, image, 0, positions, layer.output_shape[1])
        zeros = (numbers.zero(source.tensor), numbers.zero(target.tensor))
        made.append(Move("dram", "dram", taken, put, requantisation=finish, zeros=zeros, waits=()))
    turns.write(target.tensor)
    return made


def _one_factor(own: LayerNumbers) -> Requantisation:
    """A bias and a factor for all maps where sums are rounded as single precision, a power of two elsewhere."""
    rounding = own.rounding
    assert rounding is not None
    addend = int(own.factor[0]) if rounding.single else 1 << rounding.shift >> 1
    limits = (rounding.lowest, rounding.highest, rounding.slope)
    bias = int(own.bias[0]) if rounding.single else 0
    return Requantisation(addend, rounding.shift, *limits, single=rounding.single, table=False, bias=bias)


def _chunk(
    loads: Sequence[Move],
    target: Region,
    image: int,
    rows: Rows,
    finish: Requantisation,
    zeros: tuple[int, int],
    turns: Turns,
) -> Iterator[Instruction]:
    """Loads into one half of the sums, and what leaves it. A half is empty when the one after it leaves: only the first
    load has to wait, for whatever came before."""
    turns.result ^= 1
    first: tuple[Engine, ...] = ("array", "output") if turns.written != target.tensor else ()
    for place, move in enumerate(loads):
        zero = (move.zeros[0] or zeros[0], 0)
        yield replace(move, halves=(0, turns.result), waits=first if place == 0 else (), zeros=zero)
    height, width, channels = target.walk.height, target.walk.width, target.walk.channels
    positions = (rows[1] - rows[0]) * width if height > 1 or width > 1 else 1
    yield Move(
        "result",
        "dram",
        grid_path(positions, channels),
        _lines(target, image, rows[0] * width, positions, channels),
        rows=(positions, 0),
        requantisation=finish,
        halves=(turns.result, 0),
        zeros=(0, zeros[1]),
        waits=("input",),
    )
    turns.write(target.tensor)


def _lines(region: Region, image: int, first: int, positions: int, channels: int) -> Path:
    """Positions of a 3-D tensor in DRAM from ``first`` on, a row of lanes after the other."""
    start = address(region, image) + first * region.apart
    return Path(start, (Level(channels, 1), Level(positions, region.apart)))


def _plain(control: Control, step: OtherStep) -> tuple[Region, Region]:
    regions = [control.region(one) for one in (*step.inputs, step.outputs[0])]
    if not all(plain(one) for one in regions):
        raise InputError(step.name, step.work, "reads or writes a map that is not the 3-D tensor")
    return regions[0], regions[-1]


def _parts(layer: NetworkLayer, mean: Average, rows: Rows) -> Iterator[tuple[tuple[Rows, Rows], int]]:
    """Rectangles of the output whose windows count alike, and the factor of their pixels."""
    down, across = counts(layer)
    for top, bottom in _alike(down, rows):
        for left, right in _alike(across, (0, len(across))):
            yield ((top, bottom), (left, right)), mean.times(down[top] * across[left])


def _alike(numbers: Sequence[int], within: Rows) -> Iterator[Rows]:
    begin = within[0]
    for place in range(within[0], within[1]):
        if place + 1 == within[1] or numbers[place + 1] != numbers[begin]:
            yield begin, place + 1
            begin = place + 1


def _taps(
    layer: NetworkLayer, source: Region, image: int, part: tuple[Rows, Rows], rows: Rows, times: int
) -> Iterator[Move]:
    """The windows' pixels: the first of each fills the sums, the others are added, its own row's and then the rows'
    below."""
    kernel = layer.window.kernel
    yield _tap(layer, source, image, part, rows, ((0, 1), (0, 1)), times)
    if kernel[1] > 1:
        yield _tap(layer, source, image, part, rows, ((0, 1), (1, kernel[1])), times)
    if kernel[0] > 1:
        yield _tap(layer, source, image, part, rows, ((1, kernel[0]), (0, kernel[1])), times)


def _tap(
    layer: NetworkLayer,
    source: Region,
    image: int,
    part: tuple[Rows, Rows],
    rows: Rows,
    taps: tuple[Rows, Rows],
    times: int,
) -> Move:
    window, (height, width), out = layer.window, layer.inputs[0].shape[2:], layer.output_shape[3]
    channels, ((top, bottom), (left, right)), ((tap1, end1), (tap2, end2)) = source.walk.channels, part, taps
    (step1, step2), (apart1, apart2) = window.strides, window.dilations
    corner = (
        top * step1 - window.pads[0][0] + tap1 * apart1,
        left * step2 - window.pads[1][0] + tap2 * apart2,
    )
    word, line = source.apart, width * source.apart
    taken = Path(
        address(source, image) + corner[0] * line + corner[1] * word,
        (
            Level(channels, 1),
            Level(end2 - tap2, apart2 * word, 0, apart2),
            Level(end1 - tap1, apart1 * line, apart1, 0),
            Level(right - left, step2 * word, 0, step2),
            Level(bottom - top, step1 * line, step1, 0),
        ),
        (height, width),
        corner,
    )
    put = Path(
        at((top - rows[0]) * out + left, 0),
        (
            Level(channels, at(0, 1)),
            Level(end2 - tap2, 0),
            Level(end1 - tap1, 0),
            Level(right - left, at(1, 0)),
            Level(bottom - top, at(out, 0)),
        ),
    )
    positions = (rows[1] - rows[0]) * out
    return Move(
        "dram", "result", taken, put, rows=(0, positions), times=times, adds=(tap1, tap2) != (0, 0), waits=()
    )


def _finish(own: LayerNumbers, mean: Average) -> Requantisation:
    rounding = own.rounding
    lowest, highest = (rounding.lowest, rounding.highest) if rounding else (LOWEST, HIGHEST)
    slope = rounding.slope if rounding else 1 << 16
    if mean.single:
        return Requantisation(mean.factor, mean.shift, lowest, highest, slope, single=True, table=False)
    return Requantisation(mean.addend, mean.shift, lowest, highest, slope, table=False)
