"""Every method for loop nests on a TCPA, exact ones first."""

from __future__ import annotations

from mapper.formulations.pe_allocation.nest.problem import NestProblem
from mapper.models.pe_allocation.nest.mapping import NestMapping
from mapper.solver.method import Method
from mapper.solver.pe_allocation.nest.brute_force import BRUTE_FORCE
from mapper.solver.pe_allocation.nest.constraint_program import CONSTRAINT_PROGRAM
from mapper.solver.pe_allocation.nest.exact import ENUMERATION
from mapper.solver.pe_allocation.nest.heuristic import GREEDY, OUTPUT_STATIONARY

METHODS: dict[str, Method[NestProblem, NestMapping]] = {
    method.name: method
    for method in (ENUMERATION, CONSTRAINT_PROGRAM, BRUTE_FORCE, GREEDY, OUTPUT_STATIONARY)
}
