"""Genetic search of tilings: children take each loop's tiling from one of two parents, then mutate."""

from __future__ import annotations

import numpy as np

from mapper.formulations.tiling.problem import TilingProblem
from mapper.models.tiling.mapping import TilingMapping
from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome
from mapper.solver.tiling.heuristic.sampling import Population, Space
from mapper.solver.tiling.heuristic.trial import BATCH, Trials, prepare, searched

EVALUATIONS = 500_000
TOURNAMENT = 3
MUTATED = 0.8
"""Share of the children that take one random step after crossing."""


def _search(space: Space, trials: Trials, rng: np.random.Generator) -> None:
    """Steady generations: parents win tournaments, and a child replaces the individual at its place if it is
    valid and no worse, which keeps the population diverse."""
    population = space.first(rng, BATCH, trials.known)
    if not len(population):
        return
    values = trials.costs(population)
    while trials.left:
        children = space.crossed(rng, population, _winners(rng, population, values))
        mutants = space.neighbours(rng, children)
        children = mutants.where(rng.random(len(children)) < MUTATED, children)
        born = trials.costs_of_valid(children)
        kept = born <= values
        population = children.where(kept, population)
        values = np.where(kept, born, values)


def _winners(
    rng: np.random.Generator, population: Population, values: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> Population:
    entrants = rng.integers(len(values), size=(len(values), TOURNAMENT))
    best = entrants[np.arange(len(values)), np.argmin(values[entrants], axis=1)]
    return population.rows(best)


def genetic(evaluations: int = EVALUATIONS) -> Method[TilingProblem, TilingMapping]:
    """The method with a budget of ``evaluations`` tried children, those that are not valid included."""

    def search(problem: TilingProblem, effort: Effort) -> Outcome[TilingMapping]:
        return searched(problem, effort, evaluations, _search)

    summary = f"genetic search: loop-wise crossover and mutation, {evaluations} children"
    return Method("genetic", False, summary, search, prepare)


GENETIC = genetic()
