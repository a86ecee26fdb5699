"""The orders of a level as kernels read them, for each set of groups that run more than once there."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from mapper.solver.hierarchy.exact.group import Shape
from mapper.solver.hierarchy.exact.kernel import Orders
from mapper.solver.hierarchy.exact.order_class import Mover, order_classes

MOST_SETS = 1 << 9
"""Of more sets of groups, all have the orders of all groups together."""


def movers_of(shape: Shape) -> tuple[Mover, ...]:
    """The groups that move each tensor."""
    return tuple(
        Mover(tuple((j, int(chain[j])) for j in range(len(chain)) if relevant[j]))
        for relevant, chain in zip(shape.relevant, shape.chain, strict=True)
    )


@lru_cache(maxsize=256)
def order_table(movers: tuple[Mover, ...], given: tuple[int, ...], groups: int, *, inside: bool) -> Orders:
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
    return Orders(table[:, :groups].copy(), begin, end)
