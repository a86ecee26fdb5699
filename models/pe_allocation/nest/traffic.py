"""Words a cycle on the links, and buffers at border PEs.

A stream takes the shortest way between its PE and the nearest border, the first of several by rows and columns. Words
that tiles hand on go down the first column of their tiles and from there along the rows.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from mapper.arch.tcpa import Pe
from mapper.models.pe_allocation.nest.grid import Grid
from mapper.workloads.nest.loop_nest import LoopNest, Operand

Places = NDArray[np.bool_]
Link = tuple[Pe | None, Pe | None]
"""From a PE to a neighbour; None is the buffers."""


@dataclass(frozen=True)
class Crossing:
    """A word of a ``tile`` on a link, so many cycles after the operation that reads it or the one that computed it."""

    link: Link
    tile: Pe
    after: int = 0


@dataclass(frozen=True)
class Flow:
    """``words`` at once between buffers and the tiles that are ``at`` the ends of streams; tiles hand them on to so
    many further rows and columns. They are read, or computed, in one of the cycles ``when`` of an iteration."""

    words: int
    at: NDArray[np.bool_]
    rows: int = 0
    columns: int = 0
    leaves: bool = False
    when: tuple[int, ...] = (0,)

    def crossings(self, grid: Grid) -> Iterator[Crossing]:
        for row, column in zip(*map(np.ndarray.tolist, np.nonzero(self.at)), strict=True):
            way: list[Pe | None] = [*grid.way_out((row, column)), None]
            for hops, (near, far) in enumerate(pairwise(way)):
                link = (near, far) if self.leaves else (far, near)
                yield Crossing(link, (row, column), hops if self.leaves else -hops)
            for down in range(self.rows + 1):
                if down:
                    below = (row + down, column)
                    yield Crossing(((row + down - 1, column), below), below)
                for across in range(1, self.columns + 1):
                    right = (row + down, column + across)
                    yield Crossing(((row + down, column + across - 1), right), right)


@dataclass(frozen=True)
class Move:
    """``words`` at once from every tile of the array's part of this ``shape`` to the one so many rows and columns on,
    computed in a cycle of an iteration."""

    words: int
    shape: tuple[int, int]
    down: int
    across: int
    when: tuple[int, ...] = (0,)

    def crossings(self, grid: Grid) -> Iterator[Crossing]:
        for row in range(max(0, -self.down), self.shape[0] - max(0, self.down)):
            for column in range(max(0, -self.across), self.shape[1] - max(0, self.across)):
                way = grid.way((row, column), (row + self.down, column + self.across))
                for hops, link in enumerate(pairwise(way)):
                    yield Crossing(link, (row, column), hops)


def busiest(grid: Grid, streams: Iterable[Flow | Move], interval: int = 1) -> int:
    """Words in a cycle on the busiest link at the most, if every tile begins an iteration each interval: of one tile
    those that cross in the same cycle of the interval, of all tiles together, since their starts may be any. A
    corner's buffers are reached over a link at each of its sides."""
    load: dict[Link, dict[Pe, Counter[int]]] = defaultdict(lambda: defaultdict(Counter))
    for stream in streams:
        for one in stream.crossings(grid):
            for phase in {(when + one.after) % interval for when in stream.when}:
                load[one.link][one.tile][phase] += stream.words
    most = 0
    for (start, end), tiles in load.items():
        words = sum(max(phases.values()) for phases in tiles.values())
        inside = start if end is None else end
        sides = grid.sides(inside) if (start is None or end is None) and inside is not None else 1
        most = max(most, -(-words // sides))
    return most


def fullest(grid: Grid, ends: Iterable[tuple[str, Places]]) -> int:
    """Buffers that a border PE has at the most: one for each tensor of which words go in or out there. ``ends``:
    tensors, and the PEs where streams of them enter or leave the tiles."""
    held: dict[Pe, set[str]] = defaultdict(set)
    for tensor, at in ends:
        for row, column in zip(*map(np.ndarray.tolist, np.nonzero(at)), strict=True):
            held[grid.way_out((row, column))[-1]].add(tensor)
    return max(map(len, held.values()), default=0)


def fullest_of_nest(
    nest: LoopNest, grid: Grid, axes: tuple[str | None, str | None], shape: tuple[int, int]
) -> int:
    """Buffers that a border PE has at the most, of a loop nest with these loops on so many rows and columns."""
    ends: list[tuple[str, Places]] = []
    for operand in nest.operands:
        first, last = _ends(operand, axes, shape)
        if not operand.writes or (operand.is_updated and not operand.zero_initialised):
            ends.append((operand.tensor or operand.name, first))
        if operand.writes:
            ends.append((operand.tensor or operand.name, last))
    return fullest(grid, ends)


def _ends(
    operand: Operand, axes: tuple[str | None, str | None], shape: tuple[int, int]
) -> tuple[Places, Places]:
    """Where words of an operand enter the tiles, and where its results leave them."""
    own = tuple(loop in operand.loops for loop in axes)
    first, last = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
    first[: None if own[0] else 1, : None if own[1] else 1] = True
    last[0 if own[0] else -1 :, 0 if own[1] else -1 :] = True
    return first, last


def busiest_of_nest(
    nest: LoopNest,
    grid: Grid,
    axes: tuple[str | None, str | None],
    shape: tuple[int, int],
    inner: str,
    joined: int,
) -> int:
    """Words a cycle on the busiest link of a loop nest with these loops on so many rows and columns, of which so many
    iterations of the innermost loop are ``joined`` to a word."""
    streams: list[Flow | Move] = []
    for operand in nest.operands:
        words = joined if inner in operand.loops else 1
        own = tuple(loop in operand.loops for loop in axes)
        first, last = _ends(operand, axes, shape)
        if not operand.writes:
            further = [0 if on else tiles - 1 for on, tiles in zip(own, shape, strict=True)]
            streams.append(Flow(words, first, further[0], further[1]))
            continue
        if operand.is_updated and not operand.zero_initialised:
            streams.append(Flow(words, first))
        streams.append(Flow(words, last, leaves=True))
        if not own[1]:
            streams.append(Move(words, shape, 0, 1))
        if not own[0]:
            streams.append(Move(words, shape, 1, 0 if own[1] else 1 - shape[1]))
    return busiest(grid, streams)
