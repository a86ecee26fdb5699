"""Every search, the checker and the simulator on small problems that have everything at once, beside brute force."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mapper.formulations.hierarchy.problem import ROUNDING, HierarchyProblem
from mapper.formulations.hierarchy.referee.verify import verify
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.sim.hierarchy import report
from mapper.solver.hierarchy.exact import brute_force as oracle
from mapper.solver.hierarchy.exact.branch_and_bound import branch_and_bound
from mapper.solver.hierarchy.front import front
from mapper.solver.hierarchy.heuristic.annealing import hill_climbing
from mapper.solver.method import Effort
from mapper.solver.outcome import Outcome
from mapper.workloads.document import InputError
from tests.checkers.hierarchy.claim import proof_of, verdict
from tests.solver.hierarchy.odd_hierarchy import odd_problem

FAST, SLOW = range(40), range(40, 2_000)
Found = Outcome[HierarchyMapping]


def agrees(found: Found, least: Found) -> None:
    """What a method says against what brute force found."""
    best = least.value
    if found.proven:
        assert (found.value is None) == (best is None)
    if best is None:
        assert found.value is None
        return
    slack = ROUNDING * best
    assert found.value is None or found.value >= best - slack
    assert found.bound is None or found.bound <= best + slack
    assert not found.proven or found.value is None or found.value <= best + slack


def runs(problem: HierarchyProblem, mapping: HierarchyMapping) -> None:
    """A mapping is feasible, and the simulator says of it what the model says."""
    assert not verify(problem, mapping).broken
    run = report(problem.nest, problem.machine, mapping)
    assert run["disagreements"] == []
    assert run["outputs_equal"] or mapping.padded


def check(seed: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oracle, "MOST_MAPPINGS", most)
    try:
        problem = odd_problem(seed)
        least = oracle.brute_force(problem, Effort())
    except InputError:
        return
    links = problem.machine.rules.link_transfers
    found = branch_and_bound(problem, Effort())
    assert found.proven or links
    for one in (found, hill_climbing(problem, Effort(), 50)):
        agrees(one, least)
        if one.mapping is not None:
            runs(problem, one.mapping)
    status, reason = verdict(proof_of(problem, least))
    assert status in ("certified", "not certified"), reason
    points = front(replace(problem, objective="energy"), Effort())
    assert points.complete or links
    assert (len(points.points) == 0) == (least.value is None)


@pytest.mark.parametrize("part", range(4))
def test_nobody_says_anything_that_brute_force_does_not_find(
    part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in FAST[part::4]:
        check(seed, 60, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(28))
def test_nobody_says_anything_that_brute_force_does_not_find_on_more(
    part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in SLOW[part::28]:
        check(seed, 500, monkeypatch)
