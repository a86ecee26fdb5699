"""A first mapping in a fraction of a second, without machine code: a few mappings go downhill side by side."""

from __future__ import annotations

import numpy as np

from mapper.formulations.tiling.problem import TilingProblem
from mapper.models.plain import limited
from mapper.models.tiling.mapping import TilingMapping
from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome
from mapper.solver.tiling.heuristic.sampling import Space
from mapper.solver.tiling.heuristic.trial import Trials, searched

SIDE_BY_SIDE = 32
STEPS = 60
STEPS_PER_ROUND = 6
FEW = 4
"""So many where there is no time to go anywhere."""
KEPT_OF = 4
"""At the end of a round one of so many goes on, in place of the others too."""


def dive(problem: TilingProblem, effort: Effort) -> Outcome[TilingMapping]:
    """The best of what is found; a few drawn mappings if the effort is over. It asks for nothing to be compiled:
    whatever comes after it needs other machine code."""
    with limited(effort.stopped, compiles=False):
        return searched(problem, effort, SIDE_BY_SIDE * (1 + STEPS), _downhill)


def _downhill(space: Space, trials: Trials, rng: np.random.Generator) -> None:
    """Each takes steps that make it no worse; from round to round the best ones go on."""
    walkers = space.first(rng, SIDE_BY_SIDE if trials.left else FEW, trials.known)
    if not len(walkers):
        return
    values, step = trials.costs(walkers), 0
    while trials.left:
        tried = space.neighbours(rng, walkers)
        found = trials.costs_of_valid(tried)
        better = found <= values
        walkers, values, step = tried.where(better, walkers), np.where(better, found, values), step + 1
        if step % STEPS_PER_ROUND == 0:
            best = np.argsort(values, kind="stable")[: -(-len(values) // KEPT_OF)]
            rows = np.resize(best, len(values))
            walkers, values = walkers.rows(rows), values[rows]


DIVE: Method[TilingProblem, TilingMapping] = Method(
    "dive", False, f"{SIDE_BY_SIDE} mappings side by side, {STEPS} steps downhill", dive
)
