"""The exact method that states PE allocation as an integer linear program and has CBC solve it."""

from __future__ import annotations

from functools import partial

from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.program_instance import AllocationInstance
from mapper.models.pe_allocation.allocation import Allocation
from mapper.solver.method import Effort, Method, Outcome
from mapper.solver.pe_allocation.stage import Decision, staged

TIE_NODES = 10_000
"""Nodes after which a tie is left as it is."""


def integer_program(problem: AllocationProblem, effort: Effort) -> Outcome[Allocation]:
    """The best allocation of layers that work at once, proven, or a proof that there is none."""
    return staged(problem, effort, decide, partial(decide, nodes=TIE_NODES))


def decide(instance: AllocationInstance, effort: Effort, nodes: int | None = None) -> Decision:
    """Have CBC solve one instance, with ``nodes`` of its tree at the most; its answer is rounded to integers and its
    bound is of the goal."""
    from mapper.formulations.pe_allocation.program import AllocationProgram
    from mapper.solver.cbc import run_cbc

    program = AllocationProgram(instance)
    program.build()
    # Cutting planes pay where start times depend on both paces; else they cost more than the nodes that they save.
    result = run_cbc(program.model, effort, cuts=instance.is_streaming, nodes=nodes)
    allocation = program.extract(result.value_of) if result.found else None
    bound = None if result.bound is None else result.bound + program.least_goal
    final = result.answer in ("optimal", "infeasible")
    return Decision(allocation, final, bound, result.stop)


INTEGER_PROGRAM: Method[AllocationProblem, Allocation] = Method(
    "ilp", True, "an integer linear program over useful PE counts, solved by CBC", integer_program
)
