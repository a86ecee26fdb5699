"""Orders of the loops of one level that are as good as all others.

A tensor stays while loops turn that it does not depend on, as long as none outside them does. Once a loop has moved it,
loops of the same chain (`group.Shape`) may bring less than a whole tile, each if it moves the tile by just as much as
the innermost loop does; a loop that moves it in other dimensions ends this. Which loops come next matters as long as
some tensor stays, or some chain goes on. Loops that no staying tensor depends on come first when there is no chain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np

from mapper.solver.hierarchy.exact.group import Shape
from mapper.solver.hierarchy.exact.kernel import Orders as OrderTable

Orders = tuple[tuple[int, ...], ...]
MOST_SETS = 1 << 9
"""Of more sets of groups, all have the orders of all groups together."""
STAYS = -1
State = tuple[int | None, ...]
"""Of each tensor: it stays, or the chain of loops that have moved it (None: nothing of its order matters any more)."""


class Mover(NamedTuple):
    """The loops that move a tensor, with the chain of each (-1: none)."""

    chain: tuple[tuple[int, int], ...]

    @property
    def chains(self) -> set[int]:
        """All its chains."""
        return {chain for _, chain in self.chain if chain >= 0}


@lru_cache(maxsize=1 << 14)
def order_classes(
    movers: tuple[Mover, ...], given: tuple[int, ...], loops: tuple[int, ...], inside: bool
) -> Orders:
    """Orders of ``loops``, innermost first, one of which is at least as good as any other; those of ``given`` are
    innermost, in that order. With ``inside``, loops of levels further in may have moved tensors before."""
    found: dict[tuple[int, ...], None] = {}
    first = tuple(loop for loop in given if loop in loops)
    for entry in _entries(movers, loops) if inside else [(STAYS,) * len(movers)]:
        state: State = entry
        for place, loop in enumerate(first):
            state = _after(movers, state, loop, tuple(one for one in loops if one not in first[: place + 1]))
        rest = tuple(loop for loop in loops if loop not in first)
        for order in _orders(movers, first, state, rest):
            found[order] = None
    return tuple(found)


def _entries(movers: Sequence[Mover], loops: tuple[int, ...]) -> Iterator[State]:
    """What loops further in may have done to tensors."""
    for state in product(*((STAYS, *sorted(mover.chains)) for mover in movers)):
        yield tuple(_open(mover, one, loops) for mover, one in zip(movers, state, strict=True))


def _open(mover: Mover, state: int | None, rest: tuple[int, ...]) -> int | None:
    """A chain is over when none of its loops is left."""
    if state in (None, STAYS):
        return state
    return state if any(loop in rest and chain == state for loop, chain in mover.chain) else None


def _after(movers: Sequence[Mover], state: State, loop: int, rest: tuple[int, ...]) -> State:
    found: list[int | None] = []
    for mover, one in zip(movers, state, strict=True):
        chain = dict(mover.chain).get(loop)
        if one is not None and chain is not None:
            goes_on = chain >= 0 and one in (STAYS, chain)
            one = chain if goes_on else None
        found.append(_open(mover, one, rest))
    return tuple(found)


def _goes_on(movers: Sequence[Mover], state: State, loop: int) -> bool:
    """Whether a chain has a loop as its next, if only as its last."""
    return any(
        one is not None and one >= 0 and dict(mover.chain).get(loop) == one
        for mover, one in zip(movers, state, strict=True)
    )


def _orders(
    movers: Sequence[Mover], order: tuple[int, ...], state: State, rest: tuple[int, ...]
) -> Iterator[tuple[int, ...]]:
    staying = [mover for mover, one in zip(movers, state, strict=True) if one == STAYS]
    if order and all(one in (None, STAYS) for one in state):
        free = [loop for loop in rest if not any(loop in dict(mover.chain) for mover in staying)]
        order, rest = (*order, *free), tuple(loop for loop in rest if loop not in free)
    next_ones = []
    for loop in rest:
        left = tuple(one for one in rest if one != loop)
        after = _after(movers, state, loop, left)
        if not order or any(one is not None for one in after) or _goes_on(movers, state, loop):
            next_ones.append((loop, left, after))
    if not next_ones:
        yield (*order, *rest)
    for loop, left, after in next_ones:
        yield from _orders(movers, (*order, loop), after, left)


def movers_of(shape: Shape) -> tuple[Mover, ...]:
    """The groups that move each tensor."""
    return tuple(
        Mover(tuple((j, int(chain[j])) for j in range(len(chain)) if relevant[j]))
        for relevant, chain in zip(shape.relevant, shape.chain, strict=True)
    )


@lru_cache(maxsize=256)
def order_table(
    movers: tuple[Mover, ...], given: tuple[int, ...], groups: int, *, inside: bool
) -> OrderTable:
    """The orders of ``groups`` loops, of which those ``given`` are innermost; ``inside`` as in `order_classes`."""
    begin = np.zeros(1 << groups, np.int64)
    end = np.zeros(1 << groups, np.int64)
    every = (1 << groups) - 1
    rows: list[tuple[int, ...]] = []
    for turning in range(1 << groups) if every < MOST_SETS else [every]:
        loops = tuple(j for j in range(groups) if (turning >> j) & 1)
        begin[turning] = len(rows)
        rows += order_classes(movers, given, loops, inside)
        end[turning] = len(rows)
    if every >= MOST_SETS:
        end[:] = len(rows)
    table = np.full((len(rows), max(groups, 1)), -1, np.int64)
    for place, row in enumerate(rows):
        table[place, : len(row)] = row
    return OrderTable(table[:, :groups].copy(), begin, end)
