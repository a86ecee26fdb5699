"""A selection of algorithms as a picture: the network coloured by algorithm, and its reduction step by step."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from mapper.codegen.algorithm_selection.picture import COLOURS, STORED, box, edges, ranks
from mapper.formulations.algorithm_selection.problem import SelectionProblem
from mapper.formulations.algorithm_selection.program.cost_graph import GraphBuilder
from mapper.kind.pbqp.picture import stepped
from mapper.models.algorithm_selection.mapping import Selection
from mapper.reporting.drawing import node
from mapper.solver.pbqp.reduction.reduction_tree import reduction_tree

WIDTH, HEIGHT, ACROSS, DOWN, MARGIN = 132, 34, 148, 58, 12


def network_picture(problem: SelectionProblem, selection: Selection) -> list[Element]:
    """The network from top to bottom, coloured by algorithm, and how its cost graph is reduced."""
    network, builder = problem.network, GraphBuilder(problem)
    graph = builder.graph_at(selection.array)
    tree = reduction_tree(graph.instance(network.name))
    drawn = edges(network)
    rank = ranks(network, drawn)
    count = len(network.layers)
    vertex = {at: at for at in range(count)} | {count + at: own for at, own in builder.vertex.items()}
    rows: dict[int, list[int]] = {}
    for at, level in rank.items():
        rows.setdefault(level, []).append(at)
    widest = max(map(len, rows.values()), default=1)
    places = {
        vertex[at]: (MARGIN + ACROSS * (column + (widest - len(row)) / 2), MARGIN + DOWN * float(level))
        for level, row in rows.items()
        for column, at in enumerate(sorted(row))
    }
    looks = {vertex[at]: box(network, selection, at) for at in rank}
    kept = {network.stores[at].name for at in selection.on_chip}
    lines = [(vertex[tail], vertex[head], tensor in kept) for tail, head, tensor in drawn]
    counts: dict[str, int] = {}
    for choice in selection.choices:
        counts[choice.algorithm] = counts.get(choice.algorithm, 0) + 1
    legend = node("ul", class_="legend")
    for algorithm, often in counts.items():
        mark = node("span", class_="swatch", style=f"background: {COLOURS[algorithm]}")
        legend.append(node("li", mark, f"{algorithm}: {often}"))
    legend.append(node("li", node("span", class_="swatch", style=f"background: {STORED}"), "stored tensor"))
    array = (
        f"{selection.array[0]} x {selection.array[1]} PEs; a thick line is a tensor that stays on the chip."
    )
    size = (2 * MARGIN + ACROSS * widest, 2 * MARGIN + DOWN * (max(rows, default=0) + 1))
    return [legend, *stepped(size, places, looks, lines, tree, graph.names, array, (WIDTH, HEIGHT))]
