"""Trade-offs of energy and latency, and the least energy within a limit, against trying every mapping."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from mapper.formulations.tiling.problem import OBJECTIVES, Objective, TilingProblem
from mapper.formulations.tiling.referee.verify import LATENCY, verify
from mapper.models.tiling.cost import evaluate
from mapper.models.tiling.mapping import TilingMapping
from mapper.solver.method import Effort, Method
from mapper.solver.tiling.catalogue import METHODS
from mapper.solver.tiling.exact.branch_and_bound import BRANCH_AND_BOUND
from mapper.solver.tiling.front import criteria, front
from mapper.solver.tiling.heuristic.annealing import annealing
from mapper.solver.tiling.heuristic.genetic import genetic
from mapper.solver.tiling.heuristic.random_search import random_search
from mapper.solver.tiling.program.bounded_table import BOUNDED_TABLE, UNLIMITED
from mapper.solver.tiling.program.constraint_program import CONSTRAINT_PROGRAM
from tests.solver.tiling.oracle import mappings
from tests.solver.tiling.small import convolution, matrix_product, problem, small_machine

EXACT = {"partial_sums": "first_visit_free", "energy": "exact"}
PROBLEMS = {
    "matrix product": problem(matrix_product(4, 2, 4)),
    "row convolution": problem(convolution(out=4, size=3)),
    "single buffers": problem(matrix_product(2, 2, 4), small_machine(rf={"double_buffered": False})),
    "energies that are not rounded": problem(matrix_product(2, 3, 4), small_machine(rules=EXACT)),
    "a timeline": problem(matrix_product(2, 2, 4), small_machine(rules={**EXACT, "timing": "timeline"})),
    "pinned space": problem(matrix_product(4, 2, 4), spatial="I,J"),
    "nothing fits": problem(matrix_product(), small_machine(rf_bytes=4)),
}


def every_cost(posed: TilingProblem) -> set[tuple[int, int]]:
    """Energy and cycles of every mapping that is valid."""
    return {criteria(posed, mapping) for mapping in mappings(posed)}


def unbeaten(costs: set[tuple[int, int]]) -> list[tuple[int, int]]:
    return sorted(
        one for one in costs if not any(o != one and o[0] <= one[0] and o[1] <= one[1] for o in costs)
    )


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_front_is_what_no_mapping_beats(name: str) -> None:
    posed = PROBLEMS[name]
    found = front(posed, Effort())
    points = [criteria(posed, point.mapping) for point in found.points if point.mapping is not None]
    assert found.complete
    assert points == unbeaten(every_cost(posed))
    assert all(point.proven and point.bound == point.value for point in found.points)


def test_fronts_have_several_points_to_be_found() -> None:
    assert max(len(unbeaten(every_cost(posed))) for posed in PROBLEMS.values()) > 2


def test_a_front_that_is_cut_short_claims_nothing() -> None:
    over = Effort(deadline=time.monotonic() - 1)
    found = front(PROBLEMS["matrix product"], over)
    assert not found.complete
    assert not any(point.proven for point in found.points)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("name", ["matrix product", "energies that are not rounded", "a timeline"])
def test_exact_search_finds_the_best_mapping_within_every_limit(name: str, objective: Objective) -> None:
    posed = replace(PROBLEMS[name], objective=objective)
    costs = [evaluate(posed.nest, posed.machine, mapping) for mapping in mappings(posed)]
    rows = [(posed.rank(cost), cost.cycles) for cost in costs]
    cycles = sorted({taken for _, taken in rows})
    for most in (cycles[0] - 1, cycles[0], cycles[len(cycles) // 3], cycles[-1]):
        limited = replace(posed, max_cycles=most)
        found = BRANCH_AND_BOUND.search(limited, Effort())
        best = min((rank for rank, taken in rows if taken <= most), default=None)
        assert found.proven
        assert (found.mapping is None) == (best is None)
        if found.mapping is not None and best is not None:
            assert posed.rank(evaluate(posed.nest, posed.machine, found.mapping))[0] == best[0]
            assert verify(limited, found.mapping).valid


def test_the_constraint_program_keeps_a_limit_and_tables_say_that_they_do_not() -> None:
    posed = replace(PROBLEMS["matrix product"], objective="energy")
    points = unbeaten(every_cost(posed))
    limited = replace(posed, max_cycles=points[-1][1])
    assert CONSTRAINT_PROGRAM.search(limited, Effort()).value == points[-1][0]
    assert CONSTRAINT_PROGRAM.search(replace(posed, max_cycles=points[-1][1] - 1), Effort()).proven
    assert BOUNDED_TABLE.search(limited, Effort()).restrictions == (UNLIMITED,)


@pytest.mark.parametrize(
    "method", [random_search(1000), annealing(1000), genetic(1000), METHODS["soc"]], ids=lambda one: one.name
)
def test_no_heuristic_answers_with_a_mapping_beyond_the_limit(
    method: Method[TilingProblem, TilingMapping],
) -> None:
    posed = PROBLEMS["row convolution"]
    least = min(cycles for _, cycles in every_cost(posed))
    found = method.search(replace(posed, max_cycles=least), Effort())
    assert found.mapping is None or criteria(posed, found.mapping)[1] == least
    nothing = method.search(replace(posed, max_cycles=least - 1), Effort())
    assert nothing.mapping is None and not nothing.proven


def test_the_referee_says_by_how_much_a_mapping_exceeds_the_limit() -> None:
    posed = PROBLEMS["matrix product"]
    mapping = next(iter(mappings(posed)))
    cost = evaluate(posed.nest, posed.machine, mapping)
    verdict = verify(replace(posed, max_cycles=cost.cycles - 3), mapping)
    assert [(broken.rule, broken.size) for broken in verdict.broken] == [(LATENCY, 3)]
    assert verdict.cost is not None
