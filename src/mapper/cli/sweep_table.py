"""Sweeps and what they would take, as tables for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mapper.cli.terminal import work_cells
from mapper.kind.cell import number, percent, proof, seconds

if TYPE_CHECKING:
    from mapper.api.comparison import Row
    from mapper.sweeping.co_design import DesignFront
    from mapper.sweeping.planning import Plan
    from mapper.sweeping.sweep import Sweep


def plan_lines(plan: Plan, workers: int) -> list[str]:
    """What a sweep would take."""
    error = "" if plan.core_seconds_error is None else f" ± {2 * plan.core_seconds_error:,.0f}"
    cut = f", {plan.cut} of them cut short" if plan.cut else ""
    return [
        f"{plan.machines:,} machines, {plan.points:,} points, {plan.problems:,} problems to solve",
        f"{plan.stored:,} machines are proven in the store, {plan.tasks:,} tasks are left",
        f"about {plan.core_seconds:,.0f}{error} core seconds ({plan.core_seconds / 3600:,.2f} core hours), "
        f"from {plan.sampled} problems solved{cut}",
        f"about {plan.core_seconds / workers:,.0f} s on {workers} workers",
        f"{plan.peak_bytes / 2**20:,.0f} MiB in this process",
    ]


def sweep_rows(sweep: Sweep, model: str | None = None) -> tuple[list[str], list[list[str]]]:
    """Heading and lines of a sweep, with the model if one was asked for."""
    varied = list(sweep.rows[0].vary or {}) if sweep.rows else []
    keys = next((list(row.cost) for row in sweep.rows if row.cost is not None), [])
    keys = [key for key in keys if key != "edp_of_totals"]
    named = [] if model is None else [model]
    more = ["macs", "utilisation"] if any(row.macs is not None for row in sweep.rows) else []
    more += ["mapping"] if any(row.in_a_line for row in sweep.rows) else []
    heading = [*varied, *(["model"] if named else []), *keys, *more, "gap", "proof", "seconds"]
    return heading, [_sweep_line(row, varied, named, keys, more) for row in sweep.rows]


def _sweep_line(
    row: Row, varied: Sequence[str], named: Sequence[str], keys: Sequence[str], more: Sequence[str]
) -> list[str]:
    certificate = row.certificate
    point = [str((row.vary or {})[key]) for key in varied]
    costs = [number((row.cost or {}).get(key)) for key in keys]
    return [
        *point,
        *named,
        *costs,
        *(work_cells(row.macs, row.utilisation) if "macs" in more else []),
        *([row.in_a_line or "–"] if "mapping" in more else []),
        percent(certificate.gap),
        proof(certificate),
        seconds(certificate.seconds),
    ]


def design_rows(found: DesignFront) -> tuple[list[str], list[list[str]]]:
    """Heading and lines of the machines of a front, in its order."""
    varied = list(found.points[0].vary) if found.points else []
    keys = [key for key in (found.points[0].solution.cost or {}) if key != "edp_of_totals"] if varied else []
    lines = [
        [
            *(str(point.vary[key]) for key in varied),
            number(point.on_chip_bytes),
            *(number((point.solution.cost or {}).get(key)) for key in keys),
            proof(point.solution.certificate),
            seconds(point.solution.certificate.seconds),
        ]
        for point in found.points
    ]
    return [*varied, "on_chip_bytes", *keys, "proof", "seconds"], lines
