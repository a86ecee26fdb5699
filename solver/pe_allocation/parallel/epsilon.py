"""Pareto fronts by solving one criterion after another with limits on the rest (the epsilon-constraint method).

For every number of PEs: the least interval between frames, then the least latency at it, then the least interval at a
latency below that one, and so on until there is none. Every step is an exact solve of the program of one instance, so
that the points are all there are; they are whole numbers, of which there may be many in the streaming model, where a
little more time between frames often saves a little latency.
"""

from __future__ import annotations

from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.program.goal import Goal, Limits
from mapper.formulations.pe_allocation.program.instance import instance_of
from mapper.models.pe_allocation.mapping import Allocation
from mapper.solver.method import Effort
from mapper.solver.pe_allocation.parallel.outcome import fits, quantity
from mapper.solver.pe_allocation.parallel.stage import Decide


def epsilon_front(
    problem: AllocationProblem, effort: Effort, decide: Decide
) -> tuple[list[Allocation], bool]:
    """Allocations of layer-parallel mode among which all points of the front are, and whether every step was solved
    to its end."""
    found: list[Allocation] = []
    for pes in range(1, problem.most_pes + 1):
        limits = Limits(pes, problem.longest_interval)
        while True:
            fastest, solved = _best(problem, effort, decide, "interval", limits)
            if not solved:
                return found, False
            if fastest is None:
                break
            at_pace = limits.at_most("interval", quantity(problem, fastest, "interval"))
            point, solved = _best(problem, effort, decide, "cycles", at_pace)
            if point is None or not solved:
                return found, False
            found.append(point)
            limits = limits.at_most("cycles", quantity(problem, point, "cycles") - 1)
    return found, True


def _best(
    problem: AllocationProblem, effort: Effort, decide: Decide, goal: Goal, limits: Limits
) -> tuple[Allocation | None, bool]:
    """The allocation of least ``goal`` (None: there is none), and whether that is proven. What breaks a rule or a
    limit, or a value that the model does not count as the solver does, proves nothing."""
    if effort.stopped() is not None:
        return None, False
    instance = instance_of(problem, goal, limits)
    if not instance.possible:
        return None, True
    decided = decide(instance, effort, None)
    if decided.allocation is None:
        return None, decided.is_final
    if not fits(problem, decided.allocation, limits):
        return None, False
    exact = decided.bound == quantity(problem, decided.allocation, goal)
    return decided.allocation, decided.is_final and exact
