"""Costs in floating point, compared in integers: an instance lowered to whole numbers around an assignment.

The cost of an assignment is the exact sum of its costs, rounded once. Every cost is replaced by what it is above that
of a reference assignment, in units of a power of two and rounded down: the reference itself costs exactly nothing
then, places where an assignment agrees with it cost nothing either, and no assignment costs less in truth than its
lowered sum says. The integers are searched as any others. Where nothing is below the reference it is the best one;
where something is, its true cost is computed, and it becomes the reference if it is better. What is left below is
rounding: then the bound says how far it may reach, and nothing is proven, unless it rounds to the very cost that was
found.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mapper.models.pbqp.mapping import PbqpAssignment
from mapper.solver.method import Effort, Progress
from mapper.solver.outcome import Outcome
from mapper.solver.pbqp.reduction.elimination_plan import Array
from mapper.workloads.pbqp.instance import INFINITE, LARGEST_TOTAL, PbqpInstance

UNDECIDED = (
    "costs in floating point lie so near each other, compared to their sum, that rounding could decide"
)
MOST_REFERENCES = 8
"""How often the search begins again from a better assignment."""
BITS = LARGEST_TOTAL.bit_length() - 1
"""Lowered costs add up to less than 2**BITS; rounding down adds two per vertex and edge to that."""
FINEST = 1074
"""Every double is a whole number of 2**-1074, and no unit is finer, so that no bound is rounded on the way."""

Search = Callable[[PbqpInstance, Effort, Array | None], Outcome[PbqpAssignment]]
"""Searches an instance of integers, beginning with choices if some are given."""


@dataclass(frozen=True)
class Lowered:
    """``instance``: integer costs in units of 2**-``shift``, each at most what the given cost is above that of the
    reference, which is ``paid`` [V + E]."""

    instance: PbqpInstance
    paid: Array
    shift: int

    def cost(self, lowered: int) -> float:
        """What ``lowered`` units above the reference are in costs, summed exactly and rounded once: a lower bound of
        the lowered instance becomes one of the given."""
        high, low = divmod(lowered, 1 << 30)
        return math.fsum(
            [*self.paid.tolist(), math.ldexp(high, 30 - self.shift), math.ldexp(low, -self.shift)]
        )


def lowered(given: PbqpInstance, reference: Array) -> Lowered:
    """``given``, in floating point, around the choices ``reference``; where these cost infinitely much, around the
    least cost of the vertex or edge."""
    paid, above, lost, total = [], [], [], 0.0
    for costs, offset, at in _places(given, reference):
        own = costs[offset[:-1] + at]
        if len(own):
            least = np.minimum.reduceat(costs, offset[:-1])
            own = np.where(np.isfinite(own), own, np.where(np.isfinite(least), least, 0.0))
        difference, error = _difference(costs, np.repeat(own, np.diff(offset)))
        paid.append(own)
        above.append(difference)
        lost.append(error)
        if len(own):
            sizes = np.where(np.isfinite(difference), np.abs(difference), 0.0)
            total += float(np.maximum.reduceat(sizes, offset[:-1]).sum())
    # Sums in floats are short by far less than a millionth.
    shift = min(BITS - math.frexp(total * (1 + 1e-6))[1], FINEST) if total else 0
    vertex_cost, edge_cost = (_whole(one, error, shift) for one, error in zip(above, lost, strict=True))
    for array in (vertex_cost, edge_cost):
        array.setflags(write=False)
    instance = PbqpInstance(
        given.name, given.vertex_offset, vertex_cost, given.edge_end, given.edge_offset, edge_cost
    )
    return Lowered(instance, np.concatenate(paid), shift)


def searched(
    given: PbqpInstance, effort: Effort, begun: Array | None, search: Search
) -> Outcome[PbqpAssignment]:
    """``given``, in floating point, by an exact ``search`` of integers."""
    best: Array | None = begun
    reference = own_least(given) if begun is None else begun
    bound: float | None = None
    evaluations = 0
    for _ in range(MOST_REFERENCES):
        lower = lowered(given, reference)
        # Values of lowered costs are not values of the given ones.
        found = search(lower.instance, replace(effort, report=_unheard), best)
        evaluations += found.evaluations or 0
        claim = None if found.bound is None else lower.cost(int(found.bound))
        bound = max((one for one in (bound, claim) if one is not None), default=None)
        if found.mapping is None:
            if best is None:
                return replace(found, bound=bound, evaluations=evaluations)
            found = replace(found, proven=False)
            break
        choice = np.array(found.mapping.choice, np.int64)
        better = best is None or _less(given, choice, best)
        reference = best = choice if best is None or better else best
        effort.report(Progress(given.value(best), bound, evaluations))
        if not found.proven or bound == given.value(best) or not better:
            break
    assert best is not None
    return _outcome_of(given, best, bound, found, evaluations)


def _outcome_of(
    given: PbqpInstance, best: Array, bound: float | None, found: Outcome[PbqpAssignment], evaluations: int
) -> Outcome[PbqpAssignment]:
    value = given.value(best)
    said = replace(found, mapping=PbqpAssignment(tuple(best.tolist())), value=value, evaluations=evaluations)
    if not found.proven:
        return replace(said, bound=bound)
    if bound == value:
        return replace(said, bound=value)
    return replace(said, bound=bound, stop="heuristic", proven=False, restrictions=(UNDECIDED,))


def _places(
    given: PbqpInstance, choice: Array
) -> tuple[tuple[Array, Array, Array], tuple[Array, Array, Array]]:
    """Costs and offsets of vertices and of edges, and which cost of each the choices take."""
    u, v = given.edge_end[:, 0], given.edge_end[:, 1]
    return (
        (given.vertex_cost, given.vertex_offset, choice),
        (given.edge_cost, given.edge_offset, choice[u] * given.choices[v] + choice[v]),
    )


def _difference(costs: Array, own: Array) -> tuple[Array, Array]:
    """costs - own as a rounded number and what rounding lost, exactly (Knuth's sum of two numbers)."""
    with np.errstate(invalid="ignore"):
        difference = costs - own
        back = difference - costs
        error = (costs - (difference - back)) + (-own - back)
    return difference, np.where(np.isfinite(difference), error, 0.0)


def _whole(difference: Array, error: Array, shift: int) -> Array:
    """The whole numbers of 2**-shift in difference + error, or one less."""
    infinite = np.isinf(difference)
    floors = [_floor(np.where(infinite, 0.0, one), shift) for one in (difference, error)]
    whole: Array = np.where(infinite, INFINITE, floors[0] + floors[1])
    return whole


def _floor(one: Array, shift: int) -> Array:
    scaled: Any = np.ldexp(one, shift)
    # What is too small to be scaled is still below zero.
    return np.where((one < 0) & (scaled == 0), -1.0, np.floor(scaled)).astype(np.int64)


def _less(given: PbqpInstance, one: Array, other: Array) -> bool:
    """Whether the exact sum of ``one`` is less; a rounded sum has the sign of the exact one."""
    terms = [
        sign * cost
        for sign, choice in ((1.0, one), (-1.0, other))
        for costs, offset, at in _places(given, choice)
        for cost in costs[offset[:-1] + at].tolist()
    ]
    return math.fsum(terms) < 0


def own_least(given: PbqpInstance) -> Array:
    """The choice of every vertex that costs least by itself, the first of several."""
    start = given.vertex_offset.tolist()
    return np.array([int(np.argmin(given.vertex_cost[a:b])) for a, b in itertools.pairwise(start)])


def _unheard(progress: Progress) -> None:
    """Reports about lowered costs are dropped: they are not in the units of the instance."""
