"""Nests that are too large to prove: a mapping comes in any case, bounds stay honest, and loops are those that are
meant."""

from __future__ import annotations

import pytest

from mapper.arch.hierarchy import HierarchyMachine
from mapper.arch.source import load_machine
from mapper.formulations.hierarchy.problem import HierarchyProblem
from mapper.formulations.hierarchy.referee.verify import verify
from mapper.solver.hierarchy.choice import first_choice
from mapper.solver.hierarchy.exact import branch, branch_and_bound, lattice
from mapper.solver.hierarchy.exact.brute_force import brute_force
from mapper.solver.hierarchy.space import Space
from mapper.solver.method import Effort
from mapper.workloads.nest.layer_nest import matrix_product_nest
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.nest.nest_file import nest_from_document
from tests.solver.hierarchy.test_odd_nests import machine_of

PRESETS = (
    "eyeriss-like",
    "simba-like",
    "gemmini-16",
    "simple-output-stationary",
    "simple-weight-stationary",
    "tpu-v4i",
)


def preset(name: str) -> HierarchyMachine:
    machine, _ = load_machine(name)
    assert isinstance(machine, HierarchyMachine)
    return machine


def twelve_loops() -> LoopNest:
    """A convolution with windows over four dimensions."""
    loops = dict(zip("NKCABDERSTUG", (8, 64, 64, 28, 28, 16, 16, 3, 3, 3, 3, 4), strict=True))
    return nest_from_document(
        {
            "schema": "mapper.nest/1",
            "name": "twelve",
            "loops": loops,
            "operands": [
                {"tensor": "W", "index": ["G", "K", "C", "R", "S", "T", "U"]},
                {"tensor": "I", "index": ["N", "G", "C", "A + R", "B + S", "D + T", "E + U"]},
                {"tensor": "O", "index": ["N", "G", "K", "A", "B", "D", "E"], "access": "read_write"},
            ],
        },
        "twelve",
    )


@pytest.mark.parametrize("name", PRESETS)
def test_the_mapping_with_the_smallest_tiles_needs_no_search(name: str) -> None:
    for nest in (twelve_loops(), matrix_product_nest("product", (), 65536, 65536, 65536)):
        problem = HierarchyProblem(nest, preset(name), "edp")
        space = Space(problem)
        choice = first_choice(space)
        assert choice is not None
        assert not verify(problem, choice.mapping(space)).broken


def test_a_search_that_ends_at_once_has_a_mapping_and_a_bound() -> None:
    problem = HierarchyProblem(twelve_loops(), preset("eyeriss-like"), "edp")
    effort = Effort()
    effort.interrupt.set()
    found = branch_and_bound.branch_and_bound(problem, effort)
    assert found.stop == "interrupted" and found.mapping is not None
    assert found.bound is not None and found.value is not None and 0 < found.bound < found.value


SMALL = HierarchyProblem(
    matrix_product_nest("product", (), 4, 2, 2),
    machine_of({"words": 8, "bypass": ["B"]}, {"words": 3, "keep": ["A"], "bypass": ["B"]}, fanout={"x": 2}),
    "energy",
)


@pytest.mark.parametrize(
    ("where", "most", "proves"),
    [
        (lattice, "MOST_NODES", False),
        (lattice, "MOST_STEPS", False),
        (branch, "MOST_ROWS", False),
        (branch, "STEPS_AT_ONCE", True),
        (branch_and_bound, "MOST_ARRANGEMENTS", False),
    ],
)
def test_what_is_not_opened_leaves_a_bound_below_the_optimum(
    where: object, most: str, proves: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    least = brute_force(SMALL, Effort()).value
    monkeypatch.setattr(where, most, 1)
    monkeypatch.setattr(branch, "MOST_CHILDREN", 1)
    found = branch_and_bound.branch_and_bound(SMALL, Effort())
    assert least is not None and found.bound is not None and found.value is not None
    assert found.bound <= least <= found.value
    assert found.proven is proves and (found.value == least or not proves)


def test_the_k_of_a_machine_is_not_the_k_that_a_product_is_summed_over() -> None:
    product = matrix_product_nest("product", (), 64, 64, 64)
    problem = HierarchyProblem(product, preset("gemmini-16"), "edp")
    assert (problem.most(1, "x", "J"), problem.most(1, "x", "K")) == (16, 1)
    assert (problem.most(2, "x", "J"), problem.most(2, "x", "K")) == (1, 16)
    found = branch_and_bound.branch_and_bound(problem, Effort()).mapping
    assert found is not None
    assert not verify(problem, found).broken
    assert [[one.loop for one in level.spatial] for level in found.levels] == [[], ["J"], ["K"], []]


def test_a_machine_that_names_loops_of_the_nest_alone_means_these() -> None:
    product = matrix_product_nest("product", (), 4, 4, 4)
    problem = HierarchyProblem(product, machine_of({"words": 8}, fanout={"x": 4, "x_loops": ["K"]}), "energy")
    assert (problem.most(0, "x", "J"), problem.most(0, "x", "K")) == (1, 4)
