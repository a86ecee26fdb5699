"""Many machines at once: the same proven values as one by one, and the front of them."""

from __future__ import annotations

import math
from dataclasses import replace
from random import Random

import pytest

from mapper.arch.hierarchy import Actions, HierarchyMachine
from mapper.arch.source import load_machine
from mapper.formulations.hierarchy.problem import ROUNDING, HierarchyProblem
from mapper.models.hierarchy.cost import evaluate
from mapper.solver.hierarchy.co_design import table
from mapper.solver.hierarchy.co_design.family import made, prices_of, words_of
from mapper.solver.hierarchy.co_design.search import CoDesign
from mapper.solver.hierarchy.co_design.table import SharedBranch, Tables
from mapper.solver.hierarchy.exact.branch import Branch
from mapper.solver.hierarchy.exact.branch_and_bound import Search, Waiting, branch_and_bound
from mapper.solver.method import Effort
from mapper.workloads.nest.layer_nest import matrix_product_nest
from tests.solver.hierarchy.random_hierarchy import random_problem

FAST, SLOW = range(8), range(8, 400)
FACTORS = (1, 2, 5)


def machines(problem: HierarchyProblem, random: Random) -> list[HierarchyProblem]:
    """The problem on machines of other sizes, of the same energies or of others."""
    found = []
    dear = random.choice((0.0, 0.0, 0.3))
    for first in FACTORS:
        for last in FACTORS:
            words = [None if one is None else one * first for one in words_of(problem.machine)]
            words[-1] = None if words[-1] is None else words[-1] * last
            prices = [
                None
                if one is None
                else Actions(
                    **{name: value * (1 + dear * (first + last)) for name, value in one.model_dump().items()}
                )
                for one in prices_of(problem.machine)
            ]
            found.append(replace(problem, machine=made(problem.machine, tuple(words), tuple(prices))))
    return found


def check(seed: int) -> None:
    random = Random(seed)
    problems = machines(random_problem(seed), random)
    random.shuffle(problems)
    shared = CoDesign(problems)
    best = math.inf
    for place, problem in enumerate(problems):
        alone, found = branch_and_bound(problem, Effort()), shared.best(place, best, Effort())
        assert found.proven == alone.proven
        if alone.value is None or alone.value >= best * (1 - ROUNDING):
            assert found.value is None, "what is no better than a value that is known is not an answer"
        else:
            assert found.value == pytest.approx(alone.value, rel=ROUNDING)
        if alone.value is not None:
            assert shared.least(place, Effort()) <= alone.value
            best = min(best, alone.value * random.choice((1.0, 1.5)))


@pytest.mark.parametrize("seed", FAST)
def test_values_below_a_limit_are_those_of_machines_by_themselves(seed: int) -> None:
    check(seed)


def test_values_are_the_same_if_there_is_no_memory_to_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "MOST_BYTES", 0)
    for seed in range(2, 5):
        check(seed)


def gemmini(scratchpad: int, accumulator: int, dear: float) -> HierarchyProblem:
    """A product on four levels, of which two are of such sizes, the outer one of them with such energies."""
    machine, _ = load_machine("gemmini-16")
    assert isinstance(machine, HierarchyMachine)
    outer, _, near, register = prices_of(machine)
    prices = (outer, Actions(read=dear, fill=dear, update=dear), near, register)
    words = (None, scratchpad, accumulator, 1)
    return HierarchyProblem(matrix_product_nest("small", (), 64, 32, 48), made(machine, words, prices), "edp")


def test_what_other_machines_have_tabulated_is_what_a_machine_would_have_by_itself() -> None:
    widest = gemmini(16384, 64, 5)
    many = [gemmini(*one) for one in ((4096, 2, 9), (4096, 64, 9), (1024, 2, 5), (1024, 64, 5))] + [widest]
    search = Search(widest, Effort())
    search.gather(widest)
    waiting = min(search.heap)[2]
    assert isinstance(waiting, Waiting)
    best = branch_and_bound(widest, Effort()).value
    assert best is not None
    tables, known = Tables(widest), 0
    for factor in (1.2, 1.1, 3):
        for problem in many:
            limit = best * factor
            alone = Branch(waiting.outset().on(problem), waiting.spaces.space(waiting.row))
            shared = SharedBranch(tables, waiting, problem)
            assert alone.build(Effort(), limit)
            assert shared.build(Effort(), limit)
            assert shared.bound == alone.bound
            for own, other in zip(shared.floor[1:], alone.floor[1:], strict=True):
                assert (own == other).all()
            assert shared.rows is not None
            assert alone.rows is not None
            assert (shared.rows[0][:, 0] == alone.rows[0][:, 0]).all()
            known += int((shared.floor[1] < math.inf).sum())
    assert known, "there are floors to compare"


@pytest.mark.slow
@pytest.mark.parametrize("seed", SLOW)
def test_values_below_a_limit_are_those_of_machines_by_themselves_on_many(seed: int) -> None:
    check(seed)


@pytest.mark.parametrize("seed", FAST)
def test_a_mapping_costs_the_same_on_a_machine_with_more_words(seed: int) -> None:
    problem = random_problem(seed)
    mapping = branch_and_bound(problem, Effort()).mapping
    if mapping is None:
        return
    words = tuple(None if one is None else 3 * one for one in words_of(problem.machine))
    larger = made(problem.machine, words, prices_of(problem.machine))
    own = evaluate(problem.nest, problem.machine, mapping)
    assert evaluate(problem.nest, larger, mapping) == own
