"""Random selections: exact methods agree with trying everything, no heuristic is better, every selection runs."""

from __future__ import annotations

import pytest
from hypothesis import given

from mapper.formulations.algorithm_selection.problem import SelectionProblem
from mapper.formulations.algorithm_selection.referee.verify import verify
from mapper.models.algorithm_selection.mapping import Selection
from mapper.sim.algorithm_selection import report
from mapper.solver.algorithm_selection.catalogue import METHODS
from mapper.workloads.network.network_layer import LayerNetwork
from tests.solver.algorithm_selection.random_selection import problems
from tests.solver.conformance import refereed_by
from tests.solver.sample import QUICK, THOROUGH, Sample, drawn

EXACT = frozenset(name for name, method in METHODS.items() if method.exact)


@pytest.mark.parametrize("count", [QUICK, pytest.param(THOROUGH, marks=pytest.mark.slow)])
def test_methods_agree_on_random_selections_and_every_selection_runs(count: int) -> None:
    sample = Sample(refereed_by(verify, SelectionProblem.value))

    @drawn(count)
    @given(problems())
    def holds(posed: tuple[SelectionProblem, LayerNetwork]) -> None:
        problem, network = posed

        def runs(problem: SelectionProblem, selection: Selection) -> bool:
            found = report(problem, selection, network)
            return bool(found["outputs_equal"] and found["agrees"])

        sample.examine(problem, tuple(METHODS.values()), EXACT, runs)

    holds()
    sample.check_telling(unanswered=0.1, missed=0.2)
