"""The exact method that states an II as one constraint program, routing included, and has CP-SAT decide it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mapper.arch.cgra import Pe
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.solver.method import Effort, Method, Outcome
from mapper.solver.modulo_schedule.interval_search import Attempt, least_interval

FEW_MOVES = ((0, 2.0), (3, 8.0))
"""Moves allowed and work spent before the program is solved without a limit on either."""

MOST_CLAUSES = 600_000
"""A larger program is not built: that alone would take longer than most limits allow."""


def constraint_program(problem: ModuloProblem, effort: Effort) -> Outcome[ModuloSchedule]:
    """The least II and a schedule for it, proven; the program is complete at every II (its documentation
    says why), so that an infeasible one is a proof.

    Schedules with few moves are tried first: most schedules need few, and the program is far smaller for
    them. Only the program without that limit proves anything.

    Raises: InputError if no PE can execute an operation, or a cycle of the graph has distance 0.
    """

    pes = problem.machine.all_pes
    return least_interval(
        problem,
        effort,
        lambda ii, left: _few_moves(problem, ii, left),
        lambda ii, left: decide(problem, ii, pes, left),
    )


def _few_moves(problem: ModuloProblem, ii: int, effort: Effort) -> Attempt:
    """A schedule with few moves, if little work finds one; a proof where no slots are left for more."""
    pes = problem.machine.all_pes
    spare = len(pes) * ii - len(problem.kernel.graph.operations)
    tried = Attempt(None, "undecided")
    for most, work in FEW_MOVES:
        tried = decide(problem, ii, pes, effort, moves=most, work=work)
        ended = tried.schedule is not None or tried.left_out is not None or effort.stopped() is not None
        if ended or (tried.answer == "infeasible" and spare <= most):
            return tried
    return Attempt(None, "undecided", tried.stop)


def decide(
    problem: ModuloProblem,
    ii: int,
    pes: Sequence[Pe],
    effort: Effort,
    times: Mapping[int, int] | None = None,
    moves: int | None = None,
    work: float | None = None,
) -> Attempt:
    """Decide ``ii`` on a part of the array, with issue times pinned, with so many moves at the most and with
    limited work, where these are given. ``infeasible`` is of what is asked, and a proof for ``ii`` only
    if nothing is limited and ``pes`` are all.

    Sets of lifetimes that no register file can name are left out of the program, which is solved again: there
    are finitely many.
    """
    from mapper.formulations.modulo_schedule.program import ModuloProgram
    from mapper.formulations.modulo_schedule.program_instance import ModuloInstance
    from mapper.formulations.modulo_schedule.program_route import NamelessError
    from mapper.solver.cp_sat import run_cp_sat

    stop = effort.stopped()
    if stop is not None:
        return Attempt(None, "undecided", stop)
    if _clauses(problem, ii, pes) > MOST_CLAUSES:
        return Attempt(None, "undecided", "complete", f"programs above {MOST_CLAUSES} clauses are not built")
    program = ModuloProgram(ModuloInstance(problem, ii, tuple(pes)))
    program.build()
    if times is not None:
        program.pin(times)
    if moves is not None:
        program.limit_moves(moves)
    # One worker finds schedules faster than several that take turns.
    effort = replace(effort, workers=1)
    while True:
        result = run_cp_sat(program.model, effort, lambda value, bound: None, work)
        if result.answer == "infeasible":
            return Attempt(None, "infeasible")
        if not result.found:
            return Attempt(None, "undecided", result.stop)
        try:
            return Attempt(program.extract(result.value_of).schedule(), "found")
        except NamelessError as error:
            program.forbid_lifetimes(error.lifetimes)


def _clauses(problem: ModuloProblem, ii: int, pes: Sequence[Pe]) -> int:
    """About how many clauses say which value every move and every demand reads."""
    graph, readers = problem.kernel.graph, problem.machine.readers
    links = sum(len(readers[pe]) + 1 for pe in pes)
    return ii * ii * (links * len(graph.operations) + 2 * len(pes) * len(graph.edges))


CONSTRAINT_PROGRAM: Method[ModuloProblem, ModuloSchedule] = Method(
    "cp-sat",
    True,
    "one constraint program per II, places and routes included, solved by CP-SAT",
    constraint_program,
)
