"""A tiling as a picture: the loop nest by level, what is reused where, and how far the machine is used."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element

from mapper.formulations.tiling.problem import TilingProblem
from mapper.kind.cell import number
from mapper.kind.tiling.words import closed
from mapper.models.tiling import tile
from mapper.models.tiling.bound import ideal_cycles
from mapper.models.tiling.cost import quantities
from mapper.models.tiling.mapping import AXES, TilingMapping
from mapper.reporting.colour import colours
from mapper.reporting.drawing import figure, node, plain, svg, table
from mapper.reporting.proof_drawing import logarithmic
from mapper.workloads.nest.loop_nest import LoopNest

WIDTH, ROW, BAR = 372, 32, 9
"""Pixels: as wide as a telephone."""
LEVELS = (
    ("dram", "DRAM", "for every tile of the scratch-pad"),
    ("spm", "scratch-pad", "for every tile of the register files"),
    ("spatial", "space", "side by side on PEs"),
    ("rf", "register file", "one after another on a PE"),
)


def tiling_picture(problem: TilingProblem, mapping: TilingMapping, cycles: int) -> list[Element]:
    """The nest with what stays where, the tiles of every operand, and bars of what is used."""
    return [
        _nest(problem.nest, mapping),
        _tiles(problem, mapping),
        _utilisation(problem, mapping, cycles),
    ]


def _nest(nest: LoopNest, mapping: TilingMapping) -> Element:
    lines = node("ol", class_="nest", aria_label="loop nest, outer to inner")
    depth, chosen = 0, colours(operand.name for operand in nest.operands)
    for level, name, what in LEVELS:
        counts = mapping.trip_counts(level)
        order = mapping.order(level) if level in ("dram", "spm") else mapping.loops
        loops = [loop for loop in order if counts[loop] > 1]
        lines.append(node("li", node("b", name), f": {what}", class_=f"level {level}"))
        for place, loop in enumerate(loops):
            depth += 1
            word = "parallel for" if level == "spatial" else "for"
            sides = [f"{axis} {mapping.along(axis)[loop]}" for axis in AXES if loop in mapping.along(axis)]
            along = f" ({' x '.join(sides)})" if sides and level == "spatial" else ""
            line = node(
                "li",
                node("code", f"{word} {plain(loop)} = 0..{counts[loop] - 1}{along}"),
                class_=f"loop {level}",
                data_level=level,
                data_loop=plain(loop),
                style=f"--depth: {depth}",
            )
            for operand in _stationary(nest, loops[place:], level):
                kept = f"{plain(operand)} {'shared' if level == 'spatial' else 'stays'}"
                line.append(node("span", kept, class_="stays", style=f"border-color: {chosen[operand]}"))
            lines.append(line)
    written = [operand for operand in nest.operands if operand.writes]
    read = [operand for operand in nest.operands if not operand.writes]
    statement = " ".join(
        [
            ", ".join(_access(operand.name, operand.index) for operand in written),
            "+=" if any(operand.is_updated for operand in written) else "=",
            " · ".join(_access(operand.name, operand.index) for operand in read),
        ]
    )
    lines.append(node("li", node("code", statement), class_="statement", style=f"--depth: {depth + 1}"))
    return node("figure", lines, node("figcaption", "Loop nest by level; what stays is reused there."))


def _stationary(nest: LoopNest, inner: Sequence[str], level: str) -> list[str]:
    """Operands whose tile is the same in all iterations of the first of the loops ``inner`` (with those within it; in
    space each loop is by itself)."""
    loops = set(inner[:1] if level == "spatial" else inner)
    return [operand.name for operand in nest.operands if level != "rf" and not operand.loops & loops]


def _access(name: str, index: Sequence[object]) -> str:
    return plain(name) + "".join(f"[{plain(str(one))}]" for one in index)


def _tiles(problem: TilingProblem, mapping: TilingMapping) -> Element:
    nest = problem.nest
    q = quantities(nest, problem.machine, mapping)
    rows = []
    for k, operand in enumerate(nest.operands):
        words = (q.rf_words[k], q.array_words[k], q.spm_words[k])
        stays = (f"{number(q.spm_reuse[k])} of {number(q.rf_passes)}", f"{number(q.dram_reuse[k])} of")
        rows.append(
            [plain(operand.name), *map(number, words), stays[0], f"{stays[1]} {number(q.spm_passes)}"]
        )
    heading = [
        "operand",
        "words in a register file",
        "words in the array",
        "words in the scratch-pad",
        "RF passes it stays",
        "scratch-pad passes it stays",
    ]
    return table(heading, rows, "What is reused where", class_="tiles")


def _utilisation(problem: TilingProblem, mapping: TilingMapping, cycles: int) -> Element:
    nest, machine = problem.nest, problem.machine
    bars = (
        ("PEs", tile.product(mapping.trip_counts("spatial"), nest.loops), machine.pes),
        ("words of a register file", tile.rf_words(nest, mapping.trip_counts("rf")), machine.rf_words),
        (
            "banks of the scratch-pad",
            tile.banks(nest, machine, mapping.trip_counts("rf", "spatial", "spm")),
            machine.spm.visible_banks,
        ),
        ("cycles at the peak of all PEs", ideal_cycles(nest, machine), cycles),
    )
    picture = svg(WIDTH, ROW * len(bars), "utilisation", class_="scaled")
    for row, (name, used, whole) in enumerate(bars):
        share, y = used / whole if whole else 0.0, row * ROW + 2
        said = f"{number(int(used))} of {number(int(whole))} ({share:.1%})"
        picture.append(
            node(
                "g",
                node("text", name, x=1, y=y + 10),
                node("text", said, x=WIDTH - 1, y=y + 10, text_anchor="end"),
                node("rect", x=1, y=y + 14, width=WIDTH - 2, height=BAR, class_="whole"),
                node("rect", x=1, y=y + 14, width=(WIDTH - 2) * min(1.0, share), height=BAR, class_="used"),
                data_use=name,
            )
        )
    return figure(picture, "How far the machine is used.")


OPENED = (
    ("array tiles within no SPM tile", 0),
    ("array tiles", 0),
    ("SPM tiles", 0),
    ("splits", 1),
    ("pairs of tiles", 1),
    ("splits in SPM tiles", 2),
    ("mappings", 3),
)
"""Boxes in the order in which they are opened, and how deep in the tree they are."""


def proof_picture(reason: str) -> list[Element]:
    """The tree of boxes: how many of each sort an inequality closes."""
    counts = closed(reason)
    most, step, row = max(counts.values(), default=0), 24, 26
    drawn = svg(760, row * (len(OPENED) + 1), "tree of boxes", class_="boxes")
    drawn.append(node("text", "every tiling", x=4, y=row * 0.65))
    last = {-1: 0}
    for at, (name, depth) in enumerate(OPENED, 1):
        x, y = 10 + step * (depth + 1), at * row
        trunk = x - step + 4
        top = (last[depth - 1] + 0.8) * row
        drawn.append(node("path", d=f"M{trunk} {top:.1f} V{y + row / 2} H{x}", class_="branch"))
        last[depth] = at
        count = counts.get(name, 0)
        length = 180 * logarithmic(count, most)
        drawn.append(node("rect", x=x, y=y + 4, width=length, height=row - 8, class_="used"))
        drawn.append(node("text", f"{count:,} {name}", x=x + length + 6, y=y + row * 0.65, data_boxes=name))
    caption = (
        f"{sum(counts.values()):,} boxes: each is ruled out by its inequality, or divided into the boxes below and to "
        "the right (bars are logarithmic)."
    )
    return [figure(drawn, caption)]
