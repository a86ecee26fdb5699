"""CGRAs by name are as documented, and their links are those that their names promise."""

from __future__ import annotations

import pytest

from mapper.arch.cgra import CgraMachine
from mapper.arch.cgra_preset import cgra_preset, srp_names
from mapper.arch.source import load_machine, machine_from_document, machine_names, machine_to_document
from mapper.workloads.document import InputError


def cgra(name: str) -> CgraMachine:
    machine, _ = load_machine(name)
    assert isinstance(machine, CgraMachine)
    return machine


def able(machine: CgraMachine, opcode: str) -> int:
    return sum(machine.can_execute(pe, opcode) for pe in machine.all_pes)


def test_the_papers_largest_array_has_what_the_paper_publishes() -> None:
    machine = cgra("srp-4x4")
    assert (machine.clock_mhz, machine.sram_bytes, machine.power_w) == (500, 320 * 1024, 0.15)
    assert machine.latency("load") == 16
    assert (able(machine, "load"), able(machine, "fmul")) == (8, 8)
    assert 16 * machine.register_file.registers == 128


@pytest.mark.parametrize("name", srp_names())
def test_every_array_of_the_paper_loads_and_computes_and_has_at_most_its_registers(name: str) -> None:
    machine = cgra(name)
    assert min(able(machine, "store"), able(machine, "fadd"), able(machine, "fcmp_lt")) >= 1
    assert able(machine, "add") == able(machine, "mul") == machine.rows * machine.columns
    assert machine.rows * machine.columns * machine.register_file.registers <= 128


def test_the_paper_has_nine_arrays() -> None:
    assert len(srp_names()) == 9
    assert cgra_preset("srp-5x5") is None


@pytest.mark.parametrize("name", ["mesh-3x5", "torus-5x3", "mesh-1x1", "left-memory-64x64"])
def test_a_grid_is_made_from_its_name_and_reads_back(name: str) -> None:
    machine = cgra(name)
    assert f"{machine.rows}x{machine.columns}" == name.rsplit("-", 1)[1]
    assert machine.register_file.registers == 16
    assert (
        machine.register_file.read_ports is machine.register_file.write_ports is machine.memory_ports is None
    )
    assert machine_from_document(machine_to_document(machine), name) == machine


def test_every_pe_of_a_mesh_runs_any_opcode_in_one_cycle() -> None:
    machine = cgra("mesh-2x2")
    assert able(machine, "unheard_of") == able(machine, "load") == 4
    assert machine.latency("unheard_of") == machine.latency("load") == 1


def test_a_pe_within_a_mesh_is_read_by_itself_and_its_four_neighbours() -> None:
    assert cgra("mesh-3x3").readers[1, 1] == {(1, 1), (0, 1), (2, 1), (1, 0), (1, 2)}
    assert cgra("mesh-3x3").readers[0, 0] == {(0, 0), (0, 1), (1, 0)}


def test_a_torus_closes_rows_and_columns_to_rings() -> None:
    assert cgra("torus-3x4").readers[0, 0] == {(0, 0), (2, 0), (1, 0), (0, 3), (0, 1)}


def test_two_pes_of_a_torus_of_two_rows_are_neighbours_once() -> None:
    assert cgra("torus-2x4").readers[0, 0] == {(0, 0), (1, 0), (0, 1), (0, 3)}
    assert cgra("torus-2x2").readers == cgra("mesh-2x2").readers
    assert cgra("torus-1x1").readers[0, 0] == {(0, 0)}


def test_only_the_left_column_of_a_left_memory_array_loads_and_stores() -> None:
    machine = cgra("left-memory-4x4")
    assert {pe for pe in machine.all_pes if machine.can_execute(pe, "load")} == {(row, 0) for row in range(4)}
    assert able(machine, "fdiv") == able(machine, "rem") == able(machine, "xor") == 16
    assert machine.readers == cgra("mesh-4x4").readers


def test_the_left_column_and_the_first_row_of_mesh7_load_and_store() -> None:
    machine = cgra("mesh7-4x4")
    edge = {(row, 0) for row in range(4)} | {(0, column) for column in range(4)}
    assert {pe for pe in machine.all_pes if machine.can_execute(pe, "store")} == edge and len(edge) == 7
    assert able(machine, "neura.phi") == able(machine, "fdiv.f64") == 16
    assert machine.readers == cgra("mesh-4x4").readers


def test_the_families_are_listed_once_each() -> None:
    names = [one.name for one in machine_names()]
    assert names.count("mesh-NxM") == names.count("torus-NxM") == names.count("left-memory-NxM") == 1
    assert set(srp_names()) <= set(names)


@pytest.mark.parametrize("name", ["mesh-0x4", "mesh-65x4", "torus-4x100", "mesh-NxM", "srp-1x4", "mesh-04x4"])
def test_a_size_that_no_family_has_is_one_line(name: str) -> None:
    with pytest.raises(InputError, match="no such machine; "):
        load_machine(name)


def test_the_same_name_gives_the_same_bytes() -> None:
    assert load_machine("mesh-4x4")[1] == load_machine("mesh-4x4")[1]
