"""Tilings whose bounds may grow: what is proven of all bounds at once is certified, and what is not so is refuted."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import assume, given

from mapper.formulations.tiling.problem import Objective, TilingProblem
from mapper.models.tiling.cost import evaluate
from mapper.models.tiling.mapping import TilingMapping
from mapper.solver.method import Effort
from mapper.solver.proof import Claim
from mapper.solver.tiling.catalogue import METHODS
from mapper.solver.tiling.exact.branch_and_bound import BRANCH_AND_BOUND
from mapper.solver.tiling.proof import prove, restated
from tests.checkers.tiling.claim import (
    Document,
    bound_again,
    checker,
    claim_of,
    every_bound,
    proof_of,
    verdict,
)
from tests.solver.sample import drawn
from tests.solver.tiling.random_tiling import problems
from tests.solver.tiling.small import matrix_product, padded, problem, recurrence, small_machine
from tests.solver.tiling.test_array_axes import systolic

COVERS = METHODS["branch-and-bound"]
MOST_BOUNDS = 24
EXPOSED = small_machine(
    rules={"leaving_sums": "exposed"},
    pe_array={"latency_cycles": {"multiply": 20, "add": 8}, "pipelined": False},
)
SINGLE = small_machine(rf={"double_buffered": False}, spm={"double_buffered": False, "bytes": 128})
ON_AXES = systolic(4, 2)
FREE = small_machine(
    rules={"partial_sums": "first_visit_free", "energy": "exact", "stored_extent": "touched"}
)


def value_of(posed: TilingProblem, mapping: TilingMapping) -> int:
    return posed.rank(evaluate(posed.nest, posed.machine, mapping))[0]


def best_of_each_bound(posed: TilingProblem) -> TilingMapping | None:
    """The best mapping of all choices of bounds, each searched by itself."""
    searched = (BRANCH_AND_BOUND.search(one.as_it_is(), Effort()).mapping for one in every_bound(posed))
    found = [one.over(posed.nest.trip_counts) for one in searched if one is not None]
    return min(found, key=lambda one: value_of(posed, one), default=None)


def nothing_of(posed: TilingProblem) -> Document:
    return prove(posed, Claim("infeasible", None, None, None), Effort()).to_json("tiling", "layer")


def check_claims(posed: TilingProblem, seen: Counter[str]) -> None:
    """The true claim is certified; one more, one less, none, and the best of the bounds as they are, are refuted."""
    best = best_of_each_bound(posed)
    if best is None:
        seen["infeasible"] += 1
        assert verdict(nothing_of(posed))[0] == "certified"
        return
    true = claim_of(posed, best)
    said, reason = verdict(true)
    assert said == "certified", (reason, true)
    assert verdict(nothing_of(posed))[0] == "refuted"
    value = true["claim"]["value"]
    for claim in (
        (
            {"status": "optimal", "value": value - 1, "bound": value - 1},
            {"status": "optimal", "value": value + 1, "bound": value + 1},
            {"status": "bounded", "value": value, "bound": value + 1},
        )
        if isinstance(value, int)
        else ()
    ):
        assert verdict({**true, "claim": claim})[0] == "refuted"
    plain = BRANCH_AND_BOUND.search(posed.as_it_is(), Effort()).mapping
    if plain is not None and value_of(posed, plain) > value_of(posed, best):
        said, reason = verdict(claim_of(posed, plain))
        assert (said, reason[:25]) == ("refuted", "there is a better mapping")
        seen["better"] += 1
    seen["optimal"] += 1


@pytest.mark.parametrize("objective", ["edp", "energy", "latency"])
@pytest.mark.parametrize(
    "machine", [EXPOSED, SINGLE, ON_AXES, FREE], ids=["exposed", "single", "axes", "free"]
)
def test_the_best_of_every_bound_by_itself_is_certified_and_nothing_else_is(
    machine: object, objective: Objective
) -> None:
    seen: Counter[str] = Counter()
    for sizes in ((1, 3, 5),):
        posed = TilingProblem(matrix_product(*sizes), machine, objective)  # type: ignore[arg-type]
        check_claims(padded(posed), seen)
    assert seen["optimal"] == 1


@pytest.mark.parametrize("count", [6, pytest.param(2000, marks=pytest.mark.slow)])
def test_random_tilings_with_bounds_that_may_grow_are_judged_as_every_bound_by_itself(count: int) -> None:
    seen: Counter[str] = Counter()

    @drawn(count)
    @given(problems())
    def judged(some: TilingProblem) -> None:
        posed = padded(some)
        assume(posed.padding.is_free and restated(posed) is not None)
        assume(math.prod(most - least + 1 for _, least, most in posed.padding.ranges) <= MOST_BOUNDS)
        check_claims(posed, seen)

    judged()
    assert seen["optimal"] > 0


def test_a_search_of_the_bounds_as_they_are_is_found_out_where_padding_wins() -> None:
    posed = padded(problem(matrix_product(7, 7, 1), small_machine(2, 2, 32), "latency"))
    plain = proof_of(posed.as_it_is())
    grown = proof_of(posed, COVERS)
    assert grown["evidence"]["mapping"]["padded"] and grown["claim"]["value"] < plain["claim"]["value"]
    assert verdict(plain)[0] == verdict(grown)[0] == "certified"
    false = bound_again({**plain, "problem": grown["problem"]})
    said, reason = verdict(false)
    assert said == "refuted" and "there is a better mapping" in reason
    assert verdict(bound_again({**grown, "problem": plain["problem"]}))[1] == "a bound may not grow so"


def test_pins_and_limits_hold_for_bounds_that_grow() -> None:
    posed = padded(problem(matrix_product(1, 3, 5), None, "energy", K__rf="2", J__spatial="2"))
    proof = proof_of(posed, COVERS)
    assert proof["problem"]["growing"]["K"]["rf"] == {"least": 2, "most": 2}
    assert verdict(proof)[0] == "certified"
    cycles = evaluate(posed.nest, posed.machine, best_of_each_bound(posed)).cycles  # type: ignore[arg-type]
    limited = replace(posed, max_cycles=cycles - 1)
    check_claims(limited, Counter())


def test_bounds_of_loops_that_carry_a_dependence_do_not_grow() -> None:
    posed = padded(problem(recurrence(3, 3)))
    proof = proof_of(posed, COVERS)
    assert "i" not in proof["problem"].get("growing", {})
    assert verdict(proof)[0] == "certified"


@pytest.mark.parametrize("count", [10, pytest.param(1000, marks=pytest.mark.slow)])
def test_a_mapping_costs_no_less_than_the_floor_of_any_that_it_contains(count: int) -> None:
    draw, seen = random.Random(3), 0

    @drawn(count)
    @given(problems())
    def grows(some: TilingProblem) -> None:
        nonlocal seen
        fields = restated(some)
        assume(fields is not None)
        tiling = checker().Tiling(fields)
        for _ in range(40):
            rows = [[draw.choice((1, 1, 2, 3, 4)) for _ in range(4)] for _ in tiling.names]
            tiling.bounds = tuple(draw.randint(max(1, math.prod(row) // 2), math.prod(row)) for row in rows)
            lower = [row[:] for row in rows]
            loop, level = draw.randrange(len(rows)), draw.randrange(4)
            if rows[loop][level] < 3:
                continue
            lower[loop][level] -= 1
            tiling.dims = [
                [
                    (spans, 1 + sum(f * (tiling.bounds[j] - 1) for j, f in spans) + draw.choice((0, 0, 1)))
                    for spans, _ in one
                ]
                for one in tiling.dims
            ]
            order = {at: draw.sample(range(len(rows)), len(rows)) for at in ("spm", "dram")}
            priced = [_prices(tiling, one, order) for one in (lower, rows)]
            for less, more in zip(priced[0][1], priced[1][1], strict=True):
                assert less <= more, (fields, lower, rows, order)
            for floor, exact in zip(*priced[1][::-1], strict=True):
                assert floor <= exact
            seen += 1

    grows()
    assert seen > count


def _prices(
    tiling: object, rows: list[list[int]], order: dict[str, list[int]]
) -> tuple[tuple[int, int], ...]:
    """Price and floor of factors r, s, p, d in an order of the loops, innermost first."""
    r, s, inner, outer = zip(*rows, strict=True)
    stays = []
    for trips, runs in ((inner, order["spm"]), (outer, order["dram"])):
        running = [j for j in runs if trips[j] > 1]
        ends = [next((n for n, j in enumerate(running) if j in own), None) for own in tiling.own]  # type: ignore[attr-defined]
        stays.append([math.prod(trips[j] for j in running[:end]) for end in ends])
    return tuple(tiling.cost(r, s, inner, outer, *stays, floor) for floor in (False, True))  # type: ignore[attr-defined]
