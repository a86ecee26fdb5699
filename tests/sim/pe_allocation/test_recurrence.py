"""The simulated array executes recurrences, and notices schedules that are wrong."""

from __future__ import annotations

from dataclasses import replace

from mapper.formulations.pe_allocation.recurrence.problem import RecurrenceProblem
from mapper.formulations.pe_allocation.referee.verify_nest import HANDED, LAID_OUT, UNITS
from mapper.formulations.pe_allocation.referee.verify_recurrence import (
    COMPUTED,
    NEIGHBOUR,
    verify_recurrence,
)
from mapper.models.pe_allocation.nest.mapping import NestMapping
from mapper.models.pe_allocation.recurrence.cost import evaluate
from mapper.sim.pe_allocation.recurrence import report_recurrence
from mapper.sim.pe_allocation.recurrence.simulation import CROWDED, EARLY, FULL, NARROW, UNSENT, Array
from mapper.solver.method import Effort
from mapper.solver.pe_allocation.recurrence.catalogue import METHODS
from mapper.workloads.recurrence.memory import first_values
from tests.solver.pe_allocation.nest.test_recurrence import jacobi, posed


def mapped(problem: RecurrenceProblem) -> NestMapping:
    found = METHODS["auto"].search(problem, Effort()).mapping
    assert found is not None
    return found


def rules(problem: RecurrenceProblem, mapping: NestMapping) -> set[str]:
    """What goes wrong in the run."""
    result = report_recurrence(problem, mapping)
    assert not result["agrees"]
    return {one["rule"] for one in result["violations"]}


def broken(problem: RecurrenceProblem, mapping: NestMapping) -> set[str]:
    """What the referee says."""
    return {one.rule for one in verify_recurrence(problem, mapping).broken}


def test_a_stencil_is_numpys() -> None:
    problem = jacobi("tcpa-2x2", 5, 12)
    result = report_recurrence(problem, mapped(problem))
    assert result["agrees"] and result["outputs_equal"] and result["operations"] == 2 * 5 * 12


def test_a_tile_that_starts_before_its_neighbours_values_are_there_is_noticed() -> None:
    problem = jacobi("tcpa-1x3", 5, 12)
    right = mapped(problem)
    early = replace(right, outer=tuple(start - (start > 0) for start in right.outer))
    assert early != right
    assert EARLY in rules(problem, early)
    assert COMPUTED in broken(problem, early)


def test_values_that_are_read_too_early_are_not_those_of_numpy() -> None:
    problem = posed("tcpa-1x1", "A[t] = A[t - 1] * x[t] * x[t] + 1", t=10)
    early = replace(mapped(problem), interval=1)
    result = report_recurrence(problem, early)
    assert not result["outputs_equal"] and COMPUTED in broken(problem, early)


def test_an_input_that_is_read_before_it_is_handed_on_breaks_a_rule() -> None:
    problem = posed("tcpa-1x3", "A[t, i] = x[t] + y[i]", t=5, i=12)
    at_once = replace(mapped(problem), outer=(0, 0))
    assert HANDED in broken(problem, at_once)
    assert UNSENT in rules(problem, at_once)


def test_more_operations_in_a_cycle_than_units_are_noticed() -> None:
    problem = posed("tcpa-1x1", "A[t] = (x[t] + y[t]) + (u[t] + v[t]) + (x[t] + u[t])", t=10)
    right = mapped(problem)
    assert right.interval == 3
    crowded = replace(right, interval=1)
    assert CROWDED in rules(problem, crowded)
    assert UNITS in broken(problem, crowded)


def test_more_words_than_registers_are_noticed() -> None:
    problem = jacobi("tcpa-1x2", 5, 12)
    right = mapped(problem)
    cost = evaluate(problem.body, problem.grid, right)
    first = first_values(problem.recurrence, 0)
    run = Array(problem.body, problem.grid, right, replace(cost, registers=3), first).work()
    assert FULL in {one.rule for one in run.violations}


def test_more_words_on_a_link_than_it_carries_are_noticed() -> None:
    right = mapped(jacobi("tcpa-1x4", 8, 32))
    narrow = jacobi("tcpa-1x4", 8, 32, {"link_words": 1})
    assert NARROW in rules(narrow, right)


def test_a_value_that_would_pass_a_tile_has_no_cost() -> None:
    problem = posed("tcpa-1x4", "A[t] = A[t - 5] + x[t]", t=12)
    short = replace(mapped(problem), tile=(4,), columns="t", rows=None)
    assert NEIGHBOUR in broken(problem, short)
    assert verify_recurrence(problem, short).cost is None


def test_tiles_beyond_the_array_are_refused() -> None:
    problem = jacobi("tcpa-1x3", 5, 12)
    assert LAID_OUT in broken(problem, replace(mapped(problem), tile=(5, 2)))
