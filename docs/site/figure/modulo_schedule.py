"""Figures of the kind ``modulo_schedule``: the CGRA, and a kernel's schedule with the pipeline that it makes."""

from __future__ import annotations

from docs.site.figure.solved import solved
from docs.site.svg import LINE, PAPER, box, line, page, text
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.models.modulo_schedule.mapping import ModuloSchedule

WORKLOAD, ARCH = "gemm", "srp-4x4"
WIDTH = 700
MEMORY, FLOAT, REGISTER = "#dfe9f7", "#f8e6c8", "#d5ecdf"
STAGES = ("#dbe9f6", "#fde3c8", "#dcefd9", "#f5d9de", "#e6def2", "#efe9cf", "#d3ecec", "#e9dfd6")
"""Colours of the stages, from the first."""


def _problem() -> tuple[ModuloProblem, ModuloSchedule]:
    found = solved(WORKLOAD, ARCH, "ii")
    assert isinstance(found.problem, ModuloProblem)
    schedule = found.mapping.schedule
    assert isinstance(schedule, ModuloSchedule)
    return found.problem, schedule


def machine() -> str:
    """The PEs with their links, and one PE from within."""
    arch = _problem()[0].machine
    pitch, side, left, top = 84, 60, 30, 48
    parts = [text(left, 28, f"{arch.rows} x {arch.columns} PEs, linked to all neighbours", "title", "start")]

    def middle(pe: tuple[int, int]) -> tuple[float, float]:
        return left + pe[1] * pitch + side / 2, top + pe[0] * pitch + side / 2

    for pe in arch.all_pes:
        for reader in sorted(arch.readers[pe]):
            if pe < reader:
                parts.append(line([middle(pe), middle(reader)], LINE, 1.5))
    for row, column in arch.all_pes:
        x, y = left + column * pitch, top + row * pitch
        memory = arch.can_execute((row, column), "load")
        parts.append(box(x, y, side, side, MEMORY if memory else FLOAT))
        parts.append(text(x + side / 2, y + 26, f"PE{row},{column}", "small"))
        parts.append(text(x + side / 2, y + 43, "memory" if memory else "float", "quiet"))
    x, bottom = 410, top + (arch.rows - 1) * pitch + side
    file = arch.register_file
    parts += [
        text(x, 28, "one PE, in every cycle", "title", "start"),
        box(x, top, 260, bottom - top, PAPER, LINE),
        text(x + 130, top + 26, "results of its neighbours and its own", "small"),
        line([(x + 90, top + 36), (x + 90, top + 72)], width=2, tip=True),
        box(x + 20, top + 76, 140, 72, FLOAT),
        text(x + 90, top + 98, "one operation", "small"),
        text(x + 90, top + 116, "or one move", "small"),
        text(x + 90, top + 136, "integer in all PEs", "quiet"),
        line([(x + 90, top + 148), (x + 90, top + 184)], width=2, tip=True),
        box(x + 20, top + 188, 140, 40, REGISTER),
        text(x + 90, top + 213, "output register", "small"),
        box(x + 184, top + 76, 58, 152, REGISTER),
        text(x + 213, top + 132, f"{file.registers}", "title"),
        text(x + 213, top + 150, "registers", "tiny"),
        line([(x + 184, top + 104), (x + 164, top + 104)], width=2, tip=True),
        line([(x + 160, top + 208), (x + 180, top + 208)], width=2, tip=True),
        line([(x + 90, top + 228), (x + 90, top + 264)], width=2, tip=True),
        text(x + 130, top + 284, "to its neighbours, until the next result", "small"),
        text(x + 130, top + 302, f"{file.read_ports} read ports, {file.write_ports} write port", "quiet"),
    ]
    return page(
        WIDTH, bottom + 20, f"A CGRA of {arch.rows} by {arch.columns} PEs and one PE from within", parts
    )


def mapping() -> str:
    """The table of the initiation interval, and the iterations that overlap."""
    problem, schedule = _problem()
    graph, ii = problem.kernel.graph, schedule.ii
    used = sorted({placement.pe for placement in schedule.placements} | {pe for pe, _ in schedule.moves})
    row = {pe: at for at, pe in enumerate(used)}
    across, down, wide, high, left, top = 212, 62, 150, 38, 84, 88
    parts = [
        text(
            20,
            28,
            f"{problem.kernel.name} on {problem.machine.name}: initiation interval {ii}",
            "title",
            "start",
        )
    ]
    parts += [
        text(left + slot * across + wide / 2, 64, f"cycle {slot} of the interval", "quiet")
        for slot in range(ii)
    ]
    for pe, at in row.items():
        parts.append(text(20, top + at * down + 23, f"PE{pe[0]},{pe[1]}", "small", "start"))

    def corner(pe: tuple[int, int], time: int) -> tuple[float, float]:
        return left + time % ii * across, top + row[pe] * down

    first = min(placement.time for placement in schedule.placements)
    for at in range(len(used)):
        parts += [
            box(left + slot * across, top + at * down, wide, high, PAPER, "#d8dee4") for slot in range(ii)
        ]
    for route in schedule.routes:
        edge = graph.edges[route.edge]
        source, reader = schedule.placements[edge.source], schedule.placements[edge.destination]
        begin, end = corner(source.pe, source.time), corner(reader.pe, reader.time)
        if edge.source == edge.destination:
            x, y = begin[0] + wide - 44, begin[1]
            parts.append(line([(x, y), (x, y - 12), (x + 22, y - 12), (x + 22, y - 1)], tip=True))
        else:
            parts.append(line(_between(begin, end, wide, high, down), tip=True))
    for operation, placement in zip(graph.operations, schedule.placements, strict=True):
        x, y = corner(placement.pe, placement.time)
        stage = (placement.time - first) // ii
        parts.append(box(x, y, wide, high, STAGES[stage % len(STAGES)], "#66717c"))
        parts.append(text(x + wide / 2, y + 16, operation.name, "title"))
        parts.append(
            text(x + wide / 2, y + 31, f"{operation.opcode} in cycle {placement.time - first}", "tiny")
        )
    y = top + len(used) * down
    said = "Colours are the stages below. Arrows lead to readers of a result; loops above a box, to the next iteration."
    parts.append(text(20, y + 6, said, "quiet", "start"))
    parts += _pipeline(schedule, y + 26)
    height = y + 26 + 40 + 18 * (schedule.stages + 1)
    return page(
        WIDTH, height, f"A schedule of {problem.kernel.name} with interval {ii}, and its pipeline", parts
    )


def _between(
    begin: tuple[float, float], end: tuple[float, float], wide: float, high: float, down: float
) -> list[tuple[float, float]]:
    """From the border of one cell to that of another; around what stands between two in a column."""
    if begin[0] == end[0] and abs(begin[1] - end[1]) > down:
        x = begin[0] + wide
        return [
            (x, begin[1] + high / 2),
            (x + 16, begin[1] + high / 2),
            (x + 16, end[1] + high / 2),
            (x + 1, end[1] + high / 2),
        ]
    if begin[0] == end[0]:
        below = begin[1] < end[1]
        x = begin[0] + wide / 2
        return [(x, begin[1] + (high if below else 0)), (x, end[1] + (0 if below else high))]
    right = begin[0] < end[0]
    start, stop = (begin[0] + (wide if right else 0), begin[1]), (end[0] + (0 if right else wide), end[1])
    return [(start[0], start[1] + high / 2), (stop[0], stop[1] + high / 2)]


def _pipeline(schedule: ModuloSchedule, top: float) -> list[str]:
    """Iterations below each other, one interval apart, up to the first cycles in which all stages are at work."""
    ii, stages = schedule.ii, schedule.stages
    left, unit = 100.0, 572 / (ii * (2 * stages - 1))
    parts = []
    x = left + unit * ii * (stages - 1)
    parts.append(box(x - 2, top + 14, unit * ii + 4, 18 * stages + 6, PAPER, "#b3261e", 3))
    for iteration in range(stages):
        y = top + 18 + 18 * iteration
        parts.append(text(20, y + 12, f"iteration {iteration}", "small", "start"))
        for stage in range(stages):
            x = left + unit * ii * (iteration + stage)
            parts.append(box(x, y, unit * ii - 1, 15, STAGES[stage % len(STAGES)], corner=2))
            parts.append(text(x + unit * ii / 2, y + 12, str(stage), "tiny"))
    said = f"{stages} stages of {ii} cycles: from the framed interval on, {stages} iterations always overlap."
    parts.append(text(20, top + 18 * stages + 44, said, "quiet", "start"))
    return parts
