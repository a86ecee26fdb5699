"""Every method for recurrences on a TCPA, exact ones first."""

from __future__ import annotations

from dataclasses import replace

from mapper.formulations.pe_allocation.recurrence.problem import RecurrenceProblem
from mapper.models.pe_allocation.nest.mapping import NestMapping
from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome
from mapper.solver.pe_allocation.recurrence.brute_force import BRUTE_FORCE
from mapper.solver.pe_allocation.recurrence.exact import BRANCH_AND_BOUND
from mapper.solver.pe_allocation.recurrence.heuristic import GREEDY, IN_SEQUENCE


def _automatic(problem: RecurrenceProblem, effort: Effort) -> Outcome[NestMapping]:
    """Branch and bound; where there is too much to try, what the heuristic finds."""
    found = BRANCH_AND_BOUND.search(problem, effort)
    if found.mapping is not None or not found.restrictions:
        return found
    return replace(GREEDY.search(problem, effort), restrictions=found.restrictions, method=GREEDY.name)


AUTOMATIC: Method[RecurrenceProblem, NestMapping] = Method(
    "auto", True, "branch and bound, or greedy where there is too much to try", _automatic, at_once=GREEDY
)

METHODS: dict[str, Method[RecurrenceProblem, NestMapping]] = {
    method.name: method for method in (AUTOMATIC, BRANCH_AND_BOUND, BRUTE_FORCE, GREEDY, IN_SEQUENCE)
}
