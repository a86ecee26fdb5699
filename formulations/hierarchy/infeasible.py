"""Why a nest has no mapping onto a hierarchy: arguments that hold whatever the loops do elsewhere."""

from __future__ import annotations

import math

from mapper.formulations.hierarchy.problem import Axis, HierarchyProblem

AXES: tuple[Axis, ...] = ("temporal", "x", "y")


def why_infeasible(problem: HierarchyProblem) -> str | None:
    """Why there is no mapping, or None if no argument says so."""
    machine, nest = problem.machine, problem.nest
    inner, beyond = dict.fromkeys(nest.loops, 1), _beyond(problem)
    for place in reversed(range(len(machine.levels))):
        level = machine.levels[place]
        given = math.prod(problem.exact(place, "x", loop) or 1 for loop in nest.loops)
        if given > level.fanout.x * level.fanout.y:
            return f"{level.name}: the loops given in space need {given} instances, more than it fans out to"
        for loop in nest.loops:
            inner[loop] *= (problem.exact(place, "temporal", loop) or 1) * (
                problem.exact(place, "x", loop) or 1
            )
            for axis in AXES:
                if (problem.exact(place, axis, loop) or 1) > problem.largest(loop):
                    return f"{level.name}: {loop} is to have numbers of trips that differ, or are beyond its bound"
        must, may = problem.kept(place)
        if must - may:
            return f"{level.name}: must keep and bypass {min(must - may)}"
        capacity = level.capacity
        if capacity is None:
            continue
        least = {loop: max(trips, beyond[place][loop]) for loop, trips in inner.items()}
        if problem.pins.imperfect:
            least = {loop: min(trips, problem.bounds[loop]) for loop, trips in least.items()}
        words = {one.name: one.words(least) for one in nest.operands if one.name in must}
        if sum(words.values()) > capacity:
            largest = max(words, key=lambda name: words[name])
            needed = sum(words.values())
            return (
                f"{level.name}: the smallest tiles take {needed} of {capacity} words, most of them {largest}"
            )
    for loop, bound in problem.bounds.items():
        most = math.prod(
            problem.most(place, axis, loop) for place in range(len(machine.levels)) for axis in AXES
        )
        if most < bound:
            return f"{loop}: the factors that are allowed multiply to {most} at most, its bound is {bound}"
    return None


def _beyond(problem: HierarchyProblem) -> list[dict[str, int]]:
    """For each level the iterations that levels outside it cannot take, however they share out what they may."""
    left: list[dict[str, int]] = []
    most = dict.fromkeys(problem.nest.loops, 1)
    for place in range(len(problem.machine.levels)):
        left.append({loop: -(-bound // most[loop]) for loop, bound in problem.bounds.items()})
        for loop in most:
            most[loop] *= math.prod(problem.most(place, axis, loop) for axis in AXES)
    return left
