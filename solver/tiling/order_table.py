"""The orders of loops that an exact search looks at, by which loops run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from mapper.models.tiling.order import Ends, orders_by_reuse, orders_by_stream, orders_by_walk
from mapper.solver.tiling.exact.lattice import Integers
from mapper.workloads.nest.loop_nest import LoopNest

Reuse = tuple[frozenset[str], ...]
Orders = dict[tuple[Reuse, Ends], tuple[str, ...]]


@dataclass(frozen=True)
class OrderTable:
    """Orders by which loops run more than once at a level: rows ``start[mask]:start[mask + 1]`` of ``masks``
    (one set of loops per operand, over which it is reused) and of ``orders``; ``alike``: where the next row begins that
    reuses otherwise. ``ends``: along which loop each operand's tiles follow each other in it, or -1."""

    start: Integers
    masks: Integers
    alike: Integers
    ends: Integers
    orders: tuple[tuple[str, ...], ...]


def order_table(
    nest: LoopNest,
    innermost: tuple[str, ...],
    best_reuse: bool,
    by_walk: bool,
    sliding: tuple[frozenset[str], ...] | None,
) -> OrderTable:
    """The orders of a nest that matter at a level, ending in ``innermost``: of those with the same reuse one, or one
    for each loop that operands are ``sliding`` along, or (``by_walk``) one for each sequence of moves."""
    dependent = tuple(op.loops for op in nest.operands)
    written = next((k for k, op in enumerate(nest.operands) if op.writes), 0) if by_walk else None
    runs = tuple(bound > 1 for _, bound in nest.bounds)
    tables, orders = _orders_by_mask(dependent, nest.loops, runs, innermost, best_reuse, written, sliding)
    start, masks, alike, ends = (table.copy() for table in tables)
    return OrderTable(start, masks, alike, ends, orders)


@lru_cache(maxsize=256)
def _orders_by_mask(
    dependent: tuple[frozenset[str], ...],
    loops: tuple[str, ...],
    runs: tuple[bool, ...],
    innermost: tuple[str, ...],
    best_reuse: bool,
    written: int | None,
    sliding: tuple[frozenset[str], ...] | None,
) -> tuple[tuple[Integers, Integers, Integers, Integers], tuple[tuple[str, ...], ...]]:
    """The orders that matter: one for each reuse, or for each way to follow along the loops that are ``sliding``, or,
    if the result is the operand ``written``, for each walk."""
    start = np.zeros((1 << len(loops)) + 1, dtype=np.int64)
    masks: list[list[int]] = []
    alike: list[int] = []
    ends: list[list[int]] = []
    orders: list[tuple[str, ...]] = []
    for mask in range(1 << len(loops)):
        start[mask] = len(masks)
        active = tuple(loop for position, loop in enumerate(loops) if mask >> position & 1)
        if any(mask >> position & 1 and not runs[position] for position in range(len(loops))):
            continue
        nowhere: Ends = (None,) * len(dependent)
        if written is not None:
            walks = _walks(dependent, loops, active, innermost, written)
            ways = {reuse: [(nowhere, order) for order in some] for reuse, some in walks.items()}
        else:
            found = {
                (key, nowhere): way
                for key, way in orders_by_reuse(dependent, loops, active, innermost).items()
            }
            if sliding is not None:
                found = orders_by_stream(dependent, sliding, loops, active, innermost)
            ways = _by_reuse(_undominated(found) if best_reuse else found)
        for reuse, some in ways.items():
            masks += [[sum(1 << loops.index(loop) for loop in over) for over in reuse]] * len(some)
            alike += [len(orders) + len(some)] * len(some)
            ends += [[-1 if loop is None else loops.index(loop) for loop in end] for end, _ in some]
            orders += [order for _, order in some]
    start[-1] = len(masks)
    table, along = (
        np.asarray(rows, dtype=np.int64).reshape(len(masks), len(dependent)) for rows in (masks, ends)
    )
    return (start, table, np.asarray(alike, dtype=np.int64), along), tuple(orders)


def _walks(
    dependent: tuple[frozenset[str], ...],
    loops: tuple[str, ...],
    active: tuple[str, ...],
    innermost: tuple[str, ...],
    written: int,
) -> dict[tuple[frozenset[str], ...], tuple[tuple[str, ...], ...]]:
    """The orders that differ in which tiles move when, by what they reuse; loops that run once stand outermost."""
    operands = {loop: sum(1 << k for k, own in enumerate(dependent) if loop in own) for loop in loops}
    again = frozenset(loops) - dependent[written]
    ways: dict[tuple[frozenset[str], ...], tuple[tuple[str, ...], ...]] = {}
    for order in orders_by_walk(operands, again, active, innermost):
        ends = [
            next((n for n, loop in enumerate(reversed(order)) if loop in own), len(order))
            for own in dependent
        ]
        reuse = tuple(frozenset(order[len(order) - end :]) for end in ends)
        placed = [loop for loop in order if loop not in innermost]
        idle = [loop for loop in loops if loop not in placed and loop not in innermost]
        ways[reuse] = (*ways.get(reuse, ()), (*idle, *placed, *innermost))
    return ways


def _undominated(found: Orders) -> Orders:
    """OPT 4 as a dominance rule: of the orders that reuse one operand, the one that reuses it most; of those whose
    tiles follow each other along the same loops.

    Where an order reuses one operand alone, further reuse lowers its transfers and the cycles they take,
    and changes nothing else (the proof is in docs/kind/tiling.md).
    """
    kept = {}
    for (reuse, ends), order in found.items():
        operand = next((k for k, over in enumerate(reuse) if over), None)
        if operand is None or len(reuse[operand]) == max(
            len(other[operand]) for other, same in found if same == ends
        ):
            kept[reuse, ends] = order
    return kept


def _by_reuse(found: Orders) -> dict[Reuse, list[tuple[Ends, tuple[str, ...]]]]:
    """Orders by what they reuse, without those that another of the same reuse contains: tiles that follow each other
    never cost more than whole ones."""
    ways: dict[Reuse, list[tuple[Ends, tuple[str, ...]]]] = {}
    for (reuse, ends), order in found.items():
        ways.setdefault(reuse, []).append((ends, order))
    for reuse, some in ways.items():
        ways[reuse] = [
            (ends, order)
            for ends, order in some
            if not any(
                more != ends and all(b is None or a == b for a, b in zip(more, ends, strict=True))
                for more, _ in some
            )
        ]
    return ways
