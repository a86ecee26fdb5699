"""Schedules of which somebody else gives the placements: values are routed as the machine here can."""

from __future__ import annotations

from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.models.modulo_schedule.latency import result_latency
from mapper.models.modulo_schedule.mapping import Hop, ModuloSchedule, Placement, Route
from mapper.solver.method import Effort
from mapper.workloads.document import InputError

WORK = 100.0
"""Work spent on routes for given placements, far more than graphs of a hundred operations take."""


def routed(problem: ModuloProblem, ii: int, placements: tuple[Placement, ...], source: str) -> ModuloSchedule:
    """The schedule with operations where and when they are given, and routes that CP-SAT finds for them. If it proves
    that there are none, readers look into the output registers of producers, and the referee says where that fails.

    Raises: InputError if routes are neither found nor refuted.
    """
    from mapper.solver.modulo_schedule.exact.constraint_program import decide

    pes = problem.machine.all_pes
    if all(placement.pe in pes for placement in placements):
        times = {at: placement.time for at, placement in enumerate(placements)}
        places = {at: placement.pe for at, placement in enumerate(placements)}
        tried = decide(problem, ii, pes, Effort(), times, work=WORK, places=places)
        if tried.schedule is not None:
            return tried.schedule
        if tried.answer != "infeasible":
            raise InputError(
                source, "placements", "no routes were found for them; give a mapping with routes"
            )
    return _unrouted(problem, ii, placements)


def _unrouted(problem: ModuloProblem, ii: int, placements: tuple[Placement, ...]) -> ModuloSchedule:
    """Every value stays in the output register of its producer."""
    graph, machine = problem.kernel.graph, problem.machine
    first = min(placement.time for placement in placements) // ii * ii
    placed = tuple(Placement(placement.pe, placement.time - first) for placement in placements)
    hops = [
        (Hop(at.pe, at.time + result_latency(graph, machine, operation), "output"),)
        for operation, at in enumerate(placed)
    ]
    routes = tuple(
        Route(position, () if edge.operand is None else hops[edge.source])
        for position, edge in enumerate(graph.edges)
    )
    return ModuloSchedule(ii, placed, routes)
