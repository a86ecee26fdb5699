"""What branch and bound holds while it searches, and what may be claimed at its end."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from mapper.formulations.tiling.bound import bound_of, exact_bound_of
from mapper.formulations.tiling.problem import TilingProblem
from mapper.models.tiling.cost import evaluate
from mapper.models.tiling.mapping import TilingMapping
from mapper.solver.certificate import Stop
from mapper.solver.outcome import Outcome
from mapper.solver.tiling.exact.float_price import EXACT, just_below
from mapper.solver.tiling.exact.incumbent_kernel import (
    ARRAY_TILE,
    CYCLES,
    HELD_ENERGY,
    PRIMARY,
    REACH,
    SECONDARY,
    SURE,
    TIES,
)
from mapper.solver.tiling.exact.kernel_table import KernelTable
from mapper.solver.tiling.exact.lattice import Floats, Integers

MOST_TIES = 4096
TIED = "energies have more digits than floats tell the best mappings apart by"
KNOWN_SLACK = 1e-9
"""Beyond all rounding, and of no consequence: tiles so little above an incumbent are soon examined."""


def steps_of(problem: TilingProblem, tables: KernelTable) -> int:
    """What the kernel's objective counts by: steps of energy, or cycles."""
    return 1 if problem.objective == "latency" else tables.per_pj


def first_incumbent(
    problem: TilingProblem, tables: KernelTable, known: TilingMapping | None
) -> tuple[Floats, Integers]:
    """What the kernel holds: rank and evaluations, and tiles, orders and cycles. What is known counts as a little worse
    than it is, so that the search finds the mapping that it would find without."""
    incumbent, best = np.zeros(6), np.full(7, -1, dtype=np.int64)
    incumbent[[PRIMARY, SECONDARY, HELD_ENERGY, REACH]] = np.inf
    incumbent[SURE], best[TIES] = 1.0, 0
    if known is not None:
        cost = evaluate(problem.nest, problem.machine, known)
        energy = cost.energy_steps / cost.steps_per_pj * tables.per_pj
        second = cost.cycles if problem.objective == "energy" else energy
        value = float(problem.exact_value(cost) * steps_of(problem, tables))
        incumbent[[PRIMARY, REACH]] = value * (1 + KNOWN_SLACK)
        incumbent[[SECONDARY, HELD_ENERGY]] = second, energy
        cycles_exact = problem.objective == "energy" or cost.cycles < EXACT
        exact = problem.objective == "latency" or (tables.whole and energy < EXACT and cycles_exact)
        incumbent[SURE] = float(exact)
        best[CYCLES] = cost.cycles
    return incumbent, best


def best_of(
    problem: TilingProblem,
    extract: Callable[[Integers], TilingMapping],
    best: Integers,
    ties: Integers,
    known: TilingMapping | None,
) -> TilingMapping | None:
    """The best of what the kernel found, of what it could not tell from that, and, if these are worse, of what was
    known; by exact costs, the first of equal ones. ``extract`` makes a mapping of a kernel's row."""
    if best[ARRAY_TILE] < 0:
        return known
    rows = [best, *ties[: min(int(best[TIES]), MOST_TIES)]]
    found = [extract(row) for row in rows if row[ARRAY_TILE] >= 0]
    found += [] if known is None else [known]
    return min(found, key=lambda mapping: problem.rank(evaluate(problem.nest, problem.machine, mapping)))


def outcome_of(
    problem: TilingProblem,
    restrictions: tuple[str, ...],
    mapping: TilingMapping | None,
    stop: Stop | None,
    left: float | None,
    evaluations: int,
    reason: str = TIED,
) -> Outcome[TilingMapping]:
    """What may be claimed; ``left``: the least that what was not examined, or not told apart, may be worth, for that
    ``reason`` if the search was not stopped."""
    cost = None if mapping is None else evaluate(problem.nest, problem.machine, mapping)
    value = None if cost is None else problem.value(cost)
    by_argument = cost is not None and problem.exact_value(cost) <= exact_bound_of(problem)
    if by_argument or (left is None and not restrictions):
        return Outcome.ended(mapping, value, value, "complete", proven=True, evaluations=evaluations)
    bound = bound_of(problem)
    if left is not None and not restrictions:
        bound = max(whole_bound(problem, left), bound)
    restrictions = restrictions or (() if stop else (reason,))
    if value is not None and bound >= value:
        bound = just_below(value) if restrictions else value
    return Outcome.bounded(
        mapping, value, bound, stop or "complete", restrictions=restrictions, evaluations=evaluations
    )


def whole_bound(problem: TilingProblem, bound: float) -> int | float:
    """Bounds of integral objectives round up: they are exact up to 2^53, and lie below by far more than rounding
    where they are not."""
    if problem.objective == "latency" or problem.machine.rules.energy == "rounded":
        return math.ceil(bound)
    return bound
