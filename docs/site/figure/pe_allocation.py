"""Figures of the kind ``pe_allocation``: the processor array, and a network's layers on it and over time."""

from __future__ import annotations

from docs.site.figure.solved import solved
from docs.site.svg import LINE, PAPER, QUIET, box, line, page, text
from mapper.arch.tcpa import Pe
from mapper.codegen.pe_allocation.picture import shade
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.models.pe_allocation.configuration.interconnect import shortest_route
from mapper.models.pe_allocation.cost import evaluate
from mapper.models.pe_allocation.mapping import Allocation

WORKLOAD, ARCH = "mnist-tcpa", "tcpa-4x4"
WIDTH = 700
BUFFER, PE, CONTROL = "#dfe9f7", "#f8e6c8", "#e6eaee"
FRAMES = 2


def _problem() -> tuple[AllocationProblem, Allocation]:
    found = solved(WORKLOAD, ARCH, "throughput")
    assert isinstance(found.problem, AllocationProblem)
    allocation = found.mapping.allocation
    assert isinstance(allocation, Allocation)
    return found.problem, allocation


def machine() -> str:
    """The PEs with their links, the buffers at the borders, and one PE from within."""
    arch = _problem()[0].machine
    pitch, side, left, top = 66, 46, 76, 100
    right, bottom = left + (arch.columns - 1) * pitch + side, top + (arch.rows - 1) * pitch + side
    parts = [text(24, 28, f"{arch.rows} x {arch.columns} PEs with buffers at the borders", "title", "start")]
    strips = {
        "north": (left, top - 52, right - left, 30),
        "south": (left, bottom + 22, right - left, 30),
        "west": (left - 52, top, 30, bottom - top),
        "east": (right + 22, top, 30, bottom - top),
    }
    for border in arch.border.sides:
        parts.append(box(*strips[border], BUFFER))

    def middle(pe: Pe) -> tuple[float, float]:
        return left + pe[1] * pitch + side / 2, top + pe[0] * pitch + side / 2

    for pe in arch.all_pes:
        parts += [line([middle(pe), middle(other)], LINE) for other in arch.neighbours[pe] if pe < other]
        x, y = middle(pe)
        near = {
            "north": (pe[0] == 0, (x, top - 22), (x, top)),
            "south": (pe[0] == arch.rows - 1, (x, bottom + 22), (x, bottom)),
            "west": (pe[1] == 0, (left - 22, y), (left, y)),
            "east": (pe[1] == arch.columns - 1, (right + 22, y), (right, y)),
        }
        parts += [line([near[side][1], near[side][2]], LINE) for side in arch.border.sides if near[side][0]]
    for row, column in arch.all_pes:
        x, y = left + column * pitch, top + row * pitch
        parts += [box(x, y, side, side, PE), text(x + side / 2, y + side / 2 + 5, f"{row},{column}", "small")]
    parts.append(text((left + right) / 2, top - 32, "buffers with address generators", "small"))
    parts.append(text((left + right) / 2, bottom + 42, "weights, and pixels between layers", "small"))
    x = 440
    units = arch.functional_units.convolution
    parts += [
        text(x, 28, "one PE, in every cycle", "title", "start"),
        box(x, 48, 236, 190, PAPER, LINE),
        text(x + 118, 72, "one instruction, a slot for each unit", "tiny"),
    ]
    for unit in range(units):
        wide = (204 - 12 * (units - 1)) / units
        at = x + 16 + unit * (wide + 12)
        parts += [
            box(at, 88, wide, 62, PE),
            text(at + wide / 2, 114, f"unit {unit}", "title"),
            text(at + wide / 2, 133, "multiply, add", "tiny"),
            line([(at + wide / 2, 152), (at + wide / 2, 178)], width=2, tip=True),
        ]
    parts += [
        box(x + 16, 182, 204, 38, "#d5ecdf"),
        text(x + 118, 206, "sums of a position", "small"),
        box(x, 256, 236, 44, CONTROL),
        text(x + 118, 275, "global controller", "title"),
        text(x + 118, 292, "start times of layers, frame interval", "tiny"),
        box(x, 312, 236, 44, CONTROL),
        text(x + 118, 331, "processor of the tile", "title"),
        text(x + 118, 348, "fully connected layers, softmax", "tiny"),
    ]
    label = (
        f"A tightly coupled processor array of {arch.rows} by {arch.columns} PEs with buffers at its borders"
    )
    return page(WIDTH, int(bottom + 72), label, parts)


def mapping() -> str:
    """Where the layers' PEs stand, and when the layers work on the first frames."""
    problem, chosen = _problem()
    network, arch = problem.network, problem.machine
    cost = evaluate(network, arch, chosen, problem.model)
    assert chosen.placement is not None
    regions = chosen.placement.regions
    cell, left, top = 58, 24, 48
    parts = [text(left, 28, f"{network.name} on {arch.name}", "title", "start")]
    for at, region in enumerate(regions):
        for row, column in region:
            x, y = left + column * cell, top + row * cell
            parts.append(box(x, y, cell, cell, shade(at), PAPER, 3))
            parts.append(text(x + 5, y + 14, network.names[at], "tiny", "start"))

    def middle(pe: Pe) -> tuple[float, float]:
        return left + pe[1] * cell + 0.76 * cell, top + pe[0] * cell + 0.68 * cell

    for at, layer in enumerate(network.layers):
        for feed in layer.feeds:
            route = shortest_route(arch, regions[feed], regions[at])
            parts.append(line([middle(pe) for pe in route], "#1b2733", 2, tip=True))
    bottom = top + arch.rows * cell
    parts.append(text(left, bottom + 22, "Arrows are streams between layers.", "quiet", "start"))
    first, end, row_height = (
        366,
        max(t.start + t.latency for t in cost.timed) + (FRAMES - 1) * cost.interval,
        40,
    )
    span = WIDTH - 24 - first
    parts.append(
        text(first - 76, 28, f"{FRAMES} frames, one every {cost.interval:,} cycles", "title", "start")
    )
    for at, (name, timing) in enumerate(zip(network.names, cost.timed, strict=True)):
        y = top + row_height * at
        pes = chosen.pes[at]
        parts.append(text(first - 76, y + 13, name, "small", "start"))
        parts.append(text(first - 76, y + 28, f"{pes} PE{'s' if pes > 1 else ''}", "quiet", "start"))
        for frame in range(FRAMES):
            begin = first + span * (timing.start + frame * cost.interval) / end
            wide = span * timing.latency / end
            parts.append(box(begin, y, wide, 30, shade(at), QUIET, 2))
            parts.append(text(begin + 8, y + 20, str(frame), "small", "start"))
    base = top + row_height * len(network.names) + 12
    parts += [
        line([(first, base), (first + span, base)], LINE),
        text(first, base + 17, "0", "tiny"),
        text(first + span, base + 17, f"{end:,} cycles", "tiny", "end"),
    ]
    label = f"The layers of {network.name} on {arch.rows} by {arch.columns} PEs, and when they work"
    return page(WIDTH, bottom + 40, label, parts)
