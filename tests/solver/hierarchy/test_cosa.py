"""The integer program on a proxy: what it gives is a mapping by the rules, which no proof contradicts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mapper.arch.hierarchy import Actions, Constraint
from mapper.formulations.hierarchy.problem import HierarchyProblem, Pins
from mapper.formulations.hierarchy.referee.verify import verify
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.solver.hierarchy.exact.branch_and_bound import branch_and_bound
from mapper.solver.hierarchy.heuristic.cosa import cosa
from mapper.solver.method import Effort
from mapper.workloads.nest.layer_nest import Convolution, convolution_nest, matrix_product_nest
from tests.solver.hierarchy.random_hierarchy import random_problem
from tests.solver.hierarchy.test_large_nests import preset

GEMMINI = preset("gemmini-16")
PRODUCT = HierarchyProblem(matrix_product_nest("product", (), 64, 64, 64), GEMMINI, "edp")


def mapped(problem: HierarchyProblem) -> HierarchyMapping:
    """The mapping that it gives, which keeps all rules."""
    found = cosa(problem, Effort()).mapping
    assert found is not None
    assert not verify(problem, found).broken
    return found


def trips(mapping: HierarchyMapping, level: str) -> int:
    """Instances that a level's loops in space occupy."""
    own = next(one for one in mapping.levels if one.level == level)
    found = 1
    for loop in own.spatial:
        found *= loop.trips
    return found


def test_it_fills_an_array_that_its_loops_can_fill() -> None:
    found = mapped(PRODUCT)
    assert trips(found, "scratchpad") == trips(found, "accumulator") == 16


def test_windows_that_are_larger_than_it_thinks_fit_at_last() -> None:
    shape = Convolution(1, 16, 16, (30, 30), (3, 3), (2, 2), (1, 1), ((1, 1), (1, 1)), 1)
    small = {"words": 256, "energy_pj": Actions(read=1, fill=1, update=1)}
    levels = [
        level.model_copy(update=small) if level.name == "scratchpad" else level for level in GEMMINI.levels
    ]
    machine = GEMMINI.model_copy(update={"levels": tuple(levels)})
    mapped(HierarchyProblem(convolution_nest("strided", shape), machine, "edp"))


def test_it_keeps_to_what_is_given() -> None:
    given = Constraint(level="scratchpad", kind="spatial", factors={"J": 4})
    found = mapped(replace(PRODUCT, pins=Pins(constraints=(given,))))
    assert trips(found, "scratchpad") == 4


@pytest.mark.parametrize("seed", range(3))
def test_no_mapping_of_it_is_better_than_what_is_proven(seed: int) -> None:
    problem = random_problem(seed, links=False)
    least, found = branch_and_bound(problem, Effort()), cosa(problem, Effort())
    assert not found.proven or found.value == least.value
    if found.value is not None:
        assert least.value is not None
        assert found.value >= least.value * (1 - 1e-9)
