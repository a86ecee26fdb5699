"""A mapping onto a hierarchy as a picture: levels as bands, energy by level and tensor, and the roofline."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element

from mapper.formulations.hierarchy.problem import HierarchyProblem
from mapper.kind.cell import number
from mapper.kind.hierarchy.roofline import roofline
from mapper.kind.part import Part
from mapper.models.hierarchy.mapping import HierarchyMapping, SpatialLoop, TemporalLoop
from mapper.reporting.chart import stacked
from mapper.reporting.colour import colours
from mapper.reporting.drawing import figure, node, plain, table


def hierarchy_picture(
    problem: HierarchyProblem, mapping: HierarchyMapping, part: Part, prefix: str
) -> list[Element]:
    """The loop nest by level, energy by level and tensor, the roofline, and tables of tiles and accesses."""
    breakdown, cost = part.breakdown or {}, part.cost or {}
    shown = [_nest(problem, mapping, breakdown)]
    if breakdown["energy_pj"]:
        said = "Energy by level and tensor"
        drawn = stacked(said, "energy, pJ", breakdown["energy_pj"], f"{prefix}energy", "level")
        shown.append(
            figure(drawn, "What each level's accesses and the operations take.", data_energy="level")
        )
    shown.append(roofline(problem.machine, breakdown, problem.nest.iterations, cost["cycles"]))
    return [*shown, _table(problem, breakdown)]


def _nest(problem: HierarchyProblem, mapping: HierarchyMapping, breakdown: dict[str, Any]) -> Element:
    """Each level as a band around all inside it: what it keeps, with words of the tiles, then its loops."""
    whole = inside = node("ol", class_="nest", aria_label="loop nest, outer to inner")
    chosen = colours(operand.name for operand in problem.nest.operands)
    sides = colours([*(level.name for level in problem.machine.levels), problem.machine.compute.name])
    for level in mapping.levels:
        title = node("p", node("b", plain(level.level)))
        for name in level.keep:
            words = number(breakdown["tiles"][level.level][name])
            kept = f"{plain(name)}: {words} words"
            title.append(node("span", kept, class_="stays", style=f"border-color: {chosen[name]}"))
        band = node("ol", class_="loops")
        loops = [("for", "time", one.loop, _turns(one)) for one in level.temporal]
        loops += [("parallel for", "space", one.loop, f"{_turns(one)} ({one.axis})") for one in level.spatial]
        for word, style, loop, turns in loops:
            band.append(
                node(
                    "li",
                    node("code", f"{word} {plain(loop)} = {turns}"),
                    class_=f"loop {style}",
                    data_level=plain(level.level),
                    data_loop=plain(loop),
                )
            )
        side = f"border-left-color: {sides[level.level]}"
        inside.append(node("li", title, band, class_="level band", data_band=plain(level.level), style=side))
        inside = band
    name = problem.machine.compute.name
    side = f"border-left-color: {sides[name]}"
    inside.append(node("li", node("b", plain(name)), class_="level band", style=side))
    return node("figure", whole, node("figcaption", "Loop nest by level, and what each level keeps."))


def _turns(loop: TemporalLoop | SpatialLoop) -> str:
    """The values of a loop at a level, and those of its last pass where that is smaller."""
    turns = f"0..{loop.trips - 1}"
    return turns if loop.last is None else f"{turns}, at the end 0..{loop.last - 1}"


def _table(problem: HierarchyProblem, breakdown: dict[str, Any]) -> Element:
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
