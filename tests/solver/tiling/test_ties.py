"""Costs that no float tells apart: the mapping that is proven best is the best one exactly."""

from __future__ import annotations

import pytest

from mapper.formulations.tiling.problem import Objective, TilingProblem
from mapper.models.tiling.cost import evaluate
from mapper.models.tiling.mapping import TilingMapping
from mapper.solver.method import Effort, Method, Start
from mapper.solver.tiling.exact import branch_and_bound as search
from mapper.solver.tiling.exact.branch_and_bound import BRANCH_AND_BOUND
from mapper.solver.tiling.exact.brute_force import BRUTE_FORCE
from mapper.solver.tiling.exact.incumbent import TIED
from mapper.solver.tiling.program.bounded_table import BOUNDED_TABLE
from tests.solver.tiling.oracle import mappings
from tests.solver.tiling.small import matrix_product, problem, small_machine

FINE = {"noc": 0.0001, "spm": 0.0002, "dram": 0.0003}
PRICES = {
    "steps beyond 2^53": {"mac": 1e12, "rf": 1e12, **FINE},
    "more digits than a float has": {
        "mac": 1e12,
        "rf": 1e12,
        "noc": 1e-9,
        "spm": 3.3e-8,
        "dram": 0.1234567890123456,
    },
    "dear and rounded": {"mac": 1e12, "rf": 1e12, "noc": 0.3, "spm": 0.4, "dram": 0.7},
}


def posed(prices: str, objective: Objective) -> TilingProblem:
    rules = {"energy": "rounded" if prices == "dear and rounded" else "exact"}
    machine = small_machine(1, 2, energy_pj=PRICES[prices], rules=rules)
    return problem(matrix_product(2, 3, 2), machine, objective)


def rank(one: TilingProblem, mapping: TilingMapping | None) -> tuple[int, ...]:
    assert mapping is not None
    return one.rank(evaluate(one.nest, one.machine, mapping))


@pytest.mark.parametrize("method", [BRANCH_AND_BOUND, BOUNDED_TABLE, BRUTE_FORCE], ids=lambda m: m.name)
@pytest.mark.parametrize("objective", ["edp", "energy"])
@pytest.mark.parametrize("prices", PRICES)
def test_of_costs_that_are_one_float_the_least_is_proven(
    prices: str, objective: Objective, method: Method[TilingProblem, TilingMapping]
) -> None:
    one = posed(prices, objective)
    costs = [evaluate(one.nest, one.machine, mapping) for mapping in mappings(one)]
    exact = min(one.rank(cost)[0] for cost in costs)
    least = min(one.value(cost) for cost in costs)
    same = {one.rank(cost)[0] for cost in costs if float(one.value(cost)) == float(least)}
    assert len(same) > 1 or prices == "dear and rounded", "floats tell them apart"
    outcome = method.search(one, Effort())
    if outcome.proven or method is not BOUNDED_TABLE:
        assert outcome.proven and outcome.value == outcome.bound == least
        assert rank(one, outcome.mapping)[0] == exact


def test_ties_that_are_too_many_to_keep_are_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MOST_TIES", 1)
    one = posed("steps beyond 2^53", "energy")
    outcome = BRANCH_AND_BOUND.search(one, Effort())
    assert not outcome.proven and outcome.restrictions == (TIED,)
    best = BRUTE_FORCE.search(one, Effort()).value
    assert outcome.bound is not None and best is not None and outcome.bound < best


@pytest.mark.parametrize("prices", PRICES)
def test_what_is_known_is_found_again_or_bettered_exactly(prices: str) -> None:
    one = posed(prices, "energy")
    best = BRUTE_FORCE.search(one, Effort())
    assert best.mapping is not None and best.value is not None
    worse = max(mappings(one), key=lambda mapping: rank(one, mapping))
    for known in (best.mapping, worse):
        value = one.value(evaluate(one.nest, one.machine, known))
        start = Start(one, known, value, None, "earlier")
        outcome = BRANCH_AND_BOUND.search(one, Effort(start=start))
        assert outcome.proven and rank(one, outcome.mapping)[0] == rank(one, best.mapping)[0]
