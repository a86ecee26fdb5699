"""The exact method that states PE allocation as an integer linear program and has CBC solve it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.program.instance import AllocationInstance, instance_of
from mapper.models.pe_allocation.mapping import Allocation
from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome
from mapper.solver.pe_allocation.parallel.constraint_program import decide as exactly
from mapper.solver.pe_allocation.parallel.outcome import fits, quantity
from mapper.solver.pe_allocation.parallel.stage import Decision, staged

CHECK_WORK = 10.0
"""Work of CP-SAT, in its own unit, to confirm what CBC says."""
TIE_NODES = 2_000
"""Nodes after which a tie is left as it is."""


def integer_program(problem: AllocationProblem, effort: Effort) -> Outcome[Allocation]:
    """The best allocation of layers that work at once, proven, or a proof that there is none."""
    work = None if problem.sharing else CHECK_WORK
    return staged(problem, effort, partial(confirmed, work=work), partial(decide, nodes=TIE_NODES))


def decide(
    instance: AllocationInstance, effort: Effort, best: Allocation | None = None, nodes: int | None = None
) -> Decision:
    """Have CBC solve one instance, with ``nodes`` of its tree at most; its answer is rounded to integers.

    CBC computes in floating point: it may take 1e-9 of a choice for none, which coefficients of many digits turn into
    cycles. Nothing that it says is final, and its bound is none; ``confirmed`` asks on in integers.
    """
    return solved(instance, effort, nodes)[0]


def solved(instance: AllocationInstance, effort: Effort, nodes: int | None = None) -> tuple[Decision, bool]:
    """What CBC finds for one instance, as ``decide``, and whether it says that nothing is better."""
    from mapper.formulations.pe_allocation.program.ilp import AllocationProgram
    from mapper.solver.cbc import run_cbc

    program = AllocationProgram(instance)
    program.build()
    # Cutting planes pay where start times depend on both paces and where layers share PEs; else they cost more than
    # the nodes that they save.
    result = run_cbc(
        program.model, effort, cuts=instance.is_streaming or instance.problem.sharing, nodes=nodes
    )
    allocation = program.extract(result.value_of) if result.found else None
    if allocation is not None and not fits(instance.problem, allocation, instance.limits):
        # Rounded it breaks a rule or a limit: that was no solution, and says nothing of those there are.
        return Decision(None, False, None, result.stop), False
    return Decision(allocation, False, None, result.stop), result.answer in ("optimal", "infeasible")


def confirmed(
    instance: AllocationInstance,
    effort: Effort,
    best: Allocation | None = None,
    work: float | None = CHECK_WORK,
) -> Decision:
    """What CBC finds, called final where it meets the bound by argument or where CP-SAT, in integers, has nothing
    better within ``work`` (None: whatever it takes). What CP-SAT finds instead is the answer; where it gets to no end,
    nothing is proven."""
    decision, said = solved(instance, effort)
    if not said:
        return decision
    better, value = instance, None
    if decision.allocation is not None:
        value = quantity(instance.problem, decision.allocation, instance.goal)
        less = instance.limits.at_most(instance.goal, value - 1)
        if value != instance.least:
            better = instance_of(instance.problem, instance.goal, less)
        if value == instance.least or not better.possible:
            return replace(decision, is_final=True, bound=value, stop="complete")
    checked = exactly(better, effort, work=work)
    if checked.allocation is not None:
        return checked
    if checked.is_final:
        return replace(decision, is_final=True, bound=value, stop="complete")
    bound = checked.bound if value is None or checked.bound is None else min(value, checked.bound)
    return replace(decision, bound=bound, stop=checked.stop)


INTEGER_PROGRAM: Method[AllocationProblem, Allocation] = Method(
    "ilp",
    True,
    "an integer linear program over useful PE counts, solved by CBC and confirmed in integers",
    integer_program,
)
