"""The network as a picture: a box a layer, coloured by its algorithm, and the tensors between them
[Meng2021, Fig. 8]."""

from __future__ import annotations

from html import escape

from mapper.models.algorithm_selection.mapping import Selection
from mapper.models.algorithm_selection.overlay.network import OverlayNetwork
from mapper.workloads.text.plain_text import plain

COLOURS = {"im2col": "#9ecae1", "kn2row": "#a1d99b", "winograd": "#fdae6b", "winograd-4x4": "#fd8d3c"}
STORED = "#f0f0f0"
WIDTH, HEIGHT, ACROSS, DOWN, MARGIN = 132, 34, 156, 62, 20


def picture(network: OverlayNetwork, selection: Selection) -> str:
    """The graph from top to bottom as SVG: layers with algorithm and dataflow, stored tensors with their format; a
    thick line is a tensor that stays on the chip."""
    drawn = edges(network)
    rank = ranks(network, drawn)
    rows: dict[int, list[int]] = {}
    for node, level in rank.items():
        rows.setdefault(level, []).append(node)
    widest = max(map(len, rows.values()), default=1)
    place = {
        node: (MARGIN + ACROSS * (column + (widest - len(row)) / 2), MARGIN + 24 + DOWN * level)
        for level, row in rows.items()
        for column, node in enumerate(sorted(row))
    }
    height = MARGIN * 2 + 24 + DOWN * (max(rows, default=0) + 1)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{2 * MARGIN + ACROSS * widest}" height="{height}" '
        'font-family="sans-serif" font-size="10">',
        *_legend(selection),
    ]
    kept = {network.stores[at].name for at in selection.on_chip}
    for tail, head, tensor in drawn:
        (x1, y1), (x2, y2) = place[tail], place[head]
        width = 3 if tensor in kept else 1
        lines.append(
            f'<line x1="{x1 + WIDTH / 2:.0f}" y1="{y1 + HEIGHT}" x2="{x2 + WIDTH / 2:.0f}" y2="{y2}" '
            f'stroke="#555555" stroke-width="{width}"/>'
        )
    for node, (x, y) in place.items():
        name, said, colour = box(network, selection, node)
        lines += [
            f'<rect x="{x:.0f}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="4" fill="{colour}" stroke="#555555"/>',
            f'<text x="{x + WIDTH / 2:.0f}" y="{y + 14}" text-anchor="middle">{_plain(name)}</text>',
            f'<text x="{x + WIDTH / 2:.0f}" y="{y + 27}" text-anchor="middle">{_plain(said)}</text>',
        ]
    return "\n".join([*lines, "</svg>", ""])


def edges(network: OverlayNetwork) -> list[tuple[int, int, str]]:
    """Tail, head and tensor; layers count from 0, stored tensors with a vertex of their own after them."""
    count = len(network.layers)
    vertex = {at: count + at for at, store in enumerate(network.stores) if store.vertex}
    found = []
    for at, store in enumerate(network.stores):
        makers = [share.layer for share in store.shares if share.layer is not None]
        if at in vertex:
            found += [(maker, vertex[at], store.name) for maker in makers]
            found += [(vertex[at], reader, store.name) for reader in store.readers]
        else:
            found += [(maker, reader, store.name) for maker in makers for reader in store.readers]
    return found


def ranks(network: OverlayNetwork, drawn: list[tuple[int, int, str]]) -> dict[int, int]:
    """How many steps lie before each node, at the most."""
    nodes = {*range(len(network.layers)), *(end for tail, head, _ in drawn for end in (tail, head))}
    before: dict[int, list[int]] = {node: [] for node in nodes}
    for tail, head, _ in drawn:
        before[head].append(tail)
    rank: dict[int, int] = {}
    waiting = sorted(nodes)
    while waiting:
        later = []
        for node in waiting:
            if all(tail in rank for tail in before[node]):
                rank[node] = max((rank[tail] + 1 for tail in before[node]), default=0)
            else:
                later.append(node)
        waiting = later
    return rank


def box(network: OverlayNetwork, selection: Selection, node: int) -> tuple[str, str, str]:
    """The name of a node, what was chosen for it, and its colour."""
    if node < len(network.layers):
        choice = selection.choices[node]
        return network.names[node], f"{choice.algorithm} {choice.dataflow}", COLOURS[choice.algorithm]
    at = node - len(network.layers)
    return network.stores[at].name, f"stored {selection.stores[at]}", STORED


def _legend(selection: Selection) -> list[str]:
    lines, x = [], MARGIN
    for algorithm in dict.fromkeys(choice.algorithm for choice in selection.choices):
        lines += [
            f'<rect x="{x}" y="8" width="12" height="12" fill="{COLOURS[algorithm]}" stroke="#555555"/>',
            f'<text x="{x + 16}" y="18">{algorithm}</text>',
        ]
        x += 90
    rows, columns = selection.array
    return [*lines, f'<text x="{x}" y="18">array {rows} x {columns}</text>']


def _plain(text: str) -> str:
    return escape(plain(text, 40))
