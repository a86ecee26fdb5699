"""Trips in space of loops that need not divide: what fits the fan-outs, and along which axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from mapper.formulations.hierarchy.problem import HierarchyProblem
from mapper.models.hierarchy.mapping import SpatialLoop
from mapper.solver.hierarchy.padding.relaxed import spread_of

Array = Any


def spaces_of(problem: HierarchyProblem, loops: tuple[str, ...]) -> Array | None:
    """Trips in space [choices, levels, loops], each once; None if there are too many. No loop of bound B needs 2B
    instances: the outermost of its slots could then make fewer trips."""
    any_trips = replace(problem, pins=replace(problem.pins, free=loops))
    return spread_of(any_trips, loops)


def in_space(
    problem: HierarchyProblem, level: int, loops: Sequence[str], trips: Sequence[int]
) -> tuple[SpatialLoop, ...]:
    """The loops in space below a level, Y outside X, that make so many trips together."""
    fanout = problem.machine.levels[level].fanout

    def split(place: int, wide: int, high: int) -> list[tuple[int, int]] | None:
        if place == len(loops):
            return []
        own, loop = int(trips[place]), loops[place]
        for across in range(min(own, wide, problem.most(level, "x", loop)), 0, -1):
            down, rest = divmod(own, across)
            if rest or down > min(high, problem.most(level, "y", loop)):
                continue
            others = split(place + 1, wide // across, high // down)
            if others is not None:
                return [(across, down), *others]
        return None

    found = split(0, fanout.x, fanout.y)
    assert found is not None, "trips are those of the fan-out"
    return (
        *(
            SpatialLoop(loop, down, "y")
            for loop, (_, down) in sorted(zip(loops, found, strict=True))
            if down > 1
        ),
        *(
            SpatialLoop(loop, wide, "x")
            for loop, (wide, _) in sorted(zip(loops, found, strict=True))
            if wide > 1
        ),
    )
