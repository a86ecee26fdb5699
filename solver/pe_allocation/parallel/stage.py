"""Exact search in stages: the objective first, then what breaks its ties, each with the ones before as limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from mapper.formulations.pe_allocation.bound import cheapest, fewest_pes, least_interval, most_interval
from mapper.formulations.pe_allocation.infeasible import why_infeasible
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.program.goal import GOALS, Goal, Limits
from mapper.formulations.pe_allocation.program.instance import AllocationInstance, instance_of
from mapper.formulations.pe_allocation.referee.verify import verify
from mapper.models.pe_allocation.mapping import Allocation
from mapper.solver.certificate import Stop
from mapper.solver.method import Effort, Progress
from mapper.solver.outcome import Outcome
from mapper.solver.pe_allocation.parallel.outcome import (
    chosen_in,
    cost_of,
    fits,
    floor,
    in_unit,
    paced,
    quantity,
    roomy,
)
from mapper.solver.pe_allocation.parallel.thrift import thrifty_allocations

Found = Outcome[Allocation]
ROUNDED = "allocations that rounding in floating point hides are not looked for"
BUFFERS = "of allocations that keep the limit on buffers only some are tried"


@dataclass(frozen=True)
class Decision:
    """What a solver says of one instance: an allocation, whether it is the best or there is none, a lower bound of
    the goal (None: none), and why it stopped."""

    allocation: Allocation | None
    is_final: bool
    bound: int | None
    stop: Stop


Decide = Callable[[AllocationInstance, Effort, Allocation | None], Decision]
"""Solve an instance, given an allocation that keeps its limits (None: none is known)."""


def first_allocation(problem: AllocationProblem) -> Allocation | None:
    """An allocation in closed form without sharing: the least interval for the PEs there are, or for the fewest that
    keep the pace that is asked for."""
    alone = replace(problem, sharing=False)
    pes: int | None = problem.most_pes
    if problem.objective == "pes":
        pes = fewest_pes(alone, problem.interval_limit(most_interval(alone)))
    interval = None if pes is None else least_interval(alone, min(pes, problem.most_pes))
    chosen = None if interval is None else cheapest(alone, interval)
    return None if chosen is None else paced(problem, chosen)


def staged(problem: AllocationProblem, effort: Effort, decide: Decide, break_tie: Decide) -> Found:
    """The best allocation by ``decide``, proven if the objective is; ties are broken by ``break_tie`` as far as its
    limits and the effort reach.

    The programs do not know how full line buffers get, which depends on all paces. If the best allocation without that
    limit keeps it, it is the best with it too; else paces are sought at which little waits between layers (``thrift``),
    and what is found is proven where it is as good as without the limit.
    """
    if problem.most_bytes is None or why_infeasible(problem) is not None:
        return _staged(problem, effort, decide, break_tie)
    found = _staged(roomy(problem), effort, decide, break_tie)
    if found.mapping is None or verify(problem, found.mapping).valid:
        return found
    start = effort.known(problem)
    known = None if start is None else replace(start.mapping, placement=None, unplaceable=False)
    tried = [first_allocation(problem), paced(problem, chosen_in(found.mapping, problem)), known]
    if not problem.sharing:
        tried += thrifty_allocations(problem, chosen_in(found.mapping, problem), effort)
    kept = [allocation for allocation in tried if allocation is not None]
    best = min(kept, key=lambda allocation: problem.rank(cost_of(problem, allocation)), default=None)
    value = None if best is None else problem.value(cost_of(problem, best))
    if best is not None and value == found.bound:
        # No better than without the limit.
        return Outcome.optimal(best, value)
    stop = "heuristic" if found.stop == "complete" else found.stop
    return Outcome.bounded(best, value, found.bound, effort.stopped() or stop, restrictions=(BUFFERS,))


def _staged(problem: AllocationProblem, effort: Effort, decide: Decide, break_tie: Decide) -> Found:
    """The best allocation where storage is no question of paces; only those are looked for that are no worse than what
    has a closed form or is known.

    Whatever ``decide`` says of a value, the model recomputes it and the referee judges the allocation. A solution that
    costs more than was said, or a bound above what the model counts, proves nothing.
    """
    if why_infeasible(problem) is not None:
        return Outcome.infeasible()
    best, start = first_allocation(problem), effort.known(problem)
    if start is not None and (best is None or _precedes(problem, start.mapping, best)):
        best = replace(start.mapping, placement=None, unplaceable=False)
    limits = Limits(problem.most_pes, problem.longest_interval)
    goals = (*GOALS[problem.objective], *(("units",) if problem.free_delta else ()))
    if best is None:
        # Any allocation serves to limit the search for the best.
        found = _stage(problem, effort, decide, "pes", limits, None)
        if found.allocation is None:
            return Outcome.ended(None, None, None, found.stop, proven=found.is_final)
        best = found.allocation
    bound, proven, stop = floor(problem), False, None
    for goal in goals:
        found = _stage(problem, effort, decide if goal == goals[0] else break_tie, goal, limits, best)
        best = found.allocation or best
        value = quantity(problem, best, goal)
        if goal == goals[0]:
            if found.bound is not None and found.bound <= value:
                bound = max(bound, found.bound)
            proven, stop = bound == value, found.stop
        effort.report(Progress(problem.value(cost_of(problem, best)), in_unit(problem, bound), 0))
        if effort.stopped() is not None or (goal == goals[0] and not proven):
            break
        limits = limits.at_most(goal, value)
    ended: Stop = "complete" if proven else stop or "complete"
    left_out = () if proven or ended != "complete" else (ROUNDED,)
    return Outcome.ended(
        best,
        problem.value(cost_of(problem, best)),
        in_unit(problem, bound),
        ended,
        proven=proven,
        restrictions=left_out,
    )


def _precedes(problem: AllocationProblem, one: Allocation, other: Allocation) -> bool:
    return problem.rank(cost_of(problem, one)) < problem.rank(cost_of(problem, other))


def _stage(
    problem: AllocationProblem,
    effort: Effort,
    decide: Decide,
    goal: Goal,
    limits: Limits,
    best: Allocation | None,
) -> Decision:
    """One goal within limits, no worse than ``best``; the answer is ``best`` where nothing better is found."""
    stop = effort.stopped()
    if stop is not None:
        return Decision(best, False, None, stop)
    now = None if best is None else quantity(problem, best, goal)
    within = limits if now is None else limits.at_most(goal, now)
    instance = instance_of(problem, goal, within)
    if not instance.possible:
        # With an allocation at hand something is left; were it not so, nothing would be proven.
        return Decision(best, best is None, None, "complete")
    if best is not None and goal != GOALS[problem.objective][0] and now == instance.least:
        # A tie that the bounds break already.
        return Decision(best, True, now, "complete")
    decided = decide(instance, effort, best)
    found = decided.allocation
    if found is None:
        # Nothing better than what is known.
        bound = None if best is None else decided.bound
        return Decision(best, decided.is_final and bound in (None, now), bound, decided.stop)
    if not fits(problem, found, within):
        return Decision(best, False, None, decided.stop)
    exact = decided.bound == quantity(problem, found, goal)
    return Decision(found, decided.is_final and exact, decided.bound, decided.stop)
