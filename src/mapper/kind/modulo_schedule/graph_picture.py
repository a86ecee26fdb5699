"""The dataflow graph of a kernel, coloured by the stages of its schedule as the schedule itself is."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element

from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.reporting.drawing import figure, node, plain, svg
from mapper.workloads.graph.kernel import Kernel

BOX, HIGH, STEP, ROW = 96, 30, 134, 58
MOST_OPERATIONS = 80


def graph_picture(kernel: Kernel, schedule: ModuloSchedule, binding: set[int]) -> Element:
    """Operations below those they read from; dashed what comes from an earlier iteration, framed what ``binding``
    names."""
    graph = kernel.graph
    count = len(graph.operations)
    if count > MOST_OPERATIONS:
        return node("p", f"A graph of {count:,} operations is not drawn.")
    layers = _layers([(edge.source, edge.destination) for edge in graph.edges if edge.distance == 0], count)
    widest = max(map(len, layers))
    places = {
        operation: ((widest - len(layer)) * STEP / 2 + at * STEP + 8, depth * ROW + 8)
        for depth, layer in enumerate(layers)
        for at, operation in enumerate(layer)
    }
    picture = svg(
        widest * STEP + 40, len(layers) * ROW + 8, f"dataflow graph of {plain(kernel.name)}", class_="graph"
    )
    for edge in graph.edges:
        (x, y), (right, low) = places[edge.source], places[edge.destination]
        ends = [plain(graph.operations[at].name, 40) for at in (edge.source, edge.destination)]
        label = " to ".join(ends)
        if edge.distance:
            label += f", {edge.distance} iteration{'s' if edge.distance > 1 else ''} later"
        start, end = (x + BOX / 2, y + HIGH), (right + BOX / 2, low)
        if edge.distance:
            # Round the right side of the operations, against the flow.
            out = max(x, right) + BOX + 34
            middles = y + HIGH / 2, low + HIGH / 2
            path = f"M{x + BOX} {middles[0]}C{out} {middles[0]} {out} {middles[1]} {right + BOX} {middles[1] - 6}"
        else:
            path = (
                f"M{start[0]} {start[1]}C{start[0]} {start[1] + 16} {end[0]} {end[1] - 16} {end[0]} {end[1]}"
            )
        picture.append(
            node(
                "path", node("title", label), d=path, class_=f"dependence{' later' if edge.distance else ''}"
            )
        )
    first = min(placement.time for placement in schedule.placements)
    for at, (operation, placement) in enumerate(zip(graph.operations, schedule.placements, strict=True)):
        x, y = places[at]
        stage = (placement.time - first) // schedule.ii
        picture.append(
            node(
                "g",
                node("title", f"{plain(operation.name, 40)}: {operation.opcode}, stage {stage}"),
                node("rect", x=x, y=y, width=BOX, height=HIGH, rx=4),
                node("text", plain(operation.name, 15), x=x + 6, y=y + 13),
                node("text", operation.opcode, x=x + 6, y=y + 25, class_="small"),
                class_=f"operation s{stage % 6}{' binding' if at in binding else ''}",
            )
        )
    return figure(
        picture,
        "The dataflow graph, by stage as in the schedule; dashed: from an earlier iteration.",
        class_="dataflow",
    )


def _layers(edges: Sequence[tuple[int, int]], count: int) -> list[list[int]]:
    """Operations by the longest way to them, each layer in the order of the middle of those it reads."""
    sources: dict[int, list[int]] = {at: [] for at in range(count)}
    for source, destination in edges:
        sources[destination].append(source)
    depth = [0] * count
    for _ in range(count):
        found = [max((depth[one] + 1 for one in sources[at]), default=0) for at in range(count)]
        if found == depth:
            break
        depth = found
    layers: list[list[int]] = [[] for _ in range(max(depth) + 1)]
    for at in range(count):
        layers[depth[at]].append(at)
    middle: dict[int, float] = {}
    for layer in layers:
        wished = {
            at: sum(middle[one] for one in sources[at]) / len(sources[at]) if sources[at] else float(place)
            for place, at in enumerate(layer)
        }
        layer.sort(key=lambda at: (wished[at], at))
        width = len(layer)
        middle |= {at: place - (width - 1) / 2 for place, at in enumerate(layer)}
    return layers
