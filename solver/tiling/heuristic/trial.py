"""What the heuristic searches of tiling share: a budget of tried mappings, the best one, its outcome."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mapper.arch.source import load_machine
from mapper.formulations.tiling.bound import bound_of
from mapper.formulations.tiling.problem import TilingProblem
from mapper.formulations.tiling.referee.verify import verify
from mapper.models.tiling.mapping import TilingMapping
from mapper.solver.certificate import Stop
from mapper.solver.method import Effort, Progress
from mapper.solver.outcome import Outcome
from mapper.solver.tiling.heuristic.sampling import Population, Space, space_of
from mapper.workloads.nest.layer_nest import matrix_product_nest

Values = NDArray[np.float64]

BATCH = 250
"""Mappings costed at once."""
BEYOND_LIMIT = 1e200
"""What a cycle counts where there are more than there may be: mappings within the limit are always better, and others
are led to it."""


class Trials:
    """Costs populations while the budget lasts, and remembers the best mapping seen; ``known``: one to begin with."""

    def __init__(self, space: Space, effort: Effort, budget: int) -> None:
        self._space, self._effort, self._budget = space, effort, budget
        start = effort.known(space.problem)
        self.known: TilingMapping | None = None if start is None else start.mapping
        self.evaluations = 0
        self.tried = 0
        self.stopped: Stop | None = None
        self.best: tuple[tuple[float, ...], Population] | None = None

    @property
    def left(self) -> bool:
        """Whether the search may go on: the budget is not used up and no stop was requested."""
        self.stopped = self.stopped or self._effort.stopped()
        return self.tried < self._budget and self.stopped is None

    @property
    def used(self) -> float:
        """Share of the budget that is used, at most 1."""
        return min(1.0, self.tried / self._budget)

    def costs(self, population: Population) -> Values:
        """Objectives of a valid population."""
        return self._cost(population, np.arange(len(population)))

    def costs_of_valid(self, population: Population) -> Values:
        """Objectives of a population, infinite where a mapping is not valid."""
        valid = self._space.valid(population, self._space.factors(population))
        return self._cost(population, np.flatnonzero(valid))

    def _cost(self, population: Population, rows: NDArray[np.int64]) -> Values:
        values = np.full(len(population), np.inf)
        self.tried += len(population)
        self.evaluations += len(rows)
        if not len(rows):
            return values
        chosen = population.rows(rows)
        costs = self._space.costs(chosen, self._space.factors(chosen))
        values[rows] = costs.values(self._space.problem)
        late = costs.cycles > self._space.problem.most_cycles
        values[rows[late]] = BEYOND_LIMIT * costs.cycles[late]
        ranks = (costs.cycles, costs.energy, costs.energy * costs.cycles, values[rows])
        least = int(np.lexsort(ranks)[0])
        rank = tuple(float(column[least]) for column in reversed(ranks))
        if late[least]:
            return values
        if self.best is None or rank < self.best[0]:
            self.best = rank, chosen.rows(np.array([least]))
            self._effort.report(Progress(rank[0], bound_of(self._space.problem), self.evaluations))
        return values


def searched(
    problem: TilingProblem,
    effort: Effort,
    budget: int,
    search: Callable[[Space, Trials, np.random.Generator], None],
) -> Outcome[TilingMapping]:
    """Run ``search`` with a budget of tried mappings; what it finds is checked, nothing is proven.

    No mapping means only that none was found.
    """
    space = space_of(problem)
    if space is None:
        return Outcome.unknown("heuristic", bound_of(problem), evaluations=0)
    trials = Trials(space, effort, budget)
    search(space, trials, np.random.default_rng(effort.seed))
    stop: Stop = trials.stopped or "heuristic"
    mapping = space.mapping(trials.best[1], 0) if trials.best else None
    verdict = verify(problem, mapping) if mapping else None
    if mapping is None or verdict is None or verdict.cost is None or not verdict.valid:
        return Outcome.unknown(stop, bound_of(problem), evaluations=trials.evaluations)
    value = problem.value(verdict.cost)
    return Outcome.bounded(mapping, value, bound_of(problem), stop, evaluations=trials.evaluations)


def prepare() -> None:
    """Compile, or load from disk, the kernels of the searches, on a problem of a few iterations."""
    machine, _ = load_machine("dmazerunner-256")
    nest = replace(matrix_product_nest("smallest", (), 2, 2, 2), dependences=((1, 0, 0),))
    space = space_of(TilingProblem(nest, machine, "edp"))
    assert space is not None
    Trials(space, Effort(), 1).costs(space.draw_valid(np.random.default_rng(0), 1)[0])
