"""Maps that lie in DRAM channel by channel: movers take as many positions of one channel at once as they have lanes, of
which maps of few channels would leave most idle.

Lanes are then elements of a column of the input buffer and of the sums, whose columns are channels, and all of them
have the bias and the factor of one map.
"""

from __future__ import annotations

import math

from mapper.codegen.algorithm_selection.instruction import Engine, Level, Move, Path, at
from mapper.codegen.algorithm_selection.layout.store_program import address, plain
from mapper.codegen.algorithm_selection.piece import Piece
from mapper.models.algorithm_selection.control.sequence import ConvolutionStep, Region
from mapper.models.algorithm_selection.control.walk import tensor
from mapper.workloads.document import InputError


def planes(region: Region) -> bool:
    """Whether a tensor lies in DRAM channel by channel."""
    return region.layout == "planes"


def straight(region: Region) -> bool:
    """Whether maps go to DRAM, and come from there, without the second group of the output buffer."""
    return plain(region) or planes(region)


def check_planes(step: ConvolutionStep, source: Region, target: Region, pitch: int) -> None:
    """``pitch``: rows of the sums from one row of the map to the next.

    Raises: InputError if there is no path between the layer's matrices and maps that lie channel by channel: these are
    read as they are, position by position, and stored of sums that have a row for each position and no other.
    """
    if planes(source) and not _reads_planes(step, source):
        raise InputError(
            step.name, step.input, "reads maps channel by channel, for which the Verilog has no path"
        )
    size = (target.walk.height, target.walk.width)
    if planes(target) and (step.m or pitch != size[1] or step.shape.output_size != size):
        raise InputError(
            step.name, step.output, "writes maps channel by channel, for which the Verilog has no path"
        )


def _reads_planes(step: ConvolutionStep, region: Region) -> bool:
    stored, walk = region.walk, step.walk
    if step.m or step.shape.strides != (1, 1) or step.shape.groups > 1 or walk != tensor(step.shape):
        return False
    same = (stored.height, stored.width) == (walk.height, walk.width)
    return same and step.channel is not None and step.channel + walk.channels <= stored.channels


def load_planes(
    piece: Piece, whole: ConvolutionStep, region: Region, half: int, waits: tuple[Engine, ...], zero: int
) -> Move:
    """A piece of a map into the input buffer, channel by channel, of a layer that ``check_planes`` has passed."""
    walk, plane = piece.step.walk, region.walk.height * region.walk.width
    rows = walk.height * walk.width
    start = address(region, piece.image) + piece.input_row * walk.width + (whole.channel or 0) * plane
    taken = Path(start, (Level(rows, 1), Level(walk.channels, plane)))
    put = Path(0, (Level(rows, at(1, 0)), Level(walk.channels, at(0, 1))))
    return Move("dram", "input", taken, put, rows=(0, rows), halves=(0, half), zeros=(zero, 0), waits=waits)


def store_paths(piece: Piece, target: Region, first: int) -> tuple[Path, Path]:
    """Where the sums of a piece stand, and where its maps lie, of which the layer's part begins with ``first``."""
    rows, columns = piece.step.shape.output_size
    maps, plane = piece.step.output_columns, math.prod((target.walk.height, target.walk.width))
    taken = Path(0, (Level(rows * columns, at(1, 0)), Level(maps, at(0, 1))))
    start = address(target, piece.image) + first * plane + piece.output_row * columns
    return taken, Path(start, (Level(rows * columns, 1), Level(maps, plane)))
