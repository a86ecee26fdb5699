"""Scratch-pad tiles block by block: what their words, passes and bursts cost at least.

A burst goes on through a dimension where all further in is whole. So there is a row for each dimension that it may
begin in, infinite where something further in is not whole: the least of an operand's rows is the number of its bursts.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mapper.solver.tiling.cover.block import Block, improving, own_tiles, places_of, words_of
from mapper.solver.tiling.cover.table import Array, CoverTable
from mapper.solver.tiling.exact.bound_kernel import SLACK
from mapper.solver.tiling.exact.kernel_table import KernelTable
from mapper.solver.tiling.exact.lattice import Floats, Integers


def _runs(v: CoverTable) -> list[tuple[int, int]]:
    """Of each operand k, the dimensions from which on a burst may go through all that is stored, by falling place;
    the last one always does."""
    found = []
    for k, dimensions in enumerate(v.spans.dimensions):
        for place in reversed(range(max(1, dimensions))):
            found.append((k, place))
            if not v.dma.is_whole[k, place]:
                break
    return found


def _bursts(v: CoverTable, loops: tuple[int, ...], tile: Integers, trips: Integers) -> Iterator[Floats]:
    """What tiles [n, loops] bring to the number of bursts of each of the `_runs`; infinity where they end it."""
    for k, first in _runs(v):
        bursts = np.ones(len(tile))
        for place in range(v.spans.dimensions[k]):
            terms = range(v.spans.terms[k, place], v.spans.terms[k, place + 1])
            if place == first or not terms or int(v.spans.term_loop[terms[0]]) not in loops:
                continue
            at = [loops.index(int(v.spans.term_loop[term])) for term in terms]
            if place > first:
                bursts[(trips[:, at] > 1).any(axis=1)] = np.inf
            else:
                bursts *= 1 + (tile[:, at] - 1) @ v.spans.term_factor[terms.start : terms.stop]
        yield bursts


def spm_block(v: CoverTable, loops: tuple[int, ...]) -> Block:
    """Of each operand words, words times passes, and words times own tiles; of its runs, bursts times passes, and
    bursts times own tiles."""
    places = places_of(v.dram_counts, loops)
    tile, trips = (
        np.stack([table[j, places[:, at]] for at, j in enumerate(loops)], axis=-1)
        for table in (v.dram_tile, v.dram_trips)
    )
    words, own = np.array(list(words_of(v, loops, tile))), np.array(list(own_tiles(v, loops, trips)))
    bursts, operand = np.array(list(_bursts(v, loops, tile, trips))), [k for k, _ in _runs(v)]
    passes = trips.prod(axis=1, dtype=np.float64)
    rows = (words, words * passes, words * own, bursts * passes, bursts * own[operand])
    return Block(loops, places, np.concatenate(rows))


def spm_hopeless(
    t: KernelTable, v: CoverTable, factors: Floats, within: tuple[Floats, Floats], reach: float
) -> Array:
    """Whether scratch-pad tiles cannot improve: at least the bounds of `bound_kernel`, or no room."""
    operands = len(v.spans.dimensions)
    words, moved, kept = factors[: 3 * operands].reshape(3, operands, -1)
    twice = np.where(t.updated & ~t.zero, 2.0, 1.0)[:, None]
    energies, cycles = [], []
    if t.alone:
        always, once = busy(v, factors)
        for stays in range(operands + 1):
            crossed, taken = moved.copy(), always.copy()
            if stays < operands:
                crossed[stays], taken[stays] = kept[stays], once[stays]
            energies.append((crossed * twice).sum(axis=0))
            cycles.append(taken.sum(axis=0))
    else:
        energies, cycles = [(kept * twice).sum(axis=0)], [np.zeros(factors.shape[1])]
    energy = v.dram_unit * np.minimum.reduce(energies)[:, None]
    able = improving(t, within[0] + energy, within[1], np.minimum.reduce(cycles), reach)
    banks = np.ceil(words * (v.dma.word_bytes * SLACK / v.dma.bank_bytes)).sum(axis=0)
    return ~able | (banks > v.banks)


def busy(v: CoverTable, factors: Floats) -> tuple[Floats, Floats]:
    """DMA cycles of each operand [operands, n], of the rows of `spm_block`: if its tiles come in every pass, and if
    they come once."""
    operands = len(v.spans.dimensions)
    words, runs = factors[operands : 3 * operands], [k for k, _ in _runs(v)]
    first = [runs.index(k) for k in range(operands)]
    bursts = factors[3 * operands :].reshape(2, len(runs), -1)
    least = np.minimum.reduceat(bursts, first, axis=1)
    cycles = words.reshape(2, operands, -1) * v.dma.burst_word + least * v.dma.burst_fixed
    always, once = cycles * (SLACK / v.dma.burst_whole)
    return always, once
