"""Seeded random search: valid tilings with orders of unique reuse, drawn one by one."""

from __future__ import annotations

import numpy as np

from mapper.formulations.tiling.problem import TilingProblem
from mapper.models.tiling.mapping import TilingMapping
from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome
from mapper.solver.tiling.heuristic.sampling import Space
from mapper.solver.tiling.heuristic.trial import BATCH, Trials, prepare, searched

EVALUATIONS = 500_000


def _search(space: Space, trials: Trials, rng: np.random.Generator) -> None:
    """Every prime factor of a bound goes to any of its levels with equal chance.

    Where not one of the first draws is valid, draws are repaired.
    """
    rare = not np.isfinite(trials.costs_of_valid(space.draw(rng, BATCH))).any()
    while trials.left:
        if rare:
            trials.costs_of_valid(space.draw_valid(rng, BATCH)[0])
        else:
            trials.costs_of_valid(space.draw(rng, BATCH))


def random_search(evaluations: int = EVALUATIONS) -> Method[TilingProblem, TilingMapping]:
    """The method with a budget of ``evaluations`` drawn mappings, those that are not valid included."""

    def search(problem: TilingProblem, effort: Effort) -> Outcome[TilingMapping]:
        return searched(problem, effort, evaluations, _search)

    summary = f"seeded random search: the best of {evaluations} drawn tilings and orders"
    return Method("random", False, summary, search, prepare)


RANDOM_SEARCH = random_search()
