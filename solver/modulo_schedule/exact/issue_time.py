"""Whether an II is ruled out by issue times alone: by waits that would take more moves than there are slots."""

from __future__ import annotations

from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.solver.method import Effort

MOST_TERMS = 1500
"""A larger program is not built: it would take longer than a heuristic that meets the bound without it."""
WORK = 0.1
"""Work spent on an II, about a tenth of a second: what waits alone refute takes less."""


def has_no_times(problem: ModuloProblem, ii: int, effort: Effort) -> bool:
    """Whether little work proves that no issue times at this II keep what every schedule keeps (`TimeProgram`).

    Raises: InputError if no PE can execute an operation, or a cycle of the graph has distance 0.
    """
    from mapper.formulations.modulo_schedule.program.instance import ModuloInstance
    from mapper.formulations.modulo_schedule.program.time import TimeProgram
    from mapper.solver.cp_sat import run_cp_sat

    instance = ModuloInstance(problem, ii, problem.machine.all_pes)
    if instance.spare_slots < 0 or not all(instance.able):
        return True
    program = TimeProgram(instance)
    if program.terms > MOST_TERMS or effort.stopped() is not None:
        return False
    program.build()
    program.model.proto.clear_objective()
    return run_cp_sat(program.model, effort, lambda value, bound: None, WORK).answer == "infeasible"


def bound_by_times(problem: ModuloProblem, bound: int, value: int, effort: Effort) -> int:
    """The bound raised over every II below ``value`` that `has_no_times` rules out, one after another.

    Raises: InputError as ``has_no_times``.
    """
    while bound < value and has_no_times(problem, bound, effort):
        bound += 1
    return bound
