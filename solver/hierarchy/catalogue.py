"""Every method for mappings onto hierarchies, exact ones first."""

from __future__ import annotations

from dataclasses import replace

from mapper.formulations.hierarchy.infeasible import why_infeasible
from mapper.formulations.hierarchy.problem import HierarchyProblem
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.solver.hierarchy.exact.brute_force import BRUTE_FORCE
from mapper.solver.hierarchy.heuristic.annealing import ANNEALING, HILL_CLIMBING
from mapper.solver.hierarchy.heuristic.random_search import RANDOM_SEARCH
from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome
from mapper.workloads.document import InputError


def _automatic(problem: HierarchyProblem, effort: Effort) -> Outcome[HierarchyMapping]:
    """Brute force where the space is small, else annealing."""
    if why_infeasible(problem) is not None:
        return Outcome.infeasible(method="argument")
    try:
        return replace(BRUTE_FORCE.search(problem, effort), method=BRUTE_FORCE.name)
    except InputError:
        return replace(ANNEALING.search(problem, effort), method=ANNEALING.name)


AUTOMATIC: Method[HierarchyProblem, HierarchyMapping] = Method(
    "auto", True, "brute force where the space is small, else annealing", _automatic, at_once=RANDOM_SEARCH
)

METHODS: dict[str, Method[HierarchyProblem, HierarchyMapping]] = {
    method.name: method for method in (AUTOMATIC, BRUTE_FORCE, ANNEALING, HILL_CLIMBING, RANDOM_SEARCH)
}
