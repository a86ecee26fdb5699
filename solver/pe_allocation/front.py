"""Pareto fronts of PE allocation: PEs, frames per second, latency; in mixed mode the buffers too.

Points carry no placement: it is a second step, for the one that is chosen. Each point is the best in every criterion
among those that are no worse in the others; of several allocations with the same criteria one is shown.
"""

from __future__ import annotations

from collections.abc import Iterable

from mapper.formulations.pe_allocation.choice import allocation_of
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.models.pe_allocation.allocation import Allocation
from mapper.models.pe_allocation.cost import AllocationCost, evaluate
from mapper.solver.front import Front
from mapper.solver.method import Effort, Outcome
from mapper.solver.pe_allocation.fused_run import Scope, grow


def front(problem: AllocationProblem, effort: Effort) -> Front[Allocation]:
    """All points that no other is better than in something and as good as in the rest, ascending by PEs, then by the
    interval between frames, by latency and by buffers. Limits and pins of the problem hold for every point.
    """
    scope = Scope(problem.most_pes, problem.longest_interval, whole=True)
    runs = [points for _, points in grow(problem, 0, scope, effort)]
    stop = effort.stopped()
    if stop is not None:
        return Front((), False)
    found = [allocation_of(problem, point.chosen, point.z_out) for points in runs for point in points]
    return Front(tuple(_points(problem, found)), True)


def criteria(cost: AllocationCost) -> tuple[int, int, int, int]:
    """What a point of the front is judged by, all of it least is best; in layer-parallel mode buffers are the same
    for all in the calculus."""
    return cost.pes, cost.interval, cost.cycles, cost.buffer_bytes


def _points(problem: AllocationProblem, found: Iterable[Allocation]) -> Iterable[Outcome[Allocation]]:
    judged = []
    for allocation in found:
        cost = evaluate(problem.network, problem.machine, allocation, problem.model)
        if problem.most_bytes is None or cost.buffer_bytes <= problem.most_bytes:
            judged.append((criteria(cost), problem.value(cost), allocation))
    for _, value, allocation in sorted(judged, key=lambda point: point[0]):
        yield Outcome(allocation, value, value, "complete", True, method="dynamic programme")
