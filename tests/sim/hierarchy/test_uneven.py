"""Mappings whose last passes are smaller: the simulator's walk against the model."""

from __future__ import annotations

import pytest

from mapper.models.hierarchy.imperfect.digit import Chain
from mapper.sim.hierarchy import report
from mapper.sim.hierarchy import uneven as walk
from mapper.workloads.document import InputError
from tests.sim.hierarchy.drawn import drawn_cut_problem


@pytest.mark.parametrize("block", range(6))
def test_every_last_pass_computes_the_reference_and_costs_what_the_model_says(block: int) -> None:
    holds(range(20 * block, 20 * block + 20))


@pytest.mark.slow
@pytest.mark.parametrize("block", range(6, 200))
def test_more_last_passes_cost_what_the_model_says(block: int) -> None:
    holds(range(20 * block, 20 * block + 20))


def holds(seeds: range) -> None:
    for seed in seeds:
        problem = drawn_cut_problem(seed)
        if problem is not None:
            found = report(*problem, seed)
            assert (found["outputs_equal"], found["disagreements"]) == (True, []), seed


def test_last_passes_that_are_counted_as_whole_ones_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Chain, "rest", property(lambda own: own.chunk))
    found = [report(*problem)["disagreements"] for seed in range(8) if (problem := drawn_cut_problem(seed))]
    assert ["energy_pj", "accesses"] in found


def test_a_walk_of_too_many_turns_is_refused_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk, "MOST_TURNS", 4)
    problem = next(found for seed in range(8) if (found := drawn_cut_problem(seed)))
    with pytest.raises(InputError, match="turns of all instances, more than 4; lower the bounds"):
        report(*problem)
