"""Mappings with larger array tiles than they need, where PEs wait for sums that leave them [Dave2019, sec. 4.3.3].

The next sums come while the PEs wait, but for what comes in every pass anyhow: the more that is, the less is left to
wait for. So an array tile that is larger than the bounds need may save cycles, at most by `exposed_cycles`; and without
these cycles a cost grows with every factor. From a least cover whose cost without them is below the best known, the
factors in register file and space are raised one by one for as long as that stays so.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

from mapper.formulations.tiling.array_axes import on_axes
from mapper.formulations.tiling.problem import TilingProblem
from mapper.formulations.tiling.referee.verify import ARRAY_AXES, broken_whatever_it_costs, verify
from mapper.models.tiling.cost import TilingCost, evaluate, quantities
from mapper.models.tiling.mapping import LEVELS, TilingMapping

MOST_RAISED = 2_000
INNER = (LEVELS.index("rf"), LEVELS.index("spatial"))


def exposed_cycles(problem: TilingProblem, mapping: TilingMapping) -> int:
    """Cycles that a mapping which contains this one may save."""
    if not (problem.machine.sums_exposed and problem.machine.rf.double_buffered):
        return 0
    q, saved = quantities(problem.nest, problem.machine, mapping), 0
    for k, operand in enumerate(problem.nest.operands):
        if operand.is_updated and q.spm_reuse[k] == q.rf_passes and q.dram_reuse[k] > 1:
            saved += min(q.compute_cycles, q.noc_cycles[k]) * (q.spm_passes // q.dram_reuse[k])
    return saved


def raised(
    problem: TilingProblem, starts: Iterable[TilingMapping], best: TilingMapping | None
) -> tuple[TilingMapping | None, Fraction | None]:
    """The best of ``best`` and all mappings that contain one of ``starts``; and the least that such a mapping may be
    worth, None if all were looked at. One that takes too long, or has no room along the axes of the array, may be
    contained in one that does not."""
    rank: tuple[float, ...] = (math.inf,)
    if best is not None:
        rank = problem.rank(evaluate(problem.nest, problem.machine, best))
    waiting, seen, looked = list(starts), set[TilingMapping](), 0
    open_values = []
    while waiting:
        mapping = waiting.pop()
        if mapping in seen:
            continue
        seen.add(mapping)
        # Most have no room: what they would cost is not asked.
        if any(one.rule != ARRAY_AXES for one in broken_whatever_it_costs(problem, mapping)):
            continue
        verdict = verify(problem, mapping)
        assert verdict.cost is not None
        if not verdict.broken and problem.rank(verdict.cost) < rank:
            best, rank = mapping, problem.rank(verdict.cost)
        least = _without(verdict.cost, exposed_cycles(problem, mapping))
        if problem.rank(least) >= rank or least.cycles > problem.most_cycles:
            continue
        if looked == MOST_RAISED:
            open_values.append(problem.exact_value(least))
            continue
        looked += 1
        waiting += _one_more(problem, mapping)
    return best, min(open_values, default=None)


def _without(cost: TilingCost, cycles: int) -> TilingCost:
    return replace(cost, cycles=cost.cycles - cycles)


def _one_more(problem: TilingProblem, mapping: TilingMapping) -> list[TilingMapping]:
    """The mapping with one factor more by one."""
    found = []
    for loop, factors in enumerate(mapping.factors):
        for level in INNER:
            row = list(factors)
            row[level] += 1
            rows = (*mapping.factors[:loop], (row[0], row[1], row[2], row[3]), *mapping.factors[loop + 1 :])
            # One that runs beyond what a bound may grow to is broken, and so are all that contain it.
            grown = replace(mapping, factors=rows).over(problem.nest.trip_counts)
            found.append(on_axes(problem, grown))
    return found
