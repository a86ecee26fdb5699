"""The drawing of the house in the README: ``python -m docs.site.architecture``.

Floors lie below each other in the order of their imports, kinds stand side by side; a cell stands where the folder
``FLOOR/KIND`` is.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from docs.site.svg import box, line, page, text, written

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "figure" / "architecture.svg"

WIDTH, HEIGHT = 1340, 582
MARGIN, GAP = 20, 8
LABEL = 128
CELL = 160
"""Pixels: the picture, the distances in it, the column of the floors' names, a column of a kind."""


@dataclass(frozen=True)
class Column:
    """A kind: its folder, what it decides, its machine, and what stands on each floor, one or two lines apiece."""

    kind: str
    decides: str
    machine: str
    floors: dict[str, str]


FLOORS = {
    "models": "#dfe9f7",
    "formulations": "#d5ecdf",
    "solver": "#f8e6c8",
    "codegen": "#ecdff3",
    "sim": "#ecdff3",
}
"""The floors that have a column for each kind, and their colours."""

SAYS = {
    "models": "what a mapping is,\nwhat it costs",
    "formulations": "problem, program,\nbound",
    "solver": "exact methods,\nheuristics",
    "codegen": "a mapping as code",
    "sim": "that code runs",
}

COLUMNS = (
    Column(
        "tiling",
        "tiles and loop orders",
        "dataflow accelerator",
        {
            "models": "tiles, traffic,\nenergy, cycles",
            "formulations": "constraint program\n(CP-SAT)",
            "solver": "branch and bound,\nCP-SAT, annealing, ...",
            "codegen": "C with its buffers",
            "sim": "every word counted",
        },
    ),
    Column(
        "modulo_schedule",
        "software pipelines",
        "CGRA",
        {
            "models": "PEs, routes,\ninitiation interval",
            "formulations": "constraint program\n(CP-SAT)",
            "solver": "CP-SAT, decoupled,\niterative, tuner, ...",
            "codegen": "configuration words",
            "sim": "cycle by cycle",
        },
    ),
    Column(
        "pe_allocation",
        "PEs for every layer",
        "processor array (TCPA)",
        {
            "models": "pixel streams,\nbuffers, throughput",
            "formulations": "integer program,\nconstraint program",
            "solver": "ILP, CP-SAT,\ngreedy, ...",
            "codegen": "a program per PE",
            "sim": "pixels through PEs",
        },
    ),
    Column(
        "algorithm_selection",
        "convolution algorithms",
        "systolic overlay",
        {
            "models": "im2col, kn2row,\nWinograd, layouts",
            "formulations": "array shape and\ncost graph",
            "solver": "joint elimination,\nannealing, ...",
            "codegen": "overlay in Verilog",
            "sim": "integers, Verilog",
        },
    ),
    Column(
        "pbqp",
        "choices, pairwise costs",
        "no machine",
        {
            "models": "one choice per vertex,\npairwise costs",
            "formulations": "integer program,\nconstraint program",
            "solver": "reductions, branch\nand bound, ...",
        },
    ),
    Column(
        "trace_partition",
        "tiles, modes, residency",
        "Snowflake",
        {
            "models": "steps, instructions,\ntiming",
            "formulations": "constraint program\n(CP-SAT)",
            "solver": "CP-SAT, shortest\npath, greedy, ...",
            "codegen": "instructions, binary",
            "sim": "bits and cycles",
        },
    ),
    Column(
        "hierarchy",
        "factors, bypass",
        "any hierarchy",
        {
            "models": "Timeloop's dense\nmodel",
            "formulations": "constraint program\n(CP-SAT)",
            "solver": "branch and bound,\nCP-SAT, annealing, ...",
            "codegen": "C with its buffers",
            "sim": "every tile moved",
        },
    ),
)


def drawing() -> str:
    """The whole picture as SVG."""
    parts = [*inputs(top=MARGIN), *heads(top=106)]
    top = 160
    for floor in FLOORS:
        height = 50 if floor in ("models", "formulations", "solver") else 34
        parts += storey(floor, top, height)
        top += height + GAP
        if floor == "formulations":
            parts += referee(top)
            top += 40 + GAP
    parts += program(top + 6)
    label = (
        "Architecture of mapper: floors from workloads and machines at the top to the program at the bottom, "
        "a column for each kind of problem"
    )
    return page(WIDTH, HEIGHT, label, parts)


def inputs(top: int) -> list[str]:
    """What is read: workloads and machines."""
    half = (WIDTH - 2 * MARGIN - GAP) // 2
    right = MARGIN + half + GAP
    return [
        box(MARGIN, top, half, 54, "#e6eaee"),
        text(MARGIN + half // 2, top + 22, "workloads/", "mono"),
        text(
            MARGIN + half // 2,
            top + 42,
            "loop nests, C kernels, dataflow graphs, ONNX networks, PBQP instances",
            "small",
        ),
        box(right, top, half, 54, "#e6eaee"),
        text(right + half // 2, top + 22, "arch/", "mono"),
        text(
            right + half // 2,
            top + 42,
            "machines, from validated YAML: six classes, presets from the papers",
            "small",
        ),
        line([(WIDTH // 2, top + 56), (WIDTH // 2, top + 80)], width=2, tip=True),
    ]


def heads(top: int) -> list[str]:
    """The names of the kinds, above their columns."""
    lines = [
        text(MARGIN, top + 10, "kind of problem", "quiet", "start"),
        text(MARGIN, top + 43, "machine", "quiet", "start"),
    ]
    lines.append(text(MARGIN, top + 27, "decides", "quiet", "start"))
    for place, column in enumerate(COLUMNS):
        middle = left(place) + (CELL - GAP) // 2
        lines.append(text(middle, top + 10, column.kind, "mono"))
        lines.append(text(middle, top + 27, column.decides, "small"))
        lines.append(text(middle, top + 43, column.machine, "quiet"))
    return lines


def storey(floor: str, top: int, height: int) -> list[str]:
    """One floor: its name and the room of every kind that has one."""
    lines = [text(MARGIN, top + height // 2 - 9, f"{floor}/", "mono", "start")]
    lines += written(MARGIN, top + height // 2 + 7, SAYS[floor], "quiet", "start", 14)
    for place, column in enumerate(COLUMNS):
        if has_room(floor, column.kind):
            lines.append(box(left(place), top, CELL - GAP, height, FLOORS[floor]))
            said = column.floors[floor]
            first = top + height // 2 + (5 if "\n" not in said else -3)
            lines += written(left(place) + (CELL - GAP) // 2, first, said, "small", "middle", 16)
    return lines


def referee(top: int) -> list[str]:
    """The referees: closed rooms on the floor of the formulations."""
    width = CELL * len(COLUMNS) - GAP
    said = "checks every mapping from the paper's rules; shares no code with program, bound or search"
    return [
        text(MARGIN, top + 16, "formulations/", "mono", "start"),
        text(MARGIN, top + 31, "KIND/referee/", "mono", "start"),
        box(left(0), top, width, 40, "#f6d9d5"),
        text(left(0) + width // 2, top + 25, f"referee of each kind: {said}", "small"),
    ]


def program(top: int) -> list[str]:
    """What people call, at the bottom."""
    said = (
        ("api, cli", "solve, compare, explain, ..."),
        ("kind", "links a column to the rest"),
        ("store", "proven answers are kept"),
        ("sweeping", "grids of machines"),
        ("reporting", "pages for browsers"),
    )
    width = WIDTH - 2 * MARGIN
    lines = [
        line([(WIDTH // 2, top - 8), (WIDTH // 2, top + 14)], width=2, tip=True),
        box(MARGIN, top + 18, width, 72, "#cfd9e4"),
    ]
    lines.append(text(MARGIN + 14, top + 59, "src/mapper/", "mono", "start"))
    for place, (room, does) in enumerate(said):
        middle = MARGIN + LABEL + (2 * place + 1) * (width - LABEL) // (2 * len(said))
        lines.append(text(middle, top + 48, room, "title"))
        lines.append(text(middle, top + 68, does, "small"))
    return lines


def has_room(floor: str, kind: str) -> bool:
    return (ROOT / floor / kind / "__init__.py").is_file()


def left(place: int) -> int:
    """Where the column of a kind begins."""
    return MARGIN + LABEL + 20 + place * CELL + (WIDTH - 2 * MARGIN - LABEL - 20 - len(COLUMNS) * CELL + GAP)


def main() -> None:
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(drawing(), encoding="utf-8")
    print(PICTURE)


if __name__ == "__main__":
    main()
