"""The exact method that states an II as one constraint program, routing included, and has CP-SAT decide it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from mapper.arch.cgra import Pe
from mapper.formulations.modulo_schedule.parity import least_bound
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.solver.method import Effort, Method
from mapper.solver.modulo_schedule.evidence import loop_document
from mapper.solver.modulo_schedule.exact.crowding import is_crowded
from mapper.solver.modulo_schedule.exact.interval_search import Attempt, least_interval
from mapper.solver.modulo_schedule.exact.issue_time import has_no_times
from mapper.solver.modulo_schedule.exact.refutation import Contradiction
from mapper.solver.modulo_schedule.heuristic.compaction import compacted
from mapper.solver.outcome import Outcome

if TYPE_CHECKING:
    from mapper.formulations.modulo_schedule.program.reach import ReachProgram

QUICK = ((0, 1.0), (2, 1.0))
"""Slacks of the windows of issue times, and the work spent on each, before the next II is tried."""
TRIES = ((1, 4.0), (4, 4.0), (None, 8.0))
"""Slacks of windows where an II is decided, one after another (None: the complete program); and the work spent on each
before they are taken up again with twice both."""
BRIEF_WORK = 0.5
"""Work spent on an II of a loop that is one of dozens: about what a search without conflicts takes."""
FEW_MOVES = 3
"""Slots for moves up to which the complete program is small, and tried before the next II as well."""
COMPLETE_WORK = 2.0
"""Work spent on it."""
CONFLICTS = 60_000
"""Conflicts in the search for a contradiction before each of them, doubled with their work."""
STATED_A_SECOND = 5000
"""Clauses of the complete program for which the checker's are stated in a second, on a slow core."""
MOST_DOUBLED = 10
"""The most doublings of the work with which a search begins that had predecessors."""
LAST_TIMES = 8
"""Times the first work after which an II is given up whose complete program is not built."""

MOST_CLAUSES = 400_000
"""A larger program is not built: that alone would take longer than most limits allow."""
CLAUSES_A_SECOND = 30_000
"""Clauses that are built and simplified in a second, on a slow core."""
CLAUSES_A_WORK = 5000
"""Clauses for which the work spent on a program doubles: to read them once takes work as well."""


def constraint_program(problem: ModuloProblem, effort: Effort) -> Outcome[ModuloSchedule]:
    """The least II and a schedule for it, proven; the program is complete at every II (its documentation
    says why), so that an infeasible one is a proof.

    Schedules with issue times in narrow windows are tried first (`MobilityProgram`): clauses alone, which search finds
    far sooner. Only the program of all schedules (`ModuloProgram`) proves that there is none.

    Raises: InputError if no PE can execute an operation, or a cycle of the graph has distance 0.
    """
    return least_interval(
        problem,
        effort,
        lambda ii, left: _in_windows(problem, ii, left),
        lambda ii, left: _decided(problem, ii, left),
        better=lambda ii, left: _longer(problem, ii, left),
    )


def improved(problem: ModuloProblem, known: ModuloSchedule, effort: Effort) -> Outcome[ModuloSchedule]:
    """As ``constraint_program``, from a schedule that is known: only intervals below its II are tried.

    Raises: InputError as there; ContradictionError if a bound excludes what is known.
    """
    return least_interval(
        problem,
        effort,
        lambda ii, left: _in_windows(problem, ii, left),
        lambda ii, left: _decided(problem, ii, left),
        compacted(problem, known),
        lambda ii, left: _longer(problem, ii, left),
    )


def tightened(problem: ModuloProblem, known: ModuloSchedule, effort: Effort) -> ModuloSchedule:
    """``known``, or a schedule of a smaller II if little work finds one in the narrowest windows, one II after another
    downwards; nothing is proven.

    Raises: InputError as ``constraint_program``.
    """
    for ii in range(known.ii - 1, least_bound(problem) - 1, -1):
        if effort.stopped() is not None:
            break
        tried = decide(problem, ii, problem.machine.all_pes, effort, slack=0, work=BRIEF_WORK)
        if tried.schedule is None:
            break
        known = compacted(problem, tried.schedule)
    return known


def _in_windows(problem: ModuloProblem, ii: int, effort: Effort) -> Attempt:
    """A schedule in a narrow window, if little work finds one; a proof where issue times alone leave none, or few slots
    are left for moves."""
    if has_no_times(problem, ii, effort) or (ii == 1 and is_crowded(problem, effort)):
        return Attempt(None, "infeasible")
    more = 1 + _searches(problem, effort)
    tries: tuple[tuple[int | None, float], ...] = QUICK
    if len(problem.machine.all_pes) * ii - len(problem.kernel.graph.operations) <= FEW_MOVES:
        tries += ((None, COMPLETE_WORK),)
    tried = Attempt(None, "undecided")
    for slack, work in tries:
        tried = decide(problem, ii, problem.machine.all_pes, effort, slack=slack, work=more * work)
        if tried.answer != "undecided" or tried.left_out is not None or effort.stopped() is not None:
            break
    return tried


def _longer(problem: ModuloProblem, ii: int, effort: Effort) -> Attempt:
    """A schedule in wider windows, if more work finds one; nothing is proven."""
    tried = Attempt(None, "undecided")
    for turn, (slack, work) in enumerate(TRIES[:-1], 1):
        own = replace(effort, seed=effort.seed + turn)
        tried = decide(problem, ii, problem.machine.all_pes, own, slack=slack, work=work)
        if tried.schedule is not None or effort.stopped() is not None:
            break
    return tried


def _decided(problem: ModuloProblem, ii: int, effort: Effort) -> Attempt:
    """A schedule or a proof that there is none, by tries with wider windows and more work: where a schedule is, some
    program finds it soon, and another searches for it for hours. Every search before this one is taken to have made one
    try, so that what needs much work gets it in the end, however short the searches are.

    Before each it is looked for a contradiction among the clauses of the checker of proofs, which every
    schedule keeps: it is often found long before that program is decided."""
    turn = min(_searches(problem, effort), MOST_DOUBLED * len(TRIES))
    with closing(_contradiction(problem, ii)) as contradiction:
        while True:
            slack, work = TRIES[turn % len(TRIES)]
            times = 1 << turn // len(TRIES)
            turn += 1
            if contradiction.found(times * CONFLICTS, effort):
                return Attempt(None, "infeasible")
            tried = decide(
                problem,
                ii,
                problem.machine.all_pes,
                replace(effort, seed=effort.seed + turn),
                slack=None if slack is None else times * slack,
                work=times * work,
            )
            if tried.answer != "undecided" or effort.stopped() is not None:
                return tried
            if tried.left_out is not None and times >= LAST_TIMES and turn % len(TRIES) == 0:
                return tried


def _contradiction(problem: ModuloProblem, ii: int) -> Contradiction:
    """The clauses of the checker of proofs."""
    from mapper.formulations.modulo_schedule.program.cp_sat import ModuloProgram
    from mapper.formulations.modulo_schedule.program.instance import ModuloInstance

    complete = ModuloProgram(ModuloInstance(problem, ii, problem.machine.all_pes))
    return Contradiction(loop_document(problem), ii, complete.clauses / STATED_A_SECOND)


def _searches(problem: ModuloProblem, effort: Effort) -> int:
    """How many searches of the problem came before this one."""
    start = effort.known(problem)
    return 0 if start is None else start.searches


def decide(
    problem: ModuloProblem,
    ii: int,
    pes: Sequence[Pe],
    effort: Effort,
    times: Mapping[int, int] | None = None,
    slack: int | None = None,
    work: float | None = None,
    places: Mapping[int, Pe] | None = None,
) -> Attempt:
    """Decide ``ii`` on a part of the array, with issue times fixed or else in windows with ``slack``, on ``places`` by
    operation, and with limited work, where these are given. ``infeasible`` is of these times on these PEs; it is
    never said of windows, which leave schedules out.

    Registers are first counted only; where what is kept in them cannot be named, they are told apart.
    """
    from mapper.formulations.modulo_schedule.program.cp_sat import ModuloProgram
    from mapper.formulations.modulo_schedule.program.instance import ModuloInstance
    from mapper.formulations.modulo_schedule.program.mobility import MobilityProgram
    from mapper.formulations.modulo_schedule.program.route import NamelessError
    from mapper.solver.cp_sat import run_cp_sat

    instance = ModuloInstance(problem, ii, tuple(pes), places)
    if instance.spare_slots < 0 or not all(instance.able):
        return Attempt(None, "infeasible")
    for named in (False, True):
        stop = effort.stopped()
        if stop is not None:
            return Attempt(None, "undecided", stop)
        program: ReachProgram = (
            ModuloProgram(instance, times, named)
            if slack is None
            else MobilityProgram(instance, slack, named)
        )
        left_out = too_large(program.clauses, effort)
        if left_out is not None:
            return left_out
        program.build()
        units = None if work is None else work * (1 + program.clauses / CLAUSES_A_WORK)
        windowed = slack is not None
        result = run_cp_sat(
            program.model, effort, lambda value, bound: None, units, clausal=True, light=windowed
        )
        if result.answer == "infeasible":
            return Attempt(None, "infeasible" if slack is None else "undecided")
        if not result.found:
            return Attempt(None, "undecided", result.stop)
        try:
            return Attempt(program.extract(result.value_of).schedule(), "found")
        except NamelessError:
            continue
    raise AssertionError("registers that are told apart have names")


def too_large(clauses: int, effort: Effort) -> Attempt | None:
    """The restriction for a program that is not built because it is too large for any limit or for this one."""
    if clauses > MOST_CLAUSES:
        return Attempt(None, "undecided", "complete", f"programs above {MOST_CLAUSES} clauses are not built")
    left = effort.seconds_left()
    if left is not None and clauses > CLAUSES_A_SECOND * left:
        return Attempt(None, "undecided", "time_limit", "programs that outlast the limit are not built")
    return None


CONSTRAINT_PROGRAM: Method[ModuloProblem, ModuloSchedule] = Method(
    "cp-sat",
    True,
    "one constraint program per II, places and routes included, solved by CP-SAT",
    constraint_program,
)
