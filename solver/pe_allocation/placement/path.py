"""Paths through all PEs of a grid, from neighbour to neighbour.

A stretch of a path is connected, so that blocks one after another along a path are a placement. Paths wind through
strips of a width: wide strips make compact regions, narrow ones regions that reach the border.
"""

from __future__ import annotations

from collections.abc import Iterator

from mapper.arch.tcpa import Pe


def paths(rows: int, columns: int) -> Iterator[tuple[Pe, ...]]:
    """The paths through strips of columns, and of rows, of every width that divides the grid."""
    for width in range(1, columns + 1):
        if columns % width == 0:
            yield tuple(strips(rows, columns, width))
    for width in range(1, rows + 1):
        if rows % width == 0:
            yield tuple((row, column) for column, row in strips(columns, rows, width))


def strips(rows: int, columns: int, width: int) -> list[Pe]:
    """The path through strips of ``width`` columns, which divides ``columns``: down and up in turns, each strip from
    its left to its right."""
    path: list[Pe] = []
    row, down = 0, True
    for left in range(0, columns, width):
        strip = list(range(left, left + width))
        if width == 1 or rows % 2:
            path += _row_by_row(range(rows) if down else range(rows - 1, -1, -1), strip)
        elif down:
            path += _row_by_row(range(rows - 2), strip)
            # Two rows at the end column by column lead to the right side.
            path += _column_by_column(row if rows == 2 else rows - 2, rows - 2, strip)
        else:
            path += _column_by_column(row, rows - 2, strip)
            path += _row_by_row(range(rows - 3, -1, -1), strip[::-1])
        row, down = path[-1][0], not down
    return path


def _row_by_row(rows: range, strip: list[int]) -> list[Pe]:
    """There and back, row after row."""
    return [(row, at) for number, row in enumerate(rows) for at in (strip[::-1] if number % 2 else strip)]


def _column_by_column(first: int, top: int, strip: list[int]) -> list[Pe]:
    """The rows ``top`` and the one below, beginning in row ``first`` of them."""
    both = (first, 2 * top + 1 - first)
    return [(row, at) for number, at in enumerate(strip) for row in (both[::-1] if number % 2 else both)]
