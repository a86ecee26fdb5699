"""A nest's mapping as pictures: which iterations stand on which PE, and when each PE works."""

from __future__ import annotations

from itertools import product
from xml.etree.ElementTree import Element

from mapper.kind.part import Part
from mapper.models.pe_allocation.nest.cost import tiles_of
from mapper.models.pe_allocation.nest.mapping import NestMapping
from mapper.reporting.drawing import figure, node, plain, svg
from mapper.reporting.proof_drawing import arrow
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.recurrence.recurrence import Recurrence

LARGEST_GRID = 16 * 16
"""PEs up to which tiles and their times are drawn."""
WIDE, HIGH, GAP, LINE = 120, 50, 30, 14
NAMES, WIDTH, ROW = 70, 620, 18


def nest_picture(nest: LoopNest | Recurrence, mapping: NestMapping, part: Part) -> list[Element]:
    """The tiles on their PEs with arrows where tiles wait for those before them, and a bar for the time of each."""
    tiles = tiles_of(nest, mapping)
    shape = tuple(1 if loop is None else tiles[loop] for loop in (mapping.rows, mapping.columns))
    if shape[0] * shape[1] > LARGEST_GRID or part.cost is None or part.breakdown is None:
        return [node("p", f"Tiles on {shape[0] * shape[1]:,} PEs are not drawn here.")]
    fill, end = int(part.breakdown["cycles"]["fill"]), int(part.cost["cycles"])
    grid = svg(shape[1] * (WIDE + GAP), shape[0] * (HIGH + GAP), "tiles on PEs")
    for row, column in product(range(shape[0]), range(shape[1])):
        for element in _tile(nest, mapping, row, column, fill):
            grid.append(element)
    for loop, down, across in ((mapping.rows, 1, 0), (mapping.columns, 0, 1)):
        if loop is not None and mapping.outer_of[loop]:
            for row, column in product(range(shape[0] - down), range(shape[1] - across)):
                x, y = _middle(row, column)
                for element in arrow(
                    (x + across * WIDE / 2, y + down * HIGH / 2),
                    (x + across * (WIDE / 2 + GAP), y + down * (HIGH / 2 + GAP)),
                    2,
                ):
                    grid.append(element)
    caption = "Tiles: the iterations of each PE and when its first one begins; arrows lead to tiles that start later."
    times = _times(nest, mapping, shape, fill, end)
    return [figure(grid, caption), figure(times, "When each PE works, in cycles; PEs by row and column.")]


def _middle(row: int, column: int) -> tuple[float, float]:
    return column * (WIDE + GAP) + WIDE / 2 + 1, row * (HIGH + GAP) + HIGH / 2 + 1


def _at(mapping: NestMapping, row: int, column: int) -> dict[str | None, int]:
    return {mapping.rows: row, mapping.columns: column}


def _tile(
    nest: LoopNest | Recurrence, mapping: NestMapping, row: int, column: int, fill: int
) -> list[Element]:
    """A box with a line for each loop that is laid out, and the start."""
    x, y = _middle(row, column)
    left, top = x - WIDE / 2, y - HIGH / 2
    at = _at(mapping, row, column)
    said = []
    for loop, bound in nest.bounds:
        if loop in (mapping.rows, mapping.columns):
            first = at[loop] * mapping.tile_of[loop]
            said.append(f"{plain(loop, 8)} {first:,}–{min(first + mapping.tile_of[loop], bound) - 1:,}")
    said.append(f"from cycle {_start(nest, mapping, row, column, fill):,}")
    box = node(
        "rect", x=left, y=top, width=WIDE, height=HIGH, class_="box", fill="none", stroke="currentColor"
    )
    return [box, *(node("text", text, x=left + 5, y=top + LINE * (at + 1)) for at, text in enumerate(said))]


def _start(nest: LoopNest | Recurrence, mapping: NestMapping, row: int, column: int, fill: int) -> int:
    at = _at(mapping, row, column)
    return fill + sum(mapping.outer_of[loop] * at.get(loop, 0) for loop in nest.loops)


def _times(
    nest: LoopNest | Recurrence, mapping: NestMapping, shape: tuple[int, ...], fill: int, end: int
) -> Element:
    """A bar for each PE, from its first word to its last."""
    drawn = svg(NAMES + WIDTH + 10, ROW * (shape[0] * shape[1] + 1) + 4, "when each PE works")
    longest = max(end, 1)
    for place, (row, column) in enumerate(product(range(shape[0]), range(shape[1]))):
        at = _at(mapping, row, column)
        begin = _start(nest, mapping, row, column, fill)
        words = 1
        for loop, bound in nest.bounds:
            size = min(mapping.tile_of[loop], bound - at.get(loop, 0) * mapping.tile_of[loop])
            words += mapping.inner_of[loop] // mapping.interval * (mapping.words(loop, size) - 1)
        x, length = NAMES + WIDTH * begin / longest, max(1.0, WIDTH * words * mapping.interval / longest)
        title = node("title", f"cycles {begin:,} to {begin + words * mapping.interval - 1:,}")
        y = place * ROW
        drawn.append(node("text", f"{row}, {column}", x=NAMES - 6, y=y + ROW * 0.7, text_anchor="end"))
        drawn.append(
            node(
                "rect",
                title,
                x=x,
                y=y + 3,
                width=min(length, NAMES + WIDTH - x),
                height=ROW - 6,
                class_="used",
            )
        )
    base = ROW * shape[0] * shape[1] + ROW * 0.8
    drawn.append(node("text", "0", x=NAMES, y=base))
    drawn.append(node("text", f"{end:,}", x=NAMES + WIDTH, y=base, text_anchor="end"))
    return drawn
