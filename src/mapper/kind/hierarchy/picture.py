"""A mapping onto a hierarchy as a picture: levels as bands with their loops, and energy by level and tensor."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element

from mapper.formulations.hierarchy.problem import HierarchyProblem
from mapper.kind.cell import number
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.reporting.drawing import node, plain, table


def hierarchy_picture(
    problem: HierarchyProblem, mapping: HierarchyMapping, breakdown: dict[str, Any]
) -> list[Element]:
    """The loop nest by level, and tables of tiles, accesses and energies."""
    return [_nest(mapping), _table(problem, mapping, breakdown)]


def _nest(mapping: HierarchyMapping) -> Element:
    lines = node("ol", class_="nest", aria_label="loop nest, outer to inner")
    depth = 0
    for level in mapping.levels:
        kept = ", ".join(plain(name) for name in level.keep) or "nothing"
        lines.append(node("li", node("b", plain(level.level)), f": keeps {kept}", class_="level dram"))
        loops = [("for", "spm", one.loop, one.trips) for one in level.temporal]
        loops += [("parallel for", "spatial", one.loop, one.trips) for one in level.spatial]
        for word, style, loop, trips in loops:
            depth += 1
            lines.append(
                node(
                    "li",
                    node("code", f"{word} {plain(loop)} = 0..{trips - 1}"),
                    class_=f"loop {style}",
                    data_level=plain(level.level),
                    data_loop=plain(loop),
                    style=f"--depth: {depth}",
                )
            )
    return node("figure", lines, node("figcaption", "Loop nest by level, and what each level keeps."))


def _table(problem: HierarchyProblem, mapping: HierarchyMapping, breakdown: dict[str, Any]) -> Element:
    rows = []
    energies = breakdown["energy_pj"] or {}
    for level in problem.machine.levels:
        for tensor, counts in breakdown["accesses"].get(level.name, {}).items():
            rows.append(
                [
                    plain(level.name),
                    plain(tensor),
                    number(breakdown["tiles"][level.name][tensor]),
                    *(number(counts[sort]) for sort in ("reads", "fills", "updates")),
                    number(energies.get(level.name, {}).get(tensor)),
                    number(breakdown["cycles"][level.name]),
                ]
            )
    heading = [
        "level",
        "tensor",
        "words of a tile",
        "reads",
        "fills",
        "updates",
        "energy in pJ",
        "cycles of the level",
    ]
    return table(heading, rows, "Accesses and energies", class_="tiles")
