"""A PBQP instance as a picture: its graph, and its reduction step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element

from mapper.formulations.pbqp.problem import PbqpProblem
from mapper.kind.pbqp.view import said
from mapper.models.pbqp.mapping import PbqpAssignment
from mapper.reporting.drawing import figure, node, plain, svg
from mapper.solver.pbqp.reduction.reduction_tree import ReductionTree, reduction_tree

DOT = 26
MOST_DRAWN = 600
"""Vertices up to which a graph is drawn; the reduction of larger ones is told in words alone."""
MOST_TOLD = 2000
Place = tuple[float, float]


def instance_picture(problem: PbqpProblem, assignment: PbqpAssignment) -> list[Element]:
    """A PBQP instance's graph with the choice of every vertex, and how it is reduced."""
    given = problem.pinned
    names = [f"vertex {vertex}" for vertex in range(given.vertices)]
    tree = reduction_tree(given)
    places = _layout(given.vertices, given.edge_end.tolist())
    looks = {vertex: (str(vertex), str(choice), "#9ecae1") for vertex, choice in enumerate(assignment.choice)}
    lines = [(tail, head, False) for tail, head in given.edge_end.tolist()]
    side = 120 + 26 * given.vertices**0.5
    caption = f"{given.vertices:,} vertices, {given.edges:,} edges; below a vertex's number its choice."
    return stepped((side + DOT, side + DOT), places, looks, lines, tree, names, caption, (DOT + 8, DOT))


def _layout(vertices: int, ends: Sequence[Sequence[int]]) -> dict[int, Place]:
    import networkx

    if vertices > MOST_DRAWN:
        return {}
    graph = networkx.Graph()
    graph.add_nodes_from(range(vertices))
    graph.add_edges_from(ends)
    side = 120 + 26 * vertices**0.5
    found = (
        networkx.spring_layout(graph, seed=0, iterations=60, method="force") if vertices > 1 else {0: (0, 0)}
    )
    return {
        vertex: ((x + 1) / 2 * (side - DOT), (y + 1) / 2 * (side - DOT)) for vertex, (x, y) in found.items()
    }


def stepped(
    size: tuple[float, float],
    places: Mapping[int, Place],
    looks: Mapping[int, tuple[str, str, str]],
    lines: Sequence[tuple[int, int, bool]],
    tree: ReductionTree,
    names: Sequence[str],
    caption: str,
    cell: tuple[int, int],
) -> list[Element]:
    """The graph, buttons to step through its reduction, and the steps in words."""
    gone = {step.vertex: number for number, step in enumerate(tree.steps, 1)}
    if tree.series_parallel:
        kind = "series-parallel: every vertex is reduced, so that the least cost is exact in linear time"
    else:
        kind = (
            f"not series-parallel: {len(tree.core):,} vertices are left for elimination or branch and bound"
        )
    heading = node("p", f"{len(names):,} vertices, {len(lines):,} edges; {kind}.")
    told = node("ol", class_="steps")
    for number, step in enumerate(tree.steps[:MOST_TOLD], 1):
        told.append(node("li", said(step, [plain(name, 40) for name in names]), data_step=number))
    more = len(tree.steps) - MOST_TOLD
    words = node("details", node("summary", f"all {len(tree.steps):,} steps in words"), told)
    if more > 0:
        words.append(node("p", f"and {more:,} more"))
    if not places or len(places) > MOST_DRAWN:
        return [heading, words]
    picture = svg(*size, f"graph of {len(places)} vertices", class_="graph")
    half = (cell[0] / 2, cell[1] / 2)

    def line(u: int, v: int, **attributes: object) -> Element:
        (x1, y1), (x2, y2) = places[u], places[v]
        ends = {"x1": x1 + half[0], "y1": y1 + half[1], "x2": x2 + half[0], "y2": y2 + half[1]}
        return node("line", **ends, **attributes)

    for u, v, kept in lines:
        last = min((gone[end] for end in (u, v) if end in gone), default=None)
        picture.append(line(u, v, class_="edge kept" if kept else "edge", data_gone=last))
    for number, step in enumerate(tree.steps, 1):
        if len(step.neighbours) == 2:
            last = min((gone[end] for end in step.neighbours if end in gone), default=None)
            picture.append(line(*step.neighbours, class_="edge made", data_made=number, data_gone=last))
    for at, (x, y) in places.items():
        name, chosen, colour = looks[at]
        short = plain(name, 20)
        picture.append(
            node(
                "g",
                node("title", f"{plain(name)}: {plain(chosen)}"),
                node("rect", x=x, y=y, width=cell[0], height=cell[1], rx=4, fill=colour),
                node("text", short, x=x + half[0], y=y + cell[1] * 0.42, text_anchor="middle"),
                node("text", plain(chosen, 22), x=x + half[0], y=y + cell[1] * 0.85, text_anchor="middle"),
                class_="vertex",
                data_vertex=at,
                data_gone=gone.get(at),
            )
        )
    controls = node(
        "p",
        node("button", "previous step", type="button", data_go="-1"),
        node("button", "next step", type="button", data_go="1"),
        node("button", "start", type="button", data_go="first"),
        node("button", "end", type="button", data_go="last"),
        node("output", "step 0: nothing is reduced yet", aria_live="polite"),
        class_="controls",
    )
    drawn = figure(picture, caption)
    return [heading, node("section", controls, drawn, words, class_="stepper", data_steps=len(tree.steps))]


MOST_IN_ORDER, MOST_NODES = 160, 200


def proof_picture(proof: Mapping[str, Any]) -> list[Element]:
    """Vertices in the order in which they are eliminated with their edges as arcs, and the tree of what is left."""
    problem, evidence = proof["problem"], proof["evidence"]
    order, count = evidence["order"], len(problem["vertices"])
    elements = []
    if count <= MOST_IN_ORDER:
        gone = set(order)
        row = [*order, *(vertex for vertex in range(count) if vertex not in gone)]
        at = {vertex: place for place, vertex in enumerate(row)}
        step = 34
        high = 30 + 6 * max((abs(at[u] - at[v]) for u, v, _ in problem["edges"]), default=1)
        drawn = svg(step * count + 10, high + 34, "order of elimination", class_="order")
        for u, v, _ in problem["edges"]:
            low, top = sorted((at[u], at[v]))
            x1, x2, lift = step * (low + 0.5), step * (top + 0.5), 12 * (top - low) + 10
            drawn.append(node("path", d=_arc(x1, x2, high, lift), class_="arc"))
        for vertex, place in at.items():
            look = "used" if vertex in gone else "whole"
            x = step * (place + 0.5)
            drawn.append(node("circle", cx=x, cy=high, r=9, class_=look))
            drawn.append(
                node("text", str(vertex), x=x, y=high + 26, text_anchor="middle", data_eliminated=vertex)
            )
        caption = f"{len(order):,} of {count:,} vertices are eliminated, from left to right; arcs are edges."
        elements.append(figure(drawn, caption))
    return elements + (_tree(evidence["tree"]) if "tree" in evidence else [])


def _arc(start: float, end: float, base: float, lift: float) -> str:
    return f"M{start} {base} C{start} {base - lift} {end} {base - lift} {end} {base}"


def _tree(root: Any) -> list[Element]:
    """A tree of branches, a row per node in preorder, indented."""
    rows: list[tuple[int, str]] = []
    waiting = [(root, 0, "all choices")]
    while waiting and len(rows) <= MOST_NODES:
        (moves, *branch), depth, said = waiting.pop()
        end = f"vertex {branch[0]} branches" if branch else f"closed: sum of minima, {len(moves):,} moves"
        rows.append((depth, f"{said}: {end}"))
        for part, child in reversed(branch[1] if branch else []):
            waiting.append((child, depth + 1, f"choices {', '.join(map(str, part[:8]))}"))
    if len(rows) < 2:
        return []
    listing = node("ol", class_="nest", aria_label="tree of potentials")
    for depth, said in rows[:MOST_NODES]:
        listing.append(node("li", said, class_="loop", style=f"--depth: {min(depth, 40)}"))
    return [listing]
