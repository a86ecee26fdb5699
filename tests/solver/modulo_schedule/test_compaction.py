"""Schedules slide together where no value ties their parts."""

from __future__ import annotations

from dataclasses import replace

from mapper.arch.cgra import CgraMachine
from mapper.arch.source import load_machine
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.formulations.modulo_schedule.referee.verify import verify
from mapper.models.modulo_schedule.mapping import Hop, ModuloSchedule, Placement, Route
from mapper.solver.modulo_schedule.heuristic.compaction import compacted
from mapper.workloads.graph.dataflow_graph import DataflowGraph, Edge, Operation
from mapper.workloads.graph.kernel import Kernel

II = 3
LATE = 40 * II
"""Two pairs of operations, each with a value, the second LATE cycles after the first."""
SCHEDULE = ModuloSchedule(
    II,
    tuple(Placement(pe, time) for pe, time in (((0, 0), 0), ((0, 1), 1), ((1, 0), LATE), ((1, 1), LATE + 1))),
    (
        Route(0, (Hop((0, 0), 1, "output"),)),
        Route(1, (Hop((1, 0), LATE + 1, "output"),)),
    ),
)


def problem(*orders: Edge) -> ModuloProblem:
    machine, _ = load_machine("mesh-2x2")
    assert isinstance(machine, CgraMachine)
    operations = tuple(Operation(f"o{v}", "add") for v in range(4))
    edges = (Edge(0, 1, 0), Edge(2, 3, 0), *orders)
    return ModuloProblem(Kernel("pairs", DataflowGraph("pairs", operations, edges)), machine)


def test_parts_without_edges_between_them_begin_in_the_first_stage() -> None:
    slid = compacted(problem(), SCHEDULE)
    assert verify(problem(), slid).valid
    assert (SCHEDULE.stages, slid.stages) == (41, 1)


def test_an_edge_that_only_orders_keeps_its_parts_apart_by_its_latency() -> None:
    posed = problem(Edge(1, 2, None, 0, 2 * II))
    given = replace(SCHEDULE, routes=(*SCHEDULE.routes, Route(2, ())))
    slid = compacted(posed, given)
    assert verify(posed, slid).valid
    assert slid.placements[2].time == 3 * II


def test_an_edge_from_earlier_iterations_lets_its_reader_begin_at_once() -> None:
    posed = problem(Edge(1, 2, None, 2, 2))
    slid = compacted(posed, replace(SCHEDULE, routes=(*SCHEDULE.routes, Route(2, ()))))
    assert verify(posed, slid).valid
    assert slid.stages == 1
