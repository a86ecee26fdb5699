"""Figures of the kind ``algorithm_selection``: the overlay, and what is chosen for an inception module."""

from __future__ import annotations

from docs.site.figure.solved import solved
from docs.site.svg import LINE, PAPER, QUIET, box, line, page, text
from mapper.codegen.algorithm_selection.picture import COLOURS, STORED, edges, ranks
from mapper.codegen.algorithm_selection.picture import box as look
from mapper.formulations.algorithm_selection.problem import SelectionProblem
from mapper.models.algorithm_selection.mapping import Selection

WORKLOAD, ARCH = "googlenet", "dynamap-u200-model"
WIDTH = 700
FIRST, LAST = 3, 8
"""The layers that are drawn, by position: those of the first inception module."""
BUFFER, STREAM = "#dfe9f7", "#d5ecdf"


def _problem() -> tuple[SelectionProblem, Selection]:
    found = solved(WORKLOAD, ARCH, "latency")
    assert isinstance(found.problem, SelectionProblem)
    selection = found.mapping.selection
    assert isinstance(selection, Selection)
    return found.problem, selection


def machine() -> str:
    """The overlay's units in the order in which a tensor passes them."""
    arch = _problem()[0].machine
    bandwidth = "unlimited" if arch.bandwidth_gb_s is None else f"{arch.bandwidth_gb_s:g} GB/s"
    parts = [
        text(20, 28, "Units of the overlay", "title", "start"),
        box(20, 48, 92, 262, "#e6eaee"),
        text(66, 170, "DRAM", "title"),
        text(66, 190, bandwidth, "quiet"),
        box(160, 48, 130, 58, STREAM),
        text(225, 72, "layout", "small"),
        text(225, 90, "Toeplitz or plain", "quiet"),
        box(160, 150, 130, 58, BUFFER),
        text(225, 174, "kernel buffer", "small"),
        text(225, 192, "max(P1, P2) banks", "quiet"),
        box(338, 48, 130, 58, BUFFER),
        text(403, 72, "input buffer", "small"),
        text(403, 90, "max(P1, P2) banks", "quiet"),
        box(338, 150, 130, 58, STREAM),
        text(403, 174, "linear transform", "small"),
        text(403, 192, "for Winograd", "quiet"),
        line([(112, 77), (156, 77)], width=2, tip=True),
        line([(112, 179), (156, 179)], width=2, tip=True),
        line([(290, 77), (334, 77)], width=2, tip=True),
        line([(290, 179), (334, 179)], width=2, tip=True),
        line([(403, 106), (403, 146)], width=2, tip=True),
        line([(468, 77), (516, 77)], width=2, tip=True),
        line([(468, 179), (516, 179)], width=2, tip=True),
    ]
    cell, left, top = 16, 522, 48
    parts += [
        box(left + column * cell + 1, top + row * cell + 1, cell - 2, cell - 2, "#f8e6c8", corner=2)
        for row in range(10)
        for column in range(10)
    ]
    parts += [
        box(left + 32, top + 46, 96, 68, PAPER),
        text(left + 80, top + 70, "P1 x P2 PEs", "title"),
        text(left + 80, top + 89, f"up to {arch.pes:,}", "small"),
        text(left + 80, top + 106, "any shape", "small"),
        line([(left + 80, top + 162), (left + 80, 248)], width=2, tip=True),
        box(522, 252, 160, 58, BUFFER),
        text(602, 276, "output buffer", "small"),
        text(602, 294, "sums, finished maps", "quiet"),
        line([(522, 281), (476, 281)], width=2, tip=True),
        box(338, 252, 134, 58, STREAM),
        text(405, 271, "transform back,", "small"),
        text(405, 287, "pad and accumulate,", "small"),
        text(405, 303, "pool", "small"),
        line([(338, 281), (294, 281)], width=2, tip=True),
        box(160, 252, 130, 58, STREAM),
        text(225, 271, "layout", "small"),
        text(225, 287, "of the reader:", "quiet"),
        text(225, 303, "one of three", "quiet"),
        line([(160, 281), (116, 281)], width=2, tip=True),
    ]
    return page(
        WIDTH, 330, "A systolic overlay: DRAM, layouts, buffers, transforms and an array of PEs", parts
    )


def mapping() -> str:
    """One inception module of the network: algorithm and dataflow of every layer, format of every tensor."""
    problem, chosen = _problem()
    network = problem.network
    drawn = edges(network)
    layers = set(range(FIRST, LAST + 1))
    lines = [one for one in drawn if layers & set(one[:2])]
    shown = layers | {end for tail, head, _ in lines for end in (tail, head) if end >= len(network.layers)}
    rank = {at: level for at, level in ranks(network, drawn).items() if at in shown}
    levels = sorted(set(rank.values()))
    wide, high, across, down, top = 148, 42, 166, 76, 92
    places: dict[int, tuple[float, float]] = {}
    for number, level in enumerate(levels):
        row = sorted(at for at in rank if rank[at] == level)
        left = (WIDTH - across * len(row) + across - wide) / 2
        places |= {at: (left + across * place, top + down * number) for place, at in enumerate(row)}
    rows, columns = chosen.array
    said = f"An inception module of {network.name} on {problem.machine.name}, array {rows} x {columns}"
    parts = [text(20, 28, said, "title", "start")]
    x = 20.0
    for algorithm in dict.fromkeys(chosen.choices[at].algorithm for at in sorted(layers)):
        parts += [
            box(x, 44, 14, 14, COLOURS[algorithm], QUIET, 2),
            text(x + 20, 56, algorithm, "small", "start"),
        ]
        x += 96
    parts += [
        box(x, 44, 14, 14, STORED, QUIET, 2),
        text(x + 20, 56, "stored tensor and its format", "small", "start"),
    ]
    for tail, head, _ in lines:
        if tail in places and head in places:
            (x1, y1), (x2, y2) = places[tail], places[head]
            beside = (x1 + wide / 2, y2 - down + high)
            parts.append(
                line([(x1 + wide / 2, y1 + high), beside, (x2 + wide / 2, y2 - 1)], LINE, 1.5, tip=True)
            )
    for at, (left, y) in places.items():
        name, what, colour = look(network, chosen, at)
        parts += [
            box(left, y, wide, high, colour, QUIET),
            text(left + wide / 2, y + 17, name if len(name) < 22 else f"{name[:20]}…", "title"),
            text(left + wide / 2, y + 34, what, "small"),
        ]
    return page(WIDTH, int(top + down * len(levels) - 14), said, parts)
