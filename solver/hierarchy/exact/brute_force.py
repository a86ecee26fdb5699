"""Brute force: every factorisation of every bound that is allowed, every order in time (and in space, where neighbours
hand words on), every choice of tensors to keep, each judged by the referee.

It is the oracle that searches are compared with: it knows no bound and no classes of orders.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product

from mapper.formulations.hierarchy.problem import HierarchyProblem
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.solver.certificate import Stop
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
    trials = Trials(problem, effort)
    for padded in _padded(problem):
        stop = _each(padded, trials, effort)
        if stop is not None:
            return Outcome.bounded(trials.best, trials.value, trials.bound, stop, evaluations=trials.tried)
    return Outcome.ended(
        trials.best, trials.value, trials.value, "complete", proven=True, evaluations=trials.tried
    )


def _padded(problem: HierarchyProblem) -> Iterator[HierarchyProblem]:
    """The problem with every choice of the bounds that may grow."""
    free, own = problem.pins.free, problem.bounds
    _refuse(problem, math.prod(own[loop] for loop in free))
    for sizes in product(*(range(own[loop], 2 * own[loop]) for loop in free)):
        yield problem.padded_to(dict(zip(free, sizes, strict=True))) if free else problem


def _each(problem: HierarchyProblem, trials: Trials, effort: Effort) -> Stop | None:
    """Try every mapping of these bounds; why that ended, if it did."""
    space = Space(problem)
    loops = problem.nest.loops
    options = [_few(problem, space, loop) for loop in loops]
    keeps = list(space.keeps())
    _refuse(problem, trials.tried + math.prod(map(len, options)) * len(keeps))
    places = range(len(problem.machine.levels))
    for rows in product(*options):
        factors = dict(zip(loops, rows, strict=True))
        orders = [list(space.orders(place, space.moving(factors, place))) for place in places]
        _refuse(problem, trials.tried + math.prod(map(len, orders)) * len(keeps))
        for order, keep in product(product(*orders), keeps):
            stop = effort.stopped()
            if stop is not None:
                return stop
            for mapping in space.laid_out(space.mapping(factors, order, keep)):
                trials.take(mapping)
    return None


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
