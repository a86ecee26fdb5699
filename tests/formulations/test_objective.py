"""Objectives know themselves what is better."""

from __future__ import annotations

import pytest

from mapper.formulations.objective import LATENCY, THROUGHPUT, Objective
from mapper.kind import ENTRIES, kinds


def test_the_sense_decides_what_is_better() -> None:
    assert THROUGHPUT.better(3, 2) and not THROUGHPUT.better(2, 3) and not THROUGHPUT.better(2, 2)
    assert LATENCY.better(2, 3) and not LATENCY.better(3, 2)


@pytest.mark.parametrize(("goal", "best", "tightest"), [(THROUGHPUT, 5, 1), (LATENCY, 1, 5)])
def test_the_best_value_and_the_tightest_bound_lie_at_opposite_ends(
    goal: Objective, best: int, tightest: int
) -> None:
    assert goal.best([3, 1, 5]) == best and goal.best([]) is None
    assert goal.tightest([3, 1, 5]) == tightest and goal.tightest([]) is None


def test_a_name_means_one_objective_in_all_kinds() -> None:
    named: dict[str, Objective] = {}
    for entry in ENTRIES:
        for goal in entry.objectives:
            assert named.setdefault(goal.name, goal) == goal


def test_kinds_have_the_objectives_that_are_listed_of_them() -> None:
    assert [kind.objectives for kind in kinds()] == [entry.objectives for entry in ENTRIES]
