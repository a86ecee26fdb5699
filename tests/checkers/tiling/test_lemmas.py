"""What the lemmas of the checker say, on mappings one by one: its price is the model's, no bound is above a price."""

from __future__ import annotations

import itertools
import json
import random
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given

from mapper.formulations.tiling.problem import TilingProblem
from mapper.formulations.tiling.referee.verify import verify
from mapper.models.tiling.cost import evaluate
from mapper.models.tiling.mapping import TilingMapping
from mapper.solver.tiling.proof import restated
from tests.checkers.tiling.claim import checker
from tests.solver.sample import drawn
from tests.solver.tiling.oracle import mappings
from tests.solver.tiling.random_tiling import problems

MAPPINGS = 40


def bounds_of(tiling: Any, r: Any, s: Any, c: Any) -> list[list[tuple[int, int]]]:
    """Energy and cycles that a triple, its split and its array tile take at least, one for each set that may stay."""
    b = checker().times(r, s)
    trips = checker().over(tiling.bounds, c)
    energy, cycles = tiling.outer(c, trips)
    return [
        [
            (inner + energy, tiling.together(cycles, busy))
            for inner, busy in tiling.inner(b, checker().over(tiling.bounds, b), *rows)
        ]
        for rows in (tiling.split(r, s), tiling.first_rows(b))
    ]


@pytest.mark.parametrize("count", [12, pytest.param(1000, marks=pytest.mark.slow)])
def test_no_bound_is_above_the_price_of_a_mapping_in_its_box(count: int) -> None:
    seen = 0

    @drawn(count)
    @given(problems())
    def bounded(problem: TilingProblem) -> None:
        nonlocal seen
        fields = restated(problem)
        if fields is None:
            return
        tiling = checker().Tiling(json.loads(json.dumps(fields)))
        some = [*itertools.islice(mappings(problem), 2000)]
        for mapping in random.Random(5).sample(some, min(MAPPINGS, len(some))):
            energy, cycles = price_of(tiling, problem, mapping)
            spatial, rf = (tuple(mapping.trip_counts(level).values()) for level in ("spatial", "rf"))
            spm = tuple(mapping.trip_counts("rf", "spatial", "spm").values())
            for box in bounds_of(tiling, rf, spatial, spm):
                assert any(least <= energy and busy <= cycles for least, busy in box), (fields, mapping)
            seen += 1

    bounded()
    assert seen > count


def price_of(tiling: Any, problem: TilingProblem, mapping: TilingMapping) -> tuple[int, int]:
    """Energy and cycles by the checker, which are the model's."""
    prices: list[tuple[int, int]] = []
    cost = tiling.cost

    def heard(*given: Any) -> Any:
        prices.append(cost(*given))
        return prices[-1]

    tiling.cost = heard
    worth = tiling.value(mapping.to_json())
    tiling.cost = cost
    model = evaluate(problem.nest, problem.machine, mapping)
    assert not verify(problem, mapping).broken
    whole = problem.objective == "latency" or problem.machine.rules.energy == "rounded"
    assert Fraction(worth, 1 if whole else tiling.per_pj) == problem.exact_value(model)
    assert prices[-1][1] == model.cycles
    return prices[-1]
