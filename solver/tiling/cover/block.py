"""Choices of loops, block by block, and what of them may improve on the incumbent.

A cost is at least a sum of products of factors that each depend on the loops of one *block* alone: loops that meet in
a dimension of an operand, such as the rows of an image and of a filter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from mapper.models.limit import UnfinishedError
from mapper.solver.tiling.cover.table import Array, CoverTable
from mapper.solver.tiling.exact.bound_kernel import SLACK
from mapper.solver.tiling.exact.kernel_table import EDP, ENERGY, KernelTable
from mapper.solver.tiling.exact.lattice import Floats, Integers

MOST_AT_ONCE = 1 << 13
"""Tiles whose products are compared at once."""

MOST_OPEN = 1 << 21
"""Tiles that are kept at a time; a few hundred bytes each."""
Hopeless = Callable[[Floats], Array]
"""Which columns of factors [F, n] cannot improve on the incumbent."""


class TooManyOpenError(Exception):
    """More tiles may improve on the incumbent than are kept."""


@dataclass(frozen=True)
class Block:
    """Loops, all choices of them (``places`` [n, loops]), and what each brings to the products (``factors`` [F, n])."""

    loops: tuple[int, ...]
    places: Integers
    factors: Floats


def slices(count: int, step: int, stopped: Callable[[], object]) -> Iterator[slice]:
    """All of so many, a few at a time.

    Raises: UnfinishedError when time is over.
    """
    for first in range(0, count, step):
        reason = stopped()
        if reason is not None:
            raise UnfinishedError(str(reason))
        yield slice(first, min(first + step, count))


def values(t: KernelTable, energy: Floats, processing: Floats, dma: Floats | float) -> Floats:
    """The objective of at least so much, infinity where that takes too long."""
    energy = energy * SLACK - (0.5 * t.per_pj if t.rounded else 0.0)
    cycles = np.maximum(processing, dma) if t.buffers.spm else processing + dma
    objective = energy * cycles if t.objective == EDP else energy if t.objective == ENERGY else cycles
    return np.where((cycles <= t.reach_cycles) & np.isfinite(energy), objective, np.inf)


def improving(t: KernelTable, energy: Floats, processing: Floats, dma: Floats | float, reach: float) -> Array:
    """Where one of the cases (the last axis) may improve on the incumbent."""
    alive = np.zeros(len(energy), np.bool_)
    for case in range(energy.shape[-1]):
        least = values(t, energy[:, case], processing[..., case], dma)
        alive |= (least <= reach) & np.isfinite(least)
    return alive


def blocks_of(counts: Integers, v: CoverTable) -> list[tuple[int, ...]]:
    """The loops by blocks: those without a choice first, then those with the most."""
    blocks = [{j} for j in range(len(v.counts))]
    for k, dimensions in enumerate(v.spans.dimensions):
        for place in range(dimensions):
            met = {
                int(v.spans.term_loop[term])
                for term in range(v.spans.terms[k, place], v.spans.terms[k, place + 1])
            }
            joined = set[int]().union(*(block for block in blocks if block & met))
            if joined:
                blocks = [block for block in blocks if not block & met] + [joined]
    ordered = sorted(tuple(sorted(block)) for block in blocks)
    choices = {block: int(np.prod(counts[list(block)])) for block in ordered}
    return sorted(ordered, key=lambda block: (choices[block] > 1, -choices[block]))


def joined(blocks: list[Block], hopeless: Hopeless, stopped: Callable[[], object]) -> Integers:
    """The choices of all blocks [n, loops] that are not hopeless.

    Raises: UnfinishedError, TooManyOpenError.
    """
    rest = [np.ones(len(blocks[0].factors))]
    for block in reversed(blocks):
        rest.append(rest[-1] * block.factors.min(axis=1))
    rest = rest[::-1][1:]
    factors, places = np.ones((len(blocks[0].factors), 1)), np.zeros((1, 0), np.int64)
    for block, least in zip(blocks, rest, strict=True):
        choices = block.factors.shape[1]
        kept, count = [np.zeros(0, np.int64)], 0
        # A few at a time: longer rows would leave the processor's caches.
        for part in slices(factors.shape[1], max(1, MOST_AT_ONCE // choices), stopped):
            some = factors[:, part, None] * (block.factors * least[:, None])[:, None, :]
            kept.append(part.start * choices + np.flatnonzero(~hopeless(some.reshape(len(factors), -1))))
            count += len(kept[-1])
            if count > MOST_OPEN:
                raise TooManyOpenError
        before, chosen = np.divmod(np.concatenate(kept), choices)
        factors = factors[:, before] * block.factors[:, chosen]
        places = np.concatenate((places[before], block.places[chosen]), axis=1)
        if not len(before):
            return np.zeros((0, sum(len(block.loops) for block in blocks)), np.int64)
    order = np.argsort([loop for block in blocks for loop in block.loops])
    return np.ascontiguousarray(places[:, order])


def words_of(v: CoverTable, loops: tuple[int, ...], tile: Integers) -> Iterator[Floats]:
    """Of each operand, the words of tiles [n, loops] in the dimensions of these loops."""
    for k, dimensions in enumerate(v.spans.dimensions):
        words = np.ones(len(tile))
        for place in range(dimensions):
            terms = range(v.spans.terms[k, place], v.spans.terms[k, place + 1])
            if terms and int(v.spans.term_loop[terms[0]]) in loops:
                words *= 1 + sum(
                    v.spans.term_factor[term] * (tile[:, loops.index(int(v.spans.term_loop[term]))] - 1)
                    for term in terms
                )
        yield words


def places_of(counts: Integers, loops: tuple[int, ...]) -> Integers:
    return np.stack([axis.reshape(-1) for axis in np.indices([int(counts[j]) for j in loops])], axis=-1)


def own_tiles(v: CoverTable, loops: tuple[int, ...], trips: Integers) -> Iterator[Floats]:
    """Of each operand, the product of the trips [n, loops] of the loops that it depends on."""
    for k in range(len(v.spans.dimensions)):
        yield np.where(v.own[k, list(loops)], trips, 1).prod(axis=1, dtype=np.float64)
