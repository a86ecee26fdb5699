"""Plots of results, as PNG or SVG."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from mapper.api.trade_off import TradeOff
from mapper.sweeping.co_design import DesignFront
from mapper.sweeping.sweep import Sweep
from mapper.workloads.document import InputError
from mapper.workloads.process.whole_file import write_whole
from mapper.workloads.text.plain_text import plotted

if TYPE_CHECKING:
    from matplotlib.figure import Figure


LONGEST = 100
"""Characters of a name in a plot."""


def draw_sweep(sweep: Sweep, path: Path) -> None:
    """The objective over the grid: a line for each value of the fields after the first [Dave2019, Fig. 12], or a heat
    map of two fields.

    Raises: InputError if the file is neither .png nor .svg, or cannot be written.
    """
    check_form(path)
    from matplotlib.figure import Figure

    from mapper.reporting.sweep_chart import draw_swept

    points = [
        (row.vary or {}, None if row.certificate.value is None else float(row.certificate.value))
        for row in sweep.rows
    ]
    posed = sweep.posed
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    axes.grid(True, which="both", alpha=0.3)
    objective = f"{posed.objective.name}, {posed.objective.unit}"
    draw_swept(figure, axes, points, f"{posed.workload} on {posed.arch}", objective)
    _save(figure, path)


def draw_front(found: TradeOff, path: Path) -> None:
    """The points of a front over the axes of their kind.

    Raises: InputError if the file is neither .png nor .svg, or cannot be written.
    """
    check_form(path)
    from matplotlib.figure import Figure

    shown = found.posed.kind.front_axes()
    costs = [point.cost for point in found.points if point.cost is not None]
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    most = max((cost[shown.size] for cost in costs), default=0) or 1
    drawn = axes.scatter(
        [cost[shown.along[0]] for cost in costs],
        [cost[shown.up[0]] for cost in costs],
        s=[20 + 80 * cost[shown.size] / most for cost in costs],
        c=[cost[shown.colour[0]] for cost in costs],
        cmap="viridis",
    )
    figure.colorbar(drawn, label=shown.colour[1])
    axes.set_xlabel(shown.along[1])
    axes.set_ylabel(shown.up[1])
    axes.set_title(plotted(f"{found.posed.workload} on {found.posed.arch}", LONGEST), fontsize="medium")
    axes.grid(True, alpha=0.3)
    _save(figure, path)


def draw_designs(found: DesignFront, path: Path) -> None:
    """The objective of the machines of a front over their bytes on chip.

    Raises: InputError as ``draw_front``.
    """
    check_form(path)
    from matplotlib.figure import Figure

    posed = found.posed
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    values = [float(point.solution.certificate.value or 0) for point in found.points]
    axes.step([point.on_chip_bytes for point in found.points], values, where="post", marker="o")
    axes.set_xscale("log", base=2)
    axes.set_xlabel("bytes on chip")
    axes.set_ylabel(f"{posed.objective.name}, {posed.objective.unit}")
    axes.set_title(plotted(f"{posed.workload} on {posed.arch}", LONGEST), fontsize="medium")
    axes.grid(True, alpha=0.3)
    _save(figure, path)


def check_form(path: Path) -> None:
    """Raises: InputError if the suffix names no form that plots are drawn in."""
    if path.suffix not in (".png", ".svg"):
        raise InputError("--plot", str(path), "must end in .png or .svg")


def _save(figure: Figure, path: Path) -> None:
    drawn = io.BytesIO()
    form = path.suffix[1:]
    with warnings.catch_warnings():
        # Characters that matplotlib's own font lacks are nothing to be told of.
        warnings.simplefilter("ignore")
        figure.savefig(drawn, format=form, metadata={"Date": None} if form == "svg" else None)
    write_whole(path, drawn.getvalue(), "--plot")
