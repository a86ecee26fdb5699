"""Paths of the overlay's layout-transformation units, from the layouts' own walks [Meng2021, sec. 3.3, Table 1].

Adjacent channels, or adjacent columns of a matrix, move side by side: they are the lanes of every path here.
"""

from __future__ import annotations

from collections.abc import Sequence

from mapper.codegen.algorithm_selection.instruction import Level, Path, at
from mapper.models.algorithm_selection.control.walk import Counter, Walk


def counters(walk: Walk, *, tiles_innermost: bool = False) -> tuple[list[Counter], int]:
    """A walk's counters from the innermost out, adjacent channels among them, and the place of these.
    ``tiles_innermost``: the words of one Winograd tile follow each other, as its transform needs them."""
    channels = Counter(walk.words, channel=1, address=1)
    outwards = list(reversed(walk.levels))
    if tiles_innermost:
        return [*outwards[:2], channels, *outwards[2:]], 2
    return [channels, *outwards], 0


def map_path(walk: Walk, order: Sequence[Counter], lane: int, first: int = 0) -> Path:
    """Over the 3-D tensor in a buffer, whose rows are positions, the map's from ``first`` on, and whose columns are
    channels."""
    return Path(
        at(walk.row * walk.width + walk.column + first, 0),
        tuple(
            Level(one.count, at(one.row * walk.width + one.column, one.channel), one.row, one.column)
            for one in order
        ),
        (walk.height, walk.width),
        (walk.row, walk.column),
        lane,
    )


def plain_path(walk: Walk, order: Sequence[Counter], lane: int, address: int, apart: int) -> Path:
    """Over the 3-D tensor in DRAM, where its channels lie side by side from ``address`` on, and positions ``apart``."""
    return Path(
        address + (walk.row * walk.width + walk.column) * apart,
        tuple(
            Level(
                one.count,
                (one.row * walk.width + one.column) * apart + one.channel,
                one.row,
                one.column,
            )
            for one in order
        ),
        (walk.height, walk.width),
        (walk.row, walk.column),
        lane,
    )


def dram_path(order: Sequence[Counter], lane: int, address: int) -> Path:
    """Over the walk's matrix in DRAM, where it lies row by row from ``address`` on."""
    return Path(address, tuple(Level(one.count, one.address) for one in order), lane=lane)


def matrix_path(walk: Walk, order: Sequence[Counter], lane: int) -> Path:
    """Over the walk's matrix in a buffer."""
    levels = tuple(Level(one.count, at(*divmod(one.address, walk.columns))) for one in order)
    return Path(0, levels, lane=lane)


def grid_path(rows: int, columns: int, start: int = 0) -> Path:
    """Over a matrix in a buffer row by row."""
    return Path(start, (Level(columns, at(0, 1)), Level(rows, at(1, 0))))


def lines_path(rows: int, columns: int, address: int) -> Path:
    """Over a matrix that lies row by row in DRAM."""
    return Path(address, (Level(columns, 1), Level(rows, columns)))


def tile_path(pieces: int, matrices: int, rows: int, columns: int) -> Path:
    """Over stacked matrices of ``rows`` x ``columns`` in a buffer: the same element of the matrices of one piece, then
    the next element, then the next piece."""
    return Path(
        0,
        (
            Level(matrices, at(rows, 0)),
            Level(columns, at(0, 1)),
            Level(rows, at(1, 0)),
            Level(pieces, at(matrices * rows, 0)),
        ),
        lane=1,
    )
