"""Tables among the lines that are printed: a heading above columns that are set flush."""

from __future__ import annotations

from collections.abc import Collection, Sequence

GAP = "  "


def text_table(
    heading: Sequence[str], rows: Sequence[Sequence[object]], words: Collection[str] = ()
) -> list[str]:
    """The heading and a line for each row: the first column and those whose heading is in ``words`` to the left, all
    others, which hold figures, to the right. Whole numbers get separators."""
    written = [
        [f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row] for row in (heading, *rows)
    ]
    widths = [max(map(len, column)) for column in zip(*written, strict=True)]
    left = [place == 0 or title in words for place, title in enumerate(heading)]
    return [
        GAP.join(
            cell.ljust(width) if flush else cell.rjust(width)
            for cell, width, flush in zip(row, widths, left, strict=True)
        ).rstrip()
        for row in written
    ]
