"""A roofline of a mapping: what computing and the bandwidth of each level allow, and where the mapping lies."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from xml.etree.ElementTree import Element

from mapper.arch.hierarchy import HierarchyMachine
from mapper.kind.cell import number
from mapper.reporting.colour import colours
from mapper.reporting.drawing import figure, node, plain, svg

WIDTH, HEIGHT, LEFT, BELOW, ROW = 366, 190, 34, 34, 15
"""Pixels: as wide as a telephone; levels stand below, a row each."""


@dataclass(frozen=True)
class Roof:
    """A level's port: words a cycle of all its instances in use (None: no limit), operations of the mapping for each
    word that goes through it."""

    name: str
    rate: Fraction | None
    intensity: Fraction


def roofline(machine: HierarchyMachine, breakdown: dict[str, Any], operations: int, cycles: int) -> Element:
    """Operations a cycle over operations for each word moved, both logarithmic. Every level has a roof, that of the
    port which takes it longest, and a point of its mark."""
    peak, reached = machine.units * machine.compute.rate, Fraction(operations, max(1, cycles))
    roofs = _roofs(machine, breakdown, operations)
    across = _Scale([float(roof.intensity) for roof in roofs], LEFT, WIDTH)
    limits = [min(float(peak), float(_allowed(roof))) for roof in roofs if roof.rate is not None]
    up = _Scale([float(peak), float(reached), *limits], HEIGHT, 10)
    chosen = colours([*(level.name for level in machine.levels), machine.compute.name])
    height = HEIGHT + BELOW + ROW * len(roofs)
    drawn = svg(WIDTH + 6, height, "roofline of the mapping", class_="scaled roofline")
    drawn.append(node("rect", x=LEFT, y=10, width=WIDTH - LEFT, height=HEIGHT - 10, class_="whole"))
    top = up(float(peak))
    drawn.append(node("line", x1=LEFT, x2=WIDTH, y1=top, y2=top, class_="limit"))
    drawn.append(node("text", f"{number(peak)} operations a cycle", x=LEFT + 6, y=top - 4))
    for place, roof in enumerate(roofs):
        drawn.append(_drawn(roof, place, across, up, (peak, reached), chosen[roof.name]))
    for x, said, anchor in ((LEFT, across.least, "start"), (WIDTH, across.most, "end")):
        drawn.append(node("text", number(said), x=x, y=HEIGHT + 11, text_anchor=anchor))
    along = node("text", "operations for each word moved", x=(LEFT + WIDTH) / 2, y=HEIGHT + 11)
    along.set("text-anchor", "middle")
    upward = node("text", "operations a cycle", transform=f"translate(10 {HEIGHT / 2}) rotate(-90)")
    upward.set("text-anchor", "middle")
    drawn.extend([along, upward])
    drawn.append(node("text", number(up.most), x=LEFT - 4, y=up(up.most) + 7, text_anchor="end"))
    drawn.append(node("text", number(up.least), x=LEFT - 4, y=up(up.least), text_anchor="end"))
    bound = f"{number(float(reached))} of {number(peak)} operations a cycle"
    return figure(drawn, f"Roofline: {bound}; {plain(breakdown['binds'])} binds.")


class _Scale:
    """A logarithmic axis from pixel ``start`` to ``end``, whole powers of two around its values."""

    def __init__(self, values: list[float], start: float, end: float) -> None:
        positive = [value for value in values if value > 0] or [1.0]
        self.least = 2.0 ** (math.floor(math.log2(min(positive))) - 1)
        self.most = 2.0 ** (math.ceil(math.log2(max(positive))) + 1)
        self._start, self._end = start, end

    def __call__(self, value: float) -> float:
        share = math.log2(max(value, self.least) / self.least) / math.log2(self.most / self.least)
        return self._start + (self._end - self._start) * min(1.0, share)


def _roofs(machine: HierarchyMachine, breakdown: dict[str, Any], operations: int) -> list[Roof]:
    """A roof for every level that moves words."""
    found, instances = [], 1
    for level in machine.levels:
        counts = breakdown["accesses"].get(level.name, {}).values()
        read = sum(one["reads"] for one in counts)
        written = sum(one["fills"] + one["updates"] for one in counts)
        rates = level.bandwidth
        ports = [(rates.read, read), (rates.write, written), (rates.shared, read + written)]
        limited: list[Roof] = [
            Roof(level.name, Fraction(str(rate)) * instances, Fraction(operations, words))
            for rate, words in ports
            if rate is not None and words
        ]
        if read + written:
            free = Roof(level.name, None, Fraction(operations, read + written))
            found.append(min(limited, key=_allowed, default=free))
        instances *= level.fanout.x * level.fanout.y
    return found


def _allowed(roof: Roof) -> Fraction:
    """Operations a cycle that a limited port allows."""
    return (roof.rate or Fraction(0)) * roof.intensity


def _drawn(
    roof: Roof, place: int, across: _Scale, up: _Scale, heights: tuple[int, Fraction], colour: str
) -> Element:
    peak, reached = heights
    drawn = node("g", data_roof=plain(roof.name))
    if roof.rate is not None:
        # The slope goes from the left edge, or where it enters below, to the peak.
        first = max(across.least, up.least / float(roof.rate))
        last = min(across.most, peak / float(roof.rate))
        ends = {"x1": across(first), "y1": up(first * float(roof.rate)), "x2": across(last)}
        if first < last:
            drawn.append(node("line", **ends, y2=up(last * float(roof.rate)), stroke=colour, stroke_width=2))
    x, y = across(float(roof.intensity)), up(float(reached))
    drawn.append(node("circle", cx=x, cy=y, r=5, fill=colour, stroke="#333"))
    row = HEIGHT + BELOW + ROW * place
    rate = "no limit" if roof.rate is None else f"{number(float(roof.rate))} words a cycle"
    drawn.append(node("circle", cx=LEFT + 5, cy=row - 3, r=5, fill=colour, stroke="#333"))
    drawn.append(node("text", f"{plain(roof.name, 40)}: {rate}", x=LEFT + 15, y=row))
    return drawn
