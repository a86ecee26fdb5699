"""Tables among the lines that are printed: a heading above columns that are set flush."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

GAP = "  "
INDENT = 2
"""Characters by which such tables stand to the right among other lines."""
TEXTS = ("description",)
"""Headings of last columns that hold sentences."""
LEAST_TEXT = 12
"""Characters that texts of a last column have at least."""
ROOM: ContextVar[int | None] = ContextVar("room", default=None)
"""Characters that a line has room for, None: as many as it needs."""


@contextmanager
def within(columns: int | None) -> Iterator[None]:
    """Lines that are made in here have room for so many characters."""
    before = ROOM.set(columns)
    try:
        yield
    finally:
        ROOM.reset(before)


def text_table(
    heading: Sequence[str], rows: Sequence[Sequence[object]], words: Collection[str] = ()
) -> list[str]:
    """The heading and a line for each row: the first column and those whose heading is in ``words`` to the left, all
    others, which hold figures, to the right. Whole numbers get separators. Where there is no room, texts of the last
    column go on below, and other columns are left out from the right on, which a last line says."""
    written = [
        [f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row] for row in (heading, *rows)
    ]
    room = ROOM.get()
    columns = list(zip(*written, strict=True))
    widths = [max(map(len, column)) for column in columns]
    left = [place == 0 or title in words for place, title in enumerate(heading)]
    broken = _room_of_last(widths, room) if heading[-1] in TEXTS else None
    shown = len(widths)
    while broken is None and room is not None and shown > 1 and _needed(widths[:shown]) > room - INDENT:
        shown -= 1
    lines = [
        line
        for cells in written
        for line in _lines(cells[:shown], widths[:shown], left, broken or widths[shown - 1])
    ]
    gone = ", ".join(heading[shown:])
    return [*lines, f"left out at {room} columns: {gone}; --wide shows all"] if gone else lines


def _needed(widths: Sequence[int]) -> int:
    return sum(widths) + len(GAP) * (len(widths) - 1)


def _room_of_last(widths: Sequence[int], room: int | None) -> int | None:
    """Characters to which texts of the last column are broken; None if they need not be."""
    if room is None or _needed(widths) <= room:
        return None
    return max(LEAST_TEXT, room - _needed((*widths[:-1], 0)))


def _lines(cells: Sequence[str], widths: Sequence[int], left: Sequence[bool], last: int) -> list[str]:
    """A row as a line, and further ones for what of its last cell has no room in ``last`` characters."""
    beginning = [
        cell.ljust(width) if flush else cell.rjust(width)
        for cell, width, flush in zip(cells, widths, left, strict=False)
    ][:-1]
    end = cells[-1].ljust(widths[-1]) if left[len(cells) - 1] else cells[-1].rjust(widths[-1])
    first, *more = textwrap.wrap(end, last, break_long_words=False) if len(end.strip()) > last else [end]
    below = " " * _needed((*widths[:-1], 0))
    return [GAP.join((*beginning, first)).rstrip(), *(below + line for line in more)]
