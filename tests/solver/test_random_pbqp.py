"""Random PBQP instances: exact methods agree with trying everything, and no heuristic is better."""

from __future__ import annotations

import pytest
from hypothesis import given

from mapper.formulations.pbqp.problem import PbqpProblem
from mapper.models.pbqp.assignment import PbqpAssignment
from mapper.solver.method import Outcome
from mapper.solver.pbqp.catalogue import METHODS
from tests.solver.pbqp_oracle import KIND, brute_force, problems
from tests.solver.sample import QUICK, THOROUGH, Sample, drawn

EXACT = frozenset({"auto", "elimination", "branch-and-bound", "brute-force"})
"""Methods that also prove where costs are no integers."""


@pytest.mark.parametrize("count", [QUICK, pytest.param(THOROUGH, marks=pytest.mark.slow)])
def test_methods_agree_on_random_instances(count: int) -> None:
    sample: Sample[PbqpProblem, PbqpAssignment] = Sample(KIND)

    @drawn(count)
    @given(problems())
    def holds(problem: PbqpProblem) -> None:
        value = brute_force(problem.posed)
        oracle = Outcome[PbqpAssignment](None, value, value, "complete", True)
        sample.examine(problem, tuple(METHODS.values()), EXACT, oracle=oracle)

    holds()
    sample.check_telling(unanswered=0.1, missed=0.01)
