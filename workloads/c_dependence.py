"""Dependences through memory: which accesses must keep their order, and over how many iterations."""

from __future__ import annotations

from dataclasses import dataclass

from mapper.workloads.c_affine import Form, as_number, plus, split
from mapper.workloads.dataflow_graph import Edge

MEMORY_LATENCY = 1
"""A word is written in the cycle in which its store issues; any access of a later cycle sees it."""
MOST_ENUMERATED = 1 << 16


@dataclass(frozen=True)
class Access:
    """One load or store: its operation, its array and its index as an affine form, if it is one."""

    operation: int
    array: str
    index: Form | None
    store: bool


def order_edges(
    accesses: tuple[Access, ...], trip_count: int | None
) -> tuple[tuple[Edge, ...], tuple[tuple[Access, Access], ...]]:
    """Order edges between ``accesses`` (in the order of the text), and the pairs whose dependence is assumed.

    For a pair of which one stores, the least distance in each direction is enough: it implies the larger ones.
    Affine indices give exact distances; others are taken to touch the same word in every iteration.
    """
    edges: list[Edge] = []
    assumed: list[tuple[Access, Access]] = []
    for position, first in enumerate(accesses):
        for second in accesses[position + 1 :]:
            if first.array != second.array or not (first.store or second.store):
                continue
            found = _distances(first.index, second.index, trip_count)
            if found is None:
                assumed.append((first, second))
                found = (0, 1)
            for distance, source, target in ((found[0], first, second), (found[1], second, first)):
                if distance is not None and (trip_count is None or distance < trip_count):
                    edges.append(
                        Edge(source.operation, target.operation, None, distance, latency=MEMORY_LATENCY)
                    )
    return tuple(edges), tuple(assumed)


def _distances(
    first: Form | None, second: Form | None, trip_count: int | None
) -> tuple[int | None, int | None] | None:
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
    if trip_count is None or trip_count > MOST_ENUMERATED:
        return None
    return _met(stride, stride2, apart, trip_count)


def _met(stride: int, stride2: int, apart: int, trip_count: int) -> tuple[int | None, int | None]:
    """The distances where stride * x + apart = stride2 * y for iterations x and y of the loop."""
    if stride2 == 0:
        touching = [x for x in range(trip_count) if stride * x + apart == 0]
        meetings = [distance for x in touching for distance in ((0, -1) if x else (0,))]
    else:
        touched = {stride2 * y: y for y in range(trip_count)}
        words = ((x, stride * x + apart) for x in range(trip_count))
        meetings = [touched[word] - x for x, word in words if word in touched]
    later = [distance for distance in meetings if distance >= 0]
    earlier = [-distance for distance in meetings if distance < 0]
    return min(later, default=None), min(earlier, default=None)
