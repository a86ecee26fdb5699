"""Padding for people: which bounds grew and what that won, or what it would win."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from mapper.formulations.hierarchy.problem import HierarchyProblem
from mapper.kind.cell import number
from mapper.kind.part import Part
from mapper.kind.tiling.padding import MEASURES, SECONDS, WORTH_SAYING, less_than, listed
from mapper.models.hierarchy.cost import evaluate
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.models.tiling.padding import paddable_loops


def padding_lines(problem: HierarchyProblem, part: Part) -> list[str]:
    """Which bounds grew, how much of what runs that is, and what was won; or what larger bounds would win where padding
    is off."""
    mapping, value = part.mapping, part.certificate.value
    if not isinstance(mapping, HierarchyMapping) or value is None:
        return []
    measure, unit = MEASURES[problem.objective]
    if not mapping.padded:
        is_off = not problem.pins.free and not problem.pins.padded
        is_told = is_off and part.certificate.proven and part.same_as is None
        return _worth(problem, mapping, value, measure) if is_told else []
    more = problem.nest.padded(dict(mapping.padded)).iterations / problem.nest.iterations - 1
    line = f"  padding  {_grown(problem, mapping)} ({more:.1%} more iterations)"
    is_free = problem.pins.free and part.same_as is None
    plain = _least_value(problem.as_it_is()) if is_free else None
    if plain is not None and value < plain:
        shown = f"{number(plain)}{unit and ' ' + unit}"
        line += f"; {measure} {less_than(value, plain)} than {shown} with bounds as they are"
    return [line]


def padded_layers(answered: Sequence[tuple[HierarchyProblem, Part]]) -> list[str]:
    """Which bounds of a network's layers grew, and how much of what runs that is."""
    grown = {
        part.name: dict(part.mapping.padded)
        for _, part in answered
        if isinstance(part.mapping, HierarchyMapping) and part.mapping.padded
    }
    if not grown:
        return []
    runs = sum(problem.nest.padded(grown.get(part.name, {})).iterations for problem, part in answered)
    more = runs / sum(problem.nest.iterations for problem, _ in answered) - 1
    return [f"  padding  {listed(answered, grown)} ({more:.1%} more iterations)"]


def _worth(
    problem: HierarchyProblem, mapping: HierarchyMapping, value: int | float, measure: str
) -> list[str]:
    """What larger bounds would win, where some are better and soon found."""
    from mapper.solver.hierarchy.exact.branch_and_bound import with_larger_bounds
    from mapper.solver.method import Effort

    free = replace(problem, pins=replace(problem.pins, free=paddable_loops(problem.nest)))
    found = with_larger_bounds(free, mapping, Effort(deadline=time.monotonic() + SECONDS))
    if found is None:
        return []
    least = problem.value(evaluate(problem.nest, problem.machine, found))
    if not least < value * WORTH_SAYING:
        return []
    grown = _grown(problem, found)
    return [f"  padding  off; with {grown} {measure} would be {less_than(least, value)}: --fix padding=auto"]


def _grown(problem: HierarchyProblem, mapping: HierarchyMapping) -> str:
    bounds = problem.nest.trip_counts
    return ", ".join(f"{loop} {bounds[loop]:,} → {size:,}" for loop, size in mapping.padded)


def _least_value(problem: HierarchyProblem) -> int | float | None:
    """The optimum of given bounds, if that is found soon."""
    from mapper.solver.hierarchy.exact.branch_and_bound import branch_and_bound
    from mapper.solver.method import Effort

    found = branch_and_bound(problem, Effort(deadline=time.monotonic() + SECONDS))
    return found.value if found.proven else None
