"""Factors that need not divide: branch and bound against brute force over all cuts, and what others say."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from mapper.arch.hierarchy import Constraint
from mapper.formulations.hierarchy.infeasible import why_infeasible
from mapper.formulations.hierarchy.problem import ROUNDING, HierarchyProblem, Pins
from mapper.formulations.hierarchy.referee.verify import CAPACITY, FACTORS, GROWN, UNEVEN, verify
from mapper.models.hierarchy.imperfect.limit import why_only_perfect
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.sim.hierarchy import report
from mapper.solver.hierarchy.catalogue import METHODS
from mapper.solver.hierarchy.exact import brute_force as oracle
from mapper.solver.hierarchy.imperfect import search
from mapper.solver.hierarchy.imperfect.fan import in_space, spaces_of
from mapper.solver.hierarchy.imperfect.search import CutSearch
from mapper.solver.hierarchy.padding.method import DIVIDING
from mapper.solver.hierarchy.space import Space
from mapper.solver.method import Effort
from mapper.solver.outcome import Outcome
from mapper.workloads.document import InputError
from mapper.workloads.nest.layer_nest import matrix_product_nest
from tests.solver.hierarchy.odd_hierarchy import odd_problem
from tests.solver.hierarchy.random_hierarchy import random_problem
from tests.solver.hierarchy.test_conformance import small

BRANCH_AND_BOUND = METHODS["branch-and-bound"]
SEVEN = HierarchyProblem(matrix_product_nest("seven", (), 7, 1, 1), small(), "latency", Pins(imperfect=True))
"""Seven rows on two units take seven turns if factors must divide, four if they need not."""


def drawn(seed: int) -> HierarchyProblem | None:
    """A problem with bounds that are seldom products; None where last passes are not counted."""
    random = Random(seed + 10**6)
    try:
        problem = odd_problem(seed) if seed % 2 else random_problem(seed)
    except InputError:
        return None
    sizes = {loop: random.choice((1, 1, 2, 3, 5)) for loop in problem.nest.loops}
    rules = problem.machine.rules.model_copy(update={"link_transfers": False})
    machine = problem.machine.model_copy(update={"rules": rules})
    nest = problem.nest.padded(sizes)
    if why_only_perfect(nest, machine) is not None:
        return None
    pins = replace(problem.pins, padded=(), imperfect=True)
    return replace(problem, nest=nest, machine=machine, pins=pins)


def brute(
    problem: HierarchyProblem, most: int, monkeypatch: pytest.MonkeyPatch
) -> Outcome[HierarchyMapping] | None:
    """What brute force finds, None if there is too much."""
    monkeypatch.setattr(oracle, "MOST_MAPPINGS", most)
    try:
        return oracle.brute_force(problem, Effort())
    except InputError:
        return None


def agrees(seed: int, most: int, monkeypatch: pytest.MonkeyPatch) -> bool:
    problem = drawn(seed)
    least = None if problem is None else brute(problem, most, monkeypatch)
    if problem is None or least is None:
        return False
    found: Outcome[HierarchyMapping] = Outcome.infeasible()
    if why_infeasible(problem) is None:
        # Without the first mappings, so that all are found by the search itself.
        own = CutSearch(problem, Effort())
        own.gather()
        own.work()
        found = own.ended()
    assert found.proven, seed
    if least.value is None:
        assert found.value is None, seed
        return True
    assert found.value is not None
    assert found.mapping is not None
    assert abs(found.value - least.value) <= ROUNDING * least.value, seed
    assert not verify(problem, found.mapping).broken
    return True


@pytest.mark.parametrize("block", range(4))
def test_what_is_proven_is_what_brute_force_finds(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    compared = sum(agrees(seed, 100, monkeypatch) for seed in range(50 * block, 50 * block + 50))
    assert compared > 5


@pytest.mark.slow
@pytest.mark.parametrize("block", range(100))
def test_what_is_proven_is_what_brute_force_finds_on_more(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sum(agrees(seed, 1_500, monkeypatch) for seed in range(400 + 100 * block, 500 + 100 * block))


def test_no_cell_costs_more_than_the_mappings_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0
    for seed in range(60):
        problem = drawn(seed)
        least = None if problem is None else brute(problem, 60, monkeypatch)
        if problem is None or least is None or least.value is None:
            continue
        searched = CutSearch(problem, Effort())
        searched.gather()
        assert searched.waiting.least <= least.value * (1 + ROUNDING), seed
        compared += 1
    assert compared > 3


def test_seven_rows_take_four_turns_of_two_units() -> None:
    found = BRANCH_AND_BOUND.search(SEVEN, Effort())
    assert found.proven
    assert (found.value, BRANCH_AND_BOUND.search(SEVEN.as_it_is(), Effort()).value) == (4, 7)
    assert found.mapping is not None
    assert not found.mapping.is_perfect
    run = report(SEVEN.nest, SEVEN.machine, found.mapping)
    assert (run["outputs_equal"], run["disagreements"]) == (True, [])
    assert {one.rule for one in verify(SEVEN.as_it_is(), found.mapping).broken} == {UNEVEN}


def test_trips_that_are_given_are_kept_though_they_do_not_divide() -> None:
    given = Constraint(level="outer", kind="temporal", factors={"I": 3})
    found = BRANCH_AND_BOUND.search(replace(SEVEN, pins=Pins((given,), imperfect=True)), Effort())
    assert found.proven
    assert found.mapping is not None
    assert [(one.loop, one.trips) for one in found.mapping.levels[0].temporal] == [("I", 3)]


def test_a_nest_of_one_operation_has_one_mapping() -> None:
    one = replace(SEVEN, nest=matrix_product_nest("one", (), 1, 1, 1))
    assert BRANCH_AND_BOUND.search(one, Effort()).value == 1


def test_all_methods_prove_or_say_what_they_left_out() -> None:
    for name, method in METHODS.items():
        found = method.search(SEVEN, Effort())
        assert found.proven == (name in ("auto", "branch-and-bound", "brute-force")), name
        assert found.proven or DIVIDING in found.restrictions
        assert found.value == (4 if found.proven else 7)


def test_a_search_that_is_stopped_has_a_bound() -> None:
    effort = Effort()
    effort.interrupt.set()
    stopped = BRANCH_AND_BOUND.search(SEVEN, effort)
    assert (stopped.stop, stopped.proven) == ("interrupted", False)
    assert stopped.bound is not None
    assert stopped.bound <= 4


def test_a_search_that_is_too_large_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MOST_NODES", 0)
    product = replace(SEVEN, nest=matrix_product_nest("product", (), 7, 5, 3))
    found = BRANCH_AND_BOUND.search(product, Effort())
    monkeypatch.undo()
    least = BRANCH_AND_BOUND.search(product, Effort())
    assert least.proven
    assert least.value is not None
    assert found.bound is not None
    assert found.bound <= least.value


def test_last_passes_that_do_not_make_the_bound_are_broken_rules() -> None:
    found = BRANCH_AND_BOUND.search(SEVEN, Effort()).mapping
    assert found is not None
    fewer = replace(SEVEN, nest=matrix_product_nest("six", (), 6, 1, 1))
    assert [one.rule for one in verify(fewer, found).broken] == [FACTORS]
    assert verify(fewer, found).cost is None
    rules = {one.rule for one in verify(replace(SEVEN, machine=small(1)), found).broken}
    assert rules <= {CAPACITY}
    padded = replace(found, padded=(("I", 8),))
    assert {one.rule for one in verify(SEVEN, padded).broken} == {FACTORS, GROWN}


def test_every_choice_of_trips_in_space_lies_along_the_axes() -> None:
    machine = small()
    machine = machine.model_copy(
        update={
            "levels": [
                machine.levels[0].model_copy(
                    update={"fanout": machine.levels[0].fanout.model_copy(update={"x": 3, "y": 2})}
                ),
                machine.levels[1],
            ]
        }
    )
    problem = replace(SEVEN, machine=machine, nest=matrix_product_nest("product", (), 7, 5, 3))
    spaces = spaces_of(problem, ("I", "J", "K"))
    assert spaces is not None
    for row in spaces[:, 0]:
        loops = in_space(problem, 0, ("I", "J", "K"), row)
        for axis, width in (("x", 3), ("y", 2)):
            assert np.prod([one.trips for one in loops if one.axis == axis]) <= width
        for loop, trips in zip("IJK", row, strict=True):
            assert np.prod([one.trips for one in loops if one.loop == loop]) == trips


def test_every_cut_of_a_loop_covers_it_and_none_is_longer_than_it_must_be() -> None:
    space = Space(SEVEN)
    rows = set(space.factorisations("I"))
    assert len(rows) > 3
    for row in rows:
        chunk = 1
        for slot in reversed(space.inwards):
            assert row[slot] == 1 or chunk < 7
            assert (row[slot] - 1) * chunk < 7
            chunk *= row[slot]
        assert chunk >= 7
