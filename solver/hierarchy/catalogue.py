"""Every method for mappings onto hierarchies, exact ones first."""

from __future__ import annotations

from dataclasses import replace

from mapper.formulations.hierarchy.problem import ROUNDING, HierarchyProblem
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.solver.contradiction import refuse_contradiction
from mapper.solver.hierarchy.exact.branch_and_bound import BRANCH_AND_BOUND
from mapper.solver.hierarchy.exact.brute_force import BRUTE_FORCE
from mapper.solver.hierarchy.heuristic.annealing import ANNEALING, HILL_CLIMBING
from mapper.solver.hierarchy.heuristic.random_search import RANDOM_SEARCH
from mapper.solver.hierarchy.padding.method import without_padding
from mapper.solver.hierarchy.program.constraint_program import CONSTRAINT_PROGRAM
from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome


def _automatic(problem: HierarchyProblem, effort: Effort) -> Outcome[HierarchyMapping]:
    """Branch and bound; where it proves nothing, the better of its mapping and that of annealing, with its bound.

    Raises: ContradictionError if they cannot both be right.
    """
    exact = replace(BRANCH_AND_BOUND.search(problem, effort), method=BRANCH_AND_BOUND.name)
    if exact.proven or exact.stop != "complete":
        return exact
    annealed = replace(without_padding(ANNEALING).search(problem, effort), method=ANNEALING.name)
    refuse_contradiction(exact, annealed, slack=ROUNDING * abs(exact.value or 0))
    if annealed.value is not None and (exact.value is None or annealed.value < exact.value):
        return replace(annealed, bound=exact.bound)
    return exact


AUTOMATIC: Method[HierarchyProblem, HierarchyMapping] = Method(
    "auto",
    True,
    "branch and bound; annealing beside it for what it cannot prove",
    _automatic,
    BRANCH_AND_BOUND.prepare,
    RANDOM_SEARCH,
)

METHODS: dict[str, Method[HierarchyProblem, HierarchyMapping]] = {
    method.name: method
    for method in (
        AUTOMATIC,
        BRANCH_AND_BOUND,
        without_padding(CONSTRAINT_PROGRAM),
        BRUTE_FORCE,
        without_padding(ANNEALING),
        without_padding(HILL_CLIMBING),
        without_padding(RANDOM_SEARCH),
    )
}
