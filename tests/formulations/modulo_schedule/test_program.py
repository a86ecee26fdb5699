"""The program of modulo scheduling: its symmetries, its parts, and names for what registers keep."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.arch.cgra import CgraMachine, cgra_from_document
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.formulations.modulo_schedule.program.cp_sat import ModuloProgram
from mapper.formulations.modulo_schedule.program.instance import ModuloInstance
from mapper.formulations.modulo_schedule.program.route import colour_arcs
from mapper.formulations.modulo_schedule.program.symmetry import array_symmetries, orbit_leaders
from mapper.workloads.graph.dataflow_graph import DataflowGraph, Edge, Operation
from mapper.workloads.graph.kernel import Kernel


def grid(rows: int, columns: int, links: str, **fields: Any) -> CgraMachine:
    pes = fields.pop("pes", [{"at": "all", "classes": ["any"]}])
    document = {
        "schema": "mapper.cgra/1", "name": "array", "rows": rows, "columns": columns, "links": [links],
        "pes": pes, "register_file": {"registers": 4}, **fields,
    }  # fmt: skip
    return cgra_from_document(document, "test")


def instance(machine: CgraMachine, ii: int = 2) -> ModuloInstance:
    edges = (Edge(0, 1, 0), Edge(0, 1, 1), Edge(0, 1, 2, distance=1), Edge(1, 0, None, distance=2))
    graph = DataflowGraph("pair", (Operation("a", "add"), Operation("b", "add")), edges)
    return ModuloInstance(ModuloProblem(Kernel("pair", graph), machine), ii, machine.all_pes)


@pytest.mark.parametrize(
    ("machine", "orbits"),
    [
        (grid(4, 4, "mesh"), 3),
        (grid(3, 3, "mesh"), 3),
        (grid(2, 3, "mesh"), 2),
        (grid(5, 5, "torus"), 1),
        (grid(2, 2, "mesh", shared_register_file={"registers": 1}), 1),
        (grid(2, 2, "mesh", shared_register_file={"registers": 1, "at": [(0, 0)]}), 3),
        (
            grid(
                2,
                2,
                "mesh",
                pes=[{"at": "all", "classes": ["integer"]}, {"at": [(0, 0)], "classes": ["memory"]}],
            ),
            3,
        ),
    ],
)
def test_one_pe_stands_for_those_that_a_symmetry_of_the_array_maps_to_it(
    machine: CgraMachine, orbits: int
) -> None:
    given = instance(machine)
    assert len(orbit_leaders(array_symmetries(given), given.pes)) == orbits


def test_edges_that_read_one_value_in_one_cycle_are_one_demand() -> None:
    assert [demand.edges for demand in instance(grid(2, 2, "mesh")).demands] == [(0, 1), (2,)]


def test_every_part_of_the_program_says_what_it_is_and_what_it_adds() -> None:
    program = ModuloProgram(instance(grid(2, 2, "mesh")))
    built = {part.part.name: part for part in program.build()}
    assert built["operations"].members == 2
    assert built["places"].members == 8
    assert built["dependences"].constraints == 4
    assert sum(part.variables for part in built.values()) == program.size()[0]
    assert sum(part.constraints for part in built.values()) == program.size()[1]


def test_a_shared_register_file_adds_what_is_held_written_and_read() -> None:
    def variables(shared: dict[str, Any] | None) -> int:
        program = ModuloProgram(instance(grid(2, 2, "mesh", shared_register_file=shared)))
        built = {part.part.name: part for part in program.build()}
        return built["sharing"].variables

    cells = len(ModuloProgram(instance(grid(2, 2, "mesh"))).cells[0])
    assert variables(None) == 0
    assert variables({"registers": 2}) == 2 * cells
    assert variables({"registers": 2, "read_ports": 1}) == 3 * cells


def test_lifetimes_that_chase_each_other_round_the_circle_need_more_registers_than_overlap() -> None:
    assert colour_arcs({0: 2, 1: 2, 2: 2}, 3, 2) is None
    assert colour_arcs({0: 2, 1: 2, 2: 2}, 3, 3) == {0: 0, 1: 1, 2: 2}


@settings(derandomize=True, deadline=None, max_examples=60)
@given(
    st.integers(1, 4).flatmap(
        lambda ii: st.tuples(st.just(ii), st.lists(st.integers(0, ii), min_size=ii, max_size=ii))
    )
)
def test_arcs_get_colours_if_any_assignment_of_colours_keeps_them_apart(drawn: tuple[int, list[int]]) -> None:
    ii, lengths = drawn
    lives = {start: length for start, length in enumerate(lengths) if length}

    def apart(colours: dict[int, int]) -> bool:
        cells = [(colours[arc], (arc + step) % ii) for arc, length in lives.items() for step in range(length)]
        return len(set(cells)) == len(cells)

    possible = any(
        apart(dict(zip(lives, chosen, strict=True))) for chosen in product(range(2), repeat=len(lives))
    )
    found = colour_arcs(lives, ii, 2)
    assert (found is not None) == possible
    assert found is None or apart(found)
