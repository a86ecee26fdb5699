"""Padding for people: which bounds grew and what that won, or what it would win."""

from __future__ import annotations

import time
from dataclasses import replace

from mapper.formulations.hierarchy.problem import HierarchyProblem
from mapper.kind.part import Part
from mapper.kind.tiling.padding import MEASURES, SECONDS, WORTH_SAYING, less_than
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
        is_open = problem.pins.free or problem.pins.padded or part.same_as is not None
        return [] if is_open else _worth(problem, value, measure)
    bounds = problem.nest.trip_counts
    grown = ", ".join(f"{loop} {bounds[loop]:,} → {size:,}" for loop, size in mapping.padded)
    more = problem.nest.padded(dict(mapping.padded)).iterations / problem.nest.iterations - 1
    line = f"  padding  {grown} ({more:.1%} more iterations)"
    is_free = problem.pins.free and part.same_as is None
    plain = _least_value(problem.as_it_is()) if is_free else None
    if plain is not None:
        shown = f"{plain:,.6g}{unit and ' ' + unit}"
        line += f"; {measure} {less_than(value, plain)} than {shown} with bounds as they are"
    return [line]


def _worth(problem: HierarchyProblem, value: int | float, measure: str) -> list[str]:
    """What bounds with small factors would win, where they are others and better."""
    from mapper.solver.hierarchy.padding.choice import Paddings

    free = replace(problem, pins=replace(problem.pins, free=paddable_loops(problem.nest)))
    sizes = Paddings(free).friendly()
    found = _least_value(problem.padded_to(sizes)) if sizes else None
    if found is None or not found < value * WORTH_SAYING:
        return []
    grown = ", ".join(f"{problem.nest.trip_counts[loop]:,} → {size:,}" for loop, size in sizes.items())
    return [f"  padding  off; with {grown} {measure} would be {less_than(found, value)}: --fix padding=auto"]


def _least_value(problem: HierarchyProblem) -> int | float | None:
    """The optimum of given bounds, if that is found soon."""
    from mapper.solver.hierarchy.exact.branch_and_bound import branch_and_bound
    from mapper.solver.method import Effort

    found = branch_and_bound(problem, Effort(deadline=time.monotonic() + SECONDS))
    return found.value if found.proven else None
