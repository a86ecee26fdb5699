"""Proofs of modulo schedules: the problem as plain numbers, and why no smaller II has a schedule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from mapper.arch.cgra import CgraMachine
from mapper.formulations.modulo_schedule.infeasible import executed_iterations, roomless
from mapper.formulations.modulo_schedule.network.problem import LayerProblem
from mapper.formulations.modulo_schedule.parity import least_bound, odd_walk
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.formulations.modulo_schedule.whole.problem import WholeProblem
from mapper.models.modulo_schedule.bound import recurrence_of, res_mii
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.models.modulo_schedule.network.mapping import LayerMapping
from mapper.models.modulo_schedule.whole.mapping import WholeMapping
from mapper.solver.method import Effort
from mapper.solver.modulo_schedule.exact.refutation import refutation
from mapper.solver.proof import Claim, NotCertifiedError, Proof

OBJECTIVE = "least initiation interval, in cycles"
Evidence = dict[str, Any]


Problem = ModuloProblem | WholeProblem | LayerProblem


def prove(
    problem: Problem, claim: Claim[ModuloSchedule | WholeMapping | LayerMapping], effort: Effort
) -> Proof:
    """The proof of ``claim``.

    Raises: NotCertifiedError if no argument that the checker knows shows what is claimed.
    """
    if isinstance(problem, LayerProblem):
        raise NotCertifiedError(
            "the bound on a layer's cycles covers loop bodies, for which there is no checker"
        )
    if isinstance(problem, WholeProblem):
        raise NotCertifiedError("a whole kernel has no checker; certify its loops, each as FILE:FUNCTION:N")
    assert not isinstance(claim.mapping, WholeMapping | LayerMapping)
    mapping = None if claim.mapping is None else _mapping(problem, claim.mapping)
    value = None if claim.value is None else int(claim.value)
    if claim.status == "infeasible":
        return Proof(
            _problem(problem), "infeasible", None, None, _evidence(None, _no_interval(problem, effort))
        )
    if claim.bound is None:
        raise NotCertifiedError("no bound is claimed")
    least = int(claim.bound)
    shown = _at_least(problem, least, effort)
    return Proof(_problem(problem), claim.status, value, least, _evidence(mapping, shown))


def _evidence(mapping: Evidence | None, bound: Evidence) -> Evidence:
    return {"rule": "interval", "mapping": mapping, "bound": bound}


def _at_least(problem: ModuloProblem, least: int, effort: Effort) -> Evidence:
    """Why no II is below ``least``: an argument, or one for a smaller II and refutations of those from there on."""
    fixed = problem.fixed_ii
    if fixed is not None and fixed >= least:
        return {"rule": "fixed"}
    found = next(_arguments(problem, least), None)
    if found is not None:
        return found
    floor = least_bound(problem) if fixed is None else fixed
    below = {"rule": "fixed"} if fixed is not None else next(_arguments(problem, floor))
    document = _problem(problem)
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


def _no_interval(problem: ModuloProblem, effort: Effort) -> Evidence:
    """Why no II, or not the fixed one, has a schedule."""
    graph, machine = problem.kernel.graph, problem.machine
    edges = roomless(graph, machine)
    if edges is not None:
        return {"rule": "operands", "edges": list(edges)}
    iterations = executed_iterations(problem)
    if iterations is not None:
        return {"rule": "survival", "iterations": iterations}
    if problem.fixed_ii is not None:
        return _at_least(problem, problem.fixed_ii + 1, effort)
    raise NotCertifiedError("no evidence that no II has a schedule")


def restated(problem: Problem) -> dict[str, Any] | None:
    """The problem as plain numbers; layers of networks, and whole kernels, have no checker."""
    return _problem(problem) if isinstance(problem, ModuloProblem) else None


def _problem(problem: ModuloProblem) -> dict[str, Any]:
    graph = problem.kernel.graph
    return {
        "objective": OBJECTIVE,
        "fixed_ii": problem.fixed_ii,
        "operations": [[operation.name, operation.opcode] for operation in graph.operations],
        "edges": [
            [edge.source, edge.destination, edge.operand, edge.distance, edge.latency] for edge in graph.edges
        ],
        "machine": _machine(problem.machine),
    }


def _machine(machine: CgraMachine) -> dict[str, Any]:
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


def _mapping(problem: ModuloProblem, schedule: ModuloSchedule) -> Evidence:
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
