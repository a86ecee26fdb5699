"""Methods that take bounds as they are, where these may grow."""

from __future__ import annotations

from dataclasses import replace

from mapper.formulations.hierarchy.bound import bound_of
from mapper.formulations.hierarchy.problem import HierarchyProblem
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome

UNTRIED = "bounds as they are: no padding tried"


def without_padding(
    method: Method[HierarchyProblem, HierarchyMapping],
) -> Method[HierarchyProblem, HierarchyMapping]:
    """A method that claims nothing of other bounds than those as they are, beyond the bound by argument."""

    def search(problem: HierarchyProblem, effort: Effort) -> Outcome[HierarchyMapping]:
        if not problem.pins.free:
            return method.search(problem, effort)
        plain = problem.as_it_is()
        known = effort.known(problem)
        start = None if known is None or known.mapping.padded else replace(known, problem=plain, bound=None)
        found = method.search(plain, replace(effort, start=start))
        return found.among_more(bound_of(problem), UNTRIED)

    return replace(method, search=search)
