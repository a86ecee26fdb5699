"""Where neighbours may hand words on is told from machine and loops alone."""

from __future__ import annotations

from dataclasses import replace

from mapper.formulations.hierarchy.neighbour import may_hand_anything
from mapper.formulations.hierarchy.problem import HierarchyProblem
from mapper.workloads.nest.layer_nest import Convolution, convolution_nest, matrix_product_nest
from tests.solver.hierarchy.test_conformance import small
from tests.solver.hierarchy.test_large_nests import preset

PRODUCT = matrix_product_nest("product", (), 4, 4, 4)
CONVOLUTION = convolution_nest(
    "convolution", Convolution(1, 16, 16, (8, 8), (3, 3), (1, 1), (1, 1), ((1, 1), (1, 1)), 1)
)


def test_units_below_the_last_level_may_hand_words_on() -> None:
    assert may_hand_anything(HierarchyProblem(PRODUCT, small(fanout={"x": 2}), "edp"))


def test_nobody_does_where_the_rule_is_off_or_no_loop_may_run_in_space() -> None:
    machine = small(fanout={"x": 2})
    rules = machine.rules.model_copy(update={"link_transfers": False})
    assert not may_hand_anything(
        HierarchyProblem(PRODUCT, machine.model_copy(update={"rules": rules}), "edp")
    )
    single = replace(PRODUCT, bounds=tuple((loop, 1) for loop, _ in PRODUCT.bounds))
    assert not may_hand_anything(HierarchyProblem(single, machine, "edp"))


def test_windows_that_no_axis_carries_are_not_handed_on() -> None:
    assert preset("gemmini-16").rules.link_transfers
    assert not may_hand_anything(HierarchyProblem(CONVOLUTION, preset("gemmini-16"), "edp"))
