"""Every method for loop nests on a TCPA, exact ones first."""

from __future__ import annotations

from mapper.formulations.pe_allocation.nest.problem import NestProblem
from mapper.models.pe_allocation.nest.mapping import NestMapping
from mapper.solver.method import Method
from mapper.solver.pe_allocation.nest.brute_force import BRUTE_FORCE
from mapper.solver.pe_allocation.nest.constraint_program import CONSTRAINT_PROGRAM
from mapper.solver.pe_allocation.nest.exact import BRANCH_AND_BOUND
from mapper.solver.pe_allocation.nest.heuristic import GREEDY, OUTPUT_STATIONARY

AUTOMATIC: Method[NestProblem, NestMapping] = Method(
    "auto", True, "branch and bound", BRANCH_AND_BOUND.search, at_once=GREEDY
)

METHODS: dict[str, Method[NestProblem, NestMapping]] = {
    method.name: method
    for method in (AUTOMATIC, BRANCH_AND_BOUND, CONSTRAINT_PROGRAM, BRUTE_FORCE, GREEDY, OUTPUT_STATIONARY)
}
