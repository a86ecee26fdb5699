"""The counts that ``mapper explain`` prints are those of the program, though it is not built for them."""

from __future__ import annotations

from typing import Any

import pytest

from mapper.arch.cgra import cgra_from_document
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.formulations.modulo_schedule.program.counting import CountedProgram
from mapper.formulations.modulo_schedule.program.cp_sat import ModuloProgram
from mapper.formulations.modulo_schedule.program.instance import ModuloInstance
from mapper.workloads.graph.dataflow_graph import DataflowGraph, Edge, Operation
from mapper.workloads.graph.kernel import Kernel

GRAPH = DataflowGraph(
    "sum",
    (Operation("a", "load", array="a"), Operation("b", "add"), Operation("c", "store", array="c")),
    (Edge(0, 1, 0), Edge(1, 1, 1, distance=1), Edge(1, 2, 0), Edge(0, 2, 1), Edge(2, 0, None, distance=2)),
)


def instance(ii: int, rows: int, **fields: Any) -> ModuloInstance:
    document = {
        "schema": "mapper.cgra/1", "name": "array", "rows": rows, "columns": 2, "links": ["mesh"],
        "pes": [{"at": "all", "classes": ["any"]}], "register_file": {"registers": 2}, **fields,
    }  # fmt: skip
    machine = cgra_from_document(document, "test")
    return ModuloInstance(ModuloProblem(Kernel("sum", GRAPH), machine), ii, machine.all_pes)


@pytest.mark.parametrize(
    "given",
    [
        instance(1, 2),
        instance(3, 2),
        instance(2, 1, register_file={"registers": 0}),
        instance(5, 2, latency_cycles={"load": 12}, memory_ports=1),
        instance(3, 2, register_file={"registers": 1, "read_ports": 1, "write_ports": 1}),
        instance(3, 2, shared_register_file={"registers": 2, "read_ports": 2, "at": [(0, 0), (1, 1)]}),
    ],
)
def test_what_is_counted_is_what_is_built(given: ModuloInstance) -> None:
    counted, built = CountedProgram(given), ModuloProgram(given)
    assert counted.build() == built.build()
    assert sum(part.variables for part in counted.built) == len(built.model.proto.variables)


def test_values_live_no_longer_than_there_are_places_for_their_iterations() -> None:
    few = instance(9, 1, register_file={"registers": 0})
    assert few.spare_slots == 15
    assert few.most_rounds == 3, "two output registers: rounds 0 to 2"
    assert instance(1, 2).most_rounds == 3, "one spare slot, so one move"
    shared = instance(9, 1, register_file={"registers": 1}, shared_register_file={"registers": 3})
    assert shared.most_rounds == 2 * 2 + 3 + 1
