"""Two loops as one: which accesses of a flattened loop must keep their order, and over how many iterations.

Iteration t of the flattened loop is iteration a of the outer loop and b of the inner one, t = a * J + b, where J is the
inner loop's number of iterations. Two accesses whose indices move alike in both meet where
A * (a2 - a1) + B * (b2 - b1) is the distance of their words; |b2 - b1| < J leaves few candidates, which are all tried.
"""

from __future__ import annotations

from dataclasses import dataclass

from mapper.workloads.graph.dataflow_graph import Edge
from mapper.workloads.loop.affine import Form, as_number, plus
from mapper.workloads.loop.dependence import Access, Distances, edges_between


@dataclass(frozen=True)
class Flat:
    """The symbols and steps of the outer and the inner variable, and the inner loop's ``trips``."""

    outer: str
    inner: str
    outer_step: int
    inner_step: int
    trips: int


def flat_edges(
    accesses: tuple[Access, ...], flat: Flat, aliases: frozenset[str]
) -> tuple[tuple[Edge, ...], tuple[tuple[Access, Access], ...]]:
    """Order edges between ``accesses`` (in the order of the text), and the pairs whose dependence is assumed, as
    ``order_edges`` gives them for one loop."""
    return edges_between(accesses, aliases, lambda first, second: _distances(first.index, second.index, flat))


def _distances(first: Form | None, second: Form | None, flat: Flat) -> Distances | None:
    """The least number of iterations from ``first`` to a conflicting ``second`` of the same iteration or a later one,
    and from ``second`` to a later conflicting ``first``; None where there is none. None for both if that cannot be
    told."""
    if first is None or second is None:
        return None
    one, other = _split(first, flat), _split(second, flat)
    if one is None or other is None or one[:2] != other[:2]:
        return None
    apart = as_number(plus(one[2], other[2], -1))
    if apart is None:
        return None
    found = _meetings(one[0] * flat.outer_step, one[1] * flat.inner_step, apart, flat.trips)
    later = min((one for one in found if one >= 0), default=None)
    earlier = min((-one for one in found if one < 0), default=None)
    return later, earlier


def _split(form: Form, flat: Flat) -> tuple[int, int, Form] | None:
    """The factors of the outer and the inner variable, and the rest; None where either is multiplied by more than a
    number."""
    factors, rest = {flat.outer: 0, flat.inner: 0}, {}
    for term, factor in form.items():
        if len(term) == 1 and term[0] in factors:
            factors[term[0]] = factor
        elif flat.outer in term or flat.inner in term:
            return None
        else:
            rest[term] = factor
    return factors[flat.outer], factors[flat.inner], rest


def _meetings(outer: int, inner: int, apart: int, trips: int) -> set[int]:
    """Distances in iterations at which the second access meets the first: of every distance of inner iterations those
    that are nearest, to either side."""
    found: set[int] = set()
    for inside in range(1 - trips, trips):
        gap = apart - inner * inside
        if outer:
            if gap % outer == 0:
                found.add(gap // outer * trips + inside)
        elif gap == 0:
            found |= {inside - trips, inside, inside + trips}
    return found
