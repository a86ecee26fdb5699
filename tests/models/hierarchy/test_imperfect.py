"""Factors that do not divide: what a last pass that is smaller costs."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from mapper.arch.hierarchy import hierarchy_from_document
from mapper.models.hierarchy.cost import evaluate
from mapper.models.hierarchy.imperfect.digit import reached, with_last_passes
from mapper.models.hierarchy.imperfect.limit import why_only_perfect
from mapper.models.hierarchy.mapping import HierarchyMapping, LevelMapping, SpatialLoop, TemporalLoop
from mapper.models.hierarchy.mapping_file import hierarchy_mapping
from mapper.models.hierarchy.one_line import line_of
from mapper.models.hierarchy.timeloop_mapping import timeloop_document
from mapper.sim.hierarchy import report
from mapper.workloads.nest.layer_nest import matrix_product_nest
from mapper.workloads.nest.nest_file import nest_from_document
from tests.sim.hierarchy.drawn import (
    drawn_cut_problem,
    drawn_machine,
    drawn_mapping,
    drawn_nest,
    preset_machine,
)


def test_where_all_passes_are_equal_every_cost_is_that_of_perfect_factors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared = 0
    for seed in range(200):
        random = Random(seed)
        nest, drawn = drawn_nest(random), drawn_machine(random)
        machine = drawn.model_copy(update={"rules": drawn.rules.model_copy(update={"link_transfers": False})})
        mapping = drawn_mapping(random, nest, machine)
        if why_only_perfect(nest, machine) is None:
            perfect = evaluate(nest, machine, mapping)
            with monkeypatch.context() as patch:
                patch.setattr(HierarchyMapping, "is_perfect", False)
                assert evaluate(nest, machine, mapping) == perfect, seed
            compared += 1
    assert compared > 100


def test_thirteen_rows_in_two_passes_move_thirteen_rows() -> None:
    nest = matrix_product_nest("product", (), 13, 1, 3)
    machine = preset_machine("simple-weight-stationary")
    names = tuple(operand.name for operand in nest.operands)
    inner = [LevelMapping(level.name, names) for level in machine.levels[2:]]
    levels = (
        LevelMapping("DRAM", names, (TemporalLoop("I", 2), TemporalLoop("K", 3))),
        LevelMapping("shared_glb", names, (TemporalLoop("I", 2, 1),), (SpatialLoop("I", 5, "x", 3),)),
        *inner,
    )
    mapping = HierarchyMapping(levels)
    assert reached(mapping, "I") == 13
    cost = evaluate(nest, machine, mapping)
    outer, buffer = cost.accesses["DRAM"], cost.accesses["shared_glb"]
    assert (outer["A"]["reads"], outer["B"]["reads"]) == (39, 6)
    assert (outer["O"]["reads"], outer["O"]["updates"]) == (0, 13)
    # Weights go to all PEs that run together: in two passes of the rows, and one.
    assert buffer["B"]["reads"] == 6
    assert (cost.cycles_of["mac"], cost.tiles["shared_glb"]["A"]) == (9, 10)


def test_a_tile_that_was_smaller_one_step_behind_hands_on_no_more_than_it_had() -> None:
    """R goes on by as much as P does inside it, but the last pass of P has one of three rows; I has 13 words."""
    nest = nest_from_document(
        {
            "schema": "mapper.nest/1",
            "name": "window",
            "loops": {"P": 3, "R": 6},
            "operands": [
                {"tensor": "O", "index": ["P"], "access": "read_write"},
                {"tensor": "I", "index": ["P + 2*R"]},
                {"tensor": "W", "index": ["R"]},
            ],
        },
        "window.yaml",
    )
    levels = [
        {"name": name, "word_bits": 8, "energy_pj": {"read": 1, "fill": 1, "update": 1}} for name in "ABC"
    ]
    document = {
        "schema": "mapper.hierarchy/1",
        "name": "plain",
        "levels": levels,
        "compute": {"name": "mac", "energy_pj": 1},
        "rules": {"link_transfers": False},
    }
    machine = hierarchy_from_document(document, "plain.yaml")
    every = ("O", "I", "W")
    mapping = HierarchyMapping(
        (
            LevelMapping("A", every, (TemporalLoop("R", 3),), ()),
            LevelMapping("B", (), (TemporalLoop("P", 2),), ()),
            LevelMapping("C", every, (TemporalLoop("P", 2), TemporalLoop("R", 2)), ()),
        )
    )
    found = report(nest, machine, with_last_passes(mapping, nest.trip_counts))
    assert found["disagreements"] == []
    assert found["breakdown_simulated"]["accesses"]["A"]["I"]["reads"] == 15


def test_the_outermost_loop_turns_as_often_as_it_must() -> None:
    names = ("O", "A", "B")
    levels = (
        LevelMapping("outer", names, (TemporalLoop("I", 9),)),
        LevelMapping("inner", names, (TemporalLoop("I", 5),)),
    )
    cut = with_last_passes(HierarchyMapping(levels), {"I": 13})
    assert [level.temporal for level in cut.levels] == [(TemporalLoop("I", 3),), (TemporalLoop("I", 5, 3),)]
    whole = with_last_passes(HierarchyMapping(levels), {"I": 4})
    assert [level.temporal for level in whole.levels] == [(), (TemporalLoop("I", 4),)]


def test_mapping_files_say_last_passes_and_are_read_again() -> None:
    read = 0
    for seed in range(60):
        problem = drawn_cut_problem(seed)
        if problem is None:
            continue
        nest, machine, mapping = problem
        assert hierarchy_mapping(mapping.to_json(), nest, machine, "test") == mapping
        forms = [{"line": line_of(mapping, nest)}]
        # A directive of Timeloop has one number for a loop of a level in space.
        if all(len({one.loop for one in level.spatial}) == len(level.spatial) for level in mapping.levels):
            forms.append(timeloop_document(mapping, nest))
        for fields in forms:
            found = hierarchy_mapping(fields, nest, machine, "test")
            assert evaluate(nest, machine, found).cost_json() == evaluate(nest, machine, mapping).cost_json()
            read += 1
    assert read > 50


def test_machines_whose_neighbours_hand_words_on_are_refused_in_a_line() -> None:
    machine = preset_machine("gemmini-16")
    nest = matrix_product_nest("product", (), 13, 5, 7)
    assert "hands words on between neighbours" in (why_only_perfect(nest, machine) or "")
    quiet = machine.model_copy(update={"rules": machine.rules.model_copy(update={"link_transfers": False})})
    assert why_only_perfect(nest, quiet) is None
    gaps = replace(nest.operands[0], index=(nest.operands[0].index[0],) * 2)
    assert gaps.writes
    assert "overlap or have gaps" in (
        why_only_perfect(replace(nest, operands=(gaps, *nest.operands[1:])), quiet) or ""
    )
