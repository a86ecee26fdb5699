"""Sweeps and trade-offs as charts: a line or a heat map of the objective over a grid, and a front of points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any
from xml.etree.ElementTree import Element

from mapper.kind import objective_named
from mapper.kind.part import FrontAxes
from mapper.reporting.chart import INK, blank, finished
from mapper.reporting.colour import BEST, SERIES, VALUE
from mapper.reporting.drawing import LONGEST
from mapper.reporting.scale import figure_text, scaled
from mapper.workloads.text.plain_text import plotted

MOST_LINES, MOST_CELLS, MOST_NAMED, TITLE = 12, 24, 40, 46
Points = Sequence[tuple[Mapping[str, Any], float | None]]
"""What is varied, and the objective there (None: no answer)."""


def swept(points: Points, title: str, objective: str, prefix: str) -> Element:
    """The objective over a grid: a heat map where two fields vary, else lines over the first."""
    varied = list(points[0][0])
    sides = [list(dict.fromkeys(str(names.get(key)) for names, _ in points)) for key in varied]
    if len(varied) == 2 and min(map(len, sides)) > 1:
        figure, axes = blank(min(9.0, 1.8 + 0.34 * len(sides[1])))
    else:
        figure, axes = blank(3.6)
    draw_swept(figure, axes, points, title, objective)
    return finished(figure, f"{objective} over {' and '.join(varied)}", prefix)


def draw_swept(figure: Any, axes: Any, points: Points, title: str, objective: str) -> None:
    """The same on ``axes`` of a figure of matplotlib."""
    varied = list(points[0][0])
    sides = [list(dict.fromkeys(str(names.get(key)) for names, _ in points)) for key in varied]
    axes.set_title(fill(plotted(title, LONGEST), TITLE), fontsize="medium", loc="left")
    axes.set_xlabel(plotted(varied[0], LONGEST))
    if len(varied) == 2 and min(map(len, sides)) > 1 and max(map(len, sides)) <= MOST_CELLS:
        axes.set_ylabel(plotted(varied[1], LONGEST))
        _heat(figure, axes, points, sides, objective)
    else:
        axes.set_ylabel(plotted(objective, LONGEST))
        _lines(axes, points)


def _heat(figure: Any, axes: Any, points: Points, sides: Sequence[Sequence[str]], objective: str) -> None:
    """A cell for each machine, with its value; empty where there is no answer."""
    across, up = sides
    cells: list[list[float]] = [[float("nan")] * len(across) for _ in up]
    for names, value in points:
        column, row = (str(one) for one in names.values())
        if value is not None:
            cells[up.index(row)][across.index(column)] = value
    known = [value for _, value in points if value is not None]
    best = objective_named(objective.partition(",")[0]).best(known) if known and "," in objective else None
    drawn = axes.pcolormesh(cells, cmap="YlGnBu", edgecolors="white", linewidth=1.5)
    axes.grid(False)
    axes.set_xticks([at + 0.5 for at in range(len(across))], [plotted(one, 16) for one in across])
    axes.set_yticks([at + 0.5 for at in range(len(up))], [plotted(one, 16) for one in up])
    figure.colorbar(drawn, ax=axes, label=plotted(objective, LONGEST), format=figure_text)
    middle = (min(known) + max(known)) / 2 if known else 0.0
    if len(across) <= 8:
        for y, own in enumerate(cells):
            for x, value in enumerate(own):
                ink = "white" if value > middle else INK
                said = f"{value:.3g}" if value == value else "–"
                axes.text(x + 0.5, y + 0.5, said, ha="center", va="center", fontsize="small", color=ink)
    for y, own in enumerate(cells):
        for x, value in enumerate(own):
            if value == best:
                axes.plot([x, x + 1, x + 1, x, x], [y, y, y + 1, y + 1, y], color=BEST, linewidth=2.5)


def _lines(axes: Any, points: Points) -> None:
    """Values over the first field that varies, a line for each value of the others."""
    varied = list(points[0][0])
    lines: dict[str, list[tuple[str, float]]] = {}
    for names, value in points:
        if value is not None:
            label = ", ".join(f"{key}={names.get(key)}" for key in varied[1:])
            lines.setdefault(label, []).append((str(names[varied[0]]), value))
    for place, (label, own) in enumerate(lines.items()):
        colour = SERIES[place % len(SERIES)]
        places, heights = [plotted(x, 20) for x, _ in own], [y for _, y in own]
        axes.plot(places, heights, marker="o", label=plotted(label, 60) or None, color=colour)
    if any(y > 0 for own in lines.values() for _, y in own):
        axes.set_yscale("log")
        axes.yaxis.set_minor_formatter(figure_text)
    axes.yaxis.set_major_formatter(figure_text)
    if len(varied) > 1 and len(lines) <= MOST_LINES:
        axes.legend(fontsize="small", frameon=False)


def front(costs: Sequence[Mapping[str, float]], axes_of: FrontAxes, title: str, prefix: str) -> Element:
    """The points of a front over the two axes of their kind, joined in the order of the first."""
    (along, along_said), (up, up_said) = axes_of.along, axes_of.up
    pairs = sorted((float(cost[along]), float(cost[up]), place) for place, cost in enumerate(costs, 1))
    figure, axes = blank(3.6)
    xs, ys = [x for x, *_ in pairs], [y for _, y, _ in pairs]
    axes.plot(xs, ys, marker="o", color=VALUE, linestyle="none")
    # Between two points there is nothing better than the first of them: a stair, no slope. Points beside it are better
    # in a third cost.
    best = _stair(pairs, most=up.endswith("_fps"))
    axes.plot(*zip(*best, strict=True), color=VALUE, linewidth=1, drawstyle="steps-post")
    axes.margins(0.08, 0.12)
    for x, y, place in pairs[:MOST_NAMED]:
        axes.annotate(str(place), (x, y), textcoords="offset points", xytext=(4, 5), fontsize="x-small")
    axes.set_title(fill(plotted(title, LONGEST), TITLE), fontsize="medium", loc="left")
    scaled(axes.xaxis, along_said, xs[-1])
    scaled(axes.yaxis, up_said, max(ys))
    across, upward = (one.partition(",")[0] for one in (along_said, up_said))
    return finished(figure, f"{upward} over {across}", prefix)


def _stair(pairs: Sequence[tuple[float, float, int]], most: bool) -> list[tuple[float, float]]:
    """Of points in the order of the first cost those that are better in the second than all before."""
    sign = -1 if most else 1
    stair: list[tuple[float, float]] = []
    for x, y, _ in sorted(pairs, key=lambda pair: (pair[0], sign * pair[1])):
        if not stair or sign * y < sign * stair[-1][1]:
            stair.append((x, y))
    return stair
