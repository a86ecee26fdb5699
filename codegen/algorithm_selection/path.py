"""Paths of the overlay's layout-transformation units, from the layouts' own walks [Meng2021, sec. 3.3, Table 1]."""

from __future__ import annotations

from collections.abc import Sequence

from mapper.codegen.algorithm_selection.instruction import Level, Path, at
from mapper.models.algorithm_selection.control.walk import Counter, Walk


def counters(walk: Walk, *, tiles_innermost: bool = False) -> list[Counter]:
    """A walk's counters from the innermost out, adjacent channels among them. ``tiles_innermost``: the words of one
    Winograd tile follow each other, as its transform needs them."""
    channels = Counter(walk.words, channel=1, address=1)
    outwards = list(reversed(walk.levels))
    return [*outwards[:2], channels, *outwards[2:]] if tiles_innermost else [channels, *outwards]


def map_path(walk: Walk, order: Sequence[Counter]) -> Path:
    """Over the 3-D tensor in a buffer, whose rows are positions and whose columns are channels."""
    return Path(
        at(walk.row * walk.width + walk.column, 0),
        tuple(
            Level(one.count, at(one.row * walk.width + one.column, one.channel), one.row, one.column)
            for one in order
        ),
        (walk.height, walk.width),
        (walk.row, walk.column),
    )


def dram_path(order: Sequence[Counter], address: int) -> Path:
    """Over the walk's matrix in DRAM, where it lies row by row from ``address`` on."""
    return Path(address, tuple(Level(one.count, one.address) for one in order))


def matrix_path(walk: Walk, order: Sequence[Counter]) -> Path:
    """Over the walk's matrix in a buffer."""
    return Path(0, tuple(Level(one.count, at(*divmod(one.address, walk.columns))) for one in order))


def grid_path(rows: int, columns: int, start: int = 0) -> Path:
    """Over a matrix in a buffer row by row."""
    return Path(start, (Level(columns, at(0, 1)), Level(rows, at(1, 0))))


def line_path(words: int, address: int) -> Path:
    """Over adjacent words of DRAM."""
    return Path(address, (Level(words, 1),))


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
    )
