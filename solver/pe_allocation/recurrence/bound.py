"""Cycles that no schedule is below, for all sizes of tiles at once.

Of the demands on the schedule it takes those within a tile, which bound the interval, and those over one axis, which
bound that axis's start; of the results it takes the last one of all, that of the first row, of the first column and of
the first tile. What is left out can only raise the cycles.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import numpy as np
from numpy.typing import NDArray

from mapper.formulations.pe_allocation.recurrence.problem import RecurrenceProblem
from mapper.models.pe_allocation.nest.work import LINK_LATENCY
from mapper.models.pe_allocation.recurrence.tiling import Axes

Numbers = NDArray[np.int64]
NEVER = np.int64(1) << np.int64(60)
"""Cycles of tiles for which there is no schedule."""


def least_cycles(
    problem: RecurrenceProblem, axes: Axes, order: tuple[str, ...], tile: Mapping[str, Numbers]
) -> Numbers:
    """Per size of tiles (arrays of one shape; a loop's number where it is not laid out) cycles that are never
    undercut."""
    stride, count = {}, np.ones((1, 1), np.int64)
    for loop in reversed(order):
        stride[loop] = count
        count = count * tile[loop]
    interval, possible = _interval(problem, axes, stride, tile)
    starts, gained = [], []
    for axis in (0, 1):
        start, gain = _start(problem, axes, axis, stride, tile, interval)
        starts.append(start)
        gained.append(gain)
    zero = np.zeros((1, 1), np.int64)
    least = np.zeros(count.shape, np.int64)
    recurrence, ends = problem.recurrence, problem.body.ends
    for name, chosen in product(recurrence.results, product((False, True), repeat=2)):
        first = [loop for loop, one in zip(axes, chosen, strict=True) if one and loop is not None]
        high = {loop: tile[loop] - 1 if loop in first else zero + n - 1 for loop, n in recurrence.bounds}
        for statement in recurrence.alternatives[name]:
            last, there = recurrence.region(statement).greatest(dict.fromkeys(high, zero), high)
            steps, moved, saved = zero, zero, zero
            for loop, at in last.items():
                steps = steps + stride[loop] * (at % tile[loop])
                if loop in axes:
                    number = at // tile[loop]
                    moved = moved + number * starts[axes.index(loop)]
                    saved = saved + number * gained[axes.index(loop)]
            # A longer interval may let tiles start sooner; only where it costs more than that saves do starts count.
            moved = np.where(steps >= saved, moved, 0)
            least = np.maximum(least, np.where(there, interval * steps + moved + ends[name], 0))
    return np.where(possible, least, NEVER)


def _interval(
    problem: RecurrenceProblem, axes: Axes, stride: Mapping[str, Numbers], tile: Mapping[str, Numbers]
) -> tuple[Numbers, NDArray[np.bool_]]:
    """The least interval, and whether values of a tile can be there in time at all."""
    interval: Numbers = np.full((1, 1), problem.body.interval, np.int64)
    possible = np.ones((1, 1), np.bool_)
    for one in problem.body.dependences:
        steps = _inside(problem, one.distance, stride)
        if one.latency > 0:
            # What always goes to the next tile asks nothing within one.
            stays = np.ones((1, 1), np.bool_)
            for loop, step in zip(problem.recurrence.loops, one.distance, strict=True):
                if loop in axes:
                    stays = stays & (abs(step) < tile[loop])
            possible = possible & ((steps > 0) | ~stays)
            least = np.where(stays, -(-one.latency // np.maximum(steps, 1)), 1)
            interval = np.maximum(interval, least)
    return interval, possible


def _inside(problem: RecurrenceProblem, distance: tuple[int, ...], stride: Mapping[str, Numbers]) -> Numbers:
    found = np.zeros((1, 1), np.int64)
    for loop, step in zip(problem.recurrence.loops, distance, strict=True):
        found = found + stride[loop] * step
    return found


def _start(
    problem: RecurrenceProblem,
    axes: Axes,
    axis: int,
    stride: Mapping[str, Numbers],
    tile: Mapping[str, Numbers],
    interval: Numbers,
) -> tuple[Numbers, Numbers]:
    """The least start of the next tile along an axis at the least interval, and by how many cycles a start may come
    sooner for each cycle that the interval is longer."""
    start, gain = np.zeros((1, 1), np.int64), np.zeros((1, 1), np.int64)
    loop, other = axes[axis], axes[1 - axis]
    if loop is None:
        return start, gain
    loops = problem.recurrence.loops
    for one in problem.body.dependences:
        step = one.distance[loops.index(loop)]
        if step <= 0:
            continue
        steps = _inside(problem, one.distance, stride) - stride[loop] * tile[loop]
        asked = np.maximum(0, one.latency + LINK_LATENCY - interval * steps)
        if other is not None:
            # It stays on its line only if it does not always go to the next one there.
            asked = np.where(abs(one.distance[loops.index(other)]) < tile[other], asked, 0)
        start = np.maximum(start, asked)
        gain = np.maximum(gain, np.where(asked > 0, np.maximum(0, steps), 0))
    return start, gain
