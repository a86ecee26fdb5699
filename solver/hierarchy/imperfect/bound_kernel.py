"""The compiled inner loop of the bound: what choices of cells cost at least, one after the other (see `bound`)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mapper.models.compiled import compiled

Array = Any
SHY = 1 - 1e-12
"""Sums are taken a little too low, so that rounding does not lift them above what they bound."""
TENSOR, OUTER, INNER, LEAVING, ARRIVING = range(5)
READ, FILL, UPDATE = range(3)


class Places(NamedTuple):
    """Where numbers of a loop stand in a row (`cut.Columns`)."""

    tile: int
    space: int
    trips: int
    most: int
    mover: int
    chunks: int
    instances: int
    moments: int


class Tensors(NamedTuple):
    """Of each tensor: whether a loop moves it [tensors, loops], whether it is written, whether its first reads and its
    first fills are left out, whether a loop may bring a tile back to where it was, whether a loop moves two dimensions
    of it; words of the whole, words that differ, and words that units take; the levels at which fan-outs share its
    words, and those that keep it [tensors, levels]. Its dimensions are ``dims[t]`` to ``dims[t + 1]``, whose places
    that differ are ``reach``, and their terms ``terms[d]`` to ``terms[d + 1]``, of a ``loop`` and a ``step`` each."""

    moved: Array
    written: Array
    first_read: Array
    first_fill: Array
    back: Array
    twice: Array
    whole: Array
    apart: Array
    taken: Array
    shared: Array
    kept: Array
    dims: Array
    reach: Array
    terms: Array
    loop: Array
    step: Array


class Levels(NamedTuple):
    """Of each level: pJ of a block that is read, filled or updated, words of a block, clusters, capacity, words a cycle
    that are read, written and both; leaks, and whether it keeps a tensor."""

    price: Array
    block: Array
    clusters: Array
    capacity: Array
    rate: Array
    leak: Array
    used: Array


class Frame(NamedTuple):
    """What no choice changes: bounds of the loops, energy of all operations, operations and leaks of a unit in a cycle,
    and the most cycles."""

    bounds: Array
    operations: float
    rate: float
    leak: float
    cycles: float


def _tiled(
    numbers: Array, row: Array, t: int, inner: int, places: Places, tensors: Tensors, frame: Frame
) -> float:
    """Words of all tiles that differ, at least. In one dimension alone tiles slide, so that no word comes twice;
    in all others every tile brings what it shares with those beside it."""
    apart: float = tensors.apart[t]
    if tensors.twice[t]:
        return apart
    whole, slid = 1.0, np.inf
    for d in range(tensors.dims[t], tensors.dims[t + 1]):
        begin, end = tensors.terms[d], tensors.terms[d + 1]
        if end - begin < 2:
            whole *= frame.bounds[tensors.loop[begin]] if end > begin else 1.0
            continue
        # As chunks of each loop become more, the sum changes along a line, so that it is least at some end.
        extent = np.inf
        for ends in range(1 << (end - begin)):
            many, wide = 1.0, 1.0
            for term in range(begin, end):
                j = tensors.loop[term]
                chunks = (
                    frame.bounds[j]
                    if (ends >> (term - begin)) & 1
                    else numbers[row[j], places.chunks + inner]
                )
                many *= chunks
                wide += tensors.step[term] * (frame.bounds[j] / chunks - 1)
            extent = min(extent, many * wide)
        extent = max(extent, tensors.reach[d])
        whole *= extent
        slid = min(slid, tensors.reach[d] / extent)
    return max(apart, whole * slid if slid < np.inf else whole)


def _meeting(
    numbers: Array, row: Array, t: int, outer: int, inner: int, places: Places, tensors: Tensors
) -> float:
    """The share of words that leave once where several loops in space move a dimension and tiles may meet."""
    share = 1.0
    for level in range(outer, inner):
        if not tensors.shared[t, level]:
            continue
        seen = 0
        for d in range(tensors.dims[t], tensors.dims[t + 1]):
            begin, end = tensors.terms[d], tensors.terms[d + 1]
            own, together, total = 0, 1.0, 0.0
            for term in range(begin, end):
                j = tensors.loop[term]
                trips = numbers[row[j], places.space + level]
                own |= 1 << j
                together *= trips
                total += trips
            if own & seen:
                share /= together
            elif end - begin > 1:
                share *= (total - (end - begin) + 1) / together
            seen |= own
    return share


def _paid(level: int, action: int, instances: Array, words: float, levels: Levels) -> float:
    """pJ of so many words of all instances at a level, in whole blocks; not all instances of a cluster pay."""
    share = min(1.0, levels.clusters[level] / instances[level]) / levels.block[level]
    price: float = levels.price[level, action] * np.ceil(words * share * SHY)
    return price


def _crossed(
    numbers: Array, row: Array, way: Array, first: int, instances: Array, words: float, meeting: float,
    places: Places, tensors: Tensors, levels: Levels, crossed: Array,
) -> float:  # fmt: skip
    """Energy of a way, if turns from level ``first`` inwards leave the tensor where it is; the words that are read,
    leave and are filled go into ``crossed``."""
    t, outer, inner = way[TENSOR], way[OUTER], way[INNER]
    is_last = inner == len(levels.block)
    leaving, arriving, above, below = 1.0, 1.0, 1.0, 1.0
    for j in range(len(row)):
        if not tensors.moved[t, j]:
            leaving *= numbers[row[j], way[LEAVING] + first]
            arriving *= numbers[row[j], way[ARRIVING] + first]
            above *= numbers[row[j], places.instances + outer]
            below *= numbers[row[j], places.instances + inner]
    leaving *= max(words * meeting, 0.0 if is_last else tensors.apart[t])
    arriving *= words
    read = max(0.0, leaving - (tensors.whole[t] * above if tensors.first_read[t] else 0.0))
    fill = max(0.0, arriving - (tensors.whole[t] * below if tensors.first_fill[t] else 0.0))
    energy: float = _paid(outer, READ, instances, read, levels)
    if tensors.written[t]:
        energy += _paid(outer, UPDATE, instances, leaving, levels)
    if not is_last:
        energy += _paid(inner, FILL, instances, fill, levels)
    crossed[0], crossed[1], crossed[2] = read, leaving, fill
    return energy


def _fits(numbers: Array, row: Array, places: Places, tensors: Tensors, levels: Levels) -> bool:
    """Whether the least tiles fit the levels that keep them."""
    for level in range(len(levels.capacity)):
        if levels.capacity[level] == np.inf:
            continue
        words = 0.0
        for t in range(len(tensors.kept)):
            if not tensors.kept[t, level]:
                continue
            tile = 1.0
            for d in range(tensors.dims[t], tensors.dims[t + 1]):
                extent = 1.0
                for term in range(tensors.terms[d], tensors.terms[d + 1]):
                    extent += tensors.step[term] * (numbers[row[tensors.loop[term]], places.tile + level] - 1)
                tile *= extent
            words += tile
        if words > levels.capacity[level]:
            return False
    return True


def _of_ways(
    numbers: Array, row: Array, ways: Array, instances: Array, places: Places, tensors: Tensors, levels: Levels,
    frame: Frame, moved: Array, more: Array,
) -> float:  # fmt: skip
    """Energy of all ways. Adds the words that each moves at its ends, of all instances together, to ``moved``, and to
    ``more`` what energy is more if no turn at the innermost level at which the tensor moves leaves it where it is."""
    count = len(levels.block)
    crossed = np.empty(3, np.float64)
    total = 0.0
    for way in ways:
        t, outer, inner = way[TENSOR], way[OUTER], way[INNER]
        mover = 0
        # Loops that move a dimension forwards and backwards may bring a tile back to where it was.
        if not tensors.back[t]:
            for j in range(len(row)):
                if tensors.moved[t, j]:
                    mover = max(mover, int(numbers[row[j], places.mover + inner - 1]))
        words = tensors.taken[t]
        if inner < count:
            words = _tiled(numbers, row, t, inner, places, tensors, frame)
        meeting = _meeting(numbers, row, t, outer, inner, places, tensors)
        energy = _crossed(
            numbers, row, way, mover, instances, words, meeting, places, tensors, levels, crossed
        )
        total += energy
        moved[outer, 0] += crossed[0]
        if tensors.written[t]:
            moved[outer, 1] += crossed[1]
        if inner == count:
            continue
        moved[inner, 1] += crossed[2]
        if tensors.back[t]:
            continue
        stuck = -energy + _crossed(
            numbers, row, way, mover + 1, instances, words, meeting, places, tensors, levels, crossed
        )
        for j in range(len(row)):
            if tensors.moved[t, j] and numbers[row[j], places.trips + mover] > 1:
                more[mover, j] += stuck
    return total


def _cycles(moved: Array, instances: Array, passes: float, levels: Levels, frame: Frame) -> float:
    """Cycles of the units, and of the level that takes longest for the words of an instance."""
    cycles: float = max(1.0, np.ceil(passes / frame.rate))
    for level in range(len(levels.block)):
        read, written = moved[level, 0] / instances[level], moved[level, 1] / instances[level]
        cycles = max(cycles, np.ceil(read / levels.rate[level, 0] - 1e-9))
        cycles = max(cycles, np.ceil(written / levels.rate[level, 1] - 1e-9))
        cycles = max(cycles, np.ceil((read + written) / levels.rate[level, 2] - 1e-9))
    return cycles


def _measured(
    numbers: Array, chosen: Array, ways: Array, places: Places, tensors: Tensors, levels: Levels, frame: Frame,
    energy: Array, more: Array, cycles: Array,
) -> None:  # fmt: skip
    """Of choices of cells [choices, loops] the least ``energy``, whatever the orders, and what it is ``more`` by level
    and loop, if that loop is the innermost one that turns there (infinite if it cannot turn); the fewest ``cycles``,
    infinite where tiles do not fit."""
    count = len(levels.block)
    moved, instances = np.empty((count, 2), np.float64), np.empty(count + 1, np.float64)
    for k in range(len(chosen)):
        row = chosen[k]
        energy[k], cycles[k] = 0.0, np.inf
        more[k] = 0.0
        if not _fits(numbers, row, places, tensors, levels):
            continue
        moved[:], instances[:] = 0.0, 1.0
        passes = 1.0
        for j in range(len(row)):
            passes *= numbers[row[j], places.moments]
            for level in range(count + 1):
                instances[level] *= numbers[row[j], places.instances + level]
        energy[k] = frame.operations + _of_ways(
            numbers, row, ways, instances, places, tensors, levels, frame, moved, more[k]
        )
        own = _cycles(moved, instances, passes, levels, frame)
        leaking = frame.leak * instances[count]
        for level in range(count):
            leaking += levels.leak[level] * (instances[level] if levels.used[level] else 1.0)
            for j in range(len(row)):
                if numbers[row[j], places.most + level] == -1:
                    more[k, level, j] = np.inf
        energy[k] += leaking * own
        cycles[k] = own if own <= frame.cycles else np.inf


tiled_words = compiled(_tiled)
meeting_share = compiled(_meeting)
paid = compiled(_paid)
crossed_energy = compiled(_crossed, _paid=paid)
fits = compiled(_fits)
energy_of_ways = compiled(_of_ways, _tiled=tiled_words, _meeting=meeting_share, _crossed=crossed_energy)
least_cycles = compiled(_cycles)
measured = compiled(_measured, _fits=fits, _of_ways=energy_of_ways, _cycles=least_cycles)
