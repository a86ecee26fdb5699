"""Every method for modulo schedules, exact ones first."""

from __future__ import annotations

import time
from dataclasses import replace

from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.solver.method import Effort, Method, Outcome
from mapper.solver.modulo_schedule.annealing import ANNEALING
from mapper.solver.modulo_schedule.brute_force import BRUTE_FORCE
from mapper.solver.modulo_schedule.constraint_program import CONSTRAINT_PROGRAM
from mapper.solver.modulo_schedule.decoupled import DECOUPLED
from mapper.solver.modulo_schedule.iterative import ITERATIVE

SHARES = ((ITERATIVE, 0.3), (CONSTRAINT_PROGRAM, 0.6), (ANNEALING, 1.0))
"""Methods in turn, with the share of the time that is left they may take, if there is a limit."""


def _automatic(problem: ModuloProblem, effort: Effort) -> Outcome[ModuloSchedule]:
    """A heuristic first: a schedule at MII is proven by that. Else CP-SAT decides the intervals in between."""
    best: Outcome[ModuloSchedule] | None = None
    for method, share in SHARES:
        left = effort.seconds_left()
        own = effort if left is None else replace(effort, deadline=time.monotonic() + share * left)
        outcome = replace(method.search(problem, own), method=method.name)
        best = outcome if best is None else _better(best, outcome)
        if best.proven or effort.stopped() is not None:
            break
    assert best is not None
    return best


def _better(one: Outcome[ModuloSchedule], other: Outcome[ModuloSchedule]) -> Outcome[ModuloSchedule]:
    """The smaller II with the larger bound; bounds hold for the problem, whoever found them."""
    if other.proven and other.mapping is None:
        return other
    chosen = other if one.value is None or (other.value is not None and other.value < one.value) else one
    bound = max((outcome.bound for outcome in (one, other) if outcome.bound is not None), default=None)
    met = chosen.value is not None and chosen.value == bound
    restrictions = () if met else chosen.restrictions
    stop = "complete" if met else other.stop
    # A schedule of one method and a bound of another prove together.
    names = dict.fromkeys(outcome.method for outcome in (one, other) if outcome.method)
    method = " + ".join(names) if met else chosen.method
    return replace(chosen, bound=bound, proven=met, stop=stop, restrictions=restrictions, method=method)


AUTOMATIC: Method[ModuloProblem, ModuloSchedule] = Method(
    "auto", True, "a heuristic, and CP-SAT where it does not meet the bound", _automatic
)

METHODS: tuple[Method[ModuloProblem, ModuloSchedule], ...] = (
    AUTOMATIC,
    CONSTRAINT_PROGRAM,
    DECOUPLED,
    BRUTE_FORCE,
    ITERATIVE,
    ANNEALING,
)
