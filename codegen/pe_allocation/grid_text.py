"""A placement as lines of text: one sign a PE, and a legend."""

from __future__ import annotations

import string

from mapper.arch.tcpa import Pe, TcpaMachine
from mapper.models.pe_allocation.mapping import Allocation, Placement
from mapper.models.pe_allocation.placement import runs
from mapper.models.pe_allocation.stream.layer import StreamNetwork

SIGNS = string.ascii_lowercase + string.ascii_uppercase + string.digits
FREE = "."
LEGEND_WIDTH = 100


def grid_lines(
    network: StreamNetwork, machine: TcpaMachine, allocation: Allocation, placement: Placement
) -> list[str]:
    """The grid, row by row, with the sign of the layer that stands on each PE (of the first, where layers share it),
    run by run; then what the signs mean."""
    signs = _signs(len(network.layers))
    width = len(signs[0])
    lines: list[str] = []
    parts = [members for members, _ in runs(network, allocation)]
    for number, members in enumerate(parts):
        if len(parts) > 1:
            lines += [*([""] if lines else []), f"run {number + 1}"]
        owner: dict[Pe, int] = {}
        for at in members:
            for pe in placement.regions[at]:
                owner.setdefault(pe, at)
        for row in range(machine.rows):
            cells = [(row, column) for column in range(machine.columns)]
            lines.append(" ".join(signs[owner[pe]] if pe in owner else FREE * width for pe in cells))
    return [*lines, "", *_legend(network, placement, signs)]


def _legend(network: StreamNetwork, placement: Placement, signs: list[str]) -> list[str]:
    entries = [
        f"{sign} {name} ({len(region)})"
        for sign, name, region in zip(signs, network.names, placement.regions, strict=True)
    ]
    lines = [entries[0]]
    for entry in entries[1:]:
        if len(lines[-1]) + 2 + len(entry) <= LEGEND_WIDTH:
            lines[-1] += "  " + entry
        else:
            lines.append(entry)
    return lines


def _signs(count: int) -> list[str]:
    """One sign a layer, or two if one does not tell them apart."""
    if count <= len(SIGNS):
        return list(SIGNS[:count])
    return [SIGNS[at // len(SIGNS) % len(SIGNS)] + SIGNS[at % len(SIGNS)] for at in range(count)]
