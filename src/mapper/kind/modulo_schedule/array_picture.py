"""A modulo schedule on the whole array: what every tile does, which stay idle, which ways values take."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from xml.etree.ElementTree import Element

from mapper.arch.cgra import CgraMachine, Pe
from mapper.models.modulo_schedule.mapping import Hop, ModuloSchedule, Placement
from mapper.reporting.drawing import figure, node, plain, svg
from mapper.workloads.graph.kernel import Kernel

TILE, GAP, LINE, MARGIN = 104, 34, 12, 22
MOST_LINES = 5
"""Operations that a tile has room for."""
MOST_TILES = 256


def array_picture(kernel: Kernel, machine: CgraMachine, schedule: ModuloSchedule) -> Element:
    """Tiles where they are on the array, filled as far as their cycles are used, and an arrow for each link that
    carries values, wider the more it carries."""
    if len(machine.all_pes) > MOST_TILES:
        return node("p", f"An array of {len(machine.all_pes):,} tiles is not drawn.")
    graph, ii = kernel.graph, schedule.ii
    done: dict[Pe, list[tuple[int, str]]] = {pe: [] for pe in machine.all_pes}
    for operation, placement in zip(graph.operations, schedule.placements, strict=True):
        done[placement.pe].append((placement.time % ii, plain(operation.name, 13)))
    for pe, time in schedule.moves:
        done[pe].append((time % ii, "move"))
    most = min(MOST_LINES, max(map(len, done.values())))
    height = 20 + LINE * most + 6
    step = (TILE + GAP, height + GAP)
    width, high = MARGIN + machine.columns * step[0], MARGIN + machine.rows * step[1]
    idle = sum(not own for own in done.values())
    said = f"array of {machine.rows}x{machine.columns} tiles, {idle} idle"
    picture = svg(width, high, said, class_="array")
    for pe, own in done.items():
        picture.append(
            _tile(pe, sorted(own), ii, (MARGIN + pe[1] * step[0], MARGIN + pe[0] * step[1]), height)
        )
    carried = _carried(kernel, schedule)
    busiest = max(carried.values(), default=1)
    for (start, end), count in sorted(carried.items()):
        ends = [
            (MARGIN + pe[1] * step[0] + TILE / 2, MARGIN + pe[0] * step[1] + height / 2)
            for pe in (start, end)
        ]
        title = f"{start[0]},{start[1]} to {end[0]},{end[1]}: {count} value{'s' if count > 1 else ''} in {ii} cycles"
        picture.append(_arrow(ends[0], ends[1], (TILE, height), 1 + 2.5 * count / busiest, title))
    caption = (
        f"The array: {len(done) - idle} of {len(done)} tiles work, {idle} stay idle (dashed). Each tile lists its "
        f"operations by cycle of the II ({ii}) and is filled as far as its cycles are used; arrows are the ways of "
        "values between tiles."
    )
    return figure(picture, caption, class_="whole-array")


def _tile(pe: Pe, own: list[tuple[int, str]], ii: int, corner: tuple[int, int], height: int) -> Element:
    x, y = corner
    share = min(1.0, len(own) / ii)
    drawn = node(
        "g",
        node("title", f"tile {pe[0]},{pe[1]}: {len(own)} of {ii} cycles used"),
        node("rect", x=x, y=y, width=TILE, height=height, rx=6, class_="tile" if own else "tile idle"),
        class_="tile-group",
        data_tile=f"{pe[0]},{pe[1]}",
    )
    if own:
        drawn.append(
            node("rect", x=x, y=y + height - 4, width=round(TILE * share, 1), height=4, class_="used")
        )
    drawn.append(node("text", f"{pe[0]},{pe[1]}", x=x + 6, y=y + 14, class_="small"))
    drawn.append(
        node(
            "text",
            f"{len(own)}/{ii}" if own else "idle",
            x=x + TILE - 6,
            y=y + 14,
            text_anchor="end",
            class_="small",
        )
    )
    for place, (slot, name) in enumerate(own[:MOST_LINES]):
        more = len(own) - MOST_LINES + 1
        text = f"… {more} more" if place == MOST_LINES - 1 and more > 1 else f"{slot}: {name}"
        drawn.append(node("text", text, x=x + 6, y=y + 28 + LINE * place))
    return drawn


def _carried(kernel: Kernel, schedule: ModuloSchedule) -> Counter[tuple[Pe, Pe]]:
    """How many values go from one tile to another, in an iteration."""
    found: Counter[tuple[Pe, Pe]] = Counter()
    for route in schedule.routes:
        edge = kernel.graph.edges[route.edge]
        way = tiles_passed(
            schedule.placements[edge.source], route.hops, schedule.placements[edge.destination]
        )
        found.update((one, other) for one, other in itertools.pairwise(way) if one != other)
    return found


def tiles_passed(source: Placement, hops: tuple[Hop, ...], reader: Placement) -> list[Pe]:
    """The tiles that a value passes: its producer's, those of moves, its reader's."""
    return [source.pe, *(hop.pe for hop in hops if hop.via == "move"), reader.pe]


def _arrow(
    start: tuple[float, float], end: tuple[float, float], size: tuple[int, int], width: float, title: str
) -> Element:
    """From the edge of one tile to that of another, to the right of the straight line, so that ways to and fro part."""
    (x, y), (right, low) = start, end
    length = math.hypot(right - x, low - y)
    across, down = (right - x) / length, (low - y) / length
    aside = (-down * 8, across * 8)

    def edge(middle: tuple[float, float], sign: int) -> tuple[float, float]:
        reach = min(
            size[0] / 2 / abs(across) if across else math.inf, size[1] / 2 / abs(down) if down else math.inf
        )
        return (
            middle[0] + sign * across * reach + aside[0],
            middle[1] + sign * down * reach + aside[1],
        )

    (a, b), (c, d) = edge(start, 1), edge(end, -1)
    tip = f"M{c:.1f} {d:.1f}l{-across * 8 - down * 4:.1f} {-down * 8 + across * 4:.1f}"
    tip += f"l{down * 8:.1f} {-across * 8:.1f}z"
    return node(
        "g",
        node("title", title),
        node(
            "path",
            d=f"M{a:.1f} {b:.1f}L{c - across * 6:.1f} {d - down * 6:.1f}",
            stroke_width=round(width, 1),
            class_="way",
        ),
        node("path", d=tip, class_="tip"),
        class_="link",
    )
