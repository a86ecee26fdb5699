"""Schedules through a shared register file: where nothing else leads, proven, and run on the array."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mapper.arch.cgra import CgraMachine, cgra_from_document
from mapper.arch.source import load_machine
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.formulations.modulo_schedule.program.cp_sat import ModuloProgram
from mapper.formulations.modulo_schedule.program.instance import ModuloInstance
from mapper.formulations.modulo_schedule.program.naming import named
from mapper.formulations.modulo_schedule.referee.verify import verify
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.sim.modulo_schedule.report import report
from mapper.solver.cp_sat import run_cp_sat
from mapper.solver.method import Effort, Method
from mapper.solver.modulo_schedule.catalogue import AUTOMATIC
from mapper.solver.modulo_schedule.exact.constraint_program import CONSTRAINT_PROGRAM
from mapper.solver.modulo_schedule.exact.decoupled import DECOUPLED
from mapper.solver.modulo_schedule.heuristic.annealing import ANNEALING
from mapper.solver.modulo_schedule.heuristic.embedding import contains, corners, embed
from mapper.solver.modulo_schedule.heuristic.iterative import ITERATIVE, search_briefly
from mapper.workloads.graph.dataflow_graph import DataflowGraph, Edge, Operation
from mapper.workloads.graph.kernel import Kernel
from mapper.workloads.graph.kernel_source import load_kernel

Search = Method[ModuloProblem, ModuloSchedule]
EXAMPLE = Path(__file__).parents[3] / "docs" / "kind" / "modulo-schedule" / "shared-file-3x3.yaml"
HEURISTICS = [pytest.param(method, id=method.name) for method in (ITERATIVE, ANNEALING)]
EXACT = [pytest.param(method, id=method.name) for method in (CONSTRAINT_PROGRAM, DECOUPLED, AUTOMATIC)]


def example() -> CgraMachine:
    machine, _ = load_machine(str(EXAMPLE))
    assert isinstance(machine, CgraMachine)
    return machine


def pair(shared: dict[str, Any] | None, **fields: Any) -> CgraMachine:
    """Two PEs without a link: one loads and stores, the other one calculates."""
    document = {
        "schema": "mapper.cgra/1", "name": "pair", "rows": 1, "columns": 2, "links": [],
        "pes": [{"at": [[0, 0]], "classes": ["memory"]}, {"at": [[0, 1]], "classes": ["integer"]}],
        "register_file": {"registers": 1}, "shared_register_file": shared, **fields,
    }  # fmt: skip
    return cgra_from_document(document, "test")


def doubled(machine: CgraMachine, ii: int | None = None) -> ModuloProblem:
    """A counter, a load, a sum of both and a store of it."""
    opcodes = ("add", "load", "add", "store")
    edges = (Edge(0, 0, 0, 1), Edge(0, 1, 0), Edge(0, 2, 0), Edge(1, 2, 1), Edge(0, 3, 0), Edge(2, 3, 1))
    graph = DataflowGraph(
        "doubled", tuple(Operation(f"o{v}", opcode) for v, opcode in enumerate(opcodes)), edges
    )
    return ModuloProblem(Kernel("doubled", graph), machine, ii)


def uses_shared(machine: CgraMachine, schedule: ModuloSchedule) -> bool:
    return any(
        hop.register is not None and machine.is_shared(hop.register)
        for route in schedule.routes
        for hop in route.hops
    )


CHAIN = "load", "add", "store"


def chain(machine: CgraMachine) -> ModuloProblem:
    operations = tuple(Operation(opcode, opcode) for opcode in CHAIN)
    graph = DataflowGraph("chain", operations, (Edge(0, 1, 0), Edge(1, 2, 0)))
    return ModuloProblem(Kernel("chain", graph), machine)


@pytest.mark.parametrize("method", EXACT)
def test_a_kernel_without_any_other_way_has_a_schedule_through_the_shared_file_alone(method: Search) -> None:
    outcome = method.search(chain(pair(None)), Effort())
    assert outcome.mapping is None and outcome.proven
    posed = chain(pair({"registers": 2}))
    outcome = method.search(posed, Effort())
    assert outcome.mapping is not None and outcome.proven
    assert uses_shared(posed.machine, outcome.mapping)
    assert verify(posed, outcome.mapping).valid


@pytest.mark.parametrize(
    ("shared", "least"),
    [
        ({"registers": 2}, 3),
        ({"registers": 1}, 4),
        ({"registers": 4, "write_ports": 1}, 3),
        ({"registers": 4, "read_ports": 1}, 4),
    ],
)
def test_the_least_interval_depends_on_the_registers_and_ports_of_the_shared_file(
    shared: dict[str, Any], least: int
) -> None:
    posed = doubled(pair(shared))
    outcome = CONSTRAINT_PROGRAM.search(posed, Effort())
    assert outcome.value == least and outcome.proven and not outcome.restrictions
    assert outcome.mapping is not None and verify(posed, outcome.mapping).valid


@pytest.mark.parametrize(("registers", "ii", "found"), [(2, 3, True), (1, 3, False), (1, 4, True)])
def test_shared_registers_that_are_told_apart_decide_the_same(registers: int, ii: int, found: bool) -> None:
    posed = doubled(pair({"registers": registers, "read_ports": 2}), ii)
    program = ModuloProgram(ModuloInstance(posed, ii, posed.machine.all_pes), named=True)
    program.build()
    result = run_cp_sat(program.model, Effort(), lambda value, bound: None)
    assert result.found == found
    if found:
        assert verify(posed, program.extract(result.value_of).schedule()).broken == ()


@pytest.mark.parametrize("method", HEURISTICS)
def test_heuristics_find_the_way_through_the_shared_file(method: Search) -> None:
    for ii, shared in ((3, {"registers": 4}), (4, {"registers": 3, "read_ports": 2, "write_ports": 1})):
        posed = doubled(pair(shared), ii)
        outcome = method.search(posed, Effort())
        assert outcome.mapping is not None
        assert verify(posed, outcome.mapping).broken == ()
        assert uses_shared(posed.machine, outcome.mapping)


@pytest.mark.parametrize("name", ["dot", "fir", "gemm", "gemv", "conv3x3", "histogram"])
def test_kernels_run_on_an_array_with_few_links_and_a_shared_file(name: str) -> None:
    kernel, _ = load_kernel(name)
    machine = example()
    outcome = search_briefly(ModuloProblem(kernel, machine), Effort())
    assert outcome.mapping is not None
    assert verify(ModuloProblem(kernel, machine), outcome.mapping).broken == ()
    assert uses_shared(machine, outcome.mapping)
    found = report(kernel, machine, outcome.mapping)
    assert found["outputs_equal"] and found["agrees"] and found["violations"] == []


def test_shared_registers_keep_their_place_after_own_ones_on_a_larger_array() -> None:
    small = pair({"registers": 4})
    large = pair({"registers": 5}, rows=2, register_file={"registers": 3})
    found = CONSTRAINT_PROGRAM.search(doubled(small), Effort()).mapping
    assert found is not None
    assert verify(doubled(large), embed(found, small, large)).broken == ()


def test_an_array_with_less_of_a_shared_file_does_not_contain_one_with_more() -> None:
    whole = pair({"registers": 4})
    assert contains(pair(None), whole)
    assert not contains(whole, pair(None))
    assert not contains(whole, pair({"registers": 3}))
    assert not contains(whole, pair({"registers": 4, "read_ports": 2}))
    assert not contains(whole, pair({"registers": 4, "at": [[0, 0]]}))
    assert contains(pair({"registers": 4, "at": [[0, 0]]}), whole)


def test_the_corners_of_an_array_share_what_lies_in_them() -> None:
    machine = example()
    assert all(contains(corner, machine) for corner in corners(machine))
    shared = machine.shared_register_file
    assert shared is not None
    last = machine.model_copy(update={"shared_register_file": shared.model_copy(update={"at": [(2, 2)]})})
    assert all(corner.shared_register_file is None for corner in corners(last))


def test_three_lives_that_chase_each_other_round_the_circle_need_three_names() -> None:
    lives = [(0, 1), (1, 2), (2, 3)]
    assert named(lives, 3, 2) is None
    assert named(lives, 3, 3) is not None
