"""Cells of cuts: their numbers are those of counting, and what is in a group says no less than its first cut."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from random import Random

import numpy as np

from mapper.formulations.hierarchy.problem import HierarchyProblem, Pins
from mapper.solver.hierarchy.imperfect.cell import UNKNOWN, Cells
from mapper.solver.hierarchy.imperfect.cut_kernel import grouped, reached
from mapper.solver.hierarchy.imperfect.search import CutSearch
from mapper.solver.method import Effort
from mapper.workloads.nest.layer_nest import matrix_product_nest
from tests.solver.hierarchy.test_conformance import small

PRODUCT = HierarchyProblem(
    matrix_product_nest("product", (), 17, 13, 5), small(16), "edp", Pins(imperfect=True)
)


def searched(problem: HierarchyProblem) -> CutSearch:
    search = CutSearch(problem, Effort())
    search.gather()
    search.work()
    return search


def test_digits_that_are_reached_are_those_of_numbers_up_to_the_last_one() -> None:
    random = Random(5)
    for _ in range(100):
        trips = [random.randint(1, 4) for _ in range(4)]
        bound = random.randint(1, int(np.prod(trips)))
        asked = [random.random() < 0.6 for _ in trips]
        places = [int(np.prod(trips[k + 1 :])) for k in range(len(trips))]
        choices = product(*(range(many) if want else (0,) for many, want in zip(trips, asked, strict=True)))
        counted = sum(sum(a * b for a, b in zip(one, places, strict=True)) < bound for one in choices)
        found = reached(bound, np.array([trips]), np.array([asked]), np.array([len(trips)]))
        assert found.tolist() == [[counted]]


def test_no_cut_of_a_group_has_less_of_any_number_than_its_first() -> None:
    numbers = np.array([[2.0, 3.0], [1.0, 4.0], [2.0, 4.0], [1.0, 3.0], [0.0, 9.0], [1.0, 3.0]])
    group = grouped(numbers, np.argsort(numbers.sum(axis=1), kind="stable"))
    assert group.tolist() == [3, 3, 3, 3, 4, 3]


def cells_of(problem: HierarchyProblem) -> Cells:
    return searched(problem).bounds[0].cells


def test_parts_of_a_cell_are_all_of_its_cuts_and_none_has_less_than_the_cell() -> None:
    cells = cells_of(PRODUCT)
    split = [cell for cell in range(cells.count) if cells.parts[cell] == 2]
    assert split
    for cell in split:
        parts = cells.halves[cell]
        assert cells.spread[cell] > 0
        assert (np.minimum(*cells.numbers[parts]) == cells.numbers[cell]).all()
    for cell in range(cells.count):
        if cells.parts[cell] == 1:
            assert (cells.numbers[cells.halves[cell, 0]] >= cells.numbers[cell]).all()
    assert {int(one) for one in cells.parts[: cells.count]} <= {UNKNOWN, 0, 1, 2}


def test_mappings_that_cost_the_same_are_not_tried_one_by_one() -> None:
    # How 197 rows are split between the two levels changes nothing; blocks are counted whole, and so is the bound.
    machine = small(64)
    levels = [level.model_copy(update={"block": 8}) for level in machine.levels]
    rows = replace(
        PRODUCT,
        nest=matrix_product_nest("rows", (), 197, 1, 1),
        machine=machine.model_copy(update={"levels": levels}),
    )
    assert searched(rows).trials.tried < 10


def test_a_promising_node_is_followed_to_a_mapping() -> None:
    search = CutSearch(PRODUCT, Effort())
    search.gather()
    search._dive(*search.waiting.first())
    best = searched(PRODUCT).ended().value
    assert best is not None
    assert search.trials.value is not None
    assert search.trials.value >= best
