"""A placement as a picture, as [Heidorn2019] draws its example (Fig. 6(a)): the grid by layer, and the streams."""

from __future__ import annotations

from colorsys import hls_to_rgb
from html import escape

from mapper.arch.tcpa import Pe, TcpaMachine
from mapper.models.pe_allocation.configuration.interconnect import shortest_ways
from mapper.models.pe_allocation.mapping import Allocation, Placement
from mapper.models.pe_allocation.placement import runs
from mapper.models.pe_allocation.stream.layer import StreamNetwork
from mapper.models.pe_allocation.stream.traffic import by_key
from mapper.workloads.text.plain_text import plain as plain_text

WIDEST = 960
LARGEST_CELL, SMALLEST_CELL, LABELLED_CELL = 56, 8, 28
MARGIN, LINE = 40, 18
LONGEST_NAME, LONGEST_TITLE = 32, 400
FREE = "#ffffff"
GOLDEN = 0.618
ARROW = (
    '<defs><marker id="tip" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="6" markerHeight="6" orient="auto">'
    '<path d="M0,0 L6,3 L0,6 z"/></marker></defs>'
)


def picture(
    network: StreamNetwork, machine: TcpaMachine, allocation: Allocation, placement: Placement
) -> str:
    """The grid as SVG, one below the other for runs that work one after another.

    PEs have their layers' colours; arrows are the streams between layers on their ways over the links, dots the PEs
    whose buffers hold a layer's weights and line buffers, and dashed lines the ways to them.
    """
    cell = max(SMALLEST_CELL, min(LARGEST_CELL, WIDEST // machine.columns))
    parts = [members for members, _ in runs(network, allocation)]
    lines: list[str] = []
    top = MARGIN
    for number, members in enumerate(parts):
        if len(parts) > 1:
            lines.append(f'<text x="4" y="{top - 6}">run {number + 1}</text>')
        lines += _grid(network, machine, placement, members, cell, top)
        top += machine.rows * cell + MARGIN // 2
        for at in members:
            lines.append(
                f'<rect x="{MARGIN}" y="{top}" width="12" height="12" fill="{shade(at)}" stroke="#666666"/>'
            )
            count = len(placement.regions[at])
            named = f"{plain(network.names[at])}: {count} PE{'s' if count > 1 else ''}"
            lines.append(f'<text x="{MARGIN + 18}" y="{top + 10}">{named}</text>')
            top += LINE
        top += MARGIN
    width = max(360, 2 * MARGIN + machine.columns * cell)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{top}" font-family="sans-serif" '
    title = f"{plain(network.name)} on {plain(machine.name)}"
    return "\n".join(
        [
            head + 'font-size="11">',
            ARROW,
            f'<text x="4" y="16" font-size="13">{title}</text>',
            *lines,
            "</svg>",
            "",
        ]
    )


def _grid(
    network: StreamNetwork,
    machine: TcpaMachine,
    placement: Placement,
    members: range,
    cell: int,
    top: int,
) -> list[str]:
    lines, labels = [], []
    regions = placement.regions
    ways = by_key(placement.ways or shortest_ways(network, machine, regions, [members]))
    owners: dict[Pe, list[int]] = {}
    for at in members:
        for pe in regions[at]:
            owners.setdefault(pe, []).append(at)
    for pe in machine.all_pes:
        row, column = pe
        x, y = MARGIN + column * cell, top + row * cell
        on = owners.get(pe, [])
        names = ", ".join(network.names[at] for at in on) or "free"
        title = f"<title>[{row},{column}] {plain(names, LONGEST_TITLE)}</title>"
        lines.append(
            f'<rect x="{x}" y="{y}" width="{cell}" height="{cell}" fill="{shade(on[0]) if on else FREE}" '
            f'stroke="{"#000000" if pe in machine.border_pes else "#999999"}">{title}'
            "</rect>"
        )
        if on and cell >= LABELLED_CELL:
            labels.append(
                f'<text x="{x + 3}" y="{y + 12}" font-size="9" stroke="#ffffff" stroke-width="2" '
                f'stroke-opacity="0.7" paint-order="stroke">{plain(names[: cell // 6])}</text>'
            )

    def middle(pe: Pe) -> tuple[int, int]:
        return MARGIN + pe[1] * cell + cell // 2, top + pe[0] * cell + cell // 2

    for at in members:
        out = ways["weights", None, at]
        lines += _route([middle(pe) for pe in out], 'stroke="#666666" stroke-dasharray="3 3"')
        x, y = middle(out[0])
        lines.append(f'<circle cx="{x}" cy="{y}" r="3" fill="#666666"/>')
        for feed in network.layers[at].feeds:
            if feed in members:
                way = ways["maps", feed, at]
                lines += _route([middle(pe) for pe in way], 'stroke="#000000" marker-end="url(#tip)"')
    # Names stand above the ways, with an edge that parts them.
    return lines + labels


def _route(points: list[tuple[int, int]], style: str) -> list[str]:
    """A stream through the middles of its PEs; none within one PE."""
    if len(points) < 2:
        return []
    return [f'<polyline points="{" ".join(f"{x},{y}" for x, y in points)}" fill="none" {style}/>']


def shade(at: int) -> str:
    """The colour of a layer: hues a golden section apart, so that neighbours in the flow differ."""
    parts = hls_to_rgb(at * GOLDEN % 1, 0.78 - 0.1 * (at % 2), 0.6)
    return "#" + "".join(f"{round(255 * part):02x}" for part in parts)


def plain(text: str, longest: int = LONGEST_NAME) -> str:
    """A name as text of a picture: printable, not too long, escaped."""
    return escape(plain_text(text, longest))
