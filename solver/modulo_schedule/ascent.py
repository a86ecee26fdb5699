"""The frame of the heuristics: initiation intervals from MII upwards until a schedule is found."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.models.modulo_schedule.interval import mii
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.solver.method import Effort, Outcome, Progress
from mapper.solver.modulo_schedule.instance import LARGEST, Instance


@dataclass
class Trial:
    """What a search needs besides the interval; ``evaluations`` counts the steps of all intervals."""

    instance: Instance
    effort: Effort
    rng: random.Random = field(default_factory=random.Random)
    evaluations: int = 0

    def is_over(self) -> bool:
        """Whether time is up or somebody interrupts."""
        return self.effort.stopped() is not None


Attempt = Callable[[Trial, int, range], "ModuloSchedule | None"]
"""Looks for a schedule at an II, from the starts with these numbers."""


def searched(
    problem: ModuloProblem, effort: Effort, attempt: Attempt, starts: int
) -> Outcome[ModuloSchedule]:
    """The schedule of the least II at which ``attempt`` finds one, proven where that II is the bound.

    A light ascent, one start for an II and wider steps the higher it is, finds some schedule soon. Then come
    rounds in which every smaller II, downwards, gets as many starts as it had, until it had all. At an II of
    MII + operations + latencies the operations fit one after the other; beyond it nothing is tried.

    Raises: InputError if no PE can execute an operation, or a cycle of the graph has distance 0.
    """
    lower = mii(problem.kernel.graph, problem.machine).value
    if problem.fixed_ii is not None and problem.fixed_ii < lower:
        return Outcome(None, None, lower, "complete", True)
    operations = len(problem.kernel.graph.operations)
    stop = effort.stopped()
    if operations > LARGEST and stop is None:
        beyond = f"graphs above {LARGEST} operations are not tried"
        return Outcome(None, None, lower, "heuristic", False, (beyond,), evaluations=0)
    if stop is not None:
        return Outcome(None, None, lower, stop, False, evaluations=0)
    instance = Instance(problem)
    bound, last = lower, lower + instance.operations + int(instance.delay.sum())
    if problem.fixed_ii is not None:
        bound = last = problem.fixed_ii
    trial = Trial(instance, effort)
    found: ModuloSchedule | None = None
    ii = bound
    while ii <= last and found is None and effort.stopped() is None:
        found = _tried(trial, attempt, ii, range(1))
        ii += max(1, ii // 4)
    had = 1
    while had < starts and (found is None or found.ii > bound) and effort.stopped() is None:
        effort.report(Progress(None if found is None else found.ii, bound, trial.evaluations))
        for ii in range(last if found is None else found.ii - 1, bound - 1, -1):
            better = _tried(trial, attempt, ii, range(had, min(starts, 2 * had)))
            found = found if better is None else better
            if effort.stopped() is not None:
                break
        had *= 2
    value = None if found is None else found.ii
    proven = value == bound
    reason = "complete" if proven else effort.stopped() or "heuristic"
    return Outcome(found, value, bound, reason, proven, evaluations=trial.evaluations)


def _tried(trial: Trial, attempt: Attempt, ii: int, starts: range) -> ModuloSchedule | None:
    trial.rng = random.Random(f"{trial.effort.seed} {ii} {starts.start}")
    return attempt(trial, ii, starts)
