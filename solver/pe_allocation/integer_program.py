"""The exact method that states PE allocation as an integer linear program and has CBC solve it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.program_instance import AllocationInstance, instance_of
from mapper.models.pe_allocation.allocation import Allocation
from mapper.solver.method import Effort, Method, Outcome
from mapper.solver.pe_allocation.constraint_program import decide as exactly
from mapper.solver.pe_allocation.judged import quantity
from mapper.solver.pe_allocation.stage import Decision, staged

CHECK_WORK = 10.0
"""Work of CP-SAT, in its own unit, to confirm what CBC says."""
TIE_NODES = 2_000
"""Nodes after which a tie is left as it is."""


def integer_program(problem: AllocationProblem, effort: Effort) -> Outcome[Allocation]:
    """The best allocation of layers that work at once, proven, or a proof that there is none."""
    return staged(problem, effort, confirmed, partial(decide, nodes=TIE_NODES))


def decide(instance: AllocationInstance, effort: Effort, nodes: int | None = None) -> Decision:
    """Have CBC solve one instance, with ``nodes`` of its tree at the most; its answer is rounded to integers and its
    bound is of the goal."""
    from mapper.formulations.pe_allocation.program import AllocationProgram
    from mapper.solver.cbc import run_cbc

    program = AllocationProgram(instance)
    program.build()
    # Cutting planes pay where start times depend on both paces and where layers share PEs; else they cost more than
    # the nodes that they save.
    result = run_cbc(
        program.model, effort, cuts=instance.is_streaming or instance.problem.sharing, nodes=nodes
    )
    allocation = program.extract(result.value_of) if result.found else None
    bound = None if result.bound is None else result.bound + program.least_goal
    final = result.answer in ("optimal", "infeasible")
    return Decision(allocation, final, bound, result.stop)


def confirmed(instance: AllocationInstance, effort: Effort) -> Decision:
    """What CBC finds, called final if the same problem in integers has nothing better. CBC may take 1e-9 of a choice
    for none, which coefficients of many digits turn into cycles. Where CP-SAT gets to no end, nothing is proven: CBC's
    word alone is no proof."""
    decision = decide(instance, effort)
    if not decision.is_final:
        return decision
    better = instance
    if decision.allocation is not None:
        value = quantity(instance.problem, decision.allocation, instance.goal)
        if value == instance.least:
            return decision
        less = instance.limits.at_most(instance.goal, value - 1)
        better = instance_of(instance.problem, instance.goal, less)
        if not better.possible:
            return decision
    checked = exactly(better, effort, None if instance.problem.sharing else CHECK_WORK)
    if checked.allocation is None and checked.is_final:
        return decision
    bound = None if checked.bound is None or decision.bound is None else min(checked.bound, decision.bound)
    return replace(decision, is_final=False, bound=bound, stop=checked.stop)


INTEGER_PROGRAM: Method[AllocationProblem, Allocation] = Method(
    "ilp",
    True,
    "an integer linear program over useful PE counts, solved by CBC and confirmed in integers",
    integer_program,
)
