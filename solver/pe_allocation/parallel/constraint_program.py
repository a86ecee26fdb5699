"""The exact method that has CP-SAT solve PE allocation, in integers throughout."""

from __future__ import annotations

from functools import partial

from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.program.instance import AllocationInstance
from mapper.models.pe_allocation.mapping import Allocation
from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome
from mapper.solver.pe_allocation.parallel.stage import Decision, staged

TIE_WORK = 30.0
"""Work, in the solver's own unit (about a second on a fast core), after which a tie is left as it is."""


def constraint_program(problem: AllocationProblem, effort: Effort) -> Outcome[Allocation]:
    """The best allocation of layers that work at once, proven, or a proof that there is none."""
    return staged(problem, effort, decide, partial(decide, work=TIE_WORK))


def decide(
    instance: AllocationInstance, effort: Effort, best: Allocation | None = None, work: float | None = None
) -> Decision:
    """Have CP-SAT solve one instance, with so much ``work`` at most."""
    from mapper.formulations.pe_allocation.program.cp_sat import AllocationConstraintProgram
    from mapper.solver.cp_sat import run_cp_sat

    program = AllocationConstraintProgram(instance)
    program.build()
    result = run_cp_sat(program.model, effort, lambda value, bound: None, work)
    allocation = program.extract(result.value_of) if result.found else None
    bound = None if result.bound is None else round(result.bound)
    return Decision(allocation, result.answer in ("optimal", "infeasible"), bound, result.stop)


CONSTRAINT_PROGRAM: Method[AllocationProblem, Allocation] = Method(
    "cp-sat", True, "the same problem as a constraint program, solved by CP-SAT", constraint_program
)
