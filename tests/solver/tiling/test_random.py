"""Random tilings: exact methods agree with trying everything, no heuristic is better, every mapping runs."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import given

from mapper.formulations.tiling.problem import TilingProblem
from mapper.formulations.tiling.referee.verify import verify
from mapper.models.tiling.cost import evaluate
from mapper.models.tiling.mapping import TilingMapping
from mapper.sim.tiling import report
from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome
from mapper.solver.tiling.catalogue import METHODS
from mapper.solver.tiling.heuristic.annealing import annealing
from mapper.solver.tiling.heuristic.genetic import genetic
from mapper.solver.tiling.heuristic.random_search import random_search
from mapper.solver.tiling.program.constraint_program import CONSTRAINT_PROGRAM
from tests.solver.conformance import refereed_by
from tests.solver.sample import Sample, counts, drawn
from tests.solver.tiling.random_tiling import problems

SHORT = {method.name: method for method in (annealing(300), genetic(300), random_search(300))}
"""Heuristics with so few evaluations that they miss many an optimum."""


PROVING = ("branch-and-bound", "cp-sat", "bounded-table", "brute-force")
EACH = 25
"""One of so many problems is proven by the constraint program too, which takes about a second for it."""


class Proofs:
    """Methods that remember what they prove, exactly: values are compared as they are reported, floats perhaps."""

    def __init__(self) -> None:
        self.costs: dict[str, tuple[int, ...] | None] = {}

    def of(self, method: Method[TilingProblem, TilingMapping]) -> Method[TilingProblem, TilingMapping]:
        def search(problem: TilingProblem, effort: Effort) -> Outcome[TilingMapping]:
            outcome = method.search(problem, effort)
            if outcome.proven and method.name in PROVING:
                found = outcome.mapping
                cost = None if found is None else evaluate(problem.nest, problem.machine, found)
                self.costs[method.name] = None if cost is None else problem.rank(cost)[:1]
            return outcome

        return replace(method, search=search)


def runs(problem: TilingProblem, mapping: TilingMapping) -> bool:
    """Outputs equal those of the reference; words, cycles and energy are the model's to the unit."""
    found = report(problem.nest, problem.machine, mapping)
    return bool(found["outputs_equal"] and found["agrees"])


@pytest.mark.parametrize("count", counts(quick=20))
def test_methods_agree_on_random_tilings_and_every_mapping_runs(count: int) -> None:
    proofs = Proofs()
    methods = [proofs.of(SHORT.get(method.name, method)) for method in METHODS.values()]
    quick = [method for method in methods if method.name != CONSTRAINT_PROGRAM.name]
    turn = itertools.count()
    exact = frozenset({"auto", "brute-force"})
    sample = Sample(refereed_by(verify, TilingProblem.value))

    @drawn(count)
    @given(problems())
    def holds(problem: TilingProblem) -> None:
        proofs.costs.clear()
        sample.examine(problem, quick if next(turn) % EACH else methods, exact, runs)
        assert len(set(proofs.costs.values())) == 1, proofs.costs

    holds()
    sample.check_telling(unanswered=0.1, missed=0.3)
