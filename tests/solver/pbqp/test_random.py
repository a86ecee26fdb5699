"""Random PBQP instances: exact methods agree with trying everything, and no heuristic is better."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given

from mapper.formulations.pbqp.problem import PbqpProblem
from mapper.models.pbqp.mapping import PbqpAssignment
from mapper.solver.outcome import Outcome
from mapper.solver.pbqp.catalogue import METHODS
from tests.solver.pbqp.oracle import KIND, brute_force
from tests.solver.pbqp.random_pbqp import FAMILIES, problems
from tests.solver.sample import Sample, counts, drawn

EXACT = frozenset({"auto", "elimination", "branch-and-bound", "brute-force"})
"""Methods that prove every instance of integers, however large its costs."""


@pytest.mark.parametrize("count", counts())
def test_methods_agree_on_random_instances(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr("mapper.solver.pbqp.heuristic.heuristic.ROUNDS", 20)
    sample: Sample[PbqpProblem, PbqpAssignment] = Sample(KIND)
    seen: Counter[str] = Counter()

    @drawn(count)
    @given(problems())
    def holds(drawn_problem: tuple[PbqpProblem, str]) -> None:
        problem, family = drawn_problem
        value = brute_force(problem.pinned)
        oracle = Outcome[PbqpAssignment](None, value, value, "complete", True)
        exact = problem.pinned.exact
        proving = EXACT if exact or value is None else frozenset[str]()
        found = sample.examine(problem, tuple(METHODS.values()), proving, oracle=oracle)
        seen[family] += 1
        seen["below zero"] += value is not None and value < 0
        searched = found["branch-and-bound"]
        seen["branched"] += (searched.evaluations or 0) > 1
        seen[f"{family}, proven"] += searched.proven

    holds()
    print(dict(seen))
    sample.check_telling(unanswered=0.1, missed=0.2)
    assert seen["branched"] >= 0.1 * count
    assert seen["below zero"] >= 0.3 * count
    for family in (family.name for family in FAMILIES):
        # Where the least double stands beside the largest, rounding decides more often than not: one in ten is proven.
        least = int(0.1 * seen[family]) if family == "any double" else 0.8 * seen[family]
        assert seen[f"{family}, proven"] >= least, family
        assert seen[family] > 0, family
