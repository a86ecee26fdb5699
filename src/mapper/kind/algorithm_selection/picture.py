"""A selection of algorithms as a picture: the network coloured by algorithm, and its reduction step by step."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any
from xml.etree.ElementTree import Element

from mapper.codegen.algorithm_selection.picture import COLOURS, STORED, box, edges, ranks
from mapper.formulations.algorithm_selection.problem import SelectionProblem
from mapper.formulations.algorithm_selection.program.cost_graph import GraphBuilder
from mapper.kind.algorithm_selection.words import boxes, said
from mapper.kind.pbqp.picture import stepped
from mapper.kind.words import exact
from mapper.models.algorithm_selection.mapping import Selection
from mapper.reporting.drawing import figure, node, svg
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
    names = graph.instance_names()
    for at, ((_, held, _), _) in enumerate(graph.tied(), len(graph.names)):
        places[at] = (places[held][0] + ACROSS / 4, places[held][1] + DOWN / 2)
        looks[at] = (names[at], "ties three layers", STORED)
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
    return [legend, *stepped(size, places, looks, lines, tree, names, array, (WIDTH, HEIGHT))]


SIDE, MOST_BOXES = 420, 800


def proof_picture(proof: Mapping[str, Any], reason: str) -> list[Element]:
    """The plane of array shapes, logarithmic, with the boxes that close it and the array that is taken."""
    evidence = proof["evidence"]
    if not evidence["boxes"] or "no choice left" in reason:
        return []
    found = boxes(proof)[:MOST_BOXES]
    most = max(max(one.rows[1], one.columns[1]) for one in found) + 1

    def at(size: int) -> float:
        return SIDE * math.log(size) / math.log(most)

    drawn = svg(SIDE + 60, SIDE + 40, "array shapes", class_="shapes")
    for one in found:
        (low, high), (left, right) = one.rows, one.columns
        bound = "" if one.least is None else f": at least {exact(one.least)}"
        place = {"x": 40 + at(low), "y": SIDE - at(right + 1)}
        size = {"width": at(high + 1) - at(low), "height": at(right + 1) - at(left)}
        told = node("title", f"{said(one)}{bound}")
        drawn.append(
            node("rect", told, **place, **size, class_="shape", data_box=f"{low},{high},{left},{right}")
        )
    if evidence["mapping"] is not None:
        rows, columns = evidence["mapping"]["array"]
        drawn.append(node("circle", cx=40 + at(rows), cy=SIDE - at(columns), r=5, class_="taken"))
    for power in range(0, int(math.log10(most)) + 1):
        drawn.append(node("text", f"{10**power:,}", x=40 + at(10**power), y=SIDE + 14, text_anchor="middle"))
        drawn.append(node("text", f"{10**power:,}", x=36, y=SIDE - at(10**power), text_anchor="end"))
    drawn.append(node("text", "across: rows of the array; upwards: columns", x=40, y=SIDE + 32))
    caption = (
        f"{len(evidence['boxes']):,} boxes of shapes cover every array that could be better; no array in them is. "
        "The dot is the chosen array."
    )
    return [figure(drawn, caption)]
