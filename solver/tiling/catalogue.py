"""Every method for tilings, exact ones first."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from mapper.formulations.tiling.problem import ROUNDING, TilingProblem
from mapper.models.tiling.mapping import TilingMapping
from mapper.solver.contradiction import refuse_contradiction
from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome
from mapper.solver.tiling.exact import branch_and_bound
from mapper.solver.tiling.exact.brute_force import BRUTE_FORCE
from mapper.solver.tiling.heuristic import annealing, genetic, random_search
from mapper.solver.tiling.heuristic.dive import DIVE
from mapper.solver.tiling.heuristic.prior_dataflow import PRIOR_DATAFLOWS
from mapper.solver.tiling.padded import (
    AS_THEY_ARE,
    friendly_bounds,
    with_covers,
    with_friendly_bounds,
    without_padding,
)
from mapper.solver.tiling.program.bounded_table import BOUNDED_TABLE
from mapper.solver.tiling.program.constraint_program import CONSTRAINT_PROGRAM
from mapper.workloads.document import InputError

UNPADDED = without_padding(branch_and_bound.BRANCH_AND_BOUND)
"""The bounds as they are take milliseconds, and go first: every layer has a mapping before paddings are tried."""
BRANCH_AND_BOUND = replace(with_covers(branch_and_bound.BRANCH_AND_BOUND), before=(UNPADDED,))
ANNEALING, GENETIC, RANDOM_SEARCH = (
    with_friendly_bounds(whole, half)
    for whole, half in (
        (annealing.ANNEALING, annealing.annealing(annealing.EVALUATIONS // 2)),
        (genetic.GENETIC, genetic.genetic(genetic.EVALUATIONS // 2)),
        (random_search.RANDOM_SEARCH, random_search.random_search(random_search.EVALUATIONS // 2)),
    )
)
AT_ONCE = with_friendly_bounds(DIVE, DIVE)


def _lacks_padding_alone(exact: Outcome[TilingMapping]) -> bool:
    """Whether an exact search has left out nothing but larger bounds."""
    return bool(exact.restrictions) and all(text.startswith(AS_THEY_ARE) for text in exact.restrictions)


def _automatic(problem: TilingProblem, effort: Effort) -> Outcome[TilingMapping]:
    """Branch and bound; what it restricts or refuses, brute force where the space is small, else the better
    of what it found and annealing, with an honest bound.

    Raises: ContradictionError if two of them cannot both be right.
    """
    exact = replace(BRANCH_AND_BOUND.search(problem, effort), method=BRANCH_AND_BOUND.name)
    if exact.proven or exact.stop != "complete":
        return exact
    slack = ROUNDING * abs(exact.value or 0)
    if exact.mapping is not None and _lacks_padding_alone(exact) and not friendly_bounds(problem):
        return exact
    try:
        counted = replace(BRUTE_FORCE.search(problem, effort), method=BRUTE_FORCE.name)
        refuse_contradiction(exact, counted, slack=slack)
        return counted
    except InputError:
        pass
    annealed = replace(ANNEALING.search(problem, effort), method=ANNEALING.name)
    refuse_contradiction(exact, annealed, slack=slack)
    if exact.value is None or (annealed.value is not None and annealed.value < exact.value):
        return annealed
    return exact


AUTOMATIC: Method[TilingProblem, TilingMapping] = Method(
    "auto",
    True,
    "branch and bound; brute force or annealing for what it cannot prove",
    _automatic,
    BRANCH_AND_BOUND.prepare,
    AT_ONCE,
    BRANCH_AND_BOUND.before,
)

PRUNED = tuple(
    branch_and_bound.pruned_method(*chosen) for chosen in product((True, False), repeat=3) if any(chosen)
)

METHODS: dict[str, Method[TilingProblem, TilingMapping]] = {
    method.name: method
    for method in (
        AUTOMATIC,
        BRANCH_AND_BOUND,
        without_padding(CONSTRAINT_PROGRAM),
        without_padding(BOUNDED_TABLE),
        BRUTE_FORCE,
        *map(without_padding, PRUNED),
        ANNEALING,
        GENETIC,
        RANDOM_SEARCH,
        *map(without_padding, PRIOR_DATAFLOWS),
    )
}
