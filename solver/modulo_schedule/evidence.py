"""Evidence for one loop: the problem as plain numbers, and why no smaller II has a schedule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from mapper.arch.cgra import CgraMachine
from mapper.formulations.modulo_schedule.infeasible import executed_iterations, roomless
from mapper.formulations.modulo_schedule.parity import least_bound, odd_walk
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.models.modulo_schedule.bound import recurrence_of, res_mii
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.solver.method import Effort
from mapper.solver.modulo_schedule.exact.refutation import refutation
from mapper.solver.proof import NotCertifiedError
from mapper.workloads.graph.dataflow_graph import DataflowGraph

OBJECTIVE = "least initiation interval, in cycles"
Evidence = dict[str, Any]


def at_least(problem: ModuloProblem, least: int, effort: Effort) -> Evidence:
    """Why no II is below ``least``: an argument, or one for a smaller II and refutations of those from there on."""
    fixed = problem.fixed_ii
    if fixed is not None and fixed >= least:
        return {"rule": "fixed"}
    found = next(_arguments(problem, least), None)
    if found is not None:
        return found
    floor = least_bound(problem) if fixed is None else fixed
    below = {"rule": "fixed"} if fixed is not None else next(_arguments(problem, floor))
    document = loop_document(problem)
    return {
        "rule": "clauses",
        "below": below,
        "steps": [refutation(document, ii, effort) for ii in range(floor, least)],
    }


def _arguments(problem: ModuloProblem, least: int) -> Iterator[Evidence]:
    """Arguments that no II is below ``least``, shortest first."""
    graph, machine = problem.kernel.graph, problem.machine
    units = res_mii(graph, machine)
    memory = [v for v, operation in enumerate(graph.operations) if operation.opcode in ("load", "store")]
    if machine.memory_ports is not None and -(-len(memory) // machine.memory_ports) >= least:
        yield {"rule": "ports"}
    if units.value >= least and units.operations != tuple(memory):
        yield {"rule": "units", "operations": list(units.operations)}
    cycle = recurrence_of(graph, machine, least)
    if cycle is not None:
        yield {"rule": "cycle", "edges": list(cycle)}
    if units.value >= least:
        yield {"rule": "units", "operations": list(units.operations)}
    if least == 2 and (odd := odd_walk(problem)) is not None:
        yield {"rule": "parity", "walk": [list(step) for step in odd.walk], "colours": list(odd.colours)}


def no_interval(problem: ModuloProblem, effort: Effort) -> Evidence:
    """Why no II, or not the fixed one, has a schedule."""
    graph, machine = problem.kernel.graph, problem.machine
    edges = roomless(graph, machine)
    if edges is not None:
        return {"rule": "operands", "edges": list(edges)}
    iterations = executed_iterations(problem)
    if iterations is not None:
        return {"rule": "survival", "iterations": iterations}
    if problem.fixed_ii is not None:
        return at_least(problem, problem.fixed_ii + 1, effort)
    raise NotCertifiedError("no evidence that no II has a schedule")


def loop_document(problem: ModuloProblem) -> dict[str, Any]:
    """The problem of one loop as plain numbers."""
    return {
        "objective": OBJECTIVE,
        "fixed_ii": problem.fixed_ii,
        **graph_document(problem.kernel.graph),
        "machine": machine_document(problem.machine),
    }


def graph_document(graph: DataflowGraph) -> dict[str, Any]:
    """The operations and edges of a loop."""
    return {
        "operations": [[operation.name, operation.opcode] for operation in graph.operations],
        "edges": [
            [edge.source, edge.destination, edge.operand, edge.distance, edge.latency] for edge in graph.edges
        ],
    }


def machine_document(machine: CgraMachine) -> dict[str, Any]:
    """What of a machine's document schedules rest on, by the document's names."""
    kept = (
        "rows",
        "columns",
        "links",
        "pes",
        "latency_cycles",
        "register_file",
        "shared_register_file",
        "memory_ports",
    )
    document: dict[str, Any] = machine.model_dump(mode="json", include=set(kept))
    return document


def schedule_document(problem: ModuloProblem, schedule: ModuloSchedule) -> Evidence:
    """Placements as [PE, time] and, per edge, the first register (or none) and moves as [PE, cycle from which the
    value can be read there, register]; PEs count row by row."""
    columns = problem.machine.columns

    def number(pe: Sequence[int]) -> int:
        return pe[0] * columns + pe[1]

    routes: list[list[Any]] = [[] for _ in problem.kernel.graph.edges]
    for route in schedule.routes:
        if route.hops:
            moves = [[number(hop.pe), hop.time, hop.register] for hop in route.hops[1:]]
            routes[route.edge] = [route.hops[0].register, *moves]
    placements = [[number(placement.pe), placement.time] for placement in schedule.placements]
    return {"ii": schedule.ii, "placements": placements, "routes": routes}
