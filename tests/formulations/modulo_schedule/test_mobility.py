"""The program in windows of issue times: its windows, its parts, and schedules that the referee accepts."""

from __future__ import annotations

import random
import time

import pytest

from mapper.arch.cgra import CgraMachine, cgra_from_document
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.formulations.modulo_schedule.program.instance import ModuloInstance
from mapper.formulations.modulo_schedule.program.mobility import MobilityProgram, precedences, windows
from mapper.formulations.modulo_schedule.referee.verify import verify
from mapper.models.modulo_schedule.bound import mii
from mapper.solver.method import Effort
from mapper.solver.modulo_schedule.exact.constraint_program import decide
from mapper.workloads.graph.dataflow_graph import DataflowGraph, Edge, Operation
from mapper.workloads.graph.kernel import Kernel


def machine(rows: int, columns: int, registers: int = 4, **fields: object) -> CgraMachine:
    document = {
        "schema": "mapper.cgra/1", "name": "array", "rows": rows, "columns": columns, "links": ["mesh"],
        "pes": [{"at": "all", "classes": ["any"]}], "register_file": {"registers": registers}, **fields,
    }  # fmt: skip
    return cgra_from_document(document, "test")


def problem(given: CgraMachine, operations: int, *edges: tuple[int, int, int]) -> ModuloProblem:
    """Edges as source, destination and distance; each is an operand."""
    graph = DataflowGraph(
        "graph",
        tuple(Operation(f"o{v}", "add") for v in range(operations)),
        tuple(Edge(u, w, operand, distance) for operand, (u, w, distance) in enumerate(edges)),
    )
    return ModuloProblem(Kernel("graph", graph), given)


def instance(given: ModuloProblem, ii: int) -> ModuloInstance:
    return ModuloInstance(given, ii, given.machine.all_pes)


def test_an_operation_may_issue_from_as_soon_to_as_late_as_dependences_and_slack_allow() -> None:
    chain_and_side = problem(machine(2, 2), 4, (0, 1, 0), (1, 2, 0), (3, 2, 0), (2, 1, 1))
    given = instance(chain_and_side, 3)
    assert windows(given, precedences(given), 0) == (range(1), range(1, 2), range(2, 3), range(2))
    assert windows(given, precedences(given), 2) == (range(3), range(1, 4), range(2, 5), range(4))


def test_every_part_of_the_program_says_what_it_is_and_what_it_adds() -> None:
    given = problem(machine(2, 2, shared_register_file={"registers": 1}), 3, (0, 1, 0), (1, 2, 1))
    program = MobilityProgram(instance(given, 2), 1)
    built = {part.part.name: part for part in program.build()}
    assert built["mobility"].members == 3 * 2 + 1
    assert built["placements"].variables == built["mobility"].members * (4 + 1) + 3 * 4
    assert sum(part.variables for part in built.values()) == program.size()[0]
    assert sum(part.constraints for part in built.values()) == program.size()[1]


ARRAYS = {
    "registers": machine(2, 2),
    "no registers": machine(2, 2, 0),
    "one register, one read port": machine(2, 2, register_file={"registers": 1, "read_ports": 1}),
    "a shared file": machine(2, 2, 0, shared_register_file={"registers": 2, "read_ports": 2}),
    "results after two cycles": machine(2, 2, latency_cycles={"integer": 2}),
}


@pytest.mark.parametrize("array", ARRAYS)
@pytest.mark.parametrize("seed", range(2))
def test_windows_hold_schedules_that_the_referee_accepts_and_none_where_there_is_none(
    array: str, seed: int
) -> None:
    """The complete program, which shares no time with the windows, says at each II whether there is a schedule."""
    draw = random.Random(seed)
    edges = [(draw.randrange(w), w, 0) for w in range(1, 5) for _ in range(draw.choice([1, 2]))]
    given = problem(ARRAYS[array], 5, *edges, (4, draw.randrange(1, 5), draw.choice([1, 2])))
    least = mii(given.kernel.graph, given.machine).value
    effort = Effort(time.monotonic() + 60)
    for ii in range(least, least + 2):
        complete = decide(given, ii, given.machine.all_pes, effort)
        windowed = decide(given, ii, given.machine.all_pes, effort, slack=2 * ii)
        assert complete.answer != "undecided"
        assert (windowed.schedule is None) == (complete.schedule is None)
        if windowed.schedule is None:
            assert windowed.answer == "undecided"
        else:
            assert windowed.schedule.ii == ii
            assert verify(given, windowed.schedule).broken == ()
