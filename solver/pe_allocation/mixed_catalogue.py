"""What each method does in mixed mode."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.models.pe_allocation.allocation import Allocation
from mapper.solver.method import Effort, Outcome
from mapper.solver.pe_allocation.fusing import all_fused, greedy_fusing
from mapper.solver.pe_allocation.mixed import search_mixed
from mapper.solver.pe_allocation.mixed_brute_force import mixed_brute_force
from mapper.solver.pe_allocation.mixed_constraint_program import mixed_constraint_program
from mapper.solver.pe_allocation.mixed_integer_program import mixed_integer_program


def _automatic(problem: AllocationProblem, effort: Effort) -> Outcome[Allocation]:
    return replace(search_mixed(problem, effort), method="runs of fused layers")


MIXED: dict[str, Callable[[AllocationProblem, Effort], Outcome[Allocation]]] = {
    "auto": _automatic,
    "ilp": mixed_integer_program,
    "cp-sat": mixed_constraint_program,
    "brute-force": mixed_brute_force,
    "greedy": greedy_fusing,
    "proportional": all_fused,
}
"""By the names of the catalogue."""
