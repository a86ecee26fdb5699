"""Every method for mappings onto hierarchies, exact ones first."""

from __future__ import annotations

import math
import time
from dataclasses import replace

from mapper.formulations.hierarchy.neighbour import may_hand_anything
from mapper.formulations.hierarchy.problem import ROUNDING, HierarchyProblem
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.solver.contradiction import refuse_contradiction
from mapper.solver.hierarchy.exact.branch_and_bound import BRANCH_AND_BOUND
from mapper.solver.hierarchy.exact.brute_force import BRUTE_FORCE
from mapper.solver.hierarchy.heuristic.annealing import ANNEALING, HILL_CLIMBING, hill_climbing
from mapper.solver.hierarchy.heuristic.cosa import COSA
from mapper.solver.hierarchy.heuristic.random_search import RANDOM_SEARCH
from mapper.solver.hierarchy.padding.method import without_padding
from mapper.solver.hierarchy.program.constraint_program import CONSTRAINT_PROGRAM
from mapper.solver.hierarchy.space import divisors
from mapper.solver.method import Effort, Method, Start
from mapper.solver.outcome import Outcome

FIRST_STEPS = 1_000
"""Of hill climbing, for a first mapping."""
LARGE = 1_000_000
"""Tiles of the whole nest, before any loop goes into space: beyond, branch and bound takes long to find mappings."""


def _automatic(problem: HierarchyProblem, effort: Effort) -> Outcome[HierarchyMapping]:
    """Branch and bound. What it cannot prove has the better of its mapping and that of annealing, with its bound; large
    problems are annealed first, and it starts from there, or from a short climb where neighbours may hand words on.

    Raises: ContradictionError if they cannot both be right.
    """
    annealed = _annealed(problem, _part(effort)) if _is_large(problem) else None
    first = annealed
    if first is None and effort.known_mapping(problem) is None and may_hand_anything(problem):
        # Bounds that count nothing of what neighbours hand on lead a search astray.
        first = hill_climbing(problem.as_it_is(), _part(effort), FIRST_STEPS)
    if first is not None and first.mapping is not None and first.value is not None:
        start = Start(problem, first.mapping, first.value, None, ANNEALING.name)
        effort = replace(effort, start=start)
    exact = replace(BRANCH_AND_BOUND.search(problem, effort), method=BRANCH_AND_BOUND.name)
    if exact.proven or (annealed is None and exact.stop != "complete"):
        return exact
    annealed = annealed or _annealed(problem, effort)
    refuse_contradiction(exact, annealed, slack=ROUNDING * abs(exact.value or 0))
    if annealed.value is not None and (exact.value is None or annealed.value <= exact.value):
        return replace(annealed, bound=exact.bound, stop=exact.stop)
    return exact


def _annealed(problem: HierarchyProblem, effort: Effort) -> Outcome[HierarchyMapping]:
    return replace(ANNEALING.search(problem, effort), method=ANNEALING.name)


def _part(effort: Effort) -> Effort:
    """A third of the time that is left."""
    left = effort.seconds_left()
    return effort if left is None else replace(effort, deadline=time.monotonic() + left / 3)


def _is_large(problem: HierarchyProblem) -> bool:
    return math.prod(len(divisors(bound)) for bound in problem.bounds.values()) > LARGE


AUTOMATIC: Method[HierarchyProblem, HierarchyMapping] = Method(
    "auto",
    True,
    "branch and bound; annealing for what it cannot prove, and before it for large nests",
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
        without_padding(COSA),
        without_padding(RANDOM_SEARCH),
    )
}
