"""Dependences through memory: which accesses must keep their order, and over how many iterations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, gcd

from mapper.workloads.graph.dataflow_graph import Edge
from mapper.workloads.loop.affine import Form, as_number, plus, split
from mapper.workloads.loop.kind import may_overlap
from mapper.workloads.loop.reach import Reach

MEMORY_LATENCY = 1
"""A word is written in the cycle in which its store issues; any access of a later cycle sees it."""
MOST_ITERATIONS = 1 << 31
"""What stands for a trip count that is not known: a loop variable of 32 bits takes no more values."""


@dataclass(frozen=True)
class Access:
    """One load or store: its operation, its array and its index as an affine form, if it is one."""

    operation: int
    array: str
    index: Form | None
    store: bool


NOTHING_KNOWN = Reach()
Distances = tuple[int | None, int | None]
"""The least number of iterations from an access to a later one of the same word, and back; None where there is none."""


def order_edges(
    accesses: tuple[Access, ...],
    trip_count: int | None,
    reach: Reach = NOTHING_KNOWN,
    aliases: frozenset[str] = frozenset(),
) -> tuple[tuple[Edge, ...], tuple[tuple[Access, Access], ...]]:
    """Order edges between ``accesses`` (in the order of the text), and the pairs whose dependence is assumed.

    For a pair of which one stores, the least distance in each direction is enough: it implies the larger ones.
    Affine indices give exact distances, or are kept apart by ``reach``; others are taken to touch the same word in
    every iteration, as are those of different arrays among ``aliases``.
    """

    def distances(first: Access, second: Access) -> Distances | None:
        found = _distances(first.index, second.index, trip_count)
        return (None, None) if found is None and _apart(first, second, reach) else found

    return edges_between(accesses, aliases, distances, trip_count)


def edges_between(
    accesses: tuple[Access, ...],
    aliases: frozenset[str],
    distances: Callable[[Access, Access], Distances | None],
    trip_count: int | None = None,
) -> tuple[tuple[Edge, ...], tuple[tuple[Access, Access], ...]]:
    """Order edges and assumed pairs where ``distances`` says how far two accesses of one array are apart, or None if
    that cannot be told: then they touch the same word in every iteration, as those of arrays among ``aliases`` do. No
    edge leads over ``trip_count`` iterations or more."""
    edges: list[Edge] = []
    assumed: list[tuple[Access, Access]] = []
    for position, first in enumerate(accesses):
        for second in accesses[position + 1 :]:
            same = first.array == second.array
            if not (first.store or second.store) or not (
                same or may_overlap(first.array, second.array, aliases)
            ):
                continue
            found = distances(first, second) if same else None
            if found is None:
                assumed.append((first, second))
                found = (0, 1)
            for distance, source, target in ((found[0], first, second), (found[1], second, first)):
                if distance is not None and (trip_count is None or distance < trip_count):
                    edges.append(
                        Edge(source.operation, target.operation, None, distance, latency=MEMORY_LATENCY)
                    )
    return tuple(edges), tuple(assumed)


def _apart(first: Access, second: Access, reach: Reach) -> bool:
    return first.index is not None and second.index is not None and reach.apart(first.index, second.index)


def _distances(first: Form | None, second: Form | None, trip_count: int | None) -> Distances | None:
    """The least number of iterations from ``first`` to a later conflicting ``second`` (0: the same one), and
    from ``second`` to a later conflicting ``first`` (at least 1); None where there is none. None for both if
    that cannot be told."""
    if first is None or second is None:
        return None
    one, other = split(first), split(second)
    if one is None or other is None:
        return None
    (stride, rest), (stride2, rest2) = one, other
    apart = as_number(plus(rest, rest2, -1))
    if apart is None:
        return None
    if stride == stride2:
        if stride == 0:
            return (None, None) if apart else (0, 1)
        if apart % stride:
            return None, None
        later = apart // stride
        return (later, None) if later >= 0 else (None, -later)
    return _met(stride, stride2, apart, MOST_ITERATIONS if trip_count is None else trip_count)


def _met(stride: int, stride2: int, apart: int, trips: int) -> tuple[int | None, int | None]:
    """The least distances where stride * x + apart = stride2 * y for iterations x and y below ``trips``, the
    strides being different.

    All such pairs are x = x0 + period * k, y = y0 + slope * k; y - x is monotone in k, so the least distance
    to either side stands where it changes sign, or at the end of the loop that is nearer.
    """
    if stride2 == 0:
        x, odd = divmod(-apart, stride)
        met = not odd and 0 <= x < trips
        # The second touches this word in every iteration, the first in iteration x alone.
        return (0, 1 if x > 0 else None) if met else (None, None)
    divisor = gcd(stride, stride2)
    if apart % divisor:
        return None, None
    stride, stride2, apart = stride // divisor, stride2 // divisor, apart // divisor
    period, slope = abs(stride2), stride if stride2 > 0 else -stride
    x0 = -apart * pow(stride, -1, period) % period
    y0 = (stride * x0 + apart) // stride2
    low, high = 0, (trips - 1 - x0) // period
    if slope:
        ends = sorted((Fraction(-y0, slope), Fraction(trips - 1 - y0, slope)))
        low, high = max(low, ceil(ends[0])), min(high, floor(ends[1]))
    elif not 0 <= y0 < trips:
        return None, None
    change = slope - period
    turn = Fraction(x0 - y0, change)
    later, earlier = (ceil(turn), ceil(turn) - 1) if change > 0 else (floor(turn), floor(turn) + 1)
    # Where the distance grows with k, later meetings lie at k >= turn; where it falls, at k <= turn.
    later = max(later, low) if change > 0 else min(later, high)
    earlier = min(earlier, high) if change > 0 else max(earlier, low)
    start = y0 - x0
    return (
        start + change * later if low <= later <= high else None,
        -(start + change * earlier) if low <= earlier <= high else None,
    )
