"""Bars and curves of report pages, drawn by matplotlib as SVG whose figures are text."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element

from mapper.reporting.colour import BOUND, PROVEN, VALUE, colours
from mapper.reporting.drawing import LONGEST, embedded
from mapper.reporting.scale import figure_text, scaled
from mapper.solver.history import HistoryPoint
from mapper.workloads.text.plain_text import plotted

WIDTH, ROW = 5.2, 0.26
"""Inches: narrow enough to be read on a telephone, where charts are as wide as the page."""
MOST_BARS = 60
MOST_LABEL = 40
LEGEND = 68
"""Characters side by side in a legend, of which a cause's mark takes five."""
INK = "#010101"
"""Black that stays so in the dark, where lines and text of pure black take the page's colour."""


def stacked(
    title: str, unit: str, rows: Mapping[str, Mapping[str, float]], prefix: str, of: str = "part"
) -> Element:
    """A bar a row (``of``: what a row is), each split into its causes; of many rows the longest. ``unit`` is what is
    measured and in what, as in ``energy, pJ``."""
    longest = sorted(rows, key=lambda name: -sum(rows[name].values()))[:MOST_BARS]
    shown = {name: causes for name, causes in rows.items() if name in longest}
    causes = list(dict.fromkeys(cause for row in shown.values() for cause, value in row.items() if value))
    figure, axes = blank(_height(len(shown), causes))
    left = [0.0] * len(shown)
    places = list(range(len(shown)))
    chosen = colours(causes)
    for cause in causes:
        widths = [float(row.get(cause, 0)) for row in shown.values()]
        axes.barh(
            places,
            widths,
            left=left,
            height=0.7,
            label=plotted(cause, LONGEST),
            color=chosen[cause],
        )
        left = [one + other for one, other in zip(left, widths, strict=True)]
    axes.set_xlim(0, 1.05 * (max(left, default=0) or 1))
    return _named(figure, axes, list(shown), len(rows), (title, unit, of), prefix)


def beside(
    title: str, unit: str, rows: Mapping[str, Mapping[str, float]], prefix: str, of: str = "part"
) -> Element:
    """A group of bars a part, one for each of what runs at the same time, and the one that binds marked."""
    causes = list(dict.fromkeys(cause for row in rows.values() for cause in row))
    most = max(1, 2 * MOST_BARS // max(1, len(causes)))
    longest = sorted(rows, key=lambda name: -max(rows[name].values(), default=0))[:most]
    shown = {name: row for name, row in rows.items() if name in longest}
    thick = 0.8 / max(1, len(causes))
    figure, axes = blank(_height(len(shown) * max(1.0, 0.5 * len(causes)), causes))
    chosen = colours(causes)
    for at, cause in enumerate(causes):
        places = [place - 0.4 + thick * (at + 0.5) for place in range(len(shown))]
        binds = [binding(row) == cause for row in shown.values()]
        bars = axes.barh(
            places,
            [float(row.get(cause, 0)) for row in shown.values()],
            height=0.9 * thick,
            label=plotted(cause, LONGEST),
            color=chosen[cause],
            edgecolor=[INK if one else "none" for one in binds],
        )
        axes.bar_label(bars, ["binds" if one else "" for one in binds], padding=3, fontsize="small")
    axes.set_xlim(0, 1.15 * (max((max(row.values(), default=0) for row in shown.values()), default=0) or 1))
    return _named(figure, axes, list(shown), len(rows), (title, unit, of), prefix)


def _height(rows: float, causes: Sequence[str]) -> float:
    """Inches for this many rows under a legend of these causes."""
    return float(max(1.5, 1.1 + ROW * rows + 0.2 * ((len(causes) - 1) // _columns(causes))))


def _columns(causes: Sequence[str]) -> int:
    """Of a legend: as many as its longest cause lets stand side by side."""
    return max(1, min(len(causes), LEGEND // (max(map(len, causes), default=0) + 5)))


def _named(
    figure: Any, axes: Any, shown: Sequence[str], rows: int, said: tuple[str, str, str], prefix: str
) -> Element:
    """Bars with their title, axes and legend."""
    title, unit, of = said
    axes.set_yticks(list(range(len(shown))), [plotted(name, MOST_LABEL) for name in shown])
    axes.invert_yaxis()
    scaled(axes.xaxis, unit, axes.get_xlim()[1])
    axes.set_ylabel(of)
    figure.suptitle(plotted(title[:1].upper() + title[1:], LONGEST), fontsize="medium", x=0.01, ha="left")
    columns = _columns(axes.get_legend_handles_labels()[1])
    axes.legend(fontsize="small", ncols=columns, loc="lower left", bbox_to_anchor=(-0.02, 1), frameon=False,
                columnspacing=1, handlelength=1.2)  # fmt: skip
    label = f"{title}; {len(shown)} of {rows} rows" if len(shown) < rows else title
    return finished(figure, label, prefix)


def binding(row: Mapping[str, float]) -> str:
    """What takes longest of what runs at the same time; of equals the last, which computing is."""
    return max(reversed(list(row)), key=lambda cause: row[cause], default="")


def methods(values: Sequence[tuple[str, float | None, bool]], best: float, prefix: str) -> Element:
    """How far every method is from the best value known, by name; ``True`` marks what is proven optimal."""
    shown = [(name, value, proven) for name, value, proven in values if value is not None]
    figure, axes = blank(0.9 + ROW * len(shown))
    ratios = [value / best if best else 1.0 for _, value, _ in shown]
    places = list(range(len(shown)))
    bars = axes.barh(places, ratios, height=0.7, color=[PROVEN if proven else VALUE for *_, proven in shown])
    axes.bar_label(bars, [f"{ratio:.3g}" for ratio in ratios], padding=3, fontsize="small")
    axes.set_yticks(places, [plotted(name, MOST_LABEL) for name, *_ in shown])
    axes.invert_yaxis()
    if max(ratios) > 20 * min(ratio for ratio in ratios if ratio > 0):
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(figure_text)
    axes.margins(x=0.12)
    axes.set_xlabel("value / best value known (green: proven optimal)")
    axes.set_ylabel("method")
    axes.set_title("Methods against the best value known", fontsize="medium", loc="left")
    return finished(figure, "value of every method over the best value known", prefix)


def over_time(points: Sequence[HistoryPoint], objective: str, prefix: str) -> Element:
    """Best value and bound over the seconds of a search."""
    figure, axes = blank(2.6)
    for label, colour, pairs in (
        ("value", VALUE, [(one.seconds, one.value) for one in points if one.value is not None]),
        ("bound", BOUND, [(one.seconds, one.bound) for one in points if one.bound is not None]),
    ):
        if pairs:
            times, heights = zip(*pairs, strict=True)
            axes.step(times, heights, where="post", marker="o", markersize=3, label=label, color=colour)
    axes.set_xlabel("time since the search began, s")
    axes.set_ylabel(plotted(objective, LONGEST))
    figure.suptitle("Best value and bound over time", fontsize="medium", x=0.01, ha="left")
    axes.yaxis.set_major_formatter(figure_text)
    axes.legend(fontsize="small", ncols=2, loc="lower left", bbox_to_anchor=(-0.02, 1), frameon=False)
    return finished(figure, "best value and bound over time", prefix)


def blank(height: float) -> tuple[Any, Any]:
    """A figure of this height in inches, and its axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    figure.patch.set_alpha(0)
    axes = figure.subplots()
    axes.patch.set_alpha(0)
    axes.grid(True, alpha=0.3)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
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
    # Lines of pure black are those of axes: they take the colour of the text around.
    root = embedded(text.getvalue().replace("#000000", "currentColor"), label, prefix)
    root.set("class", "chart")
    return root
