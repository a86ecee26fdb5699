"""Kernels that have no modulo schedule at any interval, and ones that seem to have none."""

from __future__ import annotations

from typing import Any

import pytest

from mapper.arch.cgra import CgraMachine, cgra_from_document
from mapper.formulations.modulo_schedule.infeasible import why_infeasible
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.solver.method import Effort
from mapper.solver.modulo_schedule.exact.constraint_program import CONSTRAINT_PROGRAM
from mapper.workloads.graph.dataflow_graph import DataflowGraph, Edge, Operation
from mapper.workloads.graph.kernel import Kernel


def machine(rows: int, columns: int, registers: int, links: Any = "mesh", **fields: Any) -> CgraMachine:
    file = {"registers": registers, "read_ports": fields.pop("read_ports", None)}
    document = {
        "schema": "mapper.cgra/1", "name": "array", "rows": rows, "columns": columns, "register_file": file,
        "links": [links] if isinstance(links, str) else links, "pes": [{"at": "all", "classes": ["any"]}], **fields,
    }  # fmt: skip
    return cgra_from_document(document, "test")


def problem(machine: CgraMachine, *edges: tuple[int, int, int], opcodes: str = "add") -> ModuloProblem:
    """Edges as source, destination and distance; opcodes in turn."""
    count = 1 + max(max(u, w) for u, w, _ in edges)
    names = opcodes.split()
    graph = DataflowGraph(
        "graph",
        tuple(Operation(f"o{v}", names[v % len(names)]) for v in range(count)),
        tuple(Edge(u, w, operand, distance) for operand, (u, w, distance) in enumerate(edges)),
    )
    return ModuloProblem(Kernel("graph", graph), machine)


NO_WAY = [
    {"at": [(0, 0)], "classes": ["memory"]},
    {"at": [(0, 1)], "classes": ["integer"]},
]

ONE_RUNS = [{"at": [(0, 0)], "classes": ["any"]}]

IMPOSSIBLE = {
    "two operands, one PE, no register": problem(machine(1, 1, 0), (0, 2, 0), (1, 2, 0)),
    "a value that another operation overwrites": problem(machine(1, 1, 0), (0, 1, 0), (0, 2, 0)),
    "a recurrence beside its reader": problem(machine(1, 1, 0), (0, 0, 1), (0, 1, 0)),
    "three values, two places": problem(machine(1, 2, 0), (0, 3, 0), (1, 3, 0), (2, 3, 0)),
    "more values than places to keep them": problem(
        machine(1, 1, 1), (0, 1, 0), (0, 2, 0), (1, 3, 0), (2, 3, 0), (0, 3, 0)
    ),
    "operands that must come through one read port": problem(
        machine(1, 1, 4, read_ports=1), (0, 3, 0), (1, 3, 0), (2, 3, 0)
    ),
    "no link from producer to consumer": problem(
        machine(1, 2, 4, links=[[[0, 1], [0, 0]]], pes=NO_WAY), (0, 1, 0), opcodes="load add"
    ),
    "no link, and the shared registers are the other PE's": problem(
        machine(1, 2, 4, links=[], pes=NO_WAY, shared_register_file={"registers": 2, "at": [(0, 1)]}),
        (0, 1, 0),
        opcodes="load add",
    ),
    "more operands than an own and a shared register hold beside the output register": problem(
        machine(1, 1, 1, shared_register_file={"registers": 1}), (0, 3, 0), (1, 3, 0), (2, 3, 0), (4, 3, 0)
    ),
    "a value that another operation overwrites, and a shared register of the other PE": problem(
        machine(1, 2, 0, links=[], pes=ONE_RUNS, shared_register_file={"registers": 1, "at": [(0, 1)]}),
        (0, 1, 0),
        (0, 2, 0),
    ),
    "no way back for a recurrence": problem(
        machine(1, 2, 4, links=[[[0, 0], [0, 1]]], pes=NO_WAY), (0, 1, 0), (1, 0, 1), opcodes="load add"
    ),
}

POSSIBLE = {
    "one register for a recurrence": problem(machine(1, 1, 1), (0, 0, 1), (0, 1, 0)),
    "a chain without registers": problem(machine(1, 1, 0), (0, 1, 0), (1, 2, 0)),
    "a second PE instead of a register": problem(machine(1, 2, 0), (0, 2, 0), (1, 2, 0)),
    "a reader that issues before the result overwrites": problem(
        machine(1, 1, 0, latency_cycles={"add": 3}), (0, 1, 0), (0, 2, 0)
    ),
    "two operands of which one is in the output register": problem(
        machine(1, 1, 4, read_ports=1), (0, 2, 0), (1, 2, 0)
    ),
    "shared registers instead of a link": problem(
        machine(1, 2, 0, links=[], pes=NO_WAY, shared_register_file={"registers": 1}),
        (0, 1, 0),
        opcodes="load add",
    ),
    "three operands, one of each kind of register": problem(
        machine(1, 1, 1, shared_register_file={"registers": 1}), (0, 3, 0), (1, 3, 0), (2, 3, 0)
    ),
    "a shared register for what another operation overwrites": problem(
        machine(1, 1, 0, shared_register_file={"registers": 1}), (0, 1, 0), (0, 2, 0)
    ),
    "a link that goes the right way": problem(
        machine(1, 2, 4, links=[[[0, 0], [0, 1]]], pes=NO_WAY), (0, 1, 0), opcodes="load add"
    ),
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_no_interval_has_a_schedule_for(name: str) -> None:
    posed = IMPOSSIBLE[name]
    assert why_infeasible(posed) is not None
    outcome = CONSTRAINT_PROGRAM.search(posed, Effort())
    assert outcome.mapping is None and outcome.proven and not outcome.restrictions


@pytest.mark.parametrize("name", POSSIBLE)
def test_some_interval_has_a_schedule_for(name: str) -> None:
    posed = POSSIBLE[name]
    assert why_infeasible(posed) is None
    assert CONSTRAINT_PROGRAM.search(posed, Effort()).mapping is not None


def test_a_move_brings_a_value_from_the_output_register_into_one_that_got_free() -> None:
    # The register keeps the first value until the third operation reads it, and then the second one, which the
    # late result of the third overwrites in the output register.
    edges = (Edge(0, 1, 0), Edge(0, 2, 0), Edge(1, 2, 1), Edge(1, 3, 0), Edge(2, 3, 1, latency=3))
    graph = DataflowGraph("graph", tuple(Operation(f"o{v}", "add") for v in range(4)), edges)
    posed = ModuloProblem(Kernel("graph", graph), machine(1, 1, 1))
    assert why_infeasible(posed) is None
    outcome = CONSTRAINT_PROGRAM.search(posed, Effort())
    assert outcome.mapping is not None and outcome.mapping.moves
