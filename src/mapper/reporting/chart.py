"""Bars and curves of report pages, drawn by matplotlib as SVG whose figures are text."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element

from mapper.api.history import HistoryPoint
from mapper.kind.kind import FrontAxes
from mapper.reporting.drawing import LONGEST, embedded
from mapper.workloads.text.plain_text import plotted

WIDTH, ROW = 7.6, 0.26
COLOURS = ("#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#76b7b2", "#e15759", "#9c755f", "#bab0ac")
MOST_BARS = 60
MOST_LABEL = 40


def stacked(title: str, unit: str, rows: Mapping[str, Mapping[str, float]], prefix: str) -> Element:
    """A bar a row, each split into its causes, all in one ``unit``; of many rows the longest."""
    longest = sorted(rows, key=lambda name: -sum(rows[name].values()))[:MOST_BARS]
    shown = {name: causes for name, causes in rows.items() if name in longest}
    causes = list(dict.fromkeys(cause for row in shown.values() for cause, value in row.items() if value))
    figure, axes = blank(max(1.3, 0.9 + ROW * len(shown) + 0.2 * (len(causes) > 5)))
    left = [0.0] * len(shown)
    places = list(range(len(shown)))
    for number, cause in enumerate(causes):
        widths = [float(row.get(cause, 0)) for row in shown.values()]
        axes.barh(
            places,
            widths,
            left=left,
            height=0.7,
            label=plotted(cause, LONGEST),
            color=COLOURS[number % len(COLOURS)],
        )
        left = [one + other for one, other in zip(left, widths, strict=True)]
    axes.set_yticks(places, [plotted(name, MOST_LABEL) for name in shown])
    axes.invert_yaxis()
    axes.xaxis.set_major_formatter(figure_text)
    axes.set_xlabel(unit)
    axes.legend(fontsize="small", ncols=5, loc="lower left", bbox_to_anchor=(0, 1), frameon=False)
    said = f"{title}; {len(shown)} of {len(rows)} rows" if len(shown) < len(rows) else title
    return finished(figure, said, prefix)


def methods(values: Sequence[tuple[str, float | None, bool]], best: float, prefix: str) -> Element:
    """How far every method is from the best value known, by name; ``True`` marks what is proven optimal."""
    shown = [(name, value, proven) for name, value, proven in values if value is not None]
    figure, axes = blank(0.9 + ROW * len(shown))
    ratios = [value / best if best else 1.0 for _, value, _ in shown]
    places = list(range(len(shown)))
    bars = axes.barh(
        places, ratios, height=0.7, color=[COLOURS[2] if proven else COLOURS[0] for *_, proven in shown]
    )
    axes.bar_label(bars, [f"{ratio:.3g}" for ratio in ratios], padding=3, fontsize="small")
    axes.set_yticks(places, [plotted(name, MOST_LABEL) for name, *_ in shown])
    axes.invert_yaxis()
    if max(ratios) > 20 * min(ratio for ratio in ratios if ratio > 0):
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(figure_text)
    axes.margins(x=0.12)
    axes.set_xlabel("value / best value known (green: proven optimal)")
    return finished(figure, "value of every method over the best value known", prefix)


def over_time(points: Sequence[HistoryPoint], objective: str, prefix: str) -> Element:
    """Best value and bound over the seconds of a search."""
    figure, axes = blank(2.6)
    for label, colour, pairs in (
        ("value", COLOURS[0], [(one.seconds, one.value) for one in points if one.value is not None]),
        ("bound", COLOURS[1], [(one.seconds, one.bound) for one in points if one.bound is not None]),
    ):
        if pairs:
            times, heights = zip(*pairs, strict=True)
            axes.step(times, heights, where="post", marker="o", markersize=3, label=label, color=colour)
    axes.set_xlabel("seconds since the search began")
    axes.set_ylabel(plotted(objective, LONGEST))
    axes.yaxis.set_major_formatter(figure_text)
    axes.legend(fontsize="small", frameon=False)
    return finished(figure, "best value and bound over time", prefix)


def swept(rows: Sequence[tuple[Mapping[str, Any], float | None]], prefix: str) -> Element:
    """Values over the first field that varies, a line for each value of the others."""
    varied = list(rows[0][0])
    lines: dict[str, list[tuple[str, float]]] = {}
    for point, value in rows:
        label = ", ".join(f"{key}={point.get(key)}" for key in varied[1:])
        if value is not None:
            lines.setdefault(label, []).append((str(point[varied[0]]), value))
    figure, axes = blank(3.4)
    for number, (label, points) in enumerate(list(lines.items())[:MOST_BARS]):
        colour = COLOURS[number % len(COLOURS)]
        axes.plot(
            [plotted(x, 20) for x, _ in points],
            [y for _, y in points],
            marker="o",
            label=plotted(label, 60) or None,
            color=colour,
        )
    axes.set_xlabel(plotted(varied[0], LONGEST))
    axes.set_ylabel("value")
    if any(y > 0 for points in lines.values() for _, y in points):
        axes.set_yscale("log")
        axes.yaxis.set_minor_formatter(figure_text)
    axes.yaxis.set_major_formatter(figure_text)
    if len(varied) > 1 and len(lines) <= 12:
        axes.legend(fontsize="small", frameon=False)
    return finished(figure, f"value over {varied[0]}", prefix)


def front(costs: Sequence[Mapping[str, float]], axes_of: FrontAxes, prefix: str) -> Element:
    """Trade-offs, a point each, over the two axes of their kind."""
    (along, along_said), (up, up_said) = axes_of.along, axes_of.up
    figure, axes = blank(3.4)
    axes.plot(
        [cost[along] for cost in costs], [cost[up] for cost in costs], "o", color=COLOURS[0], clip_on=False
    )
    axes.set_xlabel(along_said)
    axes.set_ylabel(up_said)
    axes.xaxis.set_major_formatter(figure_text)
    axes.yaxis.set_major_formatter(figure_text)
    return finished(figure, f"{up_said} over {along_said}", prefix)


def figure_text(value: float, place: int | None = None) -> str:
    """A figure of an axis as plain text."""
    return f"{value:.4g}" if abs(value) >= 1e6 else f"{value:,.6g}"


def blank(height: float) -> tuple[Any, Any]:
    """A figure of this height in inches, and its axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    figure.patch.set_alpha(0)
    axes = figure.subplots()
    axes.patch.set_alpha(0)
    axes.grid(True, alpha=0.3)
    axes.set_axisbelow(True)
    return figure, axes


def finished(figure: Any, label: str, prefix: str) -> Element:
    """The figure as an element of a page; identifiers begin with ``prefix``."""
    import matplotlib

    text = io.StringIO()
    settings: Any = {"svg.fonttype": "none", "svg.hashsalt": prefix}
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        # Characters that matplotlib's own font lacks are drawn by the browser's.
        warnings.simplefilter("ignore")
        figure.savefig(text, format="svg", metadata={"Date": None})
    root = embedded(text.getvalue(), label, prefix)
    root.set("class", "chart")
    return root
