"""Mappings with the same tiles: every order of the loops of each level in time, and every way to lay them out in space.

Where neighbours hand words on, cost depends on both. What bounds leave open of a mapping's tiles is settled by costing
all of these.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations, product
from typing import TYPE_CHECKING, Any

from mapper.formulations.hierarchy.problem import Axis, HierarchyProblem
from mapper.models.hierarchy.mapping import HierarchyMapping, LevelMapping, SpatialLoop, TemporalLoop
from mapper.solver.hierarchy.exact.group import groups_of
from mapper.solver.hierarchy.space import divisors, in_rows

if TYPE_CHECKING:
    from mapper.solver.hierarchy.exact.branch_and_bound import Search

MOST_ALIKE = 50_000
"""Mappings that are costed to settle what is open."""
Space = tuple[SpatialLoop, ...]
Time = tuple[TemporalLoop, ...]


def settle(search: Search) -> None:
    """Cost every order and layout of the tiles that bounds left open, the lowest first, as long as each loop acts by
    itself and there are not too many."""
    search.loose.sort(key=lambda one: one[0])
    settled, room = set[Any](), MOST_ALIKE
    while search.loose:
        least, mapping = search.loose[0]
        tiles = tiles_of(mapping)
        if tiles not in settled and search.wants(least, _computing(search, mapping)):
            problem = search.problem.padded_to(dict(mapping.padded))
            room -= count_alike(problem, mapping)
            if room < 0 or any(len(group) > 1 for group in groups_of(problem).loops):
                return
            for one in alike(problem, mapping):
                if search.over():
                    return
                search.try_out(one)
            settled.add(tiles)
        del search.loose[0]


def _computing(search: Search, mapping: HierarchyMapping) -> float:
    """Cycles of computing."""
    passes = math.prod(one.trips for level in mapping.levels for one in level.temporal)
    return -(-passes // search.problem.machine.compute.rate)


def tiles_of(mapping: HierarchyMapping) -> tuple[Any, ...]:
    """What mappings have in common that differ in orders and layouts alone."""
    return (mapping.padded, *((level.keep, *_trips(level)) for level in mapping.levels))


def _trips(level: LevelMapping) -> tuple[Any, ...]:
    return tuple(sorted((one.loop, one.trips) for one in level.temporal if one.trips > 1)), tuple(
        sorted(_together(level).items())
    )


def _together(level: LevelMapping) -> dict[str, int]:
    """Trips of loops in space, along both axes."""
    found: dict[str, int] = {}
    for one in level.spatial:
        if one.trips > 1:
            found[one.loop] = found.get(one.loop, 1) * one.trips
    return found


def count_alike(problem: HierarchyProblem, mapping: HierarchyMapping) -> int:
    """How many mappings have the tiles of one."""
    found = 1
    for place, level in enumerate(mapping.levels):
        free = sum(one.trips > 1 and one.loop not in problem.order(place) for one in level.temporal)
        found *= math.factorial(free) * sum(1 for _ in _layouts(problem, place, _together(level)))
    return found


def alike(problem: HierarchyProblem, mapping: HierarchyMapping) -> Iterator[HierarchyMapping]:
    """All mappings with the tiles of one."""
    options = [
        [
            replace(level, temporal=time, spatial=space)
            for time in _orders(problem, place, level)
            for space in _layouts(problem, place, _together(level))
        ]
        for place, level in enumerate(mapping.levels)
    ]
    return (replace(mapping, levels=chosen) for chosen in product(*options))


def _orders(problem: HierarchyProblem, place: int, level: LevelMapping) -> Iterator[Time]:
    """Every order in time that keeps to what is given."""
    by_loop = {one.loop: one for one in level.temporal if one.trips > 1}
    inner = [by_loop.pop(loop) for loop in problem.order(place) if loop in by_loop]
    for outer in permutations(by_loop.values()):
        yield (*outer, *reversed(inner))


def _layouts(problem: HierarchyProblem, place: int, together: dict[str, int]) -> Iterator[Space]:
    """Every split of loops in space over both axes, in every order along each."""
    fanout = problem.machine.levels[place].fanout
    for across in product(*(divisors(trips) for trips in together.values())):
        x = dict(zip(together, across, strict=True))
        y = {loop: trips // x[loop] for loop, trips in together.items()}
        if math.prod(x.values()) > fanout.x or math.prod(y.values()) > fanout.y:
            continue
        axes: tuple[tuple[Axis, dict[str, int]], ...] = (("x", x), ("y", y))
        if any(own[loop] > max(1, problem.most(place, axis, loop)) for axis, own in axes for loop in own):
            continue
        yield from in_rows(x, y)
