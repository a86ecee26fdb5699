"""Every method for modulo schedules, exact ones first."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from math import inf

from mapper.arch.cgra import CgraMachine
from mapper.formulations.modulo_schedule.infeasible import why_infeasible
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.formulations.modulo_schedule.referee.verify import verify
from mapper.models.modulo_schedule.bound import res_mii
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.models.plain import on_disk
from mapper.solver.contradiction import ContradictionError
from mapper.solver.method import Effort, Method, Progress, Start
from mapper.solver.modulo_schedule.exact.brute_force import BRUTE_FORCE
from mapper.solver.modulo_schedule.exact.constraint_program import CONSTRAINT_PROGRAM
from mapper.solver.modulo_schedule.exact.crowding import is_crowded
from mapper.solver.modulo_schedule.exact.decoupled import DECOUPLED
from mapper.solver.modulo_schedule.exact.issue_time import bound_by_times
from mapper.solver.modulo_schedule.heuristic.annealing import ANNEALING
from mapper.solver.modulo_schedule.heuristic.embedding import corners, embed
from mapper.solver.modulo_schedule.heuristic.iterative import ITERATIVE, search_first
from mapper.solver.outcome import Outcome
from mapper.workloads.document import InputError

Stage = tuple[Method[ModuloProblem, ModuloSchedule], bool, float]
"""A method, whether on the corners of the array, and the share of the time that is left it may take, if there is a
limit."""
STAGES: tuple[Stage, ...] = (
    (ITERATIVE, False, 0.3),
    (ITERATIVE, True, 0.2),
    (CONSTRAINT_PROGRAM, False, 0.6),
    (CONSTRAINT_PROGRAM, True, 0.4),
    (ANNEALING, False, 1.0),
)
"""In turn, from the schedule and the bound of `_begun`."""
BEGINNING = 0.3
"""The share of the time for the first schedule."""
WITHOUT_MACHINE_CODE: tuple[Stage, ...] = (
    (CONSTRAINT_PROGRAM, False, 0.7),
    (ITERATIVE, False, 0.7),
    (ANNEALING, False, 1.0),
)
"""In turn against the clock where heuristics would run as plain Python until they are compiled: a solver needs no
compiling."""
ABOVE_ONE = 0.5
"""The share of the time for II 2 where II 1 is ruled out."""


def _automatic(problem: ModuloProblem, effort: Effort) -> Outcome[ModuloSchedule]:
    """A heuristic first: a schedule at a bound is proven by that. Else CP-SAT decides the intervals in between.

    Both are also tried on every smaller array at the corner of the machine on which the operations would fit into
    a smaller II than was found: a schedule there is one of the whole (`embedding`). So a larger array ends no worse
    than one it contains, up to time: either its own II is below what the smaller one can reach, or the searches that
    the smaller one would get are made, with a share of the limit; if these are cut short, a smaller array that had
    the whole time for itself can still come out ahead. Without a limit only the searches' own caps cut them short.

    Raises: InputError if no PE can execute an operation, or a cycle of the graph has distance 0; ContradictionError if
    what one method proves excludes what another found.
    """
    if why_infeasible(problem) is not None:
        return replace(CONSTRAINT_PROGRAM.search(problem, effort), method=CONSTRAINT_PROGRAM.name)
    best: Outcome[ModuloSchedule] | None = None
    stages = WITHOUT_MACHINE_CODE
    if effort.deadline is None or on_disk(ITERATIVE.prepare):
        stages = STAGES
        best, effort = _begun(problem, effort)
    for method, parts, share in stages:
        if best is not None and (best.proven or effort.stopped() is not None):
            break
        own = _shared(effort, share)
        if parts:
            assert best is not None
            best = on_corners(problem, own, method, best)
        else:
            outcome = _accepted(problem, replace(method.search(problem, own), method=method.name))
            best = outcome if best is None else _better(best, outcome)
    assert best is not None
    return best if best.proven else replace(best, stop=effort.stopped() or best.stop)


def _shared(effort: Effort, share: float) -> Effort:
    """The effort with so much of the time that is left."""
    left = effort.seconds_left()
    return effort if left is None else replace(effort, deadline=time.monotonic() + share * left)


def _begun(problem: ModuloProblem, effort: Effort) -> tuple[Outcome[ModuloSchedule] | None, Effort]:
    """What is proven of small IIs by issue times alone or for want of room, if anything is; and the effort of searches
    that go on from the heuristic's first schedule and that bound."""
    first = _accepted(problem, search_first(problem, _shared(effort, BEGINNING)))
    if first.mapping is None or first.value is None or first.bound is None or problem.fixed_ii is not None:
        return None, effort
    value, bound = first.value, bound_by_times(problem, int(first.bound), int(first.value), effort)
    mapping, method = first.mapping, ITERATIVE.name
    if bound == 1 < value and is_crowded(problem, effort):
        bound = 2
        if value > bound:
            found = CONSTRAINT_PROGRAM.search(replace(problem, fixed_ii=2), _shared(effort, ABOVE_ONE))
            if found.mapping is not None:
                mapping, value, method = found.mapping, 2, CONSTRAINT_PROGRAM.name
            elif found.proven:
                bound = 3
    before = effort.known(problem)
    searches = 0 if before is None else before.searches
    going_on = replace(effort, start=Start(problem, mapping, value, bound, method, searches=searches))
    if bound == first.bound:
        return None, going_on
    return Outcome.unknown("heuristic", bound, method=CONSTRAINT_PROGRAM.name), going_on


def on_corners(
    problem: ModuloProblem,
    effort: Effort,
    method: Method[ModuloProblem, ModuloSchedule],
    best: Outcome[ModuloSchedule],
) -> Outcome[ModuloSchedule]:
    """The better one of ``best`` and what ``method`` finds on smaller arrays of the machine."""
    machine = problem.machine
    smaller = corners(machine)
    for position, corner in enumerate(smaller):
        if effort.stopped() is not None:
            break
        floor = _floor(problem, corner)
        limit = inf if best.value is None else best.value
        if floor is None or floor >= limit:
            continue
        # Larger corners first, each with half of the time that is left, since they have the most to offer.
        left = effort.seconds_left()
        share = 0.5 if position + 1 < len(smaller) else 1.0
        until = None if left is None else time.monotonic() + share * left
        own = replace(effort, deadline=until, report=_of_the_whole(best, effort))
        found = method.search(replace(problem, machine=corner), own)
        if found.mapping is not None and found.mapping.ii < limit:
            whole = embed(found.mapping, corner, machine)
            ours = Outcome.bounded(whole, whole.ii, best.bound, found.stop, evaluations=found.evaluations)
            best = _better(best, _accepted(problem, replace(ours, method=method.name)))
            if best.proven:
                break
    return best


def _of_the_whole(best: Outcome[ModuloSchedule], effort: Effort) -> Callable[[Progress], None]:
    """Reports of a search on a corner as those of the whole array; bounds for the corner do not hold for it."""

    def report(progress: Progress) -> None:
        values = [value for value in (best.value, progress.value) if value is not None]
        effort.report(replace(progress, value=min(values, default=None), bound=best.bound))

    return report


def _floor(problem: ModuloProblem, corner: CgraMachine) -> int | None:
    """The least II at which the operations fit on a corner; None if it lacks a unit."""
    try:
        return res_mii(problem.kernel.graph, corner).value
    except InputError:
        return None


def _better(one: Outcome[ModuloSchedule], other: Outcome[ModuloSchedule]) -> Outcome[ModuloSchedule]:
    """The smaller II with the larger bound; bounds hold for the problem, whoever found them.

    Raises: ContradictionError if one of the two excludes the other.
    """
    _agree(one, other)
    _agree(other, one)
    if other.proven and other.mapping is None:
        return other
    chosen = other if one.value is None or (other.value is not None and other.value < one.value) else one
    bound = max((outcome.bound for outcome in (one, other) if outcome.bound is not None), default=None)
    met = chosen.value is not None and chosen.value == bound
    restrictions = () if met else chosen.restrictions
    stop = "complete" if met else other.stop
    # A schedule of one method and a bound of another prove together.
    both = sorted((one, other), key=lambda outcome: outcome.mapping is None)
    names = dict.fromkeys(outcome.method for outcome in both if outcome.method)
    method = " + ".join(names) if met else chosen.method
    return replace(chosen, bound=bound, proven=met, stop=stop, restrictions=restrictions, method=method)


def _agree(claim: Outcome[ModuloSchedule], found: Outcome[ModuloSchedule]) -> None:
    """Whether what was found keeps what is claimed.

    Raises: ContradictionError if not.
    """
    if found.value is None:
        return
    has = f"{found.method} has a schedule of II {found.value}"
    if claim.proven and claim.mapping is None:
        raise ContradictionError(claim, found, f"{claim.method} proves that there is no schedule, {has}")
    if claim.bound is not None and found.value < claim.bound:
        reason = f"{claim.method} proves that no II is below {claim.bound}, {has}"
        raise ContradictionError(claim, found, reason)


def _accepted(problem: ModuloProblem, outcome: Outcome[ModuloSchedule]) -> Outcome[ModuloSchedule]:
    """``outcome``, without its schedule if the referee rejects that: the stages after it may have a valid one. What is
    said of smaller IIs does not rest on the schedule."""
    if outcome.mapping is None or verify(problem, outcome.mapping).valid:
        return outcome
    stop = "heuristic" if outcome.proven else outcome.stop
    return replace(outcome, mapping=None, value=None, proven=False, stop=stop)


AUTOMATIC: Method[ModuloProblem, ModuloSchedule] = Method(
    "auto", True, "a heuristic, then CP-SAT if it does not meet the bound", _automatic, ITERATIVE.prepare
)

METHODS: dict[str, Method[ModuloProblem, ModuloSchedule]] = {
    method.name: method
    for method in (
        AUTOMATIC,
        CONSTRAINT_PROGRAM,
        DECOUPLED,
        BRUTE_FORCE,
        ITERATIVE,
        ANNEALING,
    )
}
