"""Nodes that wait for being opened, in the batches in which they came: the one with the least bound is taken first.

A batch lies in arrays, sorted by bounds, and only its first node is in the heap: most nodes are never taken.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Array = Any


class Node(NamedTuple):
    """A choice of tensors to keep (its number), of trips in space (its row), and a cell for each loop [loops]; the
    fewest cycles; whether each cell is a single cut."""

    keep: int
    space: int
    cells: Array
    cycles: float
    single: bool


class Batch(NamedTuple):
    """Nodes with the same tensors to keep: trips in space (their rows), cells [nodes, loops], least values, fewest
    cycles, and whether each cell is a single cut."""

    keep: int
    spaces: Array
    cells: Array
    least: Array
    cycles: Array
    single: Array

    def node(self, at: int) -> Node:
        """One of them."""
        place = int(self.spaces[at]), self.cells[at], float(self.cycles[at]), bool(self.single[at])
        return Node(self.keep, *place)

    def chosen(self, which: Array) -> Batch:
        """Some of them."""
        return Batch(self.keep, *(one[which] for one in self[1:]))


class Waiting:
    """All nodes that wait; of those with the same bound the one that came first is the first."""

    def __init__(self) -> None:
        self._heads: list[tuple[float, int, int]] = []
        self._batches: list[Batch | None] = []
        self._waiting = 0

    def __len__(self) -> int:
        return self._waiting

    @property
    def least(self) -> float:
        """The least bound; infinite if none waits."""
        return self._heads[0][0] if self._heads else math.inf

    def put(self, batch: Batch) -> None:
        """Let nodes wait."""
        if not len(batch.least):
            return
        own = batch.chosen(np.argsort(batch.least, kind="stable"))
        heapq.heappush(self._heads, (float(own.least[0]), len(self._batches), 0))
        self._batches.append(own)
        self._waiting += len(own.least)

    def first(self) -> tuple[float, Node]:
        """The node with the least bound, which goes on waiting."""
        least, number, at = self._heads[0]
        batch = self._batches[number]
        assert batch is not None
        return least, batch.node(at)

    def take(self) -> tuple[float, Node]:
        """The node with the least bound, which no longer waits."""
        least, number, at = self._heads[0]
        batch = self._batches[number]
        assert batch is not None
        if at + 1 < len(batch.least):
            heapq.heapreplace(self._heads, (float(batch.least[at + 1]), number, at + 1))
        else:
            heapq.heappop(self._heads)
            self._batches[number] = None
        self._waiting -= 1
        return least, batch.node(at)

    def leave(self, wanted: Callable[[Array, Array], Array]) -> None:
        """Keep those alone whose bounds and cycles are ``wanted``."""
        begins = {number: at for _, number, at in self._heads}
        left = [
            batch.chosen(
                begins[number] + np.flatnonzero(wanted(*(one[begins[number] :] for one in batch[3:5])))
            )
            for number, batch in enumerate(self._batches)
            if batch is not None
        ]
        self._heads, self._batches, self._waiting = [], [], 0
        for batch in left:
            self.put(batch)
