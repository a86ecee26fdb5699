"""The referee of modulo schedules on arrays with a shared register file: who reads and writes it, and how much."""

from __future__ import annotations

from typing import Any

import pytest

from mapper.arch.cgra import CgraMachine, cgra_from_document
from mapper.arch.cgra_preset import cgra_preset
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.formulations.modulo_schedule.referee.verify import verify
from mapper.models.modulo_schedule.mapping import Hop, ModuloSchedule, Pe, Placement, Route
from mapper.workloads.document import InputError
from mapper.workloads.graph.dataflow_graph import DataflowGraph, Edge, Operation
from mapper.workloads.graph.kernel import Kernel

FIRST, SECOND, THIRD = (0, 0), (0, 1), (0, 2)
OWN = 2
SHARED = 2
"""Number of the first shared register."""


def apart(**shared: Any) -> CgraMachine:
    """Three PEs without links, two own registers each, and two shared ones."""
    fields = {
        "links": [],
        "register_file": {"registers": OWN},
        "shared_register_file": {"registers": 2, **shared},
    }
    return cgra_from_document({**(cgra_preset("mesh-1x3") or {}), **fields}, "apart")


def broken(
    machine: CgraMachine, ii: int, placed: list[tuple[Pe, int]], *routes: list[Hop]
) -> dict[str, float]:
    """Broken rules and sizes of a schedule in which every operation but the last ones gives its value to another:
    route n leads from operation n to operation n + half of them."""
    half = len(placed) // 2
    edges = tuple(Edge(place, place + half, 0) for place in range(half))
    operations = tuple(Operation(f"o{place}", "add") for place in range(len(placed)))
    problem = ModuloProblem(Kernel("body", DataflowGraph("body", operations, edges)), machine)
    placements = tuple(Placement(pe, time) for pe, time in placed)
    made = tuple(Route(edge, tuple(hops)) for edge, hops in enumerate(routes))
    return {rule.rule: rule.size for rule in verify(problem, ModuloSchedule(ii, placements, made)).broken}


def kept(pe: Pe, time: int, register: int = SHARED) -> Hop:
    return Hop(pe, time, "register", register)


def test_a_shared_register_brings_a_value_to_a_pe_without_a_link() -> None:
    assert broken(apart(), 4, [(FIRST, 0), (THIRD, 4)], [kept(FIRST, 1)]) == {}


def test_a_shared_register_holds_a_value_for_an_interval() -> None:
    assert broken(apart(), 4, [(FIRST, 0), (THIRD, 5)], [kept(FIRST, 1)]) == {"value held when read": 1}


def test_a_move_writes_a_shared_register_and_reads_one() -> None:
    moved = [kept(FIRST, 1), Hop(SECOND, 3, "move", SHARED + 1)]
    assert broken(apart(), 4, [(FIRST, 0), (THIRD, 6)], moved) == {}


def test_only_connected_pes_read_a_shared_register() -> None:
    machine = apart(at=[FIRST, SECOND])
    assert broken(machine, 4, [(FIRST, 0), (SECOND, 2)], [kept(FIRST, 1)]) == {}
    assert broken(machine, 4, [(FIRST, 0), (THIRD, 2)], [kept(FIRST, 1)]) == {
        "PE is connected to the shared registers": 1
    }


def test_only_connected_pes_write_a_shared_register() -> None:
    rules = broken(apart(at=[FIRST, SECOND]), 4, [(THIRD, 0), (FIRST, 2)], [kept(THIRD, 1)])
    assert rules == {"PE is connected to the shared registers": 1}


def test_registers_are_numbered_through_to_the_last_shared_one() -> None:
    last = SHARED + 1
    assert broken(apart(), 4, [(FIRST, 0), (THIRD, 2)], [kept(FIRST, 1, last)]) == {}
    assert broken(apart(), 4, [(FIRST, 0), (THIRD, 2)], [kept(FIRST, 1, last + 1)]) == {"register exists": 1}


def test_own_registers_are_read_by_their_pe_alone() -> None:
    rules = broken(apart(), 4, [(FIRST, 0), (THIRD, 2)], [kept(FIRST, 1, OWN - 1)])
    assert rules == {"link to the reader": 1}


def test_values_of_two_pes_cannot_be_in_one_shared_register_at_a_time() -> None:
    placed = [(FIRST, 0), (SECOND, 1), (THIRD, 2), (THIRD, 3)]
    assert broken(apart(), 4, placed, [kept(FIRST, 1)], [kept(SECOND, 2, SHARED + 1)]) == {}
    assert broken(apart(), 4, placed, [kept(FIRST, 1)], [kept(SECOND, 2)]) == {"one value per register": 1}
    later = [(FIRST, 0), (SECOND, 2), (THIRD, 2), (THIRD, 4)]
    assert broken(apart(), 4, later, [kept(FIRST, 1)], [kept(SECOND, 3)]) == {}


def test_shared_registers_read_in_one_cycle_need_a_port_each_whoever_reads() -> None:
    placed = [(FIRST, 0), (SECOND, 1), (SECOND, 3), (THIRD, 3)]
    routes = [kept(FIRST, 1)], [kept(SECOND, 2, SHARED + 1)]
    assert broken(apart(read_ports=2), 4, placed, *routes) == {}
    assert broken(apart(read_ports=1), 4, placed, *routes) == {"register read ports": 1}


def test_shared_registers_written_in_one_cycle_need_a_port_each_whoever_writes() -> None:
    placed = [(FIRST, 0), (SECOND, 0), (THIRD, 2), (THIRD, 3)]
    routes = [kept(FIRST, 1)], [kept(SECOND, 1, SHARED + 1)]
    assert broken(apart(write_ports=2), 4, placed, *routes) == {}
    assert broken(apart(write_ports=1), 4, placed, *routes) == {"register write ports": 1}


def test_connected_pes_lie_inside_the_array() -> None:
    with pytest.raises(InputError, match=r"shared_register_file.at"):
        apart(at=[[0, 3]])


def test_a_shared_file_has_a_register() -> None:
    with pytest.raises(InputError, match=r"shared_register_file.registers"):
        apart(registers=0)
