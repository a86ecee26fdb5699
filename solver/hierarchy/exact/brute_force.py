"""Brute force: every factorisation, every order, every choice of tensors to keep, each judged by the referee.

It is the oracle that searches are compared with: it knows no bound and no classes of orders.
"""

from __future__ import annotations

import math
from itertools import product

from mapper.formulations.hierarchy.problem import HierarchyProblem
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.solver.hierarchy.space import Space
from mapper.solver.hierarchy.trial import Trials
from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome
from mapper.workloads.document import InputError

MOST_MAPPINGS = 300_000
MOST_FACTORISATIONS = 20_000


def brute_force(problem: HierarchyProblem, effort: Effort) -> Outcome[HierarchyMapping]:
    """The best mapping of all; of equal ones the lexicographically least.

    Raises: InputError if there are more than `MOST_MAPPINGS` mappings.
    """
    space = Space(problem)
    loops = problem.nest.loops
    options = [_few(problem, space, loop) for loop in loops]
    keeps = list(space.keeps())
    _refuse(problem, math.prod(map(len, options)) * len(keeps))
    trials = Trials(problem, effort)
    places = range(len(problem.machine.levels))
    for rows in product(*options):
        factors = dict(zip(loops, rows, strict=True))
        orders = [list(space.orders(place, space.moving(factors, place))) for place in places]
        _refuse(problem, trials.tried + math.prod(map(len, orders)) * len(keeps))
        for order, keep in product(product(*orders), keeps):
            stop = effort.stopped()
            if stop is not None:
                return Outcome.bounded(
                    trials.best, trials.value, trials.bound, stop, evaluations=trials.tried
                )
            trials.take(space.mapping(factors, order, keep))
    return Outcome.ended(
        trials.best, trials.value, trials.value, "complete", proven=True, evaluations=trials.tried
    )


def _few(problem: HierarchyProblem, space: Space, loop: str) -> list[tuple[int, ...]]:
    found = []
    for factors in space.factorisations(loop):
        found.append(factors)
        if len(found) > MOST_FACTORISATIONS:
            _refuse(problem, MOST_MAPPINGS + 1)
    return found


def _refuse(problem: HierarchyProblem, mappings: int) -> None:
    if mappings > MOST_MAPPINGS:
        remedy = f"more than {MOST_MAPPINGS} mappings are too many for brute-force; use branch-and-bound"
        raise InputError(problem.nest.name or "nest", "loops", remedy)


BRUTE_FORCE: Method[HierarchyProblem, HierarchyMapping] = Method(
    "brute-force",
    True,
    f"every factorisation, order and choice of tensors to keep, at most {MOST_MAPPINGS} mappings",
    brute_force,
)
