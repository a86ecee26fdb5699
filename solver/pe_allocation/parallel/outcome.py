"""What a heuristic's allocation is worth: its value compared with the bound by argument alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from mapper.formulations.objective import THROUGHPUT
from mapper.formulations.pe_allocation.infeasible import why_infeasible
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.program.choice import Choice, allocation_of, paces
from mapper.formulations.pe_allocation.program.goal import GOALS, Goal, Limits
from mapper.formulations.pe_allocation.program.instance import instance_of
from mapper.formulations.pe_allocation.referee.verify import verify
from mapper.models.pe_allocation.calculus import position_cycles
from mapper.models.pe_allocation.cost import AllocationCost, evaluate
from mapper.models.pe_allocation.mapping import Allocation
from mapper.solver.certificate import Stop
from mapper.solver.method import Effort
from mapper.solver.outcome import Outcome


def cost_of(problem: AllocationProblem, allocation: Allocation) -> AllocationCost:
    """The model's cost."""
    return evaluate(problem.network, problem.machine, allocation, problem.model)


def quantity(problem: AllocationProblem, allocation: Allocation, goal: Goal) -> int:
    """What ``goal`` counts, from the model."""
    if goal == "units":
        return sum(pes * delta for pes, delta in zip(allocation.pes, allocation.delta, strict=True))
    found: int = getattr(cost_of(problem, allocation), goal)
    return found


def fits(problem: AllocationProblem, allocation: Allocation, limits: Limits) -> bool:
    """Whether the referee accepts an allocation and the model counts no more of anything than ``limits``."""
    verdict = verify(problem, allocation)
    if verdict.cost is None or not verdict.valid:
        return False
    most = (
        (verdict.cost.pes, limits.pes),
        (verdict.cost.interval, limits.interval),
        (verdict.cost.cycles, limits.cycles),
    )
    units = (quantity(problem, allocation, "units"), limits.units)
    return all(limit is None or found <= limit for found, limit in (*most, units))


def roomy(problem: AllocationProblem) -> AllocationProblem:
    """The problem without a limit on buffers."""
    machine = problem.machine.model_copy(update={"buffer_bytes": None})
    return replace(problem, max_bytes=None, machine=machine)


def in_unit(problem: AllocationProblem, goal_value: int) -> int | float:
    """A value of the objective's goal in the objective's unit: frames per second of an interval."""
    if problem.goal == THROUGHPUT:
        return problem.machine.clock_hz / max(1, goal_value)
    return goal_value


def floor(problem: AllocationProblem) -> int:
    """A lower bound of the objective's goal in closed form."""
    goal = GOALS[problem.objective][0]
    return instance_of(problem, goal, Limits(problem.most_pes, problem.longest_interval)).least


def outcome_of(
    problem: AllocationProblem, allocation: Allocation | None, effort: Effort
) -> Outcome[Allocation]:
    """The outcome of a heuristic: proven where its allocation meets the bound, or where there can be none."""
    if why_infeasible(problem) is not None:
        return Outcome.infeasible()
    bound = floor(problem)
    stop: Stop = effort.stopped() or "heuristic"
    if allocation is None:
        return Outcome.unknown(stop, in_unit(problem, bound))
    met = quantity(problem, allocation, GOALS[problem.objective][0]) == bound
    value = problem.value(cost_of(problem, allocation))
    return Outcome.ended(allocation, value, in_unit(problem, bound), "complete" if met else stop, proven=met)


def chosen_in(allocation: Allocation, problem: AllocationProblem) -> tuple[Choice, ...]:
    """The choices that an allocation makes."""
    return tuple(
        Choice(pes, delta, position_cycles(layer, pes, delta))
        for layer, pes, delta in zip(problem.network.layers, allocation.pes, allocation.delta, strict=True)
    )


def paced(problem: AllocationProblem, chosen: Sequence[Choice]) -> Allocation | None:
    """The allocation that gives layers what is chosen, at the best of a few paces (``_tried_paces``); None if all break
    a rule."""
    best: tuple[tuple[int, int, int], Allocation] | None = None
    for z_out in _tried_paces(problem, chosen):
        found = allocation_of(problem, chosen, z_out)
        verdict = verify(problem, found)
        if verdict.valid and verdict.cost is not None:
            rank = problem.rank(verdict.cost)
            if best is None or rank < best[0]:
                best = rank, found
    return None if best is None else best[1]


def _tried_paces(problem: AllocationProblem, chosen: Sequence[Choice]) -> Iterator[Sequence[int]]:
    """The least paces; in the streaming model also matched ones, and those at which all layers take about as long for a
    frame as the slowest: a layer that does not run ahead starts early, and so do those after it."""
    least = paces(problem, chosen)
    yield least
    if problem.model == "streaming":
        yield paces(problem, chosen, matched=True)
        layers = problem.network.layers
        interval = max(pace * layer.positions for pace, layer in zip(least, layers, strict=True))
        yield [
            pace if problem.pin(layer).throttle is not None else max(pace, interval // layer.positions)
            for pace, layer in zip(least, layers, strict=True)
        ]
