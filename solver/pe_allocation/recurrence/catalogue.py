"""Every method for recurrences on a TCPA, exact ones first."""

from __future__ import annotations

from mapper.formulations.pe_allocation.recurrence.problem import RecurrenceProblem
from mapper.models.pe_allocation.nest.mapping import NestMapping
from mapper.solver.method import Method
from mapper.solver.pe_allocation.recurrence.brute_force import BRUTE_FORCE
from mapper.solver.pe_allocation.recurrence.exact import BRANCH_AND_BOUND
from mapper.solver.pe_allocation.recurrence.heuristic import GREEDY, IN_SEQUENCE

AUTOMATIC: Method[RecurrenceProblem, NestMapping] = Method(
    "auto", True, "branch and bound", BRANCH_AND_BOUND.search, at_once=GREEDY
)

METHODS: dict[str, Method[RecurrenceProblem, NestMapping]] = {
    method.name: method for method in (AUTOMATIC, BRANCH_AND_BOUND, BRUTE_FORCE, GREEDY, IN_SEQUENCE)
}
