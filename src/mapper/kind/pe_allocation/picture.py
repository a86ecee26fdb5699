"""An allocation as a picture: where the layers' PEs stand on the grid, and when the layers work."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from mapper.cli.terminal import number
from mapper.codegen.pe_allocation.chart import chart
from mapper.codegen.pe_allocation.picture import picture
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.models.pe_allocation.cost import evaluate
from mapper.models.pe_allocation.mapping import Allocation
from mapper.reporting.drawing import embedded, figure, node, table

LARGEST_GRID = 64 * 64
"""PEs up to which a grid is drawn."""


def allocation_picture(problem: AllocationProblem, allocation: Allocation, prefix: str) -> list[Element]:
    """The grid, the chart of the first frames, and every layer's figures."""
    network, machine = problem.network, problem.machine
    cost = evaluate(network, machine, allocation, problem.model)
    elements: list[Element] = []
    if allocation.placement is None:
        elements.append(
            node("p", "There is no placement: layers take the array one after another, or none fits.")
        )
    elif len(machine.all_pes) > LARGEST_GRID:
        elements.append(
            node("p", f"A grid of {len(machine.all_pes):,} PEs is not drawn; mapper generate does.")
        )
    else:
        grid = embedded(
            picture(network, machine, allocation, allocation.placement), "placement on the grid", f"{prefix}g"
        )
        grid.set("class", "grid")
        elements.append(figure(grid, "Placement: a colour a layer; arrows are streams between layers."))
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
