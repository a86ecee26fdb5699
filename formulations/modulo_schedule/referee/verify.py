"""The referee of modulo schedules: checks a schedule against graph and machine, by itself [Bae2018, V-C].

It shares no code with the constraint program or the searches: it replays what the schedule says.
"""

from __future__ import annotations

from collections.abc import Iterator

from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.formulations.modulo_schedule.referee.replay import Replay
from mapper.formulations.modulo_schedule.referee.rule import IN_ARRAY, INTERVAL, PLACED
from mapper.formulations.verdict import BrokenRule, Verdict
from mapper.models.modulo_schedule.cost import ScheduleCost, evaluate
from mapper.models.modulo_schedule.mapping import ModuloSchedule, Pe


def verify(problem: ModuloProblem, schedule: ModuloSchedule) -> Verdict[ScheduleCost]:
    """Check ``schedule`` against every rule of ``problem`` and have the model recompute its cost.

    Sizes are in cycles, or count PEs, ports, routes or values too many.

    Raises: InputError if no PE can execute an operation, or a cycle of the graph has distance 0.
    """
    unreadable = tuple(_unreadable(problem, schedule))
    if unreadable:
        return Verdict(unreadable, None)
    cost = evaluate(problem.kernel, problem.machine, schedule)
    misplaced = tuple(_misplaced(problem, schedule))
    if misplaced:
        # Cycles of PEs that do not exist cannot be replayed.
        return Verdict(misplaced, cost)
    return Verdict(tuple(Replay(problem, schedule).broken()), cost)


def _unreadable(problem: ModuloProblem, schedule: ModuloSchedule) -> Iterator[BrokenRule]:
    """What leaves nothing to count with: an II below 1, or operations without a placement."""
    if schedule.ii < 1:
        yield BrokenRule(INTERVAL, "ii", 1 - schedule.ii)
    missing = len(problem.kernel.graph.operations) - len(schedule.placements)
    if missing or not schedule.placements:
        yield BrokenRule(PLACED, "schedule", missing)


def _misplaced(problem: ModuloProblem, schedule: ModuloSchedule) -> Iterator[BrokenRule]:
    """Operations and hops on PEs outside the array; the size is rows and columns beyond it."""
    graph, machine = problem.kernel.graph, problem.machine

    def beyond(pe: Pe) -> int:
        sides = ((pe[0], machine.rows), (pe[1], machine.columns))
        return sum(max(0, -at, at - side + 1) for at, side in sides)

    for operation, placement in zip(graph.operations, schedule.placements, strict=True):
        if beyond(placement.pe):
            yield BrokenRule(IN_ARRAY, operation.name, beyond(placement.pe))
    for route in schedule.routes:
        for hop in route.hops:
            if beyond(hop.pe):
                yield BrokenRule(IN_ARRAY, f"edge {route.edge}", beyond(hop.pe))
