"""Every method for mappings onto hierarchies, exact ones first."""

from __future__ import annotations

import math
import time
from dataclasses import replace

from mapper.formulations.hierarchy.neighbour import may_hand_anything
from mapper.formulations.hierarchy.problem import ROUNDING, HierarchyProblem
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.solver.contradiction import refuse_contradiction
from mapper.solver.hierarchy.exact import branch_and_bound
from mapper.solver.hierarchy.exact.brute_force import BRUTE_FORCE
from mapper.solver.hierarchy.heuristic.annealing import ANNEALING, HILL_CLIMBING, hill_climbing
from mapper.solver.hierarchy.heuristic.cosa import COSA
from mapper.solver.hierarchy.heuristic.random_search import RANDOM_SEARCH
from mapper.solver.hierarchy.imperfect.method import with_imperfect_factors
from mapper.solver.hierarchy.padding.method import without_padding
from mapper.solver.hierarchy.program.constraint_program import CONSTRAINT_PROGRAM
from mapper.solver.hierarchy.space import divisors
from mapper.solver.method import Effort, Method, Start
from mapper.solver.outcome import Outcome

BRANCH_AND_BOUND = with_imperfect_factors(branch_and_bound.BRANCH_AND_BOUND)
FIRST_STEPS = 1_000
"""Of hill climbing, for a first mapping."""
CLIMBED = 0.2
"""Of a limit, where nothing better is known."""
LARGE = 1_000_000
"""Tiles of the whole nest, before any loop goes into space: beyond, branch and bound takes long to find mappings."""


def _automatic(problem: HierarchyProblem, effort: Effort) -> Outcome[HierarchyMapping]:
    """Branch and bound. What it cannot prove has the better of its mapping and that of annealing, with its bound; large
    problems are annealed first, and it starts from there, or from a short climb where neighbours may hand words on.
    Where it starts from nothing, a part of a limit is left for heuristics, since what is cut off before its first table
    is filled has no mapping to speak of.

    Raises: ContradictionError if they cannot both be right.
    """
    if problem.pins.imperfect:
        return replace(BRANCH_AND_BOUND.search(problem, effort), method=BRANCH_AND_BOUND.name)
    annealed = _annealed(problem, _part(effort)) if _is_large(problem) else None
    first = annealed
    if first is None and effort.known_mapping(problem) is None and may_hand_anything(problem):
        # Bounds that count nothing of what neighbours hand on lead a search astray.
        first = hill_climbing(problem.as_it_is(), _part(effort), FIRST_STEPS)
    if first is not None and first.mapping is not None and first.value is not None:
        start = Start(problem, first.mapping, first.value, None, ANNEALING.name)
        effort = replace(effort, start=start)
    whole = effort
    if effort.known_mapping(problem) is None:
        effort = _part(effort, 1 - CLIMBED)
    exact = replace(BRANCH_AND_BOUND.search(problem, effort), method=BRANCH_AND_BOUND.name)
    if exact.stop == "time_limit" and effort is not whole:
        return _climbed(problem, exact, whole)
    if exact.proven or (annealed is None and exact.stop != "complete"):
        return exact
    annealed = annealed or _annealed(problem, effort)
    refuse_contradiction(exact, annealed, slack=ROUNDING * abs(exact.value or 0))
    if annealed.value is not None and (exact.value is None or annealed.value <= exact.value):
        return replace(annealed, bound=exact.bound, stop=exact.stop)
    return exact


def _annealed(problem: HierarchyProblem, effort: Effort) -> Outcome[HierarchyMapping]:
    return replace(ANNEALING.search(problem, effort), method=ANNEALING.name)


def _climbed(
    problem: HierarchyProblem, exact: Outcome[HierarchyMapping], effort: Effort
) -> Outcome[HierarchyMapping]:
    """What was cut off, with the best mapping of its own, of an integer program and of a climb in the time that is
    left."""
    best = exact
    for method in (COSA, HILL_CLIMBING):
        found = replace(method.search(problem.as_it_is(), effort), method=method.name)
        refuse_contradiction(exact, found, slack=ROUNDING * abs(exact.value or 0))
        if found.value is not None and (best.value is None or found.value < best.value):
            best = replace(found, bound=exact.bound, stop=exact.stop)
    return best


def _part(effort: Effort, share: float = 1 / 3) -> Effort:
    """A share of the time that is left."""
    left = effort.seconds_left()
    return effort if left is None else replace(effort, deadline=time.monotonic() + left * share)


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
