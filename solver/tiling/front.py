"""The trade-offs of energy and latency of a tiling, by solving for energy under ever shorter limits on cycles (the
epsilon-constraint method).

The first point has the least energy there is, and of those the fewest cycles. Each further one has the least energy of
all mappings that take at least a cycle less than the one before, and the last limit is proven to leave no mapping. So
no mapping is as good as a point in both and better in one, and there are no other points; each step is a proof of the
exact search.
"""

from __future__ import annotations

from dataclasses import replace

from mapper.formulations.tiling.problem import TilingProblem
from mapper.models.tiling.cost import TilingCost, evaluate
from mapper.models.tiling.mapping import TilingMapping
from mapper.solver.front import Front
from mapper.solver.method import Effort
from mapper.solver.outcome import Outcome
from mapper.solver.tiling.catalogue import AUTOMATIC


def front(problem: TilingProblem, effort: Effort) -> Front[TilingMapping]:
    """All points that no other is better than in energy or cycles and as good as in both, ascending by energy. The
    limits and pins of the problem hold for each.

    If the effort ends first, or the exact search leaves something out, what was found until then is not all there is,
    and what is not proven says so.
    """
    points: list[Outcome[TilingMapping]] = []
    limited = replace(problem, objective="energy")
    while True:
        found = AUTOMATIC.search(limited, effort)
        if found.mapping is None:
            return Front(tuple(points), found.proven)
        cost = evaluate(problem.nest, problem.machine, found.mapping)
        points.append(_point(problem, found, cost))
        if not found.proven:
            return Front(tuple(points), False)
        limited = replace(limited, max_cycles=cost.cycles - 1)


def criteria(problem: TilingProblem, mapping: TilingMapping) -> tuple[int, int]:
    """Energy in the steps of the machine, and cycles, both of which least is best."""
    cost = evaluate(problem.nest, problem.machine, mapping)
    return cost.energy_steps, cost.cycles


def _point(problem: TilingProblem, found: Outcome[TilingMapping], cost: TilingCost) -> Outcome[TilingMapping]:
    """A point with its value in the objective that was asked for."""
    value = problem.value(cost)
    bound = value if found.proven else None
    return replace(found, value=value, bound=bound)
