"""The frame of the heuristics: initiation intervals from MII upwards until a schedule is found."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil
from sys import maxsize

from mapper.arch.cgra import cgra_from_document
from mapper.formulations.modulo_schedule.parity import least_bound
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.models.limit import UnfinishedError
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.solver.method import Effort, Progress
from mapper.solver.modulo_schedule.heuristic.instance import LARGEST, Instance
from mapper.solver.outcome import Outcome
from mapper.workloads.graph.dataflow_graph import DataflowGraph, Edge, Operation
from mapper.workloads.graph.kernel import Kernel


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


Start = Callable[[Trial, int, int, bool], "ModuloSchedule | None"]
"""Looks for a schedule at an II, once; the number of the start, and whether it is a light one."""

TIES = 8
"""The most further starts at the II that was found, for fewer stages and moves."""
TIED_STEPS = 4000
"""Steps after which no more of them begins."""
LOW, STEEP = 32, 4
"""II, or times the bound where that is more, beyond which no light ascent goes: starts become slow there, and such
schedules are worth little."""

MOST_STEPS = 150_000
"""Steps after which no round begins, if time is not limited: less than a minute."""


def searched(
    problem: ModuloProblem,
    effort: Effort,
    start: Start,
    starts: int,
    enough: int = 0,
    only_lightly: bool = False,
) -> Outcome[ModuloSchedule]:
    """The schedule of the least II at which ``start`` finds one, proven where that II is the bound.

    A light ascent, one start for an II and wider steps the higher it is, finds some schedule soon; where it does
    not, as of hundreds of operations, one with whole starts follows. Then come rounds from the II below it
    downwards, half as many starts for every next one, twice as many in every round without success, until one II
    gets ``starts`` in a round. At an II of MII + operations + latencies the operations fit one after the other; beyond
    it nothing is tried. A few more starts at the least II choose the schedule with the fewest stages, then moves. With
    a schedule known the rounds begin below it; without ``starts`` the ascent is all, and if ``only_lightly`` the light
    one alone, which then gives up early. Below an II that is ``enough`` nothing is tried.

    Raises: InputError if no PE can execute an operation, or a cycle of the graph has distance 0.
    """
    known = effort.known(problem)
    lower = max(least_bound(problem), 0 if known is None else ceil(known.bound or 0))
    if problem.fixed_ii is not None and problem.fixed_ii < lower:
        return Outcome.infeasible(evaluations=0)
    operations = len(problem.kernel.graph.operations)
    stop = effort.stopped()
    if operations > LARGEST and stop is None:
        beyond = f"graphs above {LARGEST} operations are not tried"
        return Outcome.refused(beyond, lower, evaluations=0)
    if stop is not None:
        return Outcome.unknown(stop, lower, evaluations=0)
    instance = Instance(problem)
    bound, last = lower, lower + instance.operations + int(instance.delay.sum())
    if only_lightly:
        last = min(last, max(LOW, STEEP * lower))
    if problem.fixed_ii is not None:
        bound = last = problem.fixed_ii
    least = min(max(bound, enough), last)
    trial = Trial(instance, effort)
    had: dict[int, int] = {}
    first = None if known is None else known.mapping.ii
    effort.report(Progress(first, bound, 0, f"placing operations for II {least} and above"))
    found = _ascended(trial, start, least, last, True) if known is None else known.mapping
    if found is None and not only_lightly:
        found = _ascended(trial, start, least, last, False)
    most = MOST_STEPS if effort.deadline is None else maxsize
    more = 1
    while more <= starts and (found is None or found.ii > least) and not trial.is_over():
        top = last if found is None else found.ii - 1
        doing = f"placing operations for II {top if top == least else f'{least} to {top}'}"
        effort.report(Progress(None if found is None else found.ii, bound, trial.evaluations, doing))
        if found is not None and trial.evaluations > most:
            break
        better = _round(trial, start, had, more, least, last if found is None else found.ii - 1)
        if better is None:
            more *= 2
        else:
            found = better
    value = None if found is None else found.ii
    proven = value == bound
    if found is not None and starts:
        found = _tied(trial, start, found, starts)
    reason = "complete" if proven else effort.stopped() or "heuristic"
    return Outcome.ended(found, value, bound, reason, proven=proven, evaluations=trial.evaluations)


def _ascended(trial: Trial, start: Start, bound: int, last: int, light: bool) -> ModuloSchedule | None:
    """The first schedule from one start for an II, from ``bound`` upwards in wider and wider steps."""
    ii, rung = bound, 0
    while ii <= last and not trial.is_over():
        found = _once(trial, start, ii, rung, light)
        if found is not None:
            return found
        rung += 1
        ii += max(1, ii // 2)
    return None


def _once(trial: Trial, start: Start, ii: int, number: int, light: bool) -> ModuloSchedule | None:
    trial.rng = random.Random(f"{trial.effort.seed} {ii} {number} {light}")
    try:
        return start(trial, ii, number, light)
    except UnfinishedError:
        return None


def _round(
    trial: Trial, start: Start, had: dict[int, int], more: int, bound: int, highest: int
) -> ModuloSchedule | None:
    """The first schedule from ``more`` starts at ``highest``, half as many at the II below it, and so on; ``had``
    counts the starts of every II."""
    for ii in range(highest, bound - 1, -1):
        for _ in range(more >> (highest - ii)):
            number = had.get(ii, 0)
            had[ii] = number + 1
            found = _once(trial, start, ii, number, False)
            if found is not None or trial.is_over():
                return found
    return None


def _tied(trial: Trial, start: Start, found: ModuloSchedule, starts: int) -> ModuloSchedule:
    """The schedule with the fewest stages, then moves, of ``found`` and those of a few more starts."""
    begun = trial.evaluations
    for number in range(starts, starts + TIES):
        if trial.is_over() or trial.evaluations - begun > TIED_STEPS:
            break
        other = _once(trial, start, found.ii, number, True)
        if other is not None and (other.stages, len(other.moves)) < (found.stages, len(found.moves)):
            found = other
    return found


def prepare(start: Start) -> None:
    """Compile, or load from disk, what a heuristic runs, on a loop of two operations."""
    edges = (Edge(0, 1, 0), Edge(1, 1, 1, 1, None, (0,)))
    graph = DataflowGraph("sum", (Operation("x", "mov"), Operation("sum", "add")), edges)
    fields = {"schema": "mapper.cgra/1", "name": "pair", "rows": 1, "columns": 2, "links": ["mesh"]}
    units = {"pes": [{"at": "all", "classes": ["any"]}], "register_file": {"registers": 1}}
    problem = ModuloProblem(Kernel("sum", graph), cgra_from_document(fields | units, "pair"))
    searched(problem, Effort(), start, 1)
