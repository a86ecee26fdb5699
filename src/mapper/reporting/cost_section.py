"""What a solution costs: a table of its parts, and what takes it, as charts and tables."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element

from mapper.kind.cell import number, percent, proof
from mapper.kind.part import Part
from mapper.reporting import chart
from mapper.reporting.drawing import figure, node, plain, table
from mapper.solver.certificate import Certificate

MOST_PARTS = 400
"""Parts that a page tells apart."""
MOST_SHARES, LEAST_SHARE = 5, 0.0005
"""Causes that are told below a chart, and what share of all one has at least."""
UNITS = {
    "energy_pj": "energy, pJ",
    "cycles": "time, cycles",
    "bytes": "data, bytes",
    "stall_cycles": "stalls, cycles",
}
"""What breakdowns measure, and in what."""


def cost_table(parts: Sequence[Part], total: dict[str, Any] | None, certificate: Certificate) -> Element:
    keys = [
        key
        for key in next((part.cost for part in parts if part.cost), {})
        if any((part.cost or {}).get(key) is not None for part in parts)
    ]
    if len(parts) == 1:
        return _one_cost(parts[0], keys)
    rows = []
    for part in parts[:MOST_PARTS]:
        name = part.name if part.same_as is None else f"{part.name} = {part.same_as}"
        rows.append(
            [name, *(number((part.cost or {}).get(key)) for key in keys), *certified(part.certificate)]
        )
    rows.append(["total", *(number((total or {}).get(key)) for key in keys), *certified(certificate)])
    caption = "Cost" if len(parts) <= MOST_PARTS else f"Cost of the first {MOST_PARTS} parts, and of all"
    return table(["part", *keys, "gap", "proof", "method"], rows, caption, class_="costs")


def _one_cost(part: Part, keys: Sequence[str]) -> Element:
    """The cost of the only part, a line each: no wider than a telephone."""
    rows = [[key, number((part.cost or {}).get(key))] for key in keys]
    rows += [list(one) for one in zip(("gap", "proof", "method"), certified(part.certificate), strict=True)]
    return table(["cost", plain(part.name)], rows, "Cost", class_="costs")


def certified(certificate: Certificate) -> list[str]:
    """Gap, proof and method, as tables have them."""
    return [percent(certificate.gap), proof(certificate), certificate.method]


def breakdowns(parts: Sequence[Part], anchor: str, at_once: Collection[str]) -> list[Element]:
    """A chart and a table of each quantity that the parts split; of those ``at_once`` the parts take the largest."""
    elements = []
    quantities = list(dict.fromkeys(key for part in parts for key in part.breakdown or {} if key in UNITS))
    for quantity in quantities:
        rows = {
            f"{part.name}": {
                cause: value
                for cause, value in part.breakdown[quantity].items()
                if type(value) in (int, float)
            }
            for part in parts
            if part.breakdown and isinstance(part.breakdown.get(quantity), dict) and part.same_as is None
        }
        if not any(sum(row.values()) for row in rows.values()):
            continue
        said = quantity.replace("_pj", "").replace("_", " ")
        of = "operand" if quantity == "bytes" else "cause"
        said = f"{said} of what runs at the same time" if quantity in at_once else f"{said} by {of}"
        draw = chart.beside if quantity in at_once else chart.stacked
        drawn = draw(said, UNITS[quantity], rows, f"{anchor}{quantity}")
        causes = list(dict.fromkeys(cause for row in rows.values() for cause in row))
        figures = [[name, *(number(row.get(cause)) for cause in causes)] for name, row in rows.items()]
        if quantity in at_once:
            figures = [[*own, chart.binding(row)] for own, row in zip(figures, rows.values(), strict=True)]
        heading = ["part", *causes, *(["binds"] if quantity in at_once else [])]
        elements += [
            figure(drawn, _largest(rows, quantity in at_once), data_breakdown=quantity),
            node(
                "details",
                node("summary", f"{said} as a table"),
                table(heading, figures[:MOST_PARTS], f"{said}: {UNITS[quantity]}"),
            ),
        ]
    return elements


def _largest(rows: Mapping[str, Mapping[str, float]], at_once: bool) -> str:
    """What a chart of causes says in words: the largest of all parts' causes, or how often each binds."""
    if at_once:
        binding = [chart.binding(row) for row in rows.values() if any(row.values())]
        counts = {cause: binding.count(cause) for cause in dict.fromkeys(binding)}
        told = [f"{plain(cause)} in {count:,}" for cause, count in counts.items()]
        return (
            f"What binds, of {len(binding):,} parts: {', '.join(told)}."
            if len(rows) > 1
            else f"{binding[0]} binds."
        )
    sums: dict[str, float] = {}
    for row in rows.values():
        for cause, value in row.items():
            sums[cause] = sums.get(cause, 0.0) + value
    whole = sum(sums.values())
    largest = sorted(
        (cause for cause in sums if sums[cause] >= LEAST_SHARE * whole), key=lambda cause: -sums[cause]
    )
    shares = ", ".join(f"{plain(cause)} {sums[cause] / whole:.1%}" for cause in largest[:MOST_SHARES])
    return f"{shares}{' and others' if len(largest) > MOST_SHARES else ''}."
