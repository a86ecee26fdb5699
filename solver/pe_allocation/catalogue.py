"""Every method for allocations, exact ones first."""

from __future__ import annotations

from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.models.pe_allocation.allocation import Allocation
from mapper.solver.method import Effort, Method, Outcome
from mapper.solver.pe_allocation.integer_program import INTEGER_PROGRAM
from mapper.solver.pe_allocation.sequential_search import sequential

AllocationMethod = Method[AllocationProblem, Allocation]


def _of_every_mode(method: AllocationMethod) -> AllocationMethod:
    """A search of layers that work at once, extended to the other modes."""

    def search(problem: AllocationProblem, effort: Effort) -> Outcome[Allocation]:
        if problem.mode == "layer-by-layer":
            return sequential(problem, effort)
        return method.search(problem, effort)

    return Method(method.name, method.exact, method.summary, search, method.prepare)


AUTOMATIC: AllocationMethod = Method("auto", True, "the integer linear program", INTEGER_PROGRAM.search)

METHODS: dict[str, AllocationMethod] = {
    method.name: _of_every_mode(method) for method in (AUTOMATIC, INTEGER_PROGRAM)
}
