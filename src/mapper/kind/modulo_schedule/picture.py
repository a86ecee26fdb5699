"""A modulo schedule as a picture: PEs down, cycles of the initiation interval across, routes where one looks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element

from mapper.arch.cgra import CgraMachine
from mapper.formulations.modulo_schedule.network.problem import LayerProblem
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.kind.checker_lines import checker
from mapper.kind.modulo_schedule.array_picture import array_picture
from mapper.kind.modulo_schedule.graph_picture import graph_picture
from mapper.kind.modulo_schedule.words import cycle_of
from mapper.kind.words import counted
from mapper.models.modulo_schedule.bound import rec_mii, res_mii
from mapper.models.modulo_schedule.mapping import Hop, ModuloSchedule, Pe, Placement
from mapper.models.modulo_schedule.network.mapping import LayerMapping, LoopMapping, kernel_of
from mapper.reporting.drawing import figure, node, plain, svg, table
from mapper.reporting.proof_drawing import arrow
from mapper.workloads.graph.kernel import Kernel

CELL, HEIGHT, MARGIN, HEAD = 104, 36, 48, 24
MOST_LOOPS = 12
"""Loops of a layer that are drawn."""


def kernel_picture(problem: ModuloProblem, schedule: ModuloSchedule, prefix: str) -> list[Element]:
    """The grid of a kernel's schedule, what binds its interval, and every route as text."""
    return _schedule(problem.kernel, problem.machine, schedule, prefix)


def layer_picture(problem: LayerProblem, mapping: LayerMapping, prefix: str, most: int) -> list[Element]:
    """The loops that a layer becomes, each as a grid of its own: those that take longest, as long as they have no more
    than ``most`` routes together."""
    nests = problem.choice(mapping.algorithm).nests

    def weight(loop: LoopMapping) -> int:
        copies = zip(loop.box.count, loop.box.unroll, strict=True)
        return loop.schedule.ii * math.prod(count // unroll for count, unroll in copies)

    drawn: set[int] = set()
    left = most
    for place in sorted(range(len(mapping.loops)), key=lambda place: -weight(mapping.loops[place])):
        routes = len(mapping.loops[place].schedule.routes)
        if routes <= left and len(drawn) < MOST_LOOPS:
            drawn.add(place)
            left -= routes
    elements = [node("p", f"Algorithm {mapping.algorithm}, loops in order: {len(mapping.loops)}.")]
    for place, loop in enumerate(mapping.loops):
        nest = nests[loop.nest]
        unrolled = zip(nest.names, loop.box.unroll, strict=True)
        factors = (
            " ".join(f"{name}={factor}" for name, factor in unrolled if factor > 1) or "nothing unrolled"
        )
        said = f"{nest.name}: {loop.box.innermost} innermost, {factors}, II {loop.schedule.ii}"
        if place not in drawn:
            elements.append(node("p", f"{said} (not drawn, to keep the page small)"))
            continue
        kernel = kernel_of(nest, loop.box, loop.pointer_uses)
        grid = _schedule(kernel, problem.machine, loop.schedule, f"{prefix}l{place}")
        elements.append(node("details", node("summary", said), *grid))
    return elements


def _schedule(kernel: Kernel, machine: CgraMachine, schedule: ModuloSchedule, prefix: str) -> list[Element]:
    graph, ii = kernel.graph, schedule.ii
    names = [plain(operation.name, 40) for operation in graph.operations]
    recurrence, resources = rec_mii(graph, machine), res_mii(graph, machine)
    binding = set(recurrence.operations) if recurrence.value >= resources.value else set()
    used = {placement.pe for placement in schedule.placements} | {pe for pe, _ in schedule.moves}
    row = {pe: at for at, pe in enumerate(sorted(used))}
    width, height = MARGIN + ii * CELL + 2, HEAD + len(row) * HEIGHT + 2
    picture = svg(width, height, f"schedule of {plain(kernel.name)}, II {ii}", class_="schedule")
    for slot in range(ii):
        picture.append(node("text", f"cycle {slot}", x=MARGIN + slot * CELL + 4, y=16))
    for pe, at in row.items():
        picture.append(node("text", f"{pe[0]},{pe[1]}", x=2, y=HEAD + at * HEIGHT + 22))
    across = "".join(f"M{MARGIN} {HEAD + at * HEIGHT}h{ii * CELL}" for at in range(len(row) + 1))
    down = "".join(f"M{MARGIN + slot * CELL} {HEAD}v{len(row) * HEIGHT}" for slot in range(ii + 1))
    picture.append(node("path", d=across + down, class_="free"))

    def corner_of(pe: Pe, time: int) -> tuple[int, int]:
        return MARGIN + time % ii * CELL, HEAD + row[pe] * HEIGHT

    first = min(placement.time for placement in schedule.placements)
    for pe, time in sorted(schedule.moves):
        x, y = corner_of(pe, time)
        picture.append(
            node(
                "g",
                node("rect", x=x + 2, y=y + 2, width=CELL - 4, height=HEIGHT - 4, rx=4),
                node("text", "move", x=x + 8, y=y + 16),
                node("text", f"cycle {time}", x=x + 8, y=y + 29, class_="small"),
                class_="move",
            )
        )
    for at, (operation, placement) in enumerate(zip(graph.operations, schedule.placements, strict=True)):
        x, y = corner_of(placement.pe, placement.time)
        stage = (placement.time - first) // ii
        picture.append(
            node(
                "g",
                node("title", f"{names[at]}: {operation.opcode}, cycle {placement.time}, stage {stage}"),
                node("rect", x=x + 2, y=y + 2, width=CELL - 4, height=HEIGHT - 4, rx=4),
                node("text", plain(operation.name, 15), x=x + 8, y=y + 16),
                node("text", f"{operation.opcode} @ {placement.time}", x=x + 8, y=y + 29, class_="small"),
                class_=f"op s{stage % 6}{' binding' if at in binding else ''}",
                data_op=f"{prefix}o{at}",
                tabindex=0,
                role="img",
                aria_label=f"{names[at]}: {operation.opcode} on PE {placement.pe[0]},{placement.pe[1]} in cycle "
                f"{placement.time}; {_operands(graph.edges, schedule, at, names)}",
            )
        )
    rows = []
    for route in schedule.routes:
        edge = graph.edges[route.edge]
        points = _way(schedule.placements[edge.source], route.hops, schedule.placements[edge.destination])
        middles = [(x + CELL // 2, y + HEIGHT // 2) for x, y in (corner_of(pe, time) for pe, time in points)]
        label = f"{names[edge.source]} to {names[edge.destination]}"
        picture.append(_line(middles, label, f"{prefix}o{edge.destination}"))
        rows.append([label, str(edge.distance), _said(route.hops)])
    said = f"II {ii}, {schedule.stages} stages. RecMII {recurrence.value}: {plain(recurrence.cause, 400)}. "
    said += f"ResMII {resources.value}: {plain(resources.cause, 400)}. "
    if binding:
        said += "The operations of the recurrence that bounds II from below are framed. "
    else:
        said += "No recurrence bounds II; the resources do. "
    bound = max(recurrence.value, resources.value)
    if ii > bound:
        said += f"This schedule's II is above the bound MII = {bound}. "
    pair = node("div", array_picture(kernel, machine, schedule), graph_picture(kernel, schedule, binding))
    pair.set("class", "pair")
    return [
        pair,
        figure(picture, said + "Point at an operation, or move to it with the tab key, to see its operands' routes.",
               class_="focusable"),
        node("p", class_="told", aria_live="polite"),
        node("details", node("summary", "every route as text"), table(["edge", "distance", "way"], rows)),
    ]  # fmt: skip


def _way(source: Placement, hops: tuple[Hop, ...], reader: Placement) -> list[tuple[Pe, int]]:
    """The cells that a value passes: its producer's, those of moves, its reader's."""
    moves = [(hop.pe, hop.time - 1) for hop in hops if hop.via == "move"]
    return [(source.pe, source.time), *moves, (reader.pe, reader.time)]


def _line(points: list[tuple[int, int]], label: str, reader: str) -> Element:
    """A way from cell to cell; from an operation to itself a loop."""
    (x, y), last = points[0], points[-1]
    if len(points) == 2 and (x, y) == last:
        path = f"M{x} {y}c40 -34 -80 -34 0 0"
    else:
        path = f"M{x} {y}" + "".join(f"L{right} {down}" for right, down in points[1:])
    ends = node("circle", cx=last[0], cy=last[1], r=5)
    return node("g", node("title", label), node("path", d=path), ends, class_="route", data_to=reader)


def _said(hops: tuple[Hop, ...]) -> str:
    if not hops:
        return "orders only, no value travels"
    words = []
    for hop in hops:
        kept = "" if hop.register is None else f" register {hop.register}"
        words.append(f"{hop.via}{kept} of {hop.pe[0]},{hop.pe[1]} from cycle {hop.time}")
    return ", then ".join(words)


def _operands(edges: tuple[object, ...], schedule: ModuloSchedule, at: int, names: list[str]) -> str:
    brought = [
        f"{names[edge.source]} by {_said(route.hops)}"  # type: ignore[attr-defined]
        for route in schedule.routes
        if (edge := edges[route.edge]).destination == at  # type: ignore[attr-defined]
    ]
    return "operands: " + "; ".join(brought) if brought else "no operands"


MOST_IN_RING, MOST_SLOTS = 40, 400


def proof_picture(proof: Mapping[str, Any]) -> list[Element]:
    """What bounds the II: the recurrence as a ring, slots that operations share, or a chessboard. None of a sum."""
    if proof["evidence"]["rule"] == "sum":
        return []
    problem, evidence = proof["problem"], proof["evidence"]["bound"]
    while evidence["rule"] == "clauses":
        evidence = evidence["below"]
    if evidence["rule"] == "cycle":
        return _ring(cycle_of(problem, evidence))
    if evidence["rule"] in ("units", "ports"):
        return _slots(problem, evidence)
    return _board(problem, evidence["colours"]) if evidence["rule"] == "parity" else []


def _ring(steps: Sequence[tuple[str, int, int]]) -> list[Element]:
    latency, distance = sum(step[1] for step in steps), sum(step[2] for step in steps)
    caption = f"The recurrence: latency {latency:,} over distance {distance:,}."
    if distance:
        caption += f" Once around: {distance:,} * II >= {latency:,}, so II >= {-(-latency // distance):,}."
    if len(steps) > MOST_IN_RING:
        return [node("p", f"{caption} A ring of {len(steps):,} operations is not drawn.")]
    radius, dot = max(60.0, 16.0 * len(steps)), 24
    middle = radius + 110
    drawn = svg(2 * middle, 2 * (radius + 50), "recurrence", class_="ring")
    places = [
        (middle + radius * math.sin(angle), radius + 50 - radius * math.cos(angle))
        for angle in (2 * math.pi * at / len(steps) for at in range(len(steps)))
    ]
    for at, (name, cycles, iterations) in enumerate(steps):
        (x, y), (right, low) = places[at], places[(at + 1) % len(steps)]
        said = counted(cycles, "cycle") + (
            f", {counted(iterations, 'iteration')} later" if iterations else ""
        )
        if len(steps) == 1:
            drawn.append(node("circle", cx=x, cy=y + radius, r=radius, class_="loop-edge"))
            drawn.append(node("text", said, x=x, y=y + 2 * radius + 16, text_anchor="middle"))
        else:
            drawn.extend(arrow((x, y), (right, low), dot))
            drawn.append(node("text", said, x=(x + right) / 2, y=(y + low) / 2, text_anchor="middle"))
        drawn.append(node("circle", cx=x, cy=y, r=dot - 4, class_="place"))
        drawn.append(node("text", plain(name, 24), x=x, y=y + 4, text_anchor="middle", data_operation=at))
    return [figure(drawn, caption)]


def _slots(problem: Mapping[str, Any], evidence: Mapping[str, Any]) -> list[Element]:
    loop = checker("modulo_schedule").Loop(problem)
    if evidence["rule"] == "ports":
        chosen = [v for v, unit in enumerate(loop.units) if unit == "memory"]
        columns = [f"port {at}" for at in range(loop.memory_ports)]
    else:
        chosen = evidence["operations"]
        pes = sorted(set().union(*(loop.able[v] for v in chosen)))
        columns = [f"PE {pe // loop.grid[1]},{pe % loop.grid[1]}" for pe in pes]
    if not columns or max(len(chosen), len(columns)) > MOST_SLOTS:
        return []
    rows, wide, high = -(-len(chosen) // len(columns)), 84, 22
    drawn = svg(60 + wide * len(columns), high * (rows + 1), "slots", class_="slots")
    for at, name in enumerate(columns):
        drawn.append(node("text", name, x=60 + wide * (at + 0.5), y=high * 0.65, text_anchor="middle"))
    for place in range(rows * len(columns)):
        row, column = divmod(place, len(columns))
        x, y = 60 + wide * column, high * (row + 1)
        taken = place < len(chosen)
        drawn.append(
            node("rect", x=x, y=y, width=wide - 3, height=high - 3, class_="whole" if taken else "free")
        )
        if taken:
            name = plain(problem["operations"][chosen[place]][0], 12)
            drawn.append(node("text", name, x=x + wide / 2, y=y + high * 0.65, text_anchor="middle"))
    caption = (
        f"{len(chosen):,} operations that share {len(columns):,} slots a cycle: at least {rows:,} cycles, wherever "
        "each one runs."
    )
    return [figure(drawn, caption)]


def _board(problem: Mapping[str, Any], colours: Sequence[int]) -> list[Element]:
    rows, columns = problem["machine"]["rows"], problem["machine"]["columns"]
    side = 28
    drawn = svg(side * columns + 2, side * rows + 2, "chessboard", class_="board")
    for pe, colour in enumerate(colours):
        row, column = divmod(pe, columns)
        look = "used" if colour else "whole"
        drawn.append(node("rect", x=side * column, y=side * row, width=side, height=side, class_=look))
    return [
        figure(drawn, "Every link joins PEs of two colours; at II 1 a value changes colour in every cycle.")
    ]
