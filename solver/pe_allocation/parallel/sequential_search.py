"""Layers one after another: every method takes the closed form, which is exact."""

from __future__ import annotations

from mapper.formulations.pe_allocation.infeasible import why_infeasible
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.program.sequential.closed_form import best_sequential
from mapper.models.pe_allocation.cost import evaluate
from mapper.models.pe_allocation.mapping import Allocation
from mapper.solver.method import Effort
from mapper.solver.outcome import Outcome


def sequential(problem: AllocationProblem, effort: Effort) -> Outcome[Allocation]:
    """The best allocation of layers that work one after another, proven, or a proof that there is none."""
    if why_infeasible(problem) is not None:
        return Outcome.infeasible()
    found = best_sequential(problem)
    value = problem.value(evaluate(problem.network, problem.machine, found, problem.model))
    return Outcome.optimal(found, value)
