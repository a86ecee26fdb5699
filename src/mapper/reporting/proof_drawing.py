"""Shapes that pictures of proofs share: bars in rows, and arrows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from xml.etree.ElementTree import Element

from mapper.reporting.drawing import node, plain, svg

NAMES, WIDTH, ROW, SAID = 220, 300, 22, 240
Row = tuple[str, float, str]
"""The name of a row, how long its bar is (0 to 1), and what stands beside it."""


def bars(rows: Sequence[Row], label: str, limit: float | None = None) -> Element:
    """A bar a row; ``limit`` is a line across them, from 0 to 1."""
    drawn = svg(NAMES + WIDTH + SAID, ROW * len(rows) + 4, label)
    for at, (name, share, said) in enumerate(rows):
        y, length = at * ROW, WIDTH * min(1.0, max(0.0, share))
        middle = y + ROW * 0.65
        drawn.append(node("text", plain(name, 36), x=NAMES - 6, y=middle, text_anchor="end"))
        drawn.append(node("rect", x=NAMES, y=y + 3, width=length, height=ROW - 6, class_="used"))
        drawn.append(node("text", plain(said, 60), x=NAMES + length + 6, y=middle))
    if limit is not None:
        x = NAMES + WIDTH * limit
        drawn.append(node("line", x1=x, x2=x, y1=0, y2=ROW * len(rows), class_="limit"))
    return drawn


def logarithmic(count: float, most: float) -> float:
    """A bar's length for a count, so that small ones are seen beside large ones."""
    return math.log1p(count) / math.log1p(most) if most > 0 else 0.0


def arrow(start: tuple[float, float], end: tuple[float, float], short: float) -> list[Element]:
    """A line with a head, which begins and ends ``short`` of its points."""
    (x1, y1), (x2, y2) = start, end
    length = math.hypot(x2 - x1, y2 - y1) or 1.0
    across, down = (x2 - x1) / length, (y2 - y1) / length
    x1, y1, x2, y2 = x1 + across * short, y1 + down * short, x2 - across * short, y2 - down * short
    points = [(x2, y2)] + [
        (x2 - 8 * across + side * 4 * down, y2 - 8 * down - side * 4 * across) for side in (1, -1)
    ]
    head = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return [
        node("line", x1=x1, y1=y1, x2=x2, y2=y2, class_="edge"),
        node("polygon", points=head, class_="head"),
    ]
