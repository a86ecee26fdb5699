"""Bounds that may grow: branch and bound against brute force over all of them, and what chooses among them."""

from __future__ import annotations

import math
import threading
from dataclasses import replace
from itertools import product
from random import Random

import pytest

from mapper.arch.hierarchy import Constraint
from mapper.formulations.hierarchy.problem import HierarchyProblem, Pins
from mapper.formulations.hierarchy.referee.verify import GROWN, verify
from mapper.models.tiling.padding import paddable_loops
from mapper.solver.hierarchy.catalogue import METHODS
from mapper.solver.hierarchy.exact import brute_force as oracle
from mapper.solver.hierarchy.exact.branch_and_bound import Search, branch_and_bound
from mapper.solver.hierarchy.padding.choice import Paddings
from mapper.solver.hierarchy.padding.method import UNTRIED
from mapper.solver.hierarchy.padding.relaxed import arrangements
from mapper.solver.method import Effort
from mapper.solver.outcome import Outcome
from mapper.workloads.document import InputError
from mapper.workloads.nest.layer_nest import Convolution, convolution_nest, matrix_product_nest
from tests.solver.hierarchy.odd_hierarchy import odd_problem
from tests.solver.hierarchy.random_hierarchy import random_problem
from tests.solver.hierarchy.test_branch_and_bound import check
from tests.solver.hierarchy.test_conformance import small
from tests.solver.hierarchy.test_large_nests import preset
from tests.solver.hierarchy.test_odd_problems import agrees, runs

FAST, OTHERS, SLOW = range(20), range(20, 50), range(50, 500)
FIVE = HierarchyProblem(matrix_product_nest("five", (), 5, 1, 1), small(), "latency", Pins(free=("I",)))
"""Five rows on two units take five turns, six take three."""


def free(problem: HierarchyProblem) -> HierarchyProblem:
    """The problem with bounds that may grow wherever this changes no result."""
    return replace(problem, pins=Pins(free=paddable_loops(problem.nest)))


def drawn(seed: int) -> HierarchyProblem:
    return free(random_problem(seed, links=seed % 3 == 0))


@pytest.mark.parametrize("seed", FAST)
def test_what_is_proven_is_what_brute_force_finds(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    check(drawn(seed), 100, monkeypatch)


@pytest.mark.parametrize("seed", OTHERS)
def test_it_is_where_arrangements_of_all_sizes_choose_among_bounds(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mapper.solver.hierarchy.exact.branch_and_bound.FEW_PADDINGS", 0)
    check(drawn(seed), 100, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SLOW)
def test_what_is_proven_is_what_brute_force_finds_on_more(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    check(drawn(seed), 3_000, monkeypatch)


def test_a_bound_grows_where_that_is_better_and_no_further() -> None:
    found = branch_and_bound(FIVE, Effort())
    plain = branch_and_bound(FIVE.as_it_is(), Effort())
    assert found.proven
    assert found.mapping is not None
    assert found.mapping.padded == (("I", 6),)
    assert (found.value, plain.value) == (3, 5)


def test_trips_that_are_given_beyond_a_bound_are_reached_where_it_may_grow() -> None:
    given = Constraint(level="outer", kind="temporal", factors={"I": 7})
    pins = replace(FIVE.pins, constraints=(given,))
    grown = branch_and_bound(replace(FIVE, pins=pins), Effort())
    assert grown.mapping is not None
    assert grown.mapping.padded == (("I", 7),)
    assert branch_and_bound(replace(FIVE, pins=replace(pins, free=())), Effort()) == Outcome.infeasible()
    beyond = given.model_copy(update={"factors": {"I": 10}})
    assert branch_and_bound(replace(FIVE, pins=replace(pins, constraints=(beyond,))), Effort()).proven


@pytest.mark.parametrize("seed", [50495, 50514, 50568, 52418, 70016, *range(50000, 50060)])
def test_nobody_says_of_larger_bounds_what_brute_force_does_not_find(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oracle, "MOST_MAPPINGS", 100)
    try:
        drawn = odd_problem(seed)
        free = paddable_loops(drawn.nest)
        problem = replace(drawn, pins=replace(drawn.pins, padded=(), free=free))
        least = oracle.brute_force(problem, Effort())
    except InputError:
        return
    found = branch_and_bound(problem, Effort())
    assert found.proven or problem.machine.rules.link_transfers
    agrees(found, least)
    if found.mapping is not None:
        runs(problem, found.mapping)


def test_no_size_costs_less_than_the_bound_that_chooses_among_them() -> None:
    for seed in range(12):
        problem = free(random_problem(seed, links=seed % 3 == 0))
        paddings = Paddings(problem)
        own = problem.bounds
        ranges = [range(own[loop], min(2 * own[loop], own[loop] + 2)) for loop in paddings.loops]
        for sizes in product(*ranges):
            grown = {**own, **dict(zip(paddings.loops, sizes, strict=True))}
            found = branch_and_bound(problem.padded_to(grown), Effort())
            if found.value is not None:
                bound, _ = paddings.bound.of(grown, frozenset())
                assert paddings.least <= bound * (1 + 1e-9)
                assert bound <= found.value * (1 + 1e-9)


class Anything:
    """Takes an interest in every mapping."""

    limit = math.inf

    def wants(self, bound: float, cycles: float) -> bool:
        return True


@pytest.mark.parametrize("seed", range(12))
def test_arrangements_cost_no_more_at_larger_sizes_than_the_best_mapping_of_these(seed: int) -> None:
    problem = free(random_problem(seed, links=False))
    left = arrangements(problem, 0.0, Anything(), Effort())
    if left is None:
        return
    random = Random(seed)
    for _ in range(3):
        sizes = {
            loop: own + (random.randrange(own) if loop in problem.pins.free else 0)
            for loop, own in problem.bounds.items()
        }
        least = branch_and_bound(problem.padded_to(sizes), Effort())
        dividing = left
        for loop, size in sizes.items():
            dividing = dividing.dividing(loop, [size], problem.bounds)[0]
        if least.value is not None:
            assert dividing.at(sizes).least <= least.value * (1 + 1e-9)


def test_sizes_by_the_thousand_are_no_reason_to_stop_where_one_arrangement_tells_them_apart() -> None:
    depthwise = Convolution(1, 96, 96, (112, 112), (3, 3), (2, 2), (1, 1), ((1, 1), (1, 1)), 96)
    nest = convolution_nest("depthwise", depthwise)
    problem = free(HierarchyProblem(nest, preset("gemmini-16"), "edp"))
    assert branch_and_bound(problem, Effort()).proven


def test_what_is_cut_off_while_sizes_are_gathered_keeps_the_bound_of_those_not_looked_at() -> None:
    stopped = threading.Event()
    search = Search(FIVE, Effort(interrupt=stopped))
    search._start()
    search.ahead = search.trials.bound + 0.5
    stopped.set()
    search.gather(FIVE.padded_to({"I": 6}))
    assert search.undecided == search.ahead


def test_bounds_grow_to_less_than_twice_their_own_and_only_where_they_may() -> None:
    found = branch_and_bound(FIVE, Effort()).mapping
    assert found is not None
    assert not verify(FIVE, found).broken
    assert [one.rule for one in verify(FIVE.as_it_is(), found).broken] == [GROWN]
    doubled = branch_and_bound(FIVE.padded_to({"I": 10}), Effort()).mapping
    assert doubled is not None
    assert [one.rule for one in verify(FIVE, doubled).broken] == [GROWN]


@pytest.mark.parametrize("name", ["cp-sat", "annealing", "hill-climbing", "cosa", "random"])
def test_methods_that_take_bounds_as_they_are_say_so(name: str) -> None:
    found = METHODS[name].search(FIVE, Effort())
    assert not found.proven
    assert UNTRIED in found.restrictions
    assert found.mapping is not None
    assert not found.mapping.padded
