"""Imperfect factors for people: which loops end with a smaller pass, and how much better the units are used."""

from __future__ import annotations

import time

from mapper.formulations.hierarchy.problem import HierarchyProblem
from mapper.kind.part import Part
from mapper.kind.tiling.padding import MEASURES, SECONDS, less_than
from mapper.models.hierarchy.cost import evaluate
from mapper.models.hierarchy.mapping import HierarchyMapping


def imperfect_lines(problem: HierarchyProblem, part: Part) -> list[str]:
    """The loops whose last passes are smaller, and what that wins over the best mapping with factors that divide."""
    mapping, value = part.mapping, part.certificate.value
    if not isinstance(mapping, HierarchyMapping) or value is None:
        return []
    cut = [loop for loop, bound in problem.bounds.items() if mapping.trips(loop) > bound]
    named = ", ".join(f"{loop} {problem.bounds[loop]:,}" for loop in cut)
    line = f"  factors  {f'last passes of {named} are smaller' if cut else 'all divide'}"
    plain = _with_perfect_factors(problem) if cut and part.same_as is None else None
    if plain is not None:
        own, other = (evaluate(problem.nest, problem.machine, one) for one in (mapping, plain))
        measure, unit = MEASURES[problem.objective]
        least = problem.value(other)
        line += (
            f"; utilisation {own.utilisation:.1%} instead of {other.utilisation:.1%} with factors that divide"
        )
        if value < least:
            line += f", {measure} {less_than(value, least)} than {least:,.6g}{unit and ' ' + unit}"
    return [line]


def _with_perfect_factors(problem: HierarchyProblem) -> HierarchyMapping | None:
    """The best mapping with factors that divide, if that is found soon."""
    from mapper.solver.hierarchy.exact.branch_and_bound import branch_and_bound
    from mapper.solver.method import Effort

    found = branch_and_bound(problem.as_it_is(), Effort(deadline=time.monotonic() + SECONDS))
    return found.mapping if found.proven else None
