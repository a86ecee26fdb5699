"""The integer linear program, CP-SAT and brute force prove the same on small random networks."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.referee.verify import verify
from mapper.models.pe_allocation.mapping import Allocation
from mapper.solver.method import Effort, Method
from mapper.solver.pe_allocation.parallel.brute_force import BRUTE_FORCE
from mapper.solver.pe_allocation.parallel.constraint_program import CONSTRAINT_PROGRAM
from mapper.solver.pe_allocation.parallel.greedy import GREEDY
from mapper.solver.pe_allocation.parallel.integer_program import INTEGER_PROGRAM
from mapper.solver.pe_allocation.parallel.outcome import quantity
from mapper.solver.pe_allocation.parallel.proportional import PROPORTIONAL
from tests.solver.pe_allocation.random_allocation import problems

Rank = tuple[int, ...] | None
SLOW = [HealthCheck.too_slow]
thorough = settings(derandomize=True, deadline=None, max_examples=25, suppress_health_check=SLOW)
brief = settings(derandomize=True, deadline=None, max_examples=10, suppress_health_check=SLOW)


def proven_rank(problem: AllocationProblem, method: Method[AllocationProblem, Allocation]) -> Rank:
    """The rank of what a method proves best; None if it proves that there is nothing."""
    outcome = method.search(problem, Effort())
    assert outcome.proven and outcome.stop == "complete" and not outcome.restrictions, method.name
    if outcome.mapping is None:
        assert outcome.value is None
        return None
    verdict = verify(problem, outcome.mapping)
    assert verdict.broken == () and verdict.cost is not None, method.name
    assert outcome.value == outcome.bound == problem.value(verdict.cost), method.name
    units = quantity(problem, outcome.mapping, "units") if problem.free_delta else 0
    return (*problem.rank(verdict.cost), units)


def check(problem: AllocationProblem) -> None:
    best = proven_rank(problem, BRUTE_FORCE)
    assert proven_rank(problem, INTEGER_PROGRAM) == best
    assert proven_rank(problem, CONSTRAINT_PROGRAM) == best
    for heuristic in (GREEDY, PROPORTIONAL):
        outcome = heuristic.search(problem, Effort())
        if outcome.mapping is not None:
            verdict = verify(problem, outcome.mapping)
            assert verdict.valid and verdict.cost is not None
            assert best is not None and problem.rank(verdict.cost)[0] >= best[0]
            assert not outcome.proven or problem.rank(verdict.cost)[0] == best[0]


@thorough
@given(problems("calculus", 5))
def test_layers_in_parallel(problem: AllocationProblem) -> None:
    check(problem)


@thorough
@given(problems("calculus", 4, pins=True))
def test_pinned_decisions(problem: AllocationProblem) -> None:
    check(problem)


@thorough
@given(problems("calculus", 4, sharing=True))
def test_layers_that_share_pes(problem: AllocationProblem) -> None:
    check(problem)


@thorough
@given(problems("calculus", 3, free_delta=True, pins=True))
def test_free_units(problem: AllocationProblem) -> None:
    check(problem)


@brief
@given(problems("streaming", 2))
def test_the_streaming_model(problem: AllocationProblem) -> None:
    check(problem)


@brief
@given(problems("streaming", 2, sharing=True, free_delta=True))
def test_sharing_and_free_units_in_the_streaming_model(problem: AllocationProblem) -> None:
    check(problem)
