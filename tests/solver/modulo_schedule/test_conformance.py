"""Every method for modulo schedules against every other on the same small problems."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mapper.arch.cgra import CgraMachine, cgra_from_document
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.formulations.modulo_schedule.referee.verify import verify
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.solver.method import Effort, Method
from mapper.solver.modulo_schedule.catalogue import METHODS
from mapper.workloads.graph.dataflow_graph import DataflowGraph, Edge, Operation
from mapper.workloads.graph.kernel import Kernel
from tests.solver.conformance import check_agreement, check_determinism, check_outcome, refereed_by


def machine(rows: int, columns: int, links: str = "mesh", registers: int = 8, shared: int = 0) -> CgraMachine:
    document = {
        "shared_register_file": {"registers": shared} if shared else None,
        "schema": "mapper.cgra/1", "name": "array", "rows": rows, "columns": columns, "links": [links] if links else [],
        "pes": [{"at": "all", "classes": ["any"]}], "register_file": {"registers": registers},
    }  # fmt: skip
    return cgra_from_document(document, "test")


def problem(machine: CgraMachine, *edges: tuple[int, ...], operations: int = 0) -> ModuloProblem:
    """Edges as source, destination, distance, and perhaps latency; more operations than they join if so many."""
    count = max([operations, *(1 + max(edge[:2]) for edge in edges)])
    named = tuple(Operation(f"o{v}", "add") for v in range(count))
    made = tuple(
        Edge(edge[0], edge[1], operand, edge[2], edge[3] if len(edge) > 3 else None)
        for operand, edge in enumerate(edges)
    )
    return ModuloProblem(Kernel("graph", DataflowGraph("graph", named, made)), machine)


FAN = problem(machine(1, 5), (0, 1, 0), (0, 2, 0), (0, 3, 0), (0, 4, 0))

PROBLEMS = {
    "chain": problem(machine(1, 2), (0, 1, 0), (1, 2, 0)),
    "recurrence": problem(machine(1, 2), (0, 1, 0), (1, 0, 1), (1, 2, 0)),
    "triangle on a ring of four": problem(machine(2, 2, "torus"), (0, 1, 0), (1, 2, 0), (0, 2, 0)),
    "one register": problem(machine(1, 2, registers=1), (0, 1, 0), (1, 2, 0), (0, 2, 0)),
    "no register": problem(machine(1, 2, registers=0), (0, 1, 0), (1, 2, 0), (0, 2, 0)),
    "a shared register instead of links": problem(machine(1, 2, "", 0, 1), (0, 1, 0), (1, 2, 0), (0, 2, 0)),
    "value of two iterations ago": problem(machine(1, 2), (0, 1, 2), (0, 1, 0)),
    "more readers than neighbours": FAN,
    "results read in the cycle of their issue": problem(
        machine(1, 2), (0, 1, 0, 0), (1, 2, 0, 0), (0, 2, 1, 0)
    ),
    "a recurrence of forty cycles over forty iterations": problem(machine(1, 1), (0, 0, 40, 40)),
    "a value of forty iterations ago": problem(machine(1, 2), (0, 1, 40, 0)),
    "one operation": problem(machine(1, 1, registers=0), operations=1),
    "parts that no value joins": problem(machine(1, 1), (0, 1, 0), operations=4),
    "interval below the bound": replace(FAN, fixed_ii=0),
    "interval above the bound": replace(FAN, fixed_ii=3),
}


KIND = refereed_by(verify, lambda posed, cost: cost.ii)


@pytest.mark.parametrize("name", PROBLEMS)
def test_methods_agree_on(name: str) -> None:
    posed = PROBLEMS[name]
    outcomes = [(method, method.search(posed, Effort())) for method in METHODS.values()]
    for method, outcome in outcomes:
        check_outcome(posed, method, KIND, outcome)
        assert outcome.proven or outcome.stop == "heuristic", f"{method.name} gave up, but says otherwise"
    check_agreement(posed, KIND, outcomes)


@pytest.mark.parametrize("method", METHODS.values(), ids=lambda method: method.name)
@pytest.mark.parametrize("seed", [0, 7])
def test_same_seed_gives_same_schedule(method: Method[ModuloProblem, ModuloSchedule], seed: int) -> None:
    check_determinism(PROBLEMS["recurrence"], method, seed)
