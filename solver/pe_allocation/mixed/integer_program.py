"""The exact method that states mixed mode as an integer linear program over runs of layers and has CBC solve it."""

from __future__ import annotations

from collections.abc import Sequence

from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.program.mixed.fused_run import RunPoint, refuse_streaming
from mapper.formulations.pe_allocation.program.mixed.ilp import (
    GOALS,
    MixedGoal,
    MixedProgram,
)
from mapper.formulations.pe_allocation.program.mixed.run_choice import RunChoice, run_choices
from mapper.formulations.pe_allocation.referee.verify import verify
from mapper.models.pe_allocation.cost import evaluate
from mapper.models.pe_allocation.mapping import Allocation
from mapper.solver.certificate import Stop
from mapper.solver.method import Effort
from mapper.solver.outcome import Outcome
from mapper.solver.pe_allocation.mixed.exact import (
    SHARING,
    bound_of,
    joined,
    search_mixed,
)


def mixed_integer_program(problem: AllocationProblem, effort: Effort) -> Outcome[Allocation]:
    """The best allocation of mixed mode, its ties broken as far as the effort reaches; last by traffic.

    CBC computes in floating point, so that proven is what the shortest path over the same runs says in integers; where
    that knows better, its allocation is the answer.

    Raises: InputError for another model than the calculus.
    """
    refuse_streaming(problem)
    offered = run_choices(problem, effort.is_over, effort.known_mapping(problem))
    restrictions = (SHARING,) if problem.sharing else ()
    best, stop, said = _solved(problem, offered, effort)
    bound: int | float | None = bound_of(problem)
    proven = False
    if said and not problem.sharing:
        exact = search_mixed(problem, effort)
        proven = exact.proven
        if proven and _value(problem, best) != exact.value:
            best = exact.mapping
        bound = exact.bound if proven else bound
        stop = "complete" if proven else effort.stopped() or "heuristic"
    value = _value(problem, best)
    if best is None:
        return Outcome.ended(None, None, bound, stop, proven=proven, restrictions=restrictions)
    if problem.sharing:
        return Outcome.ended(
            best, value, bound, "heuristic", proven=value == bound, restrictions=restrictions
        )
    return Outcome.ended(best, value, bound, stop, proven=proven, restrictions=restrictions)


def _solved(
    problem: AllocationProblem, offered: Sequence[tuple[RunChoice, RunPoint]], effort: Effort
) -> tuple[Allocation | None, Stop, bool]:
    """What CBC finds among the runs that are ``offered``, why it stopped at the objective, and whether it says that
    nothing is better. What the referee refuses, or what is beyond a limit, is no answer."""
    from mapper.solver.cbc import run_cbc

    stopped = effort.stopped()
    if stopped is not None or not offered:
        return None, stopped or "complete", stopped is None
    limits = _limits(problem, effort)
    best: Allocation | None = None
    stop: Stop = "complete"
    said = False
    for goal in GOALS[problem.objective]:
        program = MixedProgram(problem, [choice for choice, _ in offered], goal, limits)
        program.build()
        result = run_cbc(program.model, effort)
        found = None
        if result.found:
            found = _joined(problem, offered, *program.extract(result.value_of))
        if found is not None and any(_quantity(problem, found, of) > most for of, most in limits.items()):
            found = None
        if goal == GOALS[problem.objective][0]:
            stop = result.stop
            said = result.answer == "infeasible" or (result.answer == "optimal" and found is not None)
        if found is not None:
            best = found
            limits[goal] = _quantity(problem, best, goal)
        if result.answer != "optimal" or found is None:
            break
    return best, stop, said


def _joined(
    problem: AllocationProblem,
    offered: Sequence[tuple[RunChoice, RunPoint]],
    taken: Sequence[int],
    on_chip: tuple[bool, ...],
) -> Allocation | None:
    """The allocation of the runs that are ``taken``; None if they are not all layers in turn or break a rule."""
    runs = [offered[at] for at in taken]
    ends = [0, *(choice.last + 1 for choice, _ in runs)]
    if [*(choice.first for choice, _ in runs), len(problem.network.layers)] != ends:
        return None
    made = joined(problem, [(choice.first, point) for choice, point in runs], on_chip)
    return made if verify(problem, made).valid else None


def _value(problem: AllocationProblem, allocation: Allocation | None) -> int | float | None:
    if allocation is None:
        return None
    return problem.value(evaluate(problem.network, problem.machine, allocation, problem.model))


def _limits(problem: AllocationProblem, effort: Effort) -> dict[MixedGoal, int]:
    """The pace that is asked for, and what is known to be possible of the objective."""
    limits: dict[MixedGoal, int] = {}
    if problem.longest_interval is not None:
        limits["interval"] = problem.longest_interval
    start = effort.known(problem)
    if start is not None:
        first = GOALS[problem.objective][0]
        known = _quantity(problem, start.mapping, first)
        limits[first] = min(known, limits.get(first, known))
    return limits


def _quantity(problem: AllocationProblem, allocation: Allocation, goal: MixedGoal) -> int:
    cost = evaluate(problem.network, problem.machine, allocation, problem.model)
    return {
        "interval": cost.interval,
        "cycles": cost.cycles,
        "pes": cost.pes,
        "traffic": cost.traffic_words,
    }[goal]
