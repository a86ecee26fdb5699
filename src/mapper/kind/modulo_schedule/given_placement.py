"""Schedules of which somebody else gives the placements: values are routed as the machine here can."""

from __future__ import annotations

import time

from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.models.limit import UndecidedError
from mapper.models.modulo_schedule.latency import result_latency
from mapper.models.modulo_schedule.mapping import Hop, ModuloSchedule, Placement, Route
from mapper.solver.method import Effort

WORK = 100.0
"""Work spent on routes for given placements, far more than graphs of a hundred operations take."""
SECONDS = 30.0
"""And time."""


def routed(problem: ModuloProblem, ii: int, placements: tuple[Placement, ...], source: str) -> ModuloSchedule:
    """The schedule with operations where and when they are given, and routes that CP-SAT finds for them. If it proves
    that there are none, readers look into the output registers of producers, and the referee says where that fails.

    Raises: UndecidedError if routes are neither found nor refuted within ``SECONDS`` and ``WORK``.
    """
    from mapper.solver.modulo_schedule.exact.constraint_program import decide

    pes = problem.machine.all_pes
    if all(placement.pe in pes for placement in placements):
        times = {at: placement.time for at, placement in enumerate(placements)}
        places = {at: placement.pe for at, placement in enumerate(placements)}
        effort = Effort(time.monotonic() + SECONDS)
        tried = decide(problem, ii, pes, effort, times, work=WORK, places=places)
        if tried.schedule is not None:
            return tried.schedule
        if tried.answer != "infeasible":
            took = f"within {SECONDS:g} s" if effort.is_over() else "with much work"
            remedy = "give a mapping with routes"
            raise UndecidedError(
                f"{source}: placements: undecided: routes were neither found nor refuted {took}; {remedy}"
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
