"""Whatever CBC answers, and however wrongly, no false proof of an allocation comes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pulp
import pytest

from mapper.formulations.pe_allocation.problem import AllocationProblem, Pin
from mapper.formulations.pe_allocation.referee.verify import verify
from mapper.solver import cbc
from mapper.solver.cbc import CbcResult
from mapper.solver.method import Effort
from mapper.solver.pe_allocation.catalogue import METHODS
from mapper.solver.pe_allocation.parallel.front import front
from tests.sim.pe_allocation.example import Net
from tests.solver.pe_allocation.random_allocation import row

Run = Callable[..., CbcResult]
RIGHT = cbc.run_cbc


def says_infeasible(model: pulp.LpProblem, effort: Effort, **named: Any) -> CbcResult:
    """There is nothing, whatever is asked."""
    return CbcResult("infeasible", None, "complete", lambda expression: 0)


def calls_the_worst_the_best(model: pulp.LpProblem, effort: Effort, **named: Any) -> CbcResult:
    """A solution, but that of the opposite objective."""
    model.setObjective(-model.objective)
    found = RIGHT(model, effort, **named)
    return replace(found, bound=-found.bound if found.bound is not None else None)


def rounds_everything_away(model: pulp.LpProblem, effort: Effort, **named: Any) -> CbcResult:
    """An optimum of which no variable is left."""
    return CbcResult("optimal", 0, "complete", lambda expression: 0)


def takes_everything(model: pulp.LpProblem, effort: Effort, **named: Any) -> CbcResult:
    """An optimum of which every variable is 1."""
    return CbcResult("optimal", 1, "complete", lambda expression: 1)


def bounds_too_high(model: pulp.LpProblem, effort: Effort, **named: Any) -> CbcResult:
    """Out of time with the worst solution, and a bound beyond every value."""
    found = calls_the_worst_the_best(model, effort, **named)
    return replace(found, answer="feasible" if found.found else found.answer, bound=10**12, stop="time_limit")


LIARS: list[Run] = [
    says_infeasible,
    calls_the_worst_the_best,
    rounds_everything_away,
    takes_everything,
    bounds_too_high,
]


def posed(**fields: Any) -> AllocationProblem:
    """Four layers on six PEs."""
    net = Net((4, 4), 2)
    net.convolution(3, (2, 2), strides=(1, 1))
    net.convolution(5, (1, 1), 0)
    net.convolution(4, (2, 2), 1, strides=(2, 2))
    net.pool((1, 1), 2, op="MaxPool")
    return replace(AllocationProblem(net.network(), row(6)), **fields)


PROBLEMS = [
    posed(objective="latency"),
    posed(objective="latency", model="streaming"),
    posed(objective="pes", longest_interval=60, sharing=True),
    posed(objective="latency", sharing=True),
    posed(free_delta=True, pins={"convolution0": Pin(throttle=3)}, objective="pes", longest_interval=90),
    posed(objective="latency", pins={"convolution0": Pin(pes=1)}, longest_interval=10),
    posed(mode="mixed"),
    posed(mode="mixed", objective="latency", max_bytes=70),
    posed(mode="mixed", objective="pes", longest_interval=150),
]


@pytest.mark.parametrize("lie", LIARS)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_wrong_answer_of_cbc_yields_no_false_proof(
    problem: AllocationProblem, lie: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = METHODS["cp-sat"].search(problem, Effort())
    assert right.proven
    monkeypatch.setattr(cbc, "run_cbc", lie)
    told = METHODS["ilp"].search(problem, Effort())
    sign = -1 if problem.objective == "throughput" else 1
    if told.proven:
        assert told.value == right.value
    if right.value is None:
        assert told.mapping is None
    elif told.bound is not None:
        assert sign * told.bound <= sign * right.value
    if told.mapping is not None:
        verdict = verify(problem, told.mapping)
        assert verdict.valid and verdict.cost is not None and problem.value(verdict.cost) == told.value


@pytest.mark.parametrize("lie", LIARS)
@pytest.mark.parametrize("fields", [{"model": "streaming"}, {"sharing": True}])
def test_a_front_does_not_rest_on_cbc(
    fields: dict[str, Any], lie: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = posed(**fields, max_pes=5)
    right = front(problem, Effort())
    monkeypatch.setattr(cbc, "run_cbc", lie)
    told = front(problem, Effort())
    assert told.complete and [point.value for point in told.points] == [point.value for point in right.points]


@pytest.mark.parametrize("problem", PROBLEMS[:-1])  # The most PEs of runs have no limit.
def test_what_cbc_gets_wrong_integers_put_right(
    problem: AllocationProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = METHODS["cp-sat"].search(problem, Effort())
    monkeypatch.setattr(cbc, "run_cbc", calls_the_worst_the_best)
    told = METHODS["ilp"].search(problem, Effort())
    assert told.proven and told.value == right.value
