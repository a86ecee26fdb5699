"""Compiled bounds on tiles that follow each other, over classes of covers (the argument is in stream/bound_kernel).

What follows grows with every factor as a whole tile does, so a class is charged what its smallest tile takes. Its share
of a whole tile does not: it falls with the window, so a share is taken of the shortest step in the largest tile.
"""

from __future__ import annotations

from typing import Any

from mapper.models.compiled import borrowing
from mapper.solver.tiling.cover.table import Array, CoverTable
from mapper.solver.tiling.exact.kernel_table import KernelTable
from mapper.solver.tiling.stream import bound_kernel
from mapper.solver.tiling.stream.bound_kernel import ANY, Room

_least_shares: Any = bound_kernel.least_shares
_streamed_bound: Any = bound_kernel.streamed_bound


def _fresh(v: CoverTable, k: int, j: int, tile: Array) -> int:
    """Words of operand ``k`` in a tile that the one before it has not, when loop ``j`` steps."""
    words, kept = 1, 1
    for place in range(v.spans.dimensions[k]):
        span, step = 1, 0
        for term in range(v.spans.terms[k, place], v.spans.terms[k, place + 1]):
            span += v.spans.term_factor[term] * (tile[v.spans.term_loop[term]] - 1)
            if v.spans.term_loop[term] == j:
                step += v.spans.term_factor[term] * tile[j]
        words *= span
        kept *= max(0, span - step)
    return words - kept


def _least_share(v: CoverTable, k: int, j: int, least: Array, most: Array) -> float:
    """The least share of its words that a tile between ``least`` and ``most`` brings when loop ``j`` steps."""
    kept = 1.0
    for place in range(v.spans.dimensions[k]):
        span, step = 1, 0
        for term in range(v.spans.terms[k, place], v.spans.terms[k, place + 1]):
            span += v.spans.term_factor[term] * (most[v.spans.term_loop[term]] - 1)
            if v.spans.term_loop[term] == j:
                step += v.spans.term_factor[term] * least[j]
        kept *= max(0.0, 1.0 - step / span)
    return 1.0 - kept


def _all_fresh(t: KernelTable, v: CoverTable, tile: Array, x: Room) -> None:
    """The fresh words of a tile along every slot."""
    for k in range(len(x.words)):
        for j in range(len(x.most)):
            slot = t.streams.slot[k, j]
            if slot >= 0:
                x.fresh[slot] = _fresh(v, k, j, tile)


def _first_bound(
    t: KernelTable,
    v: CoverTable,
    classes: Array,
    passes: int,
    compute: int,
    least: Array,
    most: Array,
    x: Room,
) -> tuple[float, float]:
    """The bound for ``classes``, whose array tiles are between ``least`` and ``most``; ``x`` knows the least."""
    for j in range(len(classes)):
        x.most[j] = v.most_inner[classes[j]]
    _all_fresh(t, v, least, x)
    _least_shares(t, ANY, x)
    for k in range(len(x.words)):
        for j in range(len(x.most)):
            if t.streams.slot[k, j] >= 0 and x.most[j] > 1:
                share, head = _least_share(v, k, j, least, most), 1.0 / x.most[j]
                x.noc_share[k] = min(x.noc_share[k], share + (1.0 - share) * head)
    energy, cycles = _streamed_bound(t, passes, compute, x)
    return energy, cycles


def _split_bound(
    t: KernelTable, v: CoverTable, classes: Array, passes: int, compute: int, tile: Array, held: int, x: Room
) -> tuple[float, float]:
    """The bound for an array tile with a split that leaves the slots ``held``."""
    for j in range(len(classes)):
        x.most[j] = v.most_inner[classes[j]]
    _all_fresh(t, v, tile, x)
    _least_shares(t, held, x)
    energy, cycles = _streamed_bound(t, passes, compute, x)
    return energy, cycles


def _held(t: KernelTable, pes: Array) -> int:
    """The slots along which tiles can follow each other with these PEs in each loop, as bits."""
    in_space, held = 0, 0
    for j in range(len(pes)):
        if pes[j] > 1:
            in_space |= 1 << j
    for slot in range(len(t.streams.along)):
        if t.streams.along[slot] & in_space == 0:
            held |= 1 << slot
    return held


all_fresh = borrowing(_all_fresh, _fresh=borrowing(_fresh))
first_bound = borrowing(_first_bound, _all_fresh=all_fresh, _least_share=borrowing(_least_share))
split_bound = borrowing(_split_bound, _all_fresh=all_fresh)
held_slots = borrowing(_held)
