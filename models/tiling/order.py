"""Data reuse of loop orders, and the orders with unique reuse [Dave2019, Algorithms 1 and 2]."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from mapper.workloads.nest.loop_nest import LoopNest


def reuse_factors(nest: LoopNest, order: Sequence[str], trip_counts: Mapping[str, int]) -> tuple[int, ...]:
    """Consecutive passes in which each operand stays (Algorithm 1), in operand order.

    Walking from the innermost loop outwards, loops that run once are passed over, loops an operand does not
    depend on multiply its reuse, the first it depends on ends it.
    """
    factors = []
    for operand in nest.operands:
        factor = 1
        for loop in reversed(order):
            if trip_counts[loop] == 1:
                continue
            if loop in operand.loops:
                break
            factor *= trip_counts[loop]
        factors.append(factor)
    return tuple(factors)


def unique_orders(
    nest: LoopNest, active: Sequence[str] | None = None, innermost: Sequence[str] = ()
) -> dict[tuple[frozenset[str], ...], tuple[str, ...]]:
    """Orders with unique reuse: for each reachable reuse one order, outer to inner (Algorithm 2).

    Reuse is named by the set of loops that each operand is reused over. ``active`` are the loops that run
    more than once (all, unless said); the others stand outermost. ``innermost`` are loops, outer to inner, that
    every order must end in. Unlike Algorithm 2 as printed, orders in
    which nothing is reused are listed too where a nest has them (a loop that indexes every operand).
    """
    chosen = tuple(nest.loops if active is None else [loop for loop in nest.loops if loop in set(active)])
    dependent = tuple(operand.loops for operand in nest.operands)
    return dict(orders_by_reuse(dependent, nest.loops, chosen, tuple(innermost)))


@lru_cache(maxsize=4096)
def orders_by_reuse(
    dependent: tuple[frozenset[str], ...],
    loops: tuple[str, ...],
    active: tuple[str, ...],
    innermost: tuple[str, ...],
) -> dict[tuple[frozenset[str], ...], tuple[str, ...]]:
    """The same, of a nest known by the loops its operands depend on; not to be changed by the caller."""
    found: dict[tuple[frozenset[str], ...], tuple[str, ...]] = {}
    for inner, reuse in _reuse_patterns(dependent, active, innermost):
        if reuse not in found:
            placed = [loop for loop in reversed(inner) if loop not in innermost]
            rest = tuple(loop for loop in loops if loop not in placed and loop not in innermost)
            found[reuse] = (*rest, *placed, *innermost)
    return found


Ends = tuple[str | None, ...]


@lru_cache(maxsize=4096)
def orders_by_stream(
    dependent: tuple[frozenset[str], ...],
    sliding: tuple[frozenset[str], ...],
    loops: tuple[str, ...],
    active: tuple[str, ...],
    innermost: tuple[str, ...],
) -> dict[tuple[tuple[frozenset[str], ...], Ends], tuple[str, ...]]:
    """The same where memories are filled as streams: for each reachable reuse, and choice of the innermost loop that
    moves each operand (``ends``; None if its tiles do not follow each other along that loop), one order."""
    found: dict[tuple[tuple[frozenset[str], ...], Ends], tuple[str, ...]] = {}
    for inner, reuse in _reuse_patterns(dependent, active, innermost):
        moving = [next((loop for loop in inner if loop in own), None) for own in dependent]
        ends = tuple(loop if loop in own else None for loop, own in zip(moving, sliding, strict=True))
        placed = [loop for loop in reversed(inner) if loop not in innermost]
        rest = tuple(loop for loop in loops if loop not in placed and loop not in innermost)
        found.setdefault((reuse, ends), (*rest, *placed, *innermost))
    return found


def _reuse_patterns(
    dependent: tuple[frozenset[str], ...], active: tuple[str, ...], innermost: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], tuple[frozenset[str], ...]]]:
    """Innermost loops (innermost first), placed until no operand is reused further, with the reuse."""
    everyone = frozenset(range(len(dependent)))
    start: tuple[frozenset[str], ...] = tuple(frozenset() for _ in dependent)

    def extend(
        inner: tuple[str, ...], alive: frozenset[int], reuse: tuple[frozenset[str], ...], floor: int
    ) -> Iterator[tuple[tuple[str, ...], tuple[frozenset[str], ...]]]:
        if not alive or len(inner) == len(active):
            yield inner, reuse
            return
        for place, loop in enumerate(active):
            if loop in inner:
                continue
            still = frozenset(k for k in alive if loop not in dependent[k])
            # Loops that leave the reused operands unchanged commute: place them in one order only.
            if still == alive and place < floor:
                continue
            grown = tuple(used | {loop} if k in still else used for k, used in enumerate(reuse))
            yield from extend((*inner, loop), still, grown, place if still == alive else 0)

    inner = tuple(loop for loop in reversed(innermost) if loop in active)
    alive, reuse = everyone, start
    for loop in inner:
        alive = frozenset(k for k in alive if loop not in dependent[k])
        reuse = tuple(used | {loop} if k in alive else used for k, used in enumerate(reuse))
    yield from extend(inner, alive, reuse, 0)


def orders_by_walk(
    operands: Mapping[str, int], again: frozenset[str], active: Sequence[str], innermost: Sequence[str] = ()
) -> tuple[tuple[str, ...], ...]:
    """Orders (outer to inner, of ``active`` loops) that differ in which tiles move when, one for each such walk.

    ``operands``: those that depend on each loop, as bits; ``again``: loops that bring the result's tiles back.
    Neighbours whose turns move the same tiles commute. Every order ends in the active ones of ``innermost``.
    """
    walks: dict[tuple[Any, ...], tuple[str, ...]] = {(): ()}
    pinned = [loop for loop in reversed(innermost) if loop in active]
    for place in range(len(active)):
        grown: dict[tuple[Any, ...], tuple[str, ...]] = {}
        for walk, inner in walks.items():
            for loop in pinned[place : place + 1] or [loop for loop in active if loop not in inner]:
                moved = (walk[-1][0] if walk else 0) | operands[loop]
                turns, here = (moved, loop in again), frozenset({loop})
                joins = bool(walk) and walk[-1][:2] == turns
                longer = (*walk[:-1], (*turns, walk[-1][2] | here)) if joins else (*walk, (*turns, here))
                grown.setdefault(longer, (loop, *inner))
        walks = grown
    return tuple(walks.values())


def reuse_ends_alone(nest: LoopNest) -> bool:
    """Whether every loop is invariant for at most one operand, so that an order reuses one operand only.

    True of convolutions and matrix products; the dominance rules of the exact search need it.
    """
    return all(sum(loop not in operand.loops for operand in nest.operands) <= 1 for loop in nest.loops)
