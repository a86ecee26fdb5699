"""Trade-offs and limits on latency against all mappings of small problems."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mapper.formulations.hierarchy.problem import HierarchyProblem, Pins
from mapper.formulations.hierarchy.referee.verify import verify
from mapper.models.hierarchy.cost import STEPS_PER_PJ, evaluate
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.models.tiling.padding import paddable_loops
from mapper.solver.hierarchy.catalogue import METHODS
from mapper.solver.hierarchy.exact import brute_force as oracle
from mapper.solver.hierarchy.exact.branch_and_bound import branch_and_bound
from mapper.solver.hierarchy.front import FrontSearch, criteria, front
from mapper.solver.hierarchy.imperfect.front import cut_front
from mapper.solver.hierarchy.trial import Trials
from mapper.solver.method import Effort
from mapper.solver.outcome import Outcome
from mapper.workloads.document import InputError
from tests.solver.hierarchy.random_hierarchy import random_problem
from tests.solver.hierarchy.test_imperfect import drawn

FAST, SLOW = range(40), range(40, 600)
Points = set[tuple[int, ...]]


def all_points(problem: HierarchyProblem, monkeypatch: pytest.MonkeyPatch) -> Points | None:
    """Energy and cycles of every mapping; None if there are too many."""
    seen: Points = set()
    take = Trials.take

    def remembered(self: Trials, mapping: HierarchyMapping) -> int | float | None:
        value = take(self, mapping)
        if value is not None:
            seen.add(criteria(problem, mapping))
        return value

    with monkeypatch.context() as patch:
        patch.setattr(Trials, "take", remembered)
        try:
            oracle.brute_force(problem, Effort())
        except InputError:
            return None
    return seen


def none_is_better(seen: Points) -> Points:
    """The points that no other is better than."""
    return {
        point
        for point in seen
        if not any(one != point and one[0] <= point[0] and one[1] <= point[1] for one in seen)
    }


def check(seed: int, most: int, monkeypatch: pytest.MonkeyPatch, *, grows: bool = False) -> None:
    monkeypatch.setattr(oracle, "MOST_MAPPINGS", most)
    problem = random_problem(seed)
    if grows:
        problem = replace(problem, pins=Pins(free=paddable_loops(problem.nest)))
    seen = all_points(problem, monkeypatch)
    if seen is None:
        return
    best = none_is_better(seen)
    found = front(problem, Effort())
    assert found.complete
    assert {criteria(problem, one.mapping) for one in found.points if one.mapping} == best
    for energy, cycles in best:
        limited = replace(problem, max_cycles=cycles, objective="energy")
        one = branch_and_bound(limited, Effort())
        assert one.proven
        assert one.mapping is not None
        assert not verify(limited, one.mapping).broken
        assert evaluate(problem.nest, problem.machine, one.mapping).energy_steps == energy


def cuts_agree(seed: int, most: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many points a front of all cuts has, if it is what all mappings leave; 0 where there are too many."""
    monkeypatch.setattr(oracle, "MOST_MAPPINGS", most)
    problem = drawn(seed)
    seen = None if problem is None else all_points(problem, monkeypatch)
    if problem is None or seen is None:
        return 0
    best = none_is_better(seen)
    # Once from nothing, so that all points are found by the search itself.
    fronts = [front(problem, Effort())]
    if best:
        fronts.append(cut_front(problem, Effort(), []))
    for found in fronts:
        assert found.complete, seed
        assert {criteria(problem, one.mapping) for one in found.points if one.mapping} == best, seed
    for _, cycles in best:
        limited = METHODS["branch-and-bound"].search(replace(problem, max_cycles=cycles), Effort())
        assert limited.proven and limited.mapping is not None
        assert not verify(replace(problem, max_cycles=cycles), limited.mapping).broken
    return len(best)


@pytest.mark.parametrize("seed", FAST)
def test_a_front_is_what_all_mappings_leave(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    check(seed, 60, monkeypatch)


@pytest.mark.parametrize("seed", FAST[:20])
def test_a_front_is_what_all_mappings_of_all_bounds_leave(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    check(seed, 60, monkeypatch, grows=True)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SLOW)
def test_a_front_is_what_all_mappings_leave_on_more(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    check(seed, 1_000, monkeypatch, grows=seed % 2 == 0)


def test_a_front_of_all_cuts_is_what_all_mappings_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    assert max(cuts_agree(seed, 100, monkeypatch) for seed in range(100)) > 1


@pytest.mark.slow
@pytest.mark.parametrize("block", range(40))
def test_a_front_of_all_cuts_is_what_all_mappings_leave_on_more(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = [cuts_agree(seed, 300, monkeypatch) for seed in range(100 + 50 * block, 150 + 50 * block)]
    assert max(points) > 0


def test_a_limit_that_no_mapping_keeps_is_proven_to_leave_none() -> None:
    problem = random_problem(3)
    fastest = branch_and_bound(replace(problem, objective="latency"), Effort())
    assert fastest.value is not None
    none = branch_and_bound(replace(problem, max_cycles=int(fastest.value) - 1), Effort())
    assert none.proven
    assert none.mapping is None


def test_a_search_that_is_stopped_has_no_complete_front() -> None:
    effort = Effort()
    effort.interrupt.set()
    assert not front(random_problem(3), effort).complete


def test_points_below_all_that_is_open_are_proven_though_the_search_has_ended() -> None:
    problem = replace(random_problem(6), objective="energy")
    whole = front(problem, Effort())
    search = FrontSearch(problem, Effort())
    search.found()
    least = min(energy for energy, _, _ in search.points.at.values()) / STEPS_PER_PJ
    search.undecided = 2 * least
    search.stop = "time_limit"
    search.run = lambda: Outcome.unknown("time_limit")  # type: ignore[method-assign]
    cut = search.found()
    assert whole.complete and not cut.complete
    assert [one.proven for one in cut.points] == [(one.value or 0) < 2 * least for one in cut.points]
    assert cut.points[0].proven and cut.points[0].stop == "time_limit"
