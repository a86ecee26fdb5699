"""Brute force: every placement and every route within a horizon, each checked by the referee.

It is the oracle for the searches on the smallest graphs and arrays: it knows no slots, no
lifetimes and no symmetry beyond the order of equal registers.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.formulations.modulo_schedule.referee.verify import verify
from mapper.models.modulo_schedule.bound import mii
from mapper.models.modulo_schedule.latency import edge_latency, result_latency
from mapper.models.modulo_schedule.mapping import Hop, ModuloSchedule, Pe, Placement, Route, Via
from mapper.solver.certificate import Stop
from mapper.solver.method import Effort, Method, Progress
from mapper.solver.outcome import Outcome

MOST_PLACEMENTS = 200_000
MOST_MOVES = 1
STAGES = 2
MOST_INTERVAL = 4

BEYOND = (
    f"operations issue within {STAGES} stages",
    f"routes have {MOST_MOVES} move at most",
    f"initiation intervals above {MOST_INTERVAL} are not tried",
)


def brute_force(problem: ModuloProblem, effort: Effort) -> Outcome[ModuloSchedule]:
    """The least II at which a schedule within the horizon exists; proven where it is MII.

    Raises: InputError if no PE can execute an operation, or a cycle of the graph has distance 0.
    """
    graph = problem.kernel.graph
    least = mii(graph, problem.machine).value
    intervals = range(least, MOST_INTERVAL + 1) if problem.fixed_ii is None else (problem.fixed_ii,)
    evaluations = 0
    for ii in intervals:
        count = (len(problem.machine.all_pes) * STAGES * ii) ** len(graph.operations)
        if count > MOST_PLACEMENTS:
            left_out = (*BEYOND, f"more than {MOST_PLACEMENTS} placements are not tried")
            return Outcome.bounded(
                None, None, least, "heuristic", restrictions=left_out, evaluations=evaluations
            )
        for schedule in _schedules(problem, ii):
            stop = effort.stopped()
            if stop is not None:
                return Outcome.bounded(None, None, least, stop, restrictions=BEYOND, evaluations=evaluations)
            evaluations += 1
            if verify(problem, schedule).valid:
                effort.report(Progress(ii, least, evaluations))
                met = ii == least or problem.fixed_ii is not None
                bound = ii if met else least
                reason: Stop = "complete" if met else "heuristic"
                return Outcome.ended(
                    schedule, ii, bound, reason, proven=met, restrictions=BEYOND, evaluations=evaluations
                )
    return Outcome.bounded(None, None, least, "heuristic", restrictions=BEYOND, evaluations=evaluations)


def _schedules(problem: ModuloProblem, ii: int) -> Iterator[ModuloSchedule]:
    graph, machine = problem.kernel.graph, problem.machine
    places = [Placement(pe, time) for pe in machine.all_pes for time in range(STAGES * ii)]
    for placements in product(places, repeat=len(graph.operations)):
        if len({(placed.pe, placed.time % ii) for placed in placements}) < len(placements):
            continue
        routes = [list(_routes(problem, ii, placements, edge)) for edge in range(len(graph.edges))]
        for chosen in product(*routes):
            issued = [placed.time for placed in placements]
            issued += [hop.time - 1 for route in chosen for hop in route.hops if hop.via == "move"]
            if min(issued) < ii:
                yield ModuloSchedule(ii, placements, chosen)


def _routes(
    problem: ModuloProblem, ii: int, placements: tuple[Placement, ...], position: int
) -> Iterator[Route]:
    """Every route of an edge whose reads come in time; none if its latency is not kept."""
    graph, machine = problem.kernel.graph, problem.machine
    edge = graph.edges[position]
    source, reader = placements[edge.source], placements[edge.destination]
    read = reader.time + edge.distance * ii
    if read < source.time + edge_latency(graph, machine, edge):
        return
    if edge.operand is None:
        yield Route(position, ())
        return
    ready = source.time + result_latency(graph, machine, edge.source)
    for register in _registers(problem, ii, source.pe, ready):
        via: Via = "output" if register is None else "register"
        for hops in _chains(problem, ii, (Hop(source.pe, ready, via, register),), read):
            if read - hops[-1].time < ii:
                yield Route(position, hops)


def _chains(problem: ModuloProblem, ii: int, hops: tuple[Hop, ...], read: int) -> Iterator[tuple[Hop, ...]]:
    """``hops``, and what moves make of them until ``read``."""
    yield hops
    if len(hops) > MOST_MOVES:
        return
    last = hops[-1]
    shared = last.register is not None and problem.machine.is_shared(last.register)
    reached = problem.machine.sharing if shared else frozenset[Pe]()
    for pe in sorted(problem.machine.readers[last.pe] | reached):
        for issue in range(last.time, min(last.time + ii, read)):
            for register in _registers(problem, ii, pe, issue + 1):
                hop = Hop(pe, issue + 1, "move", register)
                yield from _chains(problem, ii, (*hops, hop), read)


def _registers(problem: ModuloProblem, ii: int, pe: Pe, ready: int) -> tuple[int | None, ...]:
    """Names for a result: none or any register, shared ones last; with an own one for every cycle of the II, of
    the own ones that cycle's, which takes nothing from other results."""
    own, all_of_them = problem.machine.register_file.registers, problem.machine.registers_of(pe)
    return ((ready % ii,) if own >= ii else (None, *range(own))) + tuple(range(own, all_of_them))


BRUTE_FORCE: Method[ModuloProblem, ModuloSchedule] = Method(
    "brute-force",
    True,
    f"every placement within {STAGES} stages and every route, at most {MOST_PLACEMENTS} placements",
    brute_force,
)
