"""Recurrences on a TCPA: the exact search agrees with trying everything, and what it finds runs as the model says."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.arch.tcpa import tcpa_from_document, tcpa_preset
from mapper.formulations.pe_allocation.nest.tiled_problem import NestPins
from mapper.formulations.pe_allocation.program.recurrence.ilp import build
from mapper.formulations.pe_allocation.recurrence.infeasible import why_recurrence_infeasible
from mapper.formulations.pe_allocation.recurrence.problem import RecurrenceProblem
from mapper.formulations.pe_allocation.referee.verify_recurrence import verify_recurrence
from mapper.models.pe_allocation.recurrence.cost import evaluate
from mapper.models.pe_allocation.recurrence.schedule import best_schedule
from mapper.models.pe_allocation.recurrence.tiling import Axes
from mapper.models.pe_allocation.recurrence.traffic import busiest_link
from mapper.sim.pe_allocation.recurrence import report_recurrence
from mapper.solver.cbc import run_cbc
from mapper.solver.method import Effort
from mapper.solver.pe_allocation.recurrence.catalogue import METHODS
from mapper.solver.pe_allocation.recurrence.exact import blocks, orders
from mapper.workloads.recurrence.recurrence_file import recurrence_from_document
from tests.solver.pe_allocation.nest.random_recurrence import random_recurrence_problem


def is_small(problem: RecurrenceProblem) -> bool:
    """Whether brute force takes about a second at the most."""
    return problem.recurrence.iterations <= 4 and problem.machine.pe_count <= 3


SMALL = [seed for seed in range(40) if is_small(random_recurrence_problem(seed, loops=2, most=3))]


def posed(
    arch: str,
    *statements: str,
    local: tuple[str, ...] = (),
    fields: dict[str, Any] | None = None,
    **loops: int,
) -> RecurrenceProblem:
    document = {
        "schema": "mapper.recurrence/1",
        "name": "r",
        "loops": loops,
        "statements": list(statements),
        "local": list(local),
    }
    machine = tcpa_preset(arch)
    assert machine is not None
    return RecurrenceProblem(
        recurrence_from_document(document, "r"), tcpa_from_document({**machine, **(fields or {})}, "m")
    )


def jacobi(arch: str, steps: int, cells: int, fields: dict[str, Any] | None = None) -> RecurrenceProblem:
    return posed(
        arch, "A[t, i] = A[t - 1, i - 1] + A[t - 1, i] + A[t - 1, i + 1]", fields=fields, t=steps, i=cells
    )


def ranked(problem: RecurrenceProblem, method: str) -> tuple[int, int] | None:
    """Cycles and PEs of what a method proves to be best."""
    found = METHODS[method].search(problem, Effort())
    assert found.proven
    if found.mapping is None:
        return None
    cost = verify_recurrence(problem, found.mapping).cost
    assert cost is not None and cost.cycles == found.value
    return problem.rank(cost)


@pytest.mark.parametrize("seed", SMALL)
def test_branch_and_bound_finds_what_brute_force_finds(seed: int) -> None:
    problem = random_recurrence_problem(seed, loops=2, most=3)
    assert ranked(problem, "branch-and-bound") == ranked(problem, "brute-force")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 300))
def test_branch_and_bound_finds_what_brute_force_finds_in_more_recurrences(seed: int) -> None:
    problem = random_recurrence_problem(seed, loops=2, most=3)
    if problem.recurrence.iterations <= 6 and problem.machine.pe_count <= 3:
        found = METHODS["brute-force"].search(problem, Effort())
        if found.proven:
            assert ranked(problem, "branch-and-bound") == ranked(problem, "brute-force")


def test_every_mapping_passes_the_referee_and_runs_as_the_model_says() -> None:
    for seed in range(100):
        problem = random_recurrence_problem(seed, loops=3, most=5)
        found = METHODS["auto"].search(problem, Effort())
        if found.mapping is None:
            assert found.proven
            continue
        assert verify_recurrence(problem, found.mapping).valid
        result = report_recurrence(problem, found.mapping, seed)
        assert result["agrees"] and result["cost_simulated"]["cycles"] == found.value


def tilings(problem: RecurrenceProblem) -> Iterator[tuple[Axes, tuple[str, ...], dict[str, int], int]]:
    """Layouts, orders and tiles of a problem with the bound on their cycles, a few of each."""
    for axes in problem.axes():
        for order in orders(problem):
            for block in blocks(problem, axes, order):
                for (bound, _), tile in islice(block.sizes(), 3):
                    yield axes, order, tile, bound


def test_the_schedule_of_given_tiles_is_that_of_the_integer_program_and_not_below_the_bound() -> None:
    compared = 0
    for seed in range(15):
        problem = random_recurrence_problem(seed, loops=3, most=6)
        for axes, order, tile, bound in islice(tilings(problem), 5):
            mapping = best_schedule(problem.body, problem.grid, axes, order, tile)
            program = build(problem, axes, order, tile)
            answer = run_cbc(program.model, Effort())
            if mapping is None:
                assert answer.answer == "infeasible"
                continue
            cycles = evaluate(problem.body, problem.grid, mapping).cycles
            assert answer.answer == "optimal" and answer.value_of(program.z) == cycles >= bound
            compared += 1
    assert compared > 20


@settings(max_examples=40, deadline=None)
@given(
    steps=st.integers(1, 5),
    cells=st.integers(1, 9),
    reads=st.lists(st.tuples(st.integers(0, 2), st.integers(-2, 2)), min_size=1, max_size=4),
)
def test_a_stencil_of_any_shape_runs_as_the_model_says(
    steps: int, cells: int, reads: list[tuple[int, int]]
) -> None:
    behind = [(t, i) for t, i in reads if (t, i) > (0, 0)] or [(1, 0)]
    value = " + ".join(f"A[t - {t}, i - {i}]" for t, i in behind)
    problem = posed("tcpa-2x3", f"A[t, i] = {value}", t=steps, i=cells)
    found = METHODS["auto"].search(problem, Effort())
    assert found.proven and found.mapping is not None
    assert report_recurrence(problem, found.mapping)["agrees"]


@pytest.mark.parametrize("name", ["greedy", "in-sequence"])
def test_no_heuristic_is_better_than_the_proven_least(name: str) -> None:
    for seed in range(30):
        problem = random_recurrence_problem(seed, loops=3, most=5)
        found, least = METHODS[name].search(problem, Effort()), METHODS["auto"].search(problem, Effort())
        if found.mapping is not None:
            assert found.value is not None and least.value is not None
            assert verify_recurrence(problem, found.mapping).valid
            assert found.value >= least.value


def test_a_stencil_stands_on_a_row_of_pes_that_start_one_after_another() -> None:
    """A tile reads its left neighbour's last cell a link's and two additions' cycles after the neighbour had it; that
    is a word later than its own."""
    found = METHODS["auto"].search(jacobi("tcpa-1x4", 40, 120), Effort())
    assert found.proven and found.mapping is not None
    assert (found.mapping.columns, found.mapping.order) == ("i", ("t", "i"))
    assert found.mapping.outer_of["i"] == 2
    assert found.value == 3 * 2 + (40 * 30 - 1) + 2


def test_a_value_that_is_needed_two_operations_later_makes_a_longer_interval() -> None:
    problem = posed("tcpa-1x1", "A[t] = A[t - 1] * x[t] * x[t]", t=10)
    found = METHODS["auto"].search(problem, Effort())
    assert found.mapping is not None and found.mapping.interval == 2


def test_loops_change_places_so_that_no_word_waits_for_the_one_before() -> None:
    """The sum along j takes a cycle, its second operation one more; with i inside, other sums come in between."""
    problem = posed("tcpa-1x1", "A[i, j] = A[i, j - 1] * x[i] * y[j]", i=10, j=10)
    found = METHODS["auto"].search(problem, Effort())
    assert found.mapping is not None
    assert found.mapping.order == ("j", "i") and found.mapping.interval == 1


def test_few_words_a_link_forbid_layouts_with_many_streams() -> None:
    wide, narrow = jacobi("tcpa-1x4", 8, 32), jacobi("tcpa-1x4", 8, 32, {"link_words": 1})
    free, scarce = (METHODS["auto"].search(one, Effort()) for one in (wide, narrow))
    assert free.mapping is not None and scarce.mapping is not None
    used = busiest_link(wide.body, wide.grid, (None, free.mapping.columns), free.mapping.tile_of, 1)
    assert used > 1
    assert scarce.proven and scarce.value is not None and free.value is not None
    assert scarce.value > free.value
    assert report_recurrence(narrow, scarce.mapping)["agrees"]


def test_few_address_generators_forbid_layouts_with_many_streams() -> None:
    border = {"sides": ["north"], "address_generators": 4}
    problem = jacobi("tcpa-1x4", 8, 32, {"border": border})
    found = METHODS["auto"].search(problem, Effort())
    assert found.proven and found.mapping is not None
    cost = verify_recurrence(problem, found.mapping).cost
    assert cost is not None and cost.streams <= 4 and cost.pes < 4


def test_what_is_pinned_is_kept_and_the_rest_is_proven() -> None:
    pins = NestPins({"i": 40}, ("t", "i"), {"rows": "i"})
    problem = replace(jacobi("tcpa-4x4", 40, 120), pins=pins)
    found = METHODS["auto"].search(problem, Effort())
    assert found.proven and found.mapping is not None
    assert found.mapping.tile_of["i"] == 40 and found.mapping.rows == "i"
    assert verify_recurrence(problem, found.mapping).valid


def test_tiles_that_are_shorter_than_a_value_goes_are_proven_infeasible() -> None:
    problem = replace(posed("tcpa-1x4", "A[t] = A[t - 5] + x[t]", t=12), pins=NestPins({"t": 4}))
    found = METHODS["auto"].search(problem, Effort())
    assert found.proven and found.mapping is None
    assert "shorter than a value goes" in str(why_recurrence_infeasible(problem))


def test_tensors_that_exceed_the_buffers_are_proven_infeasible() -> None:
    problem = replace(jacobi("tcpa-1x4", 8, 32), max_bytes=100)
    assert METHODS["auto"].search(problem, Effort()).proven
    assert "the tensors need" in str(why_recurrence_infeasible(problem))


def test_a_search_that_is_stopped_says_a_bound_that_holds() -> None:
    problem = jacobi("tcpa-4x4", 100, 400)
    stop = threading.Event()
    effort = Effort(interrupt=stop, report=lambda progress: stop.set())
    found = METHODS["branch-and-bound"].search(problem, effort)
    assert not found.proven and found.stop == "interrupted"
    assert found.bound is not None and found.value is not None and found.bound <= 10_007 <= found.value
