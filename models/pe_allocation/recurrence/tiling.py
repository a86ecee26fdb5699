"""Tiles of a recurrence's iterations, and how dependences cross them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from mapper.models.pe_allocation.nest.grid import Grid
from mapper.models.pe_allocation.nest.mapping import NestMapping
from mapper.models.pe_allocation.nest.work import LINK_LATENCY
from mapper.models.pe_allocation.recurrence.body import Body, Dependence
from mapper.workloads.recurrence.recurrence import Recurrence

Numbers = NDArray[np.int64]
Axes = tuple[str | None, str | None]


@dataclass(frozen=True)
class Demand:
    """``interval * steps + down * mu_rows + across * mu_columns`` is at least ``cycles``."""

    down: int
    across: int
    steps: int
    cycles: int


def shape_of(recurrence: Recurrence, axes: Axes, tile: dict[str, int]) -> tuple[int, int]:
    """Rows and columns that have tiles."""
    rows, columns = (1 if loop is None else -(-recurrence.trip_counts[loop] // tile[loop]) for loop in axes)
    return rows, columns


def corners(
    recurrence: Recurrence, axes: Axes, tile: dict[str, int]
) -> tuple[dict[str, Numbers], dict[str, Numbers]]:
    """The least and the greatest iteration of every tile, per loop as an array of rows and columns."""
    shape = shape_of(recurrence, axes, tile)
    low, high = {}, {}
    for loop, bound in recurrence.bounds:
        first = np.zeros(shape, np.int64)
        if loop in axes:
            along = axes.index(loop)
            first += tile[loop] * np.arange(shape[along]).reshape((-1, 1) if along == 0 else (1, -1))
        low[loop], high[loop] = first, np.minimum(first + tile[loop], bound) - 1
    return low, high


def strides(order: tuple[str, ...], tile: dict[str, int]) -> dict[str, int]:
    """Iterations from a step of each loop to its next within a tile."""
    found, count = {}, 1
    for loop in reversed(order):
        found[loop] = count
        count *= tile[loop]
    return found


def crossings(body: Body, axes: Axes, tile: dict[str, int], one: Dependence) -> list[tuple[int, int]]:
    """By how many rows and columns a value goes on, for all iterations that read it; empty if it would go further than
    to the next tile."""
    ways: list[list[int]] = []
    counts = shape_of(body.recurrence, axes, tile)
    steps = dict(zip(body.recurrence.loops, one.distance, strict=True))
    for loop, count in zip(axes, counts, strict=True):
        step = 0 if loop is None else steps[loop]
        if step == 0 or loop is None or count == 1:
            ways.append([0])
        elif abs(step) > tile[loop]:
            return []
        else:
            sign = 1 if step > 0 else -1
            ways.append([sign] if abs(step) == tile[loop] else [0, sign])
    return list(product(ways[0], ways[1]))


def demands(
    body: Body, grid: Grid, axes: Axes, order: tuple[str, ...], tile: dict[str, int]
) -> list[Demand] | None:
    """What dependences ask of the schedule; None if one goes further than to the next tile."""
    stride = strides(order, tile)
    loops = body.recurrence.loops
    found = []
    for one in body.dependences:
        ways = crossings(body, axes, tile, one)
        if not ways:
            return None
        inside = sum(stride[loop] * step for loop, step in zip(loops, one.distance, strict=True))
        for down, across in ways:
            steps = inside
            for loop, way in zip(axes, (down, across), strict=True):
                steps -= 0 if loop is None else way * stride[loop] * tile[loop]
            found.append(Demand(down, across, steps, one.latency + LINK_LATENCY * links(grid, down, across)))
    return found


def links(grid: Grid, down: int, across: int) -> int:
    """Links between a tile and the one so many rows below and columns to its right."""
    if not down and not across:
        return 0
    start = (max(0, -down), max(0, -across))
    return grid.between(start, (start[0] + down, start[1] + across))


def axes_of(mapping: NestMapping) -> Axes:
    return mapping.rows, mapping.columns


def tile_ranges(
    recurrence: Recurrence, axes: Axes, tile: dict[str, int], sides: dict[str, tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """The first and the last tile along rows and columns that iterations between ``sides`` lie in."""
    for loop in axes:
        if loop is None:
            yield 0, 0
        else:
            low, high = sides[loop]
            yield low // tile[loop], high // tile[loop]
