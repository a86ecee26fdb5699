"""Place-and-route annealing: every operation always has a PE and a cycle; conflicts and edges without a route cost.

A step takes one operation, most often one in conflict, to another PE and cycle, where it swaps places with an
operation, and routes its edges again. Restarts begin with about the cycles of the longest paths on random PEs.
"""

from __future__ import annotations

from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.solver.method import Effort, Method
from mapper.solver.modulo_schedule.heuristic.annealing_step import anneal, fill
from mapper.solver.modulo_schedule.heuristic.ascent import Trial, prepare, searched
from mapper.solver.modulo_schedule.heuristic.readout import schedule
from mapper.solver.modulo_schedule.heuristic.reservation import STEPS, new_state
from mapper.solver.modulo_schedule.heuristic.timing import CHANGES, MOST_CHANGES, WAITS, timed
from mapper.solver.outcome import Outcome

RESTARTS = 16
MOVES, LIGHT = 500, 100
"""Steps for every operation of the graph in one start, and in one of the first ascent."""
WORK = 1_000_000
"""Moves of values looked at between two looks at the clock."""
HOTTEST, COLDEST = 0.6, 0.1
"""Temperatures, in conflicts."""
CONFLICT = 30.0
"""What a conflict costs, in the prices of `route_search`."""


def _start(trial: Trial, ii: int, start: int, light: bool) -> ModuloSchedule | None:
    """One start: a schedule, or None when all steps are done."""
    t = trial.instance.tables(ii, start % 2 == 0)
    operations = trial.instance.operations
    steps = operations * (LIGHT if light else MOVES)
    s, old = new_state(t, CONFLICT), new_state(t, CONFLICT)
    changes = min(MOST_CHANGES, CHANGES * operations)
    s.wish[:] = timed(t, trial.rng.randrange(1 << 31), changes, WAITS[start % len(WAITS)])
    fill(t, s, trial.rng.randrange(1 << 31))
    done = False
    while not done and s.counters[STEPS] < steps and not trial.is_over():
        done = anneal(t, s, old, trial.rng.randrange(1 << 31), HOTTEST, COLDEST, steps, WORK)
    trial.evaluations += int(s.counters[STEPS])
    return schedule(trial.instance, s, ii, trial.instance.registers) if done else None


def _search(problem: ModuloProblem, effort: Effort) -> Outcome[ModuloSchedule]:
    return searched(problem, effort, _start, RESTARTS)


ANNEALING: Method[ModuloProblem, ModuloSchedule] = Method(
    "annealing",
    False,
    "simulated annealing of places and cycles with routing, restarted",
    _search,
    lambda: prepare(_start),
)
