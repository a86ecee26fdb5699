"""Tiles and boxes of several arrays in the order of their bounds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heappop, heappush

import numpy as np

from mapper.formulations.trace_partition.floor.bounded import Bounded, Place
from mapper.formulations.trace_partition.program.option_cost import Rank

MOST_TILES, MOST_STEPS = 128, 8192
"""Tiles whose steps are followed at once, and steps of theirs: so much takes no time that a clock would miss."""
_Entry = tuple[Rank, int, int]
"""A bound, the number of the array, and the place in it."""


class BoundedQueue:
    """Arrays whose entries come one after another; more may be added meanwhile."""

    def __init__(self, given: Iterable[Bounded]) -> None:
        self._heap: list[_Entry] = []
        self._arrays: list[tuple[Bounded, Iterator[tuple[Rank, int]]]] = []
        self._last: _Entry = ((0, 0, 0), 0, 0)
        for one in given:
            self.add(one)

    def __bool__(self) -> bool:
        return bool(self._heap)

    def add(self, tiles: Bounded) -> None:
        """More of them."""
        self._arrays.append((tiles, tiles.in_order()))
        self._push(len(self._arrays) - 1)

    def next(self) -> tuple[Rank, Bounded, Place]:
        """The entry with the least bound: its bound, its array, what it is there."""
        self._last = heappop(self._heap)
        rank, number, at = self._last
        self._push(number)
        tiles, _ = self._arrays[number]
        row, column, summed, out = tiles.places[:, at].tolist()
        return rank, tiles, (row, column, summed, out)

    def some(self, end: int | None) -> Bounded:
        """The entry that came last, and some of those that follow in its array with bounds below ``end`` (None: any).
        They do not come any more."""
        _, number, at = self._last
        tiles, order = self._arrays[number]
        taken, steps = [at], int(tiles.steps[at])
        while len(taken) < MOST_TILES and steps < MOST_STEPS:
            rank, at = next(order, (None, 0))
            if rank is None or (end is not None and rank[0] >= end):
                break
            taken.append(at)
            steps += int(tiles.steps[at])
        return tiles.kept(np.array(taken, dtype=np.int64))

    def _push(self, number: int) -> None:
        rank, at = next(self._arrays[number][1], (None, 0))
        if rank is not None:
            heappush(self._heap, (rank, number, at))
