"""Arrays whose rows and columns have a meaning: what stands where, what may be added up, and every method on them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from mapper.codegen.tiling.array_program import array_program
from mapper.codegen.tiling.tile import tiles_of
from mapper.formulations.tiling.array_axes import ArrayAxes
from mapper.formulations.tiling.problem import TilingProblem
from mapper.formulations.tiling.referee.verify import ARRAY_AXES, PINNED, REDUCTION, verify
from mapper.models.tiling.cost import evaluate, quantities
from mapper.models.tiling.mapping import TilingMapping
from mapper.models.tiling.mapping_file import tiling_from_json
from mapper.sim.tiling import report
from mapper.solver.method import Effort
from mapper.solver.tiling.exact.branch_and_bound import BRANCH_AND_BOUND
from mapper.solver.tiling.exact.brute_force import BRUTE_FORCE
from mapper.solver.tiling.heuristic.annealing import annealing
from mapper.solver.tiling.program.bounded_table import AXES_ALIKE, BOUNDED_TABLE
from mapper.solver.tiling.program.constraint_program import CONSTRAINT_PROGRAM
from mapper.workloads.document import InputError
from tests.solver.tiling.small import matrix_product, problem, small_machine

ON = {"array_axes": True}


def systolic(rows: int = 4, columns: int = 2, reduced: tuple[str, ...] = ("rows",), **sections: Any) -> Any:
    """A small array that adds up along the axes ``reduced`` as values pass."""
    return small_machine(
        rows,
        columns,
        pe_array={"spatial_reduction": reduced},
        noc={"reduction": "systolic"},
        rules=ON,
        **sections,
    )


def axes_of(posed: TilingProblem) -> ArrayAxes:
    found = ArrayAxes.of(posed)
    assert found is not None
    return found


def every_place(axes: ArrayAxes, spatial: tuple[int, ...]) -> Iterator[tuple[tuple[int, int], ...]]:
    """All divisions between rows and columns that keep the rules, by trying all numbers."""
    for rows in product(*(range(1, factor + 1) for factor in spatial)):
        if any(factor % row for factor, row in zip(spatial, rows, strict=True)):
            continue
        places = tuple((row, factor // row) for factor, row in zip(spatial, rows, strict=True))
        sizes = [math.prod(place[side] for place in places) for side in (0, 1)]
        kept = all(
            (may or steps == 1) and (not must or steps > 1)
            for one, place in zip(axes.loops, places, strict=True)
            for may, must, steps in zip(one.may, one.must, place, strict=True)
        )
        if kept and sizes[0] <= axes.size[0] and sizes[1] <= axes.size[1]:
            yield places


@pytest.mark.parametrize(
    "pins",
    [
        {},
        {"spatial__rows": "K"},
        {"spatial__columns": "I,J"},
        {"spatial__rows": "I,*"},
        {"spatial__rows": ""},
    ],
)
@pytest.mark.parametrize("reduced", [("rows",), ("rows", "columns"), ()])
def test_a_tile_has_room_just_where_some_division_between_the_axes_fits(
    reduced: tuple[str, ...], pins: dict[str, Any]
) -> None:
    axes = axes_of(problem(matrix_product(12, 8, 6), systolic(6, 8, reduced), **pins))
    answers = set()
    for spatial in product((1, 2, 3, 4, 6, 12), (1, 2, 4, 8), (1, 2, 3, 6)):
        possible = list(every_place(axes, spatial))
        assert axes.has_room(spatial) == bool(possible), spatial
        placed = axes.place(spatial)
        assert placed is None if not possible else placed in possible
        answers.add(bool(possible))
    nowhere = reduced == () and "spatial__rows" in pins and pins["spatial__rows"] == "K"
    assert answers == ({False} if nowhere else {True, False})


PROBLEMS = {
    "sums along rows": problem(matrix_product(2, 2, 4), systolic()),
    "sums along columns": problem(matrix_product(2, 2, 4), systolic(reduced=("columns",))),
    "sums nowhere": problem(matrix_product(2, 2, 4), systolic(reduced=())),
    "rows pinned": problem(matrix_product(2, 2, 4), systolic(), spatial__rows="I"),
    "columns pinned, open": problem(matrix_product(2, 2, 4), systolic(), spatial__columns="J,*"),
    "a loop on both axes": problem(
        matrix_product(8, 1, 2), systolic(2, 2), spatial__rows="I", spatial__columns="I"
    ),
    "nothing may add along the pinned axis": problem(matrix_product(), systolic(), spatial__columns="K"),
    "a bus": problem(matrix_product(2, 2, 4), small_machine(4, 2, rules=ON)),
    "a timeline": problem(
        matrix_product(2, 2, 4),
        systolic().model_copy(
            update={"rules": systolic().rules.model_copy(update={"timing": "timeline", "energy": "exact"})}
        ),
    ),
}


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=pytest.mark.slow if one == "a timeline" else ()) for one in PROBLEMS]
)
def test_branch_and_bound_and_brute_force_agree_and_what_they_find_runs(name: str) -> None:
    posed = PROBLEMS[name]
    one, other = BRANCH_AND_BOUND.search(posed, Effort()), BRUTE_FORCE.search(posed, Effort())
    assert one.proven and other.proven
    assert one.value == other.value
    assert (one.mapping is None) == (name == "nothing may add along the pinned axis")
    for found in (one.mapping, other.mapping):
        if found is not None:
            assert verify(posed, found).valid
            ran = report(posed.nest, posed.machine, found)
            assert ran["outputs_equal"] and ran["agrees"]
    heuristic = annealing(500).search(posed, Effort())
    assert heuristic.mapping is None or verify(posed, heuristic.mapping).valid


@pytest.mark.parametrize("name", ["sums along rows", "columns pinned, open"])
def test_the_constraint_program_agrees_and_tables_say_that_they_know_no_axes(name: str) -> None:
    posed = PROBLEMS[name]
    found = CONSTRAINT_PROGRAM.search(posed, Effort())
    assert found.proven and found.value == BRANCH_AND_BOUND.search(posed, Effort()).value
    assert found.mapping is not None and verify(posed, found.mapping).valid
    assert BOUNDED_TABLE.search(posed, Effort()).restrictions == (AXES_ALIKE,)


def best(rows: int, columns: int, **pins: Any) -> TilingMapping:
    found = BRANCH_AND_BOUND.search(
        problem(matrix_product(8, 8, 8), systolic(rows, columns), **pins), Effort()
    )
    assert found.mapping is not None
    return found.mapping


def test_an_array_of_one_row_is_not_one_of_one_column() -> None:
    flat, tall = best(1, 8), best(8, 1)
    assert flat.trip_counts("spatial")["K"] == 1
    assert tall.along("columns") == {}
    machines = systolic(1, 8), systolic(8, 1)
    nest = matrix_product(8, 8, 8)
    costs = [
        evaluate(nest, machine, mapping) for machine, mapping in zip(machines, (flat, tall), strict=True)
    ]
    assert costs[0].edp_pj_cycles != costs[1].edp_pj_cycles


def test_pinned_loops_run_along_their_axes() -> None:
    mapping = best(4, 4, spatial__rows="K", spatial__columns="J")
    assert mapping.along("rows").keys() == {"K"} and mapping.along("columns").keys() == {"J"}


def test_sums_that_pass_from_pe_to_pe_take_no_cycles_and_cost_the_same_energy() -> None:
    mapping = best(4, 4, spatial__rows="K")
    nest = matrix_product(8, 8, 8)
    machines = systolic(4, 4), small_machine(4, 4, rules=ON)
    free, paid = (quantities(nest, machine, mapping) for machine in machines)
    assert sum(free.reduction_cycles) == 0 < sum(paid.reduction_cycles)
    assert free.reduction_energy == paid.reduction_energy


def test_the_referee_names_what_stands_wrong_on_the_axes() -> None:
    posed = problem(matrix_product(8, 8, 8), systolic(4, 2), spatial__rows="K", spatial__columns="J")
    mapping = best(4, 2, spatial__rows="K", spatial__columns="J")
    i, j, k = mapping.axes
    assert verify(posed, mapping).valid and k[0] > 1 and j[1] > 1

    def broken(*axes: tuple[int, int]) -> set[tuple[str, str]]:
        return {(rule.rule, rule.place) for rule in verify(posed, replace(mapping, axes=axes)).broken}

    assert broken() == {(ARRAY_AXES, "PE array")}
    assert (ARRAY_AXES, "K") in broken(i, j, (1, 1))
    assert (REDUCTION, "K along columns") in broken(i, j, (k[1], k[0]))
    assert {(PINNED, "spatial.rows"), (PINNED, "spatial.columns")} <= broken(i, (j[1], j[0]), (k[1], k[0]))
    wide = replace(posed, machine=systolic(2, 1))
    assert {rule.place for rule in verify(wide, mapping).broken if rule.rule == ARRAY_AXES} >= {"columns"}


def test_a_mapping_of_such_a_machine_says_where_its_loops_stand() -> None:
    mapping = best(4, 2, spatial__rows="K", spatial__columns="J")
    fields = mapping.to_json()
    assert fields["axes"] == {"rows": mapping.along("rows"), "columns": mapping.along("columns")}
    nest = matrix_product(8, 8, 8)
    assert tiling_from_json(fields, nest, "file", True) == mapping
    wrongs: tuple[dict[str, Any], ...] = (
        {},
        {"rows": {}},
        {"rows": {"Q": 2}, "columns": {}},
        {"rows": {"K": 0}, "columns": {}},
    )
    for wrong in wrongs:
        with pytest.raises(InputError, match="axes"):
            tiling_from_json({**fields, "axes": wrong}, nest, "file", True)
    with pytest.raises(InputError, match="axes"):
        tiling_from_json(fields, nest, "file")


def test_every_pe_has_a_place_of_its_own_and_neighbours_add() -> None:
    machine = systolic(4, 4)
    posed = problem(matrix_product(8, 8, 8), machine, spatial__rows="I,K", spatial__columns="J")
    mapping = BRANCH_AND_BOUND.search(posed, Effort()).mapping
    assert mapping is not None
    program = array_program(tiles_of(posed.nest, mapping), machine, mapping)
    assert program is not None
    places = {pe.number: (pe.row, pe.column) for pe in program.pes}
    assert len(set(places.values())) == len(places)
    assert all(row < 4 and column < 4 for row, column in places.values())
    summed = mapping.along("rows")["K"]
    for pe in program.pes:
        row, column = places[pe.leader]
        assert column == pe.column and 0 <= pe.row - row < summed


def test_axes_are_asked_of_machines_that_have_them() -> None:
    with pytest.raises(InputError, match="does not tell rows from columns"):
        problem(matrix_product(), spatial__rows="K")
    for changes in ({"noc": {"reduction": "systolic"}}, {"pe_array": {"spatial_reduction": ["rows"]}}):
        with pytest.raises(InputError, match="array_axes: true"):
            small_machine(2, 2, **changes)
