"""Iterative modulo scheduling with routing (Rau, MICRO 1994), on PEs instead of a shared register file.

One operation after the other gets a PE and a cycle near its neighbours such that all its values can be routed
at once; what is in conflict with it is placed again, within a budget (`negotiation`). Half of the restarts take Rau's
order by height, the others grow from the tightest recurrence along the edges.
"""

from __future__ import annotations

import random
import time
from dataclasses import replace
from heapq import heapify, heappop, heappush
from sys import maxsize

import numpy as np

from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.models.modulo_schedule.bound import res_mii
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.models.plain import on_disk
from mapper.solver.method import Effort, Method
from mapper.solver.modulo_schedule.heuristic.ascent import Trial, prepare, searched
from mapper.solver.modulo_schedule.heuristic.instance import NO_PATH, Tables
from mapper.solver.modulo_schedule.heuristic.negotiation import negotiate
from mapper.solver.modulo_schedule.heuristic.readout import schedule
from mapper.solver.modulo_schedule.heuristic.reservation import STEPS, new_state
from mapper.solver.modulo_schedule.heuristic.reservation import WORK as WORK_DONE
from mapper.solver.modulo_schedule.heuristic.timing import CHANGES, MOST_CHANGES, WAITS, timed
from mapper.solver.outcome import Outcome

BRIEF_STARTS = 2
RESTARTS = 32
AT_ONCE, AT_ONCE_PLAINLY = 1.0, 4.0
"""Seconds for a first schedule, by machine code and without."""
ROOM = 3
"""Times the II at which operations just fit, and one more: there a few looks find a schedule."""
PLACEMENTS, LIGHT = 20, 10
"""Placements for every operation of the graph in one start, and in one of the first ascent."""
LIGHT_WORK = 8000
"""Moves looked at for every operation in one start of the first ascent."""
WORK = 1_000_000
"""Moves looked at between two looks at the clock."""
CONFLICTS = (30.0, 12.0)
"""What a conflict costs, in the prices of `route_search`, for two starts each in turn: dear on wide arrays, where there
is room for detours, cheap on crowded ones."""


def _order(t: Tables, start: int, rng: random.Random) -> list[int]:
    """Operations by priority, the first to be placed first."""
    known = np.where(t.distance > NO_PATH, t.distance, 0)
    height = known.max(axis=1, initial=0)
    operations = range(len(height))
    if start % 2 == 1:
        noise = 0 if start == 1 else 2
        keys = [-float(height[v]) + noise * rng.random() for v in operations]
        return sorted(operations, key=keys.__getitem__)
    both = (t.distance > NO_PATH) & (t.distance.T > NO_PATH)
    np.fill_diagonal(both, False)
    tight = np.where(both, t.distance + t.distance.T, NO_PATH).max(axis=1, initial=NO_PATH)
    mobility = int(height.max(initial=0)) - height - known.max(axis=0, initial=0)
    key = [(-int(tight[v]), float(mobility[v]) + 3 * rng.random()) for v in operations]
    joined, placed, order = [0] * len(height), [False] * len(height), list[int]()
    queue = [(True, *key[v], v) for v in operations]
    heapify(queue)
    while queue:
        chosen = heappop(queue)[-1]
        if placed[chosen]:
            continue
        placed[chosen] = True
        order.append(chosen)
        for edge in t.edge[t.edge_start[chosen] : t.edge_start[chosen + 1]]:
            for end in (int(t.source[edge]), int(t.destination[edge])):
                joined[end] += 1
                if not placed[end]:
                    heappush(queue, (False, key[end][0], key[end][1] - 2 * joined[end], end))
    return order


def _start(trial: Trial, ii: int, start: int, light: bool) -> ModuloSchedule | None:
    """One start: a schedule, or None when the budget is used up."""
    t = trial.instance.tables(ii, start % 2 == 0)
    operations = trial.instance.operations
    s = new_state(t, CONFLICTS[start // 2 % len(CONFLICTS)])
    changes = min(MOST_CHANGES, CHANGES * operations)
    s.wish[:] = timed(t, trial.rng.randrange(1 << 31), changes, WAITS[start % len(WAITS)])
    s.rank[_order(t, start, trial.rng)] = np.arange(operations)
    budget = operations * (LIGHT if light else PLACEMENTS)
    work = LIGHT_WORK * operations if light else maxsize
    done = False
    while not done and s.counters[STEPS] < budget and s.counters[WORK_DONE] < work and not trial.is_over():
        done = negotiate(t, s, trial.rng.randrange(1 << 31), min(WORK, work), budget)
    trial.evaluations += int(s.counters[STEPS])
    return schedule(trial.instance, s, ii, trial.instance.registers) if done else None


def _search(problem: ModuloProblem, effort: Effort) -> Outcome[ModuloSchedule]:
    return searched(problem, effort, _start, RESTARTS)


def search_briefly(problem: ModuloProblem, effort: Effort, enough: int = 0) -> Outcome[ModuloSchedule]:
    """The search with two starts for an II, down to one that is ``enough``: for kernels that are scheduled by the
    hundred.

    Raises: InputError if no PE can execute an operation, or a cycle of the graph has distance 0.
    """
    return searched(problem, effort, _start, BRIEF_STARTS, enough)


def search_lightly(problem: ModuloProblem, effort: Effort) -> Outcome[ModuloSchedule]:
    """The first schedule of the light ascent, if it has one: of a hundred operations in a quarter of a second.

    Raises: InputError as ``search_briefly``.
    """
    return searched(problem, effort, _start, 0, only_lightly=True)


def search_first(problem: ModuloProblem, effort: Effort) -> Outcome[ModuloSchedule]:
    """The first schedule of the ascent.

    Raises: InputError as ``search_briefly``.
    """
    return searched(problem, effort, _start, 0)


def search_at_once(problem: ModuloProblem, effort: Effort) -> Outcome[ModuloSchedule]:
    """The first schedule of the ascent, if it is there in `AT_ONCE` seconds. Without machine code the ascent begins
    where operations have room, at an II that plain Python has a schedule of in less than a second.

    Raises: InputError as ``search_briefly``.
    """
    seconds, enough = AT_ONCE, 0
    if not on_disk(ITERATIVE.prepare):
        seconds = AT_ONCE_PLAINLY
        enough = ROOM * (1 + res_mii(problem.kernel.graph, problem.machine).value)
    own = replace(effort, deadline=time.monotonic() + seconds)
    return searched(problem, own, _start, 0, enough)


ITERATIVE: Method[ModuloProblem, ModuloSchedule] = Method(
    "iterative",
    False,
    "iterative modulo scheduling with routing, recurrences first, restarted",
    _search,
    lambda: prepare(_start),
)
