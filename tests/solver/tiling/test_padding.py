"""Padding as a decision: the search over all covers finds what trying every bound finds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings

from mapper.arch.source import load_machine
from mapper.formulations.tiling.array_axes import LoopAxes
from mapper.formulations.tiling.bound import bound_of
from mapper.formulations.tiling.problem import Pins, TilingProblem
from mapper.formulations.tiling.referee.verify import verify
from mapper.models.tiling.cost import evaluate
from mapper.models.tiling.mapping import TilingMapping
from mapper.models.tiling.padding import Padding
from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome
from mapper.solver.tiling.catalogue import METHODS
from mapper.solver.tiling.cover import covering
from mapper.solver.tiling.cover.cover import Level, Sides, least_covers
from mapper.solver.tiling.exact.branch_and_bound import branch_and_bound
from mapper.solver.tiling.heuristic.annealing import annealing
from mapper.solver.tiling.heuristic.genetic import genetic
from mapper.solver.tiling.heuristic.random_search import random_search
from mapper.solver.tiling.padded import with_friendly_bounds
from mapper.workloads.nest.layer_nest import matrix_product_nest
from mapper.workloads.nest.loop_nest import LoopNest
from tests.solver.tiling.random_tiling import problems
from tests.solver.tiling.small import matrix_product, padded, problem, recurrence, small_machine
from tests.solver.tiling.test_array_axes import systolic

ANY, ONE = Level(1, False), Level(1, True)
MOST_BOUNDS = 40
"""Combinations of larger bounds that are searched one by one."""


def solve(posed: TilingProblem, method: str = "branch-and-bound") -> Outcome[TilingMapping]:
    found = METHODS[method].search(posed, Effort())
    assert found.mapping is None or not verify(posed, found.mapping).broken
    return found


def least_over_all_bounds(posed: TilingProblem) -> int | None:
    """The least objective, in the cost's own steps, of every choice of bounds, each searched by itself."""
    ranges, found = posed.padding.ranges, []
    for sizes in itertools.product(*(range(least, most + 1) for _, least, most in ranges)):
        fixed = Padding(tuple((loop, size, size) for (loop, _, _), size in zip(ranges, sizes, strict=True)))
        one = replace(posed, padding=fixed).as_it_is()
        mapping = branch_and_bound(one, Effort()).mapping
        if mapping is not None:
            found.append(one.rank(evaluate(one.nest, one.machine, mapping))[0])
    return min(found, default=None)


def test_all_paddings_at_once_are_as_good_as_each_by_itself() -> None:
    @settings(max_examples=7, deadline=None, derandomize=True, database=None)
    @given(problems())
    def holds(drawn: TilingProblem) -> None:
        posed = padded(drawn)
        assume(posed.padding.ranges and drawn.machine.rules.timing == "steady")
        assume(math.prod(most - least + 1 for _, least, most in posed.padding.ranges) <= MOST_BOUNDS)
        assume(not any(d < 0 for vector in drawn.nest.dependences for d in vector))
        found = solve(posed)
        assert found.proven
        cost = None if found.mapping is None else evaluate(posed.nest, posed.machine, found.mapping)
        assert (None if cost is None else posed.rank(cost)[0]) == least_over_all_bounds(posed)

    holds()


@pytest.mark.parametrize("objective", ["edp", "energy", "latency"])
def test_brute_force_over_all_bounds_agrees_with_the_covers(objective: str) -> None:
    nest = matrix_product_nest("product", (), 1, 3, 5)
    posed = padded(TilingProblem(nest, small_machine(), objective))  # type: ignore[arg-type]
    tried, searched = solve(posed, "brute-force"), solve(posed)
    assert (tried.proven, searched.proven) == (True, True)
    assert tried.value == searched.value
    assert searched.value is not None and searched.value <= (
        solve(replace(posed, padding=Padding())).value or 0
    )


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 12, 13])
def test_least_covers_are_those_of_which_no_factor_can_be_lowered(bound: int) -> None:
    def covers(factors: tuple[int, ...]) -> bool:
        return math.prod(factors) >= bound

    least = {
        factors
        for factors in itertools.product(range(1, bound + 1), repeat=4)
        if covers(factors)
        and not any(
            factor > 1 and covers((*factors[:at], factor - 1, *factors[at + 1 :]))
            for at, factor in enumerate(factors)
        )
    }
    listed = [
        (*inner, *outer)
        for one in least_covers(bound, 2 * bound - 1, ANY, ANY, ANY, ANY, sides=Sides((1 << 30, 1)))
        for inner, row in zip(one.inner, one.needed, strict=True)
        for outer, needed in zip(one.outer, row, strict=True)
        if needed
    ]
    assert sorted(listed) == sorted(least)


@pytest.mark.parametrize("method", ["cp-sat", "bounded-table", "opt1+opt2+opt3"])
def test_methods_that_know_no_padding_say_so_and_prove_nothing_of_it(method: str) -> None:
    posed = padded(problem(matrix_product(5, 5, 5)))
    found = solve(posed, method)
    assert not found.proven
    assert any("no padding" in text for text in found.restrictions)
    assert found.bound is not None and found.bound <= bound_of(posed)


@pytest.mark.parametrize("heuristic", [annealing, genetic, random_search])
def test_heuristics_try_bounds_with_small_factors(
    heuristic: Callable[[int], Method[TilingProblem, TilingMapping]],
) -> None:
    machine, _ = load_machine("dmazerunner-256")
    posed = padded(TilingProblem(matrix_product_nest("product", (), 97, 89, 83), machine, "latency"))
    method = with_friendly_bounds(heuristic(40_000), heuristic(20_000))
    found, plain = (method.search(one, Effort()) for one in (posed, replace(posed, padding=Padding())))
    assert found.mapping is not None and found.mapping.padded and not verify(posed, found.mapping).broken
    assert found.value is not None and plain.value is not None and found.value < plain.value


def test_a_pinned_bound_is_the_only_one() -> None:
    posed = replace(problem(matrix_product(5, 3, 4)), padding=Padding((("I", 6, 6),)))
    found = solve(posed)
    assert found.proven and found.mapping is not None
    assert found.mapping.padded == (("I", 6),)
    broken = verify(
        posed, replace(found.mapping, padded=(), factors=((5, 1, 1, 1), *found.mapping.factors[1:]))
    )
    assert {rule.rule for rule in broken.broken} == {"padding"}


def test_pinned_factors_hold_while_bounds_grow() -> None:
    nest = matrix_product(5, 3, 7)
    room = padded(problem(nest, small_machine(rf_bytes=32)))
    posed = replace(room, pins=Pins.parse({"I.rf": "4", "spatial": "K"}, nest))
    found = solve(posed)
    assert found.proven and found.mapping is not None
    assert found.mapping.trip_counts("rf")["I"] == 4
    assert dict(found.mapping.padded)["I"] == 8


@pytest.mark.parametrize(("rf_bytes", "pins"), [(4, {}), (16, {"I.rf": "4"})])
def test_where_the_least_tile_has_no_room_no_cover_is_put_together(
    rf_bytes: int, pins: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(covering, "candidates", pytest.fail)
    nest = matrix_product(5, 3, 7)
    room = padded(problem(nest, small_machine(rf_bytes=rf_bytes)))
    found = solve(replace(room, pins=Pins.parse(pins, nest)))
    assert found.proven and found.mapping is None


def test_loops_that_carry_a_dependence_keep_their_bounds() -> None:
    nest: LoopNest = recurrence(5, 3)
    assert [loop for loop, _, _ in Padding.every(nest).ranges] == []


def test_a_timeline_is_searched_with_bounds_as_they_are() -> None:
    machine = small_machine(rules={"timing": "timeline"})
    found = solve(padded(problem(matrix_product(3, 2, 2), machine)))
    assert not found.proven and found.mapping is not None and not found.mapping.padded
    assert any("timeline" in text for text in found.restrictions)


def test_primes_on_256_pes_take_about_what_the_next_power_of_two_takes() -> None:
    machine, _ = load_machine("dmazerunner-256")
    posed = padded(TilingProblem(matrix_product_nest("product", (), 1021, 1021, 1021), machine, "latency"))
    found = solve(posed)
    round_bounds = TilingProblem(matrix_product_nest("product", (), 1024, 1024, 1024), machine, "latency")
    assert found.proven and found.value is not None
    assert found.value <= (branch_and_bound(round_bounds, Effort()).value or 0)


@pytest.mark.parametrize("reduced", [("rows",), ("rows", "columns")])
def test_paddings_on_an_array_with_axes_are_as_good_as_each_by_itself(reduced: tuple[str, ...]) -> None:
    machine = systolic(2, 2, reduced, rf={"bytes": 32})
    posed = padded(problem(matrix_product(3, 3, 2), machine))
    found = solve(posed)
    assert found.proven and found.mapping is not None
    cost = evaluate(posed.nest, machine, found.mapping)
    assert posed.rank(cost)[0] == least_over_all_bounds(posed)
    shorter = replace(posed, max_cycles=cost.cycles - 1)
    found, least = solve(shorter), least_over_all_bounds(shorter)
    assert found.proven
    value = None if found.mapping is None else evaluate(posed.nest, machine, found.mapping)
    assert (None if value is None else posed.rank(value)[0]) == least


def test_a_loop_on_both_axes_grows_where_its_bound_has_no_room() -> None:
    sides = Sides((4, 4), LoopAxes((True, True), (False, False)))
    alone = [s for one in least_covers(15, 29, ONE, ANY, ONE, ONE, sides=sides) for _, s in one.inner]
    assert 16 in alone and 15 not in alone
