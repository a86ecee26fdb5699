"""Simulated annealing: prime factors move between levels, loops change places, tensors are kept or bypassed."""

from __future__ import annotations

import math
from random import Random

from mapper.formulations.hierarchy.problem import HierarchyProblem
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.solver.hierarchy.choice import Choice, first_choice
from mapper.solver.hierarchy.heuristic.draw import changed, draw
from mapper.solver.hierarchy.space import Space
from mapper.solver.hierarchy.trial import Trials
from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome

STEPS = 4_000
MOST_DRAWN = 500
HOTTEST, COLDEST = 0.5, 1e-3
"""Temperatures, in the natural logarithm of the objective."""


def annealing(problem: HierarchyProblem, effort: Effort) -> Outcome[HierarchyMapping]:
    """The best mapping on one chain of `STEPS` changes, which begins at a drawn mapping."""
    return _chain(problem, effort, STEPS, HOTTEST)


def hill_climbing(problem: HierarchyProblem, effort: Effort, steps: int = STEPS) -> Outcome[HierarchyMapping]:
    """The same without steps upwards."""
    return _chain(problem, effort, steps, 0.0)


def _chain(
    problem: HierarchyProblem, effort: Effort, steps: int, hottest: float
) -> Outcome[HierarchyMapping]:
    space, random = Space(problem), Random(effort.seed)
    trials = Trials(problem, effort)
    current, value = _first(space, trials, random, effort)
    if current is None or value is None:
        return trials.ended(effort.stopped() or "heuristic")
    for step in range(steps):
        stop = effort.stopped()
        if stop is not None:
            return trials.ended(stop)
        candidate = changed(current, space, random)
        if candidate is current:
            continue
        found = trials.take(candidate.mapping(space))
        if found is None:
            continue
        heat = hottest * (COLDEST / HOTTEST) ** (step / steps)
        uphill = math.log(found / value) if found and value else float(found - value)
        if uphill <= 0 or (heat > 0 and random.random() < math.exp(-uphill / heat)):
            current, value = candidate, found
    return trials.ended("heuristic")


def _first(
    space: Space, trials: Trials, random: Random, effort: Effort
) -> tuple[Choice | None, int | float | None]:
    """A choice that was drawn and whose mapping is feasible; if none is, the one with the smallest tiles."""
    for _ in range(MOST_DRAWN):
        if effort.is_over():
            break
        choice = draw(space, random)
        value = None if choice is None else trials.take(choice.mapping(space))
        if value is not None:
            return choice, value
    smallest = first_choice(space)
    value = None if smallest is None else trials.take(smallest.mapping(space))
    return (None, None) if value is None else (smallest, value)


ANNEALING: Method[HierarchyProblem, HierarchyMapping] = Method(
    "annealing", False, f"simulated annealing, {STEPS} steps", annealing
)
HILL_CLIMBING: Method[HierarchyProblem, HierarchyMapping] = Method(
    "hill-climbing", False, f"the same steps, none of them upwards, {STEPS} of them", hill_climbing
)
