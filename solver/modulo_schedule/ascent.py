"""The frame of the heuristics: initiation intervals from MII upwards until a schedule is found."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.models.modulo_schedule.interval import mii
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.solver.method import Effort, Outcome, Progress
from mapper.solver.modulo_schedule.instance import Instance


@dataclass
class Trial:
    """What a search needs besides the interval; ``evaluations`` counts the steps of all intervals."""

    instance: Instance
    effort: Effort
    rng: random.Random = field(default_factory=random.Random)
    evaluations: int = 0

    def stopped(self) -> bool:
        """Whether the search must end; asked once for every step."""
        self.evaluations += 1
        return self.is_over()

    def is_over(self) -> bool:
        """Whether time is up or somebody interrupts."""
        return self.effort.stopped() is not None


Attempt = Callable[[Trial, int], "ModuloSchedule | None"]


def searched(problem: ModuloProblem, effort: Effort, attempt: Attempt) -> Outcome[ModuloSchedule]:
    """The schedule of the first II at which ``attempt`` finds one, proven where that II is the bound.

    At an II of MII + operations + latencies the operations fit one after the other; beyond it nothing is tried.

    Raises: InputError if no PE can execute an operation, or a cycle of the graph has distance 0.
    """
    lower = mii(problem.kernel.graph, problem.machine).value
    if problem.fixed_ii is not None and problem.fixed_ii < lower:
        return Outcome(None, None, lower, "complete", True)
    instance = Instance(problem)
    bound, last = lower, lower + instance.operations + sum(instance.delay)
    if problem.fixed_ii is not None:
        bound = last = problem.fixed_ii
    trial = Trial(instance, effort)
    found: ModuloSchedule | None = None
    for ii in range(bound, last + 1):
        effort.report(Progress(None, bound, trial.evaluations))
        trial.rng = random.Random(effort.seed * 1_000_003 + ii)
        found = attempt(trial, ii)
        if found is not None or effort.stopped():
            break
    value = None if found is None else found.ii
    proven = value == bound
    stop = "complete" if proven else effort.stopped() or "heuristic"
    return Outcome(found, value, bound, stop, proven, evaluations=trial.evaluations)
