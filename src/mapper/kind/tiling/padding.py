"""Padding for people: what was padded and what it won, or what it would win."""

from __future__ import annotations

import time
from dataclasses import replace

from mapper.formulations.tiling.problem import TilingProblem
from mapper.kind.part import Part
from mapper.models.tiling.mapping import TilingMapping
from mapper.models.tiling.padding import NO_PADDING, Padding

MEASURES = {"edp": ("EDP", "pJ·cycles"), "energy": ("energy", "pJ"), "latency": ("cycles", "")}
BOUNDS_REMARK = (
    "Bounds may grow to any below twice their own, and branch and bound proves the optimum over all of them; this "
    "program takes them as they are."
)
SECONDS = 5.0
"""As long as the search for the other bounds may take; without an answer nothing is said."""
WORTH_SAYING = 0.99


def padded_to(problem: TilingProblem, mapping: TilingMapping) -> TilingProblem:
    """The problem as of a nest with the bounds of ``mapping``."""
    return replace(problem, nest=problem.nest.padded(dict(mapping.padded)), padding=NO_PADDING)


def padding_lines(problem: TilingProblem, part: Part) -> list[str]:
    """Which bounds grew, how much of what runs that is, and what was won; or what larger bounds would win where
    padding is off."""
    mapping, value = part.mapping, part.certificate.value
    if not isinstance(mapping, TilingMapping) or value is None:
        return []
    measure, unit = MEASURES[problem.objective]
    if not mapping.padded:
        return [] if problem.padding.ranges or part.same_as else _worth(problem, value, measure)
    bounds = problem.nest.trip_counts
    grown = ", ".join(f"{loop} {bounds[loop]:,} → {size:,}" for loop, size in mapping.padded)
    more = problem.nest.padded(dict(mapping.padded)).iterations / problem.nest.iterations - 1
    line = f"  padding  {grown} ({more:.1%} more iterations)"
    free = problem.padding.is_free and part.same_as is None
    plain = _least_value(replace(problem, padding=NO_PADDING)) if free else None
    if plain is not None:
        line += f"; {measure} {less_than(value, plain)} than {plain:,}{unit and ' ' + unit} with bounds as they are"
    return [line]


def _worth(problem: TilingProblem, value: int | float, measure: str) -> list[str]:
    """What bounds with small factors would win, where they are others and better."""
    from mapper.solver.tiling.padded import friendly_bounds

    free = replace(problem, padding=Padding.every(problem.nest))
    sizes = friendly_bounds(free)
    if not sizes:
        return []
    fixed = Padding(tuple((loop, size, size) for loop, size in sizes.items()))
    found = _least_value(replace(problem, padding=fixed).as_it_is())
    if found is None or not found < value * WORTH_SAYING:
        return []
    grown = ", ".join(f"{problem.nest.trip_counts[loop]:,} → {size:,}" for loop, size in sizes.items())
    return [f"  padding  off; with {grown} {measure} would be {less_than(found, value)}: --fix padding=auto"]


def less_than(value: int | float, other: int | float) -> str:
    """How much less ``value`` is than ``other``."""
    if value and other / value >= 2:
        return f"{other / value:,.1f} times less"
    return f"{1 - value / other:.1%} less" if other else "no less"


def _least_value(problem: TilingProblem) -> int | float | None:
    """The optimum of bounds as they are, if that is found soon."""
    from mapper.solver.method import Effort
    from mapper.solver.tiling.exact.branch_and_bound import branch_and_bound

    found = branch_and_bound(problem, Effort(deadline=time.monotonic() + SECONDS))
    return found.value if found.proven else None
