"""How a layer comes onto the chip: a piece of its input in its algorithm's layout [Meng2021, sec. 3.3], its kernels,
its biases and factors."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from mapper.codegen.algorithm_selection.instruction import Engine, Level, Move, Path, at, unit
from mapper.codegen.algorithm_selection.layout.path import (
    counters,
    grid_path,
    lines_path,
    map_path,
    matrix_path,
    plain_path,
    tile_path,
)
from mapper.codegen.algorithm_selection.layout.plane_program import load_planes, planes
from mapper.codegen.algorithm_selection.layout.store_program import address, plain, positions, restore
from mapper.codegen.algorithm_selection.piece import Part, Piece
from mapper.models.algorithm_selection.control.sequence import ConvolutionStep, Region
from mapper.models.algorithm_selection.control.walk import TAP, rounds, tiles
from mapper.workloads.document import InputError


def loads(
    piece: Piece,
    whole: ConvolutionStep,
    region: Region,
    half: int,
    waits: tuple[Engine, ...],
    zero: int = 0,
    stays: int | None = None,
) -> Iterator[Move]:
    """A piece of a convolution's input, whose zero point is ``zero``, into ``half`` of the input buffer, through the
    input transform in Winograd.

    The layout unit makes the layout on the way, of the 3-D tensor or of planes in DRAM, or of the 3-D tensor in the
    tensor buffer from word ``stays`` of its banks on; what lies in DRAM as another layer reads it is first restored.
    """
    if planes(region):
        yield load_planes(piece, whole, region, half, waits, zero)
        return
    if stays is not None:
        yield _stayed(piece, region, half, waits, stays)
        return
    if not _same_map(whole, region):
        yield from _flattened(whole, region, half, zero)
        return
    step = piece.step
    order, lane = counters(step.walk, tiles_innermost=step.m > 0)
    if not plain(region) and whole.load == "copy":
        if not step.m:
            yield replace(_rows(piece, whole, region, half, waits), zeros=(zero, 0))
            return
        taken = _copied(piece, whole, region)
    elif plain(region):
        above = piece.input_row * region.walk.width * region.apart
        start = address(region, piece.image) + above + (whole.channel or 0)
        taken = plain_path(step.walk, order, lane, start, region.apart)
    else:
        if piece.output_row == 0:
            yield restore(region, piece.image, region.walk.height * region.walk.width, ("output",), zero)
        taken = map_path(step.walk, order, lane, piece.input_row * region.walk.width)
    yield Move(
        "dram" if plain(region) or whole.load == "copy" else "tensor",
        "input",
        taken,
        _put(step),
        unit(step.m, "input"),
        (region.walk.height * region.walk.width, step.walk.rows),
        halves=(0, half),
        zeros=(zero, 0),
        waits=waits,
    )


def _stayed(piece: Piece, region: Region, half: int, waits: tuple[Engine, ...], first: int) -> Move:
    """A piece of a map that has stayed on the chip, in which nothing has a zero point."""
    step, walk = piece.step, region.walk
    order, lane = counters(step.walk, tiles_innermost=step.m > 0)
    above = (piece.image * walk.height + piece.input_row) * walk.width
    taken = map_path(step.walk, order, lane, above)
    rows, through = (positions(region), step.walk.rows), unit(step.m, "input")
    return Move(
        "tensor",
        "input",
        taken,
        _put(step),
        through,
        rows,
        halves=(0, half),
        stays=(first, None),
        waits=waits,
    )


def reads_written(step: ConvolutionStep, region: Region) -> bool:
    """Whether the input goes through the tensor buffer, from which the output mover may still store."""
    if planes(region):
        return False
    return not _same_map(step, region) or not (plain(region) or step.load == "copy")


def _same_map(step: ConvolutionStep, region: Region) -> bool:
    """Whether the layer reads the tensor, or some of its channels, as it is, position by position."""
    stored, walk = region.walk, step.walk
    if (stored.height, stored.width, stored.channels) == (walk.height, walk.width, walk.channels):
        return True
    if (
        (stored.height, stored.width) == (walk.height, walk.width)
        and plain(region)
        and step.channel is not None
    ):
        return step.channel + walk.channels <= stored.channels
    return plain(region) and stored.height * stored.width == 1 and stored.channels == walk.channels


def _put(step: ConvolutionStep) -> Path:
    walk = step.walk
    if not step.m:
        order, lane = counters(walk)
        return matrix_path(walk, order, lane)
    side = step.m + TAP - 1
    return tile_path(
        math.prod(rounds(step.shape)), side * side, math.prod(tiles(step.shape, step.m)), walk.columns
    )


def _rows(piece: Piece, whole: ConvolutionStep, region: Region, half: int, waits: tuple[Engine, ...]) -> Move:
    """A piece of a Toeplitz matrix that lies in DRAM: whole rows of it, whatever channels they are of."""
    walk, before = piece.step.walk, piece.output_row * whole.shape.output_size[1]
    taken = lines_path(walk.rows, walk.columns, address(region, piece.image) + before * walk.columns)
    put = grid_path(walk.rows, walk.columns)
    return Move("dram", "input", taken, put, rows=(0, walk.rows), halves=(0, half), waits=waits)


def _copied(piece: Piece, whole: ConvolutionStep, region: Region) -> Path:
    """A piece of Winograd's matrices that lie in DRAM as the layer reads them: its counters, at the steps of the whole
    matrices."""
    step = piece.step
    order, lane = counters(step.walk, tiles_innermost=True)
    every, _ = counters(whole.walk, tiles_innermost=True)
    band = whole.walk.levels[2].address * (piece.output_row // step.m)
    levels = tuple(Level(one.count, all_.address) for one, all_ in zip(order, every, strict=True))
    return Path(address(region, piece.image) + band, levels, lane=lane)


def _flattened(step: ConvolutionStep, region: Region, half: int, zero: int) -> Iterator[Move]:
    """Maps as the rows of a fully connected layer, channel by channel; lanes are positions of one channel."""
    stored, images = region.walk, step.walk.rows
    size = stored.height * stored.width
    if size * stored.channels != step.walk.columns or step.shape.kernel != (1, 1) or step.shape.batch != 1:
        raise InputError(step.name, step.input, "is read in parts, for which the Verilog has no path")
    for image in range(images):
        yield restore(region, image, size, ("output",), zero)
        taken = Path(0, (Level(size, at(1, 0)), Level(stored.channels, at(0, 1))))
        put = Path(at(image, 0), (Level(size, at(0, 1)), Level(stored.channels, at(0, size))))
        yield Move("tensor", "input", taken, put, rows=(size, images), halves=(0, half), waits=())


def scale_load(step: ConvolutionStep, begin: int, third: int, part: Part) -> Move:
    """Biases and factors into the third of the scales that no result on its way needs."""
    maps = step.output_columns
    table = Path(0, (Level(maps, at(1, 0)), Level(2, at(0, 1))))
    words = Path(begin + part.first, (Level(maps, 1), Level(2, part.maps)))
    return Move("dram", "scale", words, table, halves=(0, third), waits=())


def kernel_load(step: ConvolutionStep, half: int, part: Part) -> Move:
    """Kernel matrices, through the kernel transform in Winograd."""
    rows, columns = step.weight_rows, step.weight_columns
    if not step.m:
        rows = part.bottom - part.top
        words = Path(step.weight_address + part.top * part.maps, (Level(columns, 1), Level(rows, part.maps)))
        return Move(
            "dram", "kernel", words, grid_path(rows, columns), rows=(0, rows), halves=(0, half), waits=()
        )
    depth, (taps1, taps2) = step.shape.in_channels // step.shape.groups, step.shape.kernel
    pieces1, pieces2 = rounds(step.shape)
    tap = depth * part.maps
    taken = Path(
        step.weight_address,
        (
            Level(TAP, tap, 0, 1),
            Level(TAP, taps2 * tap, 1, 0),
            Level(columns, 1),
            Level(depth, part.maps),
            Level(pieces2, TAP * tap, 0, TAP),
            Level(pieces1, TAP * taps2 * tap, TAP, 0),
        ),
        (taps1, taps2),
        lane=2,
    )
    put = tile_path(pieces1 * pieces2, (step.m + TAP - 1) ** 2, depth, columns)
    return Move("dram", "kernel", taken, put, unit(step.m, "kernel"), (0, rows), halves=(0, half), waits=())
