"""Mappings onto hierarchies for people: the loops of every level, what it keeps, and where energy and time go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mapper.models.hierarchy.mapping import HierarchyMapping, SpatialLoop, TemporalLoop
from mapper.models.hierarchy.one_line import line_of
from mapper.workloads.nest.loop_nest import LoopNest


def hierarchy_lines(mapping: HierarchyMapping, breakdown: Mapping[str, Any], nest: LoopNest) -> list[str]:
    """The levels outer to inner with their loops, the shares of the energy, and what binds."""
    width = max(len(level.level) for level in mapping.levels)
    lines = []
    for level in mapping.levels:
        time = " ".join(f"{one.loop}={_trips(one)}" for one in level.temporal) or "–"
        space = " ".join(f"{one.loop}={_trips(one)}{one.axis}" for one in level.spatial)
        kept = ",".join(level.keep) or "–"
        lines.append(f"  {level.level:{width}}  [{kept}]  {time}" + (f"  in space {space}" if space else ""))
    energy = breakdown["energy_pj"]
    if energy is not None:
        totals = {name: sum(own.values()) for name, own in energy.items()}
        whole = sum(totals.values()) or 1.0
        shares = ", ".join(f"{name} {value / whole:.1%}" for name, value in totals.items() if value)
        lines.append(f"  energy   {shares}")
    binds = breakdown["binds"]
    lines.append(f"  time     {binds} binds: {breakdown['cycles'][binds]:,} cycles")
    lines.append(f"  one line {line_of(mapping, nest)}")
    return lines


def _trips(loop: TemporalLoop | SpatialLoop) -> str:
    """Trips, with those of the last pass where it is smaller."""
    return f"{loop.trips}" + (f",{loop.last}" if loop.last is not None else "")
