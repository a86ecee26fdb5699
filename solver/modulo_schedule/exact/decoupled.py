"""The decoupled exact method: issue times first, then PEs and routes, with cuts that send failures back."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from mapper.arch.cgra import Pe
from mapper.formulations.modulo_schedule.infeasible import why_infeasible
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.models.modulo_schedule.bound import mii
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.solver.method import Effort, Method
from mapper.solver.modulo_schedule.exact.constraint_program import decide, too_large
from mapper.solver.modulo_schedule.exact.interval_search import Attempt, least_interval
from mapper.solver.modulo_schedule.heuristic.iterative import ITERATIVE
from mapper.solver.outcome import Outcome

if TYPE_CHECKING:
    from mapper.formulations.modulo_schedule.program.time import TimeProgram

Times = dict[int, int]

TIME_WORK = 2.0
"""Work spent on the shortest waiting before any issue times are taken."""
QUICK_WORK = 2.0
"""Work spent on issue times on a window before others are tried."""
QUICK_ROUNDS = 2
"""Issue times that are tried on a window before the next II."""
NEGOTIATING = 0.5
"""Share of the time in which places and routes for annealed times are negotiated."""
ROOM = 2
"""Slots of a window for every operation: moves need some too."""
JOINT = (4, 4.0)
"""Slack and work spent on a window with issue times left open: moves need values that wait."""
REFINING_WORK = 1.0


def decoupled(problem: ModuloProblem, effort: Effort) -> Outcome[ModuloSchedule]:
    """The least II and a schedule for it, proven.

    Annealed times, for which places and routes are negotiated (`iterative`), give a first schedule, often at an II
    below which argument leaves none. For those below it issue times come from a program that every schedule keeps;
    for given times the full program seeks PEs and routes, first in a corner of the array, which proves nothing
    where it fails. Times that are proven to have none are cut, with as few operations in the cut as a quick
    refinement leaves. An II has no schedule once all times are cut.

    Raises: InputError if no PE can execute an operation, or a cycle of the graph has distance 0.
    """
    mii(problem.kernel.graph, problem.machine)  # what cannot be posed is not called infeasible
    if why_infeasible(problem) is not None:
        return Outcome.infeasible(evaluations=0)
    left = effort.seconds_left()
    share = effort if left is None else replace(effort, deadline=time.monotonic() + NEGOTIATING * left)
    negotiated = ITERATIVE.search(problem, share)
    if negotiated.mapping is not None and negotiated.proven:
        return negotiated

    return least_interval(
        problem,
        effort,
        lambda ii, left: _tried(problem, ii, left),
        lambda ii, left: _decide(problem, ii, left, None),
        negotiated.mapping,
    )


def _tried(problem: ModuloProblem, ii: int, effort: Effort) -> Attempt:
    """Quick tries of times first, then of times and places at once on a window."""
    tried = _decide(problem, ii, effort, QUICK_ROUNDS)
    if tried.answer != "undecided" or effort.stopped():
        return tried
    slack, work = JOINT
    joint = decide(problem, ii, _window(problem, ii), effort, slack=slack, work=work)
    return joint if joint.schedule is not None else Attempt(None, "undecided", joint.stop, joint.left_out)


def _decide(problem: ModuloProblem, ii: int, effort: Effort, rounds: int | None) -> Attempt:
    """Take issue times until some have PEs and routes: for so many rounds with quick tries, or (None) deciding
    every one of them until none is left."""
    from mapper.formulations.modulo_schedule.program.instance import ModuloInstance
    from mapper.formulations.modulo_schedule.program.time import TimeProgram

    program = TimeProgram(ModuloInstance(problem, ii, problem.machine.all_pes))
    left_out = too_large(program.terms, effort)
    if left_out is not None:
        return left_out
    program.build()
    tries = 0
    while rounds is None or tries < rounds:
        times = _next_times(program, effort)
        if isinstance(times, Attempt):
            # What was only tried quickly was not decided.
            undecided = tries > 0 and rounds is not None
            return Attempt(None, "undecided") if undecided else times
        if rounds is None:
            tried = decide(problem, ii, problem.machine.all_pes, effort, times)
            if tried.answer != "infeasible":
                # Only times that are proven to have no places are cut, or having none left would prove nothing.
                return tried
            cut = _refined(problem, ii, times, effort)
        else:
            tried = decide(problem, ii, _window(problem, ii), effort, times, work=QUICK_WORK)
            if tried.schedule is not None or tried.left_out is not None or effort.stopped():
                # That a window has no room is no proof.
                return Attempt(None, "undecided", tried.stop) if tried.answer == "infeasible" else tried
            cut = tuple(times)
        program.leave_out(times, cut)
        tries += 1
    return Attempt(None, "undecided")


def _next_times(program: TimeProgram, effort: Effort) -> Times | Attempt:
    """Issue times that are not cut, or why there are none."""
    from mapper.solver.cp_sat import run_cp_sat

    stop = effort.stopped()
    if stop is not None:
        return Attempt(None, "undecided", stop)
    result = run_cp_sat(program.model, effort, lambda value, bound: None, TIME_WORK)
    if result.answer == "unknown" and effort.stopped() is None:
        result = run_cp_sat(program.model, effort, lambda value, bound: None)
    if result.found:
        return dict(enumerate(program.extract(result.value_of)))
    return Attempt(None, "infeasible" if result.answer == "infeasible" else "undecided", result.stop)


def _window(problem: ModuloProblem, ii: int) -> tuple[Pe, ...]:
    """The smallest corner of the array with room for the operations, or all of it: a schedule there is one of
    the whole array. On torus and mesh any corner is as good as another."""
    machine, graph = problem.machine, problem.kernel.graph
    for side in range(1, max(machine.rows, machine.columns)):
        window = tuple(pe for pe in machine.all_pes if pe[0] < side and pe[1] < side)
        if len(window) * ii >= ROOM * len(graph.operations) and _can_hold(problem, ii, window):
            return window
    return machine.all_pes


def _can_hold(problem: ModuloProblem, ii: int, window: tuple[Pe, ...]) -> bool:
    """Whether the window has a slot for every operation, class by class."""
    machine, graph = problem.machine, problem.kernel.graph
    needed = Counter(operation.opcode for operation in graph.operations)
    of_class: Counter[frozenset[Pe]] = Counter()
    for opcode, count in needed.items():
        of_class[frozenset(pe for pe in window if machine.can_execute(pe, opcode))] += count
    return all(count <= len(able) * ii for able, count in of_class.items())


def _refined(problem: ModuloProblem, ii: int, times: Times, effort: Effort) -> tuple[int, ...]:
    """Operations, the first among them, whose times alone already have no PEs and routes: others are freed
    one by one where little work proves that this changes nothing."""
    kept = dict(times)
    for operation in range(1, len(times)):
        fewer = {other: time for other, time in kept.items() if other != operation}
        if (
            decide(problem, ii, problem.machine.all_pes, effort, fewer, work=REFINING_WORK).answer
            == "infeasible"
        ):
            kept = fewer
    return tuple(kept)


DECOUPLED: Method[ModuloProblem, ModuloSchedule] = Method(
    "decoupled",
    True,
    "issue times first, then PEs and routes, by CP-SAT; failures come back as cuts",
    decoupled,
    ITERATIVE.prepare,
)
