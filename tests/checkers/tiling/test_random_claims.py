"""Random tilings: what the solver proves is certified, and what is not so is refuted."""

from __future__ import annotations

import copy
from collections import Counter

import pytest
from hypothesis import given

from mapper.formulations.tiling.bound import bound_of
from mapper.formulations.tiling.problem import TilingProblem
from mapper.models.tiling.cost import evaluate
from mapper.solver.method import Effort
from mapper.solver.proof import Claim, Status
from mapper.solver.tiling.catalogue import AUTOMATIC
from mapper.solver.tiling.exact.brute_force import BRUTE_FORCE
from mapper.solver.tiling.heuristic.random_search import random_search
from mapper.solver.tiling.proof import prove, restated
from tests.checkers.tiling.claim import claim_of, proof_of, verdict
from tests.solver.sample import drawn
from tests.solver.tiling.random_tiling import problems

DRAWN = random_search(20)


@pytest.mark.parametrize("count", [30, pytest.param(1000, marks=pytest.mark.slow)])
def test_brute_force_solver_and_checker_agree_on_random_tilings(count: int) -> None:
    seen: Counter[str] = Counter()

    @drawn(count)
    @given(problems())
    def agree(problem: TilingProblem) -> None:
        if restated(problem) is None:
            seen["backwards"] += 1
            return
        solved, counted = AUTOMATIC.search(problem, Effort()), BRUTE_FORCE.search(problem, Effort())
        for outcome in (solved, counted):
            if not outcome.proven:
                seen["unproven"] += 1
                continue
            status: Status = "infeasible" if outcome.mapping is None else "optimal"
            proof = prove(problem, Claim(status, outcome.mapping, outcome.value, outcome.bound), Effort())
            said, reason = verdict(proof.to_json("tiling", "layer"))
            assert said == "certified", reason
            seen[status] += 1
        if counted.mapping is not None:
            _wrong_claims_are_refuted(problem, seen)

    agree()
    assert seen["optimal"] > seen["infeasible"] > 0
    assert seen["better"] > 0


def _wrong_claims_are_refuted(problem: TilingProblem, seen: Counter[str]) -> None:
    true = proof_of(problem, BRUTE_FORCE)
    nothing = prove(problem, Claim("infeasible", None, None, None), Effort()).to_json("tiling", "layer")
    assert verdict(nothing)[0] == "refuted"
    value = true["claim"]["value"]
    if isinstance(value, int):
        for wrong in (value - 1, value + 1):
            claim = {"status": "optimal", "value": wrong, "bound": wrong}
            assert verdict({**true, "claim": claim})[0] == "refuted"
        high = {**copy.deepcopy(true), "claim": {"status": "bounded", "value": value, "bound": value + 1}}
        assert verdict(high)[0] == "refuted"
    other = DRAWN.search(problem, Effort()).mapping
    if other is None:
        return
    cost = evaluate(problem.nest, problem.machine, other)
    best = str(problem.exact_value(cost)) == str(value)
    assert (verdict(claim_of(problem, other))[0] == "certified") == best
    assert verdict(claim_of(problem, other, bound_of(problem)))[0] == "certified"
    seen["best" if best else "better"] += 1
