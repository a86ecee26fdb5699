"""Figures on the axes of charts: short ones, in a unit of their size."""

from __future__ import annotations

from typing import Any

MOST_TICKS = 5
LARGER = {
    "pJ": ((1e12, "J"), (1e9, "mJ"), (1e6, "µJ"), (1e3, "nJ")),
    "bytes": ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")),
    "cycles": ((1e12, "10^12 cycles"), (1e9, "billion cycles"), (1e6, "million cycles")),
}
"""What an axis counts in, from how many of a unit on."""


def figure_text(value: float, place: int | None = None) -> str:
    """A figure of an axis as plain text."""
    return f"{value:.4g}" if abs(value) >= 1e6 else f"{value:,.6g}"


def scaled(axis: Any, said: str, most: float) -> None:
    """Names an axis of matplotlib (``said``: what, and after a comma its unit), and counts in a larger unit where the
    figures, ``most`` of all, are large."""
    from matplotlib.ticker import MaxNLocator

    what, _, unit = said.rpartition(", ")
    size, larger = next(((size, name) for size, name in LARGER.get(unit, ()) if most >= size), (1.0, unit))
    axis.set_major_locator(MaxNLocator(MOST_TICKS))
    axis.set_major_formatter(lambda value, place: figure_text(value / size))
    axis.set_label_text(f"{what}, {larger}" if what else larger)
