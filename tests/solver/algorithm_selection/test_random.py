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
from tests.solver.sample import Sample, counts, drawn

EXACT = frozenset(name for name, method in METHODS.items() if method.exact)
FEW = {"SHAPES": 12, "FLIPS": 40, "DRAWS": 64}
"""Steps of annealing and random draws: enough to reach many an optimum of so few layers, and to miss many."""


@pytest.mark.parametrize("count", counts())
def test_methods_agree_on_random_selections_and_every_selection_runs(
    monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    for name, number in FEW.items():
        monkeypatch.setattr(f"mapper.solver.algorithm_selection.heuristic.annealing.{name}", number)
    sample = Sample(refereed_by(verify, SelectionProblem.value))

    @drawn(count)
    @given(problems(lacking=True))
    def holds(posed: tuple[SelectionProblem, LayerNetwork]) -> None:
        problem, network = posed

        def runs(problem: SelectionProblem, selection: Selection) -> bool:
            found = report(problem, selection, network)
            # Of the generated overlay the program is held against the model (tests/sim/algorithm_selection/).
            return bool(found["outputs_equal"] and (found["agrees"] or problem.machine.engines is not None))

        sample.examine(problem, tuple(METHODS.values()), EXACT, runs)

    holds()
    sample.check_telling(unanswered=0.1, missed=0.2)
