"""Iterative modulo scheduling with routing (Rau, MICRO 1994), on PEs instead of a shared register file.

One operation after the other gets a PE and a cycle near its neighbours such that all its values can be routed
at once; where that fails it is placed by force and what stands in its way, or can no longer be routed, is
placed again, within a budget. Half of the restarts take Rau's order by height, the others grow from the
tightest recurrence along the edges.
"""

from __future__ import annotations

import random

import numpy as np

from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.solver.method import Effort, Method, Outcome
from mapper.solver.modulo_schedule.ascent import Trial, searched
from mapper.solver.modulo_schedule.instance import NO_PATH, Instance
from mapper.solver.modulo_schedule.partial_schedule import PartialSchedule, TimeDistance

RESTARTS = 24
PLACEMENTS = 12
"""Placements for every operation of the graph in one start, those that are taken back included."""
TRIED = 24
"""Candidates for which routes are searched before an operation is placed by force."""


def _order(instance: Instance, distance: TimeDistance, start: int, rng: random.Random) -> list[int]:
    """Priority of every operation, the least first."""
    known = np.where(distance > NO_PATH, distance, 0)
    height = known.max(axis=1, initial=0)
    if start % 2 == 0:
        noise = 0 if start == 0 else 2
        keys = [-float(height[v]) + noise * rng.random() for v in range(instance.operations)]
        return _ranks(sorted(range(instance.operations), key=keys.__getitem__))
    both = (distance > NO_PATH) & (distance.T > NO_PATH)
    np.fill_diagonal(both, False)
    tight = np.where(both, distance + distance.T, NO_PATH).max(axis=1, initial=NO_PATH)
    mobility = int(height.max(initial=0)) - height - known.max(axis=0, initial=0)
    joined = [0] * instance.operations
    left, order = set(range(instance.operations)), list[int]()
    key = [(-int(tight[v]), float(mobility[v]) + 3 * rng.random()) for v in range(instance.operations)]
    while left:
        chosen = min(left, key=lambda v: (not joined[v], key[v][0], key[v][1] - 2 * joined[v]))
        left.remove(chosen)
        order.append(chosen)
        for edge in instance.incident[chosen]:
            joined[instance.source[edge]] += 1
            joined[instance.destination[edge]] += 1
    return _ranks(order)


def _ranks(order: list[int]) -> list[int]:
    ranks = [0] * len(order)
    for rank, operation in enumerate(order):
        ranks[operation] = rank
    return ranks


def _start(trial: Trial, ii: int, distance: TimeDistance, start: int) -> ModuloSchedule | None:
    """One start: a schedule, or None when the budget is used up."""
    instance = trial.instance
    ranks = _order(instance, distance, start, trial.rng)
    partial = PartialSchedule(instance, ii, distance, trial.rng)
    unplaced = set(range(instance.operations))
    for _ in range(PLACEMENTS * instance.operations):
        if not unplaced:
            return partial.table.schedule()
        if trial.stopped():
            return None
        operation = min(unplaced, key=ranks.__getitem__)
        unplaced.remove(operation)
        candidates = partial.candidates(operation)
        placed = any(partial.try_place(operation, pe, time) for _, pe, time in candidates[:TRIED])
        if not placed:
            unplaced |= partial.force(operation, candidates)
    return None if unplaced else partial.table.schedule()


def _at(trial: Trial, ii: int, starts: int) -> ModuloSchedule | None:
    distance = trial.instance.time_distance(ii, trial.is_over)
    if distance is None:
        return None
    for start in range(starts):
        schedule = _start(trial, ii, distance, start)
        if schedule is not None or trial.stopped():
            return schedule
    return None


def _search(problem: ModuloProblem, effort: Effort) -> Outcome[ModuloSchedule]:
    return searched(problem, effort, _at, RESTARTS)


ITERATIVE: Method[ModuloProblem, ModuloSchedule] = Method(
    "iterative", False, "iterative modulo scheduling with routing, recurrences first, restarted", _search
)
