"""Nests whose tensors lie on diagonals or with gaps, instances that add up among themselves, and pins that clash."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mapper.arch.hierarchy import Constraint, HierarchyMachine, hierarchy_from_document
from mapper.formulations.hierarchy.infeasible import why_infeasible
from mapper.formulations.hierarchy.problem import HierarchyProblem, Pins
from mapper.models.hierarchy.cost import counts
from mapper.solver.hierarchy.exact.branch_and_bound import branch_and_bound
from mapper.solver.hierarchy.exact.brute_force import brute_force
from mapper.solver.hierarchy.program import constraint_program
from mapper.solver.method import Effort
from mapper.workloads.document import InputError
from mapper.workloads.nest.layer_nest import matrix_product_nest
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.nest.nest_file import nest_from_document
from tests.checkers.hierarchy.claim import proof_of, verdict


def nest_of(loops: dict[str, int], **indices: list[str]) -> LoopNest:
    """A nest whose tensor O is summed up."""
    operands = [
        {"tensor": name, "index": index, "access": "read_write" if name == "O" else "read"}
        for name, index in indices.items()
    ]
    return nest_from_document(
        {"schema": "mapper.nest/1", "name": "odd", "loops": loops, "operands": operands}, "odd"
    )


def machine_of(*inner: dict[str, Any], links: bool = False, **outer: Any) -> HierarchyMachine:
    """Levels whose accesses cost 1 pJ unless they say otherwise."""
    energy = {"read": 1, "fill": 1, "update": 1}
    levels = [
        {"name": f"L{place}", "energy_pj": energy} | level for place, level in enumerate((outer, *inner))
    ]
    document = {"schema": "mapper.hierarchy/1", "name": "odd", "levels": levels, "compute": {"energy_pj": 0}}
    return hierarchy_from_document({**document, "rules": {"link_transfers": links}}, "odd")


@pytest.mark.parametrize(
    ("loops", "indices", "machine"),
    [
        (
            {"P": 2, "R": 3},
            {"A": ["P", "P + R"], "B": ["R"], "O": ["P"]},
            machine_of(fanout={"x": 2, "x_loops": ["P"], "reduction": False}),
        ),
        (
            {"P": 3, "R": 2},
            {"A": ["P", "P", "R"], "B": ["R"], "O": ["P"]},
            machine_of({"words": 4}),
        ),
        (
            {"P": 2, "R": 2, "K": 2},
            {"A": ["P", "2*P"], "B": ["R", "R", "K"], "O": ["P", "P", "K"]},
            machine_of({"words": 9, "fanout": {"x": 2}}),
        ),
    ],
)
def test_tensors_on_diagonals_are_proven_to_cost_what_brute_force_finds(
    loops: dict[str, int], indices: dict[str, list[str]], machine: HierarchyMachine
) -> None:
    problem = HierarchyProblem(nest_of(loops, **indices), machine, "energy")
    least, found = brute_force(problem, Effort()), branch_and_bound(problem, Effort())
    assert found.proven
    assert found.value == least.value
    assert verdict(proof_of(problem, least))[0] == "certified"


def test_the_constraint_program_takes_no_tile_of_a_diagonal_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    nest = nest_of({"P": 2, "R": 2}, A=["P", "P", "R"], O=["P"])
    machine = machine_of(fanout={"x": 2, "x_loops": ["P"]})
    problem = HierarchyProblem(nest, machine, "latency")
    alone = Pins((Constraint(level="L0", kind="spatial", factors={"P": 1}),))
    slow = brute_force(replace(problem, pins=alone), Effort())
    monkeypatch.setattr(constraint_program, "hill_climbing", lambda *_: slow)
    found = constraint_program.constraint_program(problem, Effort())
    assert found.proven
    assert (slow.value, found.value) == (4, 2)


def test_sums_that_neighbours_hand_on_are_not_counted_as_updates_in_any_case() -> None:
    nest = nest_of({"P": 4, "R": 4}, A=["P", "R"], O=["P"])
    machine = machine_of(
        links=True, energy_pj={"read": 0, "fill": 0, "update": 1}, fanout={"x": 2, "x_loops": ["R"]}
    )
    problem = HierarchyProblem(nest, machine, "energy")
    least, found = brute_force(problem, Effort()).value, branch_and_bound(problem, Effort())
    assert least is not None and found.bound is not None
    assert found.bound <= least
    assert not found.proven or found.value == least


def test_no_fewer_than_no_words_are_read_of_sums_with_gaps() -> None:
    nest = nest_of({"I": 3, "K": 2}, A=["I", "K"], B=["K"], O=["2*I"])
    machine = machine_of({"words": 4})
    problem = HierarchyProblem(nest, machine, "energy")
    found = branch_and_bound(problem, Effort())
    assert found.mapping is not None
    words = [one for level in counts(nest, machine, found.mapping) for one in level.values()]
    assert min(count for one in words for count in (one.reads, one.fills, one.updates)) == 0
    assert found.value == brute_force(problem, Effort()).value
    assert verdict(proof_of(problem, found))[0] == "certified"


@pytest.mark.parametrize(
    ("level", "pins"),
    [
        ({"bypass": ["A"]}, Pins(keep=(("L1", "A"),))),
        ({"keep": ["A"]}, Pins(bypass=(("L1", "A"),))),
        ({}, Pins(keep=(("L1", "A"),), bypass=(("L1", "A"),))),
    ],
)
def test_a_tensor_that_a_level_must_keep_and_bypass_leaves_no_mapping(
    level: dict[str, Any], pins: Pins
) -> None:
    problem = HierarchyProblem(matrix_product_nest("product", (), 2, 1, 2), machine_of(level), "energy", pins)
    assert why_infeasible(problem) == "L1: must keep and bypass A"
    assert brute_force(problem, Effort()).mapping is None
    found = branch_and_bound(problem, Effort())
    assert found.proven and found.mapping is None
    assert verdict(proof_of(problem, found))[0] == "certified"


def test_a_level_whose_buffers_leave_no_word_is_certified_to_hold_nothing() -> None:
    machine = machine_of({"words": 1, "buffers": 2, "keep": ["A"]})
    problem = HierarchyProblem(matrix_product_nest("product", (), 2, 1, 2), machine, "energy")
    found = branch_and_bound(problem, Effort())
    assert found.proven and found.mapping is None
    assert verdict(proof_of(problem, found))[0] == "certified"


def given(level: str, **fields: Any) -> Constraint:
    return Constraint(level=level, kind="temporal", **fields)


def test_orders_of_a_level_that_are_given_twice_hold_both_or_are_refused() -> None:
    nest = matrix_product_nest("product", (), 2, 2, 2)
    first, *others = nest.loops
    own = machine_of({"words": 8})
    longer = HierarchyProblem(
        nest,
        own,
        "energy",
        Pins((given("L0", permutation=[first]), given("L0", permutation=[first, others[0]]))),
    )
    assert longer.order(0) == (first, others[0])
    assert branch_and_bound(longer, Effort()).value == brute_force(longer, Effort()).value
    with pytest.raises(InputError, match=r"permutation of L0: innermost are given as .* leave one out"):
        HierarchyProblem(
            nest, own, "energy", Pins((given("L0", permutation=[first]), given("L0", permutation=others)))
        )
    still = Pins((given("L0", permutation=[first]), given("L0", permutation=others, factors={first: 1})))
    assert HierarchyProblem(nest, own, "energy", still).order(0) == tuple(others)


def test_trips_that_are_given_twice_leave_no_mapping_if_they_differ() -> None:
    nest = matrix_product_nest("product", (), 4, 2, 2)
    loop = nest.loops[0]
    twice = Pins((given("L0", factors={loop: 2}), given("L0", factors={loop: 4})))
    problem = HierarchyProblem(nest, machine_of({"words": 8}), "energy", twice)
    assert (why_infeasible(problem) or "").startswith(f"L0: {loop} is to have numbers of trips that differ")
    assert brute_force(problem, Effort()).mapping is None
    found = branch_and_bound(problem, Effort())
    assert found.proven and found.mapping is None
    assert verdict(proof_of(problem, found))[0] == "certified"
