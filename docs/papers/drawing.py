"""Figures of the papers, drawn anew from computed values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from docs.papers.row import Drawing
from mapper.reporting.chart import ROW, blank, finished
from mapper.reporting.colour import SERIES
from mapper.reporting.scale import figure_text

Point = tuple[float, float]


def bars(
    caption: str, unit: str, groups: Mapping[str, Mapping[str, float]], prefix: str, log: bool = False
) -> Drawing:
    """A group of bars for each name, one for each series, side by side."""
    series = list(dict.fromkeys(name for group in groups.values() for name in group))
    figure, axes = blank(0.9 + max(ROW, 0.14 * len(series) + 0.08) * len(groups))
    height = 0.8 / len(series)
    for number, name in enumerate(series):
        known = [(place, group[name]) for place, group in enumerate(groups.values()) if name in group]
        places = [place + (number - (len(series) - 1) / 2) * height for place, _ in known]
        colour = SERIES[number % len(SERIES)]
        axes.barh(places, [value for _, value in known], height=height, label=name, color=colour)
    axes.set_yticks(range(len(groups)), list(groups))
    axes.set_ylim(len(groups) - 0.5, -0.5)
    if log:
        axes.set_xscale("log")
    axes.xaxis.set_major_formatter(figure_text)
    axes.set_xlabel(unit)
    if len(series) > 1:
        axes.legend(fontsize="small", ncols=5, loc="lower left", bbox_to_anchor=(0, 1), frameon=False)
    return Drawing(finished(figure, caption, prefix), caption)


def lines(
    caption: str, axes_of: tuple[str, str], series: Mapping[str, Sequence[tuple[str, float]]], prefix: str
) -> Drawing:
    """A line for each series over named places, on a logarithmic scale of values."""
    figure, axes = blank(3.6)
    for number, (name, points) in enumerate(series.items()):
        colour = SERIES[number % len(SERIES)]
        names, values = zip(*points, strict=True)
        axes.plot(names, values, marker="o", markersize=4, label=name, color=colour)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(figure_text)
    axes.yaxis.set_minor_formatter(figure_text)
    axes.set_xlabel(axes_of[0])
    axes.set_ylabel(axes_of[1])
    axes.legend(fontsize="small", frameon=False)
    return Drawing(finished(figure, caption, prefix), caption)


def dots(caption: str, axes_of: tuple[str, str], points: Sequence[Point], prefix: str) -> Drawing:
    """Points by two values, both logarithmic, with the line on which they are equal."""
    figure, axes = blank(3.6)
    across, up = zip(*points, strict=True)
    ends = (min(*across, *up), max(*across, *up))
    axes.plot(ends, ends, color=SERIES[7], linewidth=1)
    axes.plot(across, up, linestyle="none", marker="o", markersize=4, color=SERIES[0])
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(figure_text)
        axis.set_minor_formatter(figure_text)
    axes.set_xlabel(axes_of[0])
    axes.set_ylabel(axes_of[1])
    return Drawing(finished(figure, caption, prefix), caption)
