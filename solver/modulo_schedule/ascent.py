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


Attempt = Callable[[Trial, int, int], "ModuloSchedule | None"]
"""Looks for a schedule at an II, from so many starts at the most."""


def searched(
    problem: ModuloProblem, effort: Effort, attempt: Attempt, starts: int
) -> Outcome[ModuloSchedule]:
    """The schedule of the least II at which ``attempt`` finds one, proven where that II is the bound.

    A light ascent, one start for an II and wider steps the higher it is, finds some schedule soon; then each
    smaller II from the bound on gets all its starts. At an II of MII + operations + latencies the operations
    fit one after the other; beyond it nothing is tried.

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
        trial.rng = random.Random(effort.seed * 1_000_003 + ii)
        found = attempt(trial, ii, 1)
        ii += max(1, ii // 4)
    for ii in range(bound, last + 1 if found is None else found.ii):
        if effort.stopped() is not None:
            break
        effort.report(Progress(None if found is None else found.ii, bound, trial.evaluations))
        trial.rng = random.Random(effort.seed * 1_000_003 + ii)
        better = attempt(trial, ii, starts)
        if better is not None:
            found = better
            break
    value = None if found is None else found.ii
    proven = value == bound
    reason = "complete" if proven else effort.stopped() or "heuristic"
    return Outcome(found, value, bound, reason, proven, evaluations=trial.evaluations)
