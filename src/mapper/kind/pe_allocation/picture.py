"""An allocation as a picture: where the layers' PEs stand on the grid, and when the layers work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.etree.ElementTree import Element

from mapper.codegen.pe_allocation.chart import chart
from mapper.codegen.pe_allocation.picture import picture
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.kind.cell import number
from mapper.kind.part import FrontAxes
from mapper.kind.pe_allocation.words import caps, limits
from mapper.models.pe_allocation.cost import evaluate
from mapper.models.pe_allocation.mapping import Allocation
from mapper.reporting.drawing import embedded, figure, node, table
from mapper.reporting.proof_drawing import bars

FRONT_AXES = FrontAxes(
    ("pes", "PEs"),
    ("throughput_fps", "throughput, frames/s"),
    ("latency_ms", "latency, ms"),
    "buffer_bytes",
)
"""Bytes of buffers differ in mixed mode alone."""
LARGEST_GRID = 64 * 64
"""PEs up to which a grid is drawn."""


def allocation_picture(problem: AllocationProblem, allocation: Allocation, prefix: str) -> list[Element]:
    """The grid, the chart of the first frames, and every layer's figures."""
    network, machine = problem.network, problem.machine
    cost = evaluate(network, machine, allocation, problem.model)
    elements: list[Element] = []
    if allocation.placement is None:
        elements.append(
            node("p", "There is no placement: either layers use the array one after another, or none fits.")
        )
    elif len(machine.all_pes) > LARGEST_GRID:
        elements.append(
            node("p", f"A grid of {len(machine.all_pes):,} PEs is not drawn here; mapper generate draws it.")
        )
    else:
        grid = embedded(
            picture(network, machine, allocation, allocation.placement), "placement on the grid", f"{prefix}g"
        )
        grid.set("class", "grid")
        elements.append(
            figure(grid, "Placement: each layer has a colour; arrows are streams between layers.")
        )
    gantt = embedded(chart(network.name, network.names, cost), "when the layers work", f"{prefix}c")
    gantt.set("class", "gantt")
    elements.append(figure(gantt, "When each layer works on the first frames."))
    rows = [
        [name, *map(number, (allocation.pes[at], timing.z_in, timing.z_out, allocation.throttle[at])),
         number(timing.start), number(timing.latency)]
        for at, (name, timing) in enumerate(zip(network.names, cost.timed, strict=True))
    ]  # fmt: skip
    heading = ["layer", "PEs", "z_in", "z_out", "idle", "start", "latency"]
    return [*elements, table(heading, rows, "Layers, in cycles")]


MOST_CAPS = 60


def proof_picture(proof: Mapping[str, Any]) -> list[Element]:
    """The fewest PEs of every layer that a better allocation would take, and all of them beside those there are."""
    if proof["evidence"]["rule"] != "tree":
        return []
    limit, found = limits(proof).pes, caps(proof)
    total = sum(cap.pes for cap in found if cap.pes is not None)
    most = float(max(limit, total, 1))
    rows = []
    for cap in found[:MOST_CAPS]:
        pace = "any pace" if cap.pace is None else f"{cap.pace:,} cycles a position"
        told = "no number of PEs" if cap.pes is None else f"{float(cap.pes):.4g} PEs"
        rows.append((cap.name, 1.0 if cap.pes is None else float(cap.pes) / most, f"{told}, {pace}"))
    if any(cap.pes is None for cap in found):
        rows.append(("all layers", 1.0, "no allocation"))
    else:
        rows.append(("all layers", float(total) / most, f"{float(total):.4g} PEs at least, of {limit:,}"))
    drawn = bars(rows, "fewest PEs of each layer", limit / most)
    drawn.set("class", "caps")
    return [
        figure(drawn, "The fewest PEs of a better allocation; the line marks the number of PEs available.")
    ]
