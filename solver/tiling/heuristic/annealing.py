"""Simulated annealing of tilings: many independent chains in step, so that one batch costs them all."""

from __future__ import annotations

import numpy as np

from mapper.formulations.tiling.problem import TilingProblem
from mapper.models.tiling.mapping import TilingMapping
from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome
from mapper.solver.tiling.heuristic.sampling import Space
from mapper.solver.tiling.heuristic.trial import BATCH, Trials, prepare, searched

EVALUATIONS = 500_000
HOTTEST, COLDEST = 0.3, 3e-3
"""Temperatures of the schedule, in the natural logarithm of the objective: a step up by 35 % is taken every
third time at first, one by 0.3 % at the end."""


def _search(space: Space, trials: Trials, rng: np.random.Generator) -> None:
    """Cool geometrically with the share of the budget that is used; a step that is not valid is not taken."""
    current = space.first(rng, BATCH, trials.known)
    if not len(current):
        return
    values = trials.costs(current)
    while trials.left:
        candidate = space.neighbours(rng, current)
        proposed = trials.costs_of_valid(candidate)
        temperature = HOTTEST * (COLDEST / HOTTEST) ** trials.used
        with np.errstate(divide="ignore", invalid="ignore"):
            uphill = np.log(proposed) - np.log(values)
        taken = (proposed <= values) | (uphill < -temperature * np.log(1 - rng.random(len(values))))
        current = candidate.where(taken, current)
        values = np.where(taken, proposed, values)


def annealing(evaluations: int = EVALUATIONS) -> Method[TilingProblem, TilingMapping]:
    """The method with a budget of ``evaluations`` tried steps, those that are not valid included."""

    def search(problem: TilingProblem, effort: Effort) -> Outcome[TilingMapping]:
        return searched(problem, effort, evaluations, _search)

    summary = f"simulated annealing over factor moves and order changes, {evaluations} steps"
    return Method("annealing", False, summary, search, prepare)


ANNEALING = annealing()
