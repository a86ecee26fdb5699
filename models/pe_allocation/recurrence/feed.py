"""Streams between buffers and tiles: words that are only read, first values, and results."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mapper.models.pe_allocation.nest.work import LINK_LATENCY
from mapper.models.pe_allocation.recurrence.body import Body
from mapper.models.pe_allocation.recurrence.tiling import Axes, Demand, corners, shape_of, tile_ranges
from mapper.workloads.recurrence.recurrence import Access, Recurrence, Statement
from mapper.workloads.recurrence.region import hull

Places = NDArray[np.bool_]


@dataclass(frozen=True)
class Feed:
    """Words that come from or go to buffers: ``at`` which tiles they enter (or leave), a stream for each, and to how
    many further rows and columns the tiles hand them on."""

    access: Access
    at: Places
    further: tuple[int, int] = (0, 0)
    leaves: bool = False

    @property
    def streams(self) -> int:
        return int(self.at.sum())


def feeds(body: Body, axes: Axes, tile: dict[str, int]) -> list[Feed]:
    """Every stream into the array and out of it."""
    recurrence = body.recurrence
    readers: dict[Access, list[Statement]] = {}
    for statement in recurrence.statements:
        for access in statement.reads:
            readers.setdefault(access, []).append(statement)
    found = []
    for access, statements in readers.items():
        sides = hull([recurrence.region(one) for one in statements])
        if access.tensor not in recurrence.alternatives:
            found.append(_input(recurrence, axes, tile, access, sides))
        elif access.tensor not in recurrence.local:
            at = _without_writer(recurrence, axes, tile, access, sides)
            if at.any():
                found.append(Feed(access, at))
    low, high = corners(recurrence, axes, tile)
    for name in recurrence.results:
        leaving = np.zeros(shape_of(recurrence, axes, tile), np.bool_)
        for statement in recurrence.alternatives[name]:
            leaving |= recurrence.region(statement).greatest(low, high)[1]
        found.append(Feed(recurrence.alternatives[name][0].target, leaving, leaves=True))
    return found


def handed_on(feed: Feed) -> list[Demand]:
    """A word that tiles hand on is over the link before the next one reads it."""
    ways = ((1, 0), (0, 1))
    return [Demand(*way, 0, LINK_LATENCY) for way, on in zip(ways, feed.further, strict=True) if on]


def _input(
    recurrence: Recurrence,
    axes: Axes,
    tile: dict[str, int],
    access: Access,
    sides: dict[str, tuple[int, int]],
) -> Feed:
    at = np.zeros(shape_of(recurrence, axes, tile), np.bool_)
    slices, further = [], []
    for loop, (first, last) in zip(axes, tile_ranges(recurrence, axes, tile, sides), strict=True):
        own = loop in access.loops
        slices.append(slice(first, (last if own else first) + 1))
        further.append(0 if own else last - first)
    at[tuple(slices)] = True
    return Feed(access, at, (further[0], further[1]))


def _without_writer(
    recurrence: Recurrence,
    axes: Axes,
    tile: dict[str, int],
    access: Access,
    sides: dict[str, tuple[int, int]],
) -> Places:
    """Tiles that read words which no iteration writes; all that read, where a condition decides what is written."""
    low, high = corners(recurrence, axes, tile)
    reading = np.ones(shape_of(recurrence, axes, tile), np.bool_)
    outside = np.zeros_like(reading)
    distance = recurrence.distance(access)
    assert distance is not None
    for (loop, bound), step in zip(recurrence.bounds, distance, strict=True):
        least = np.maximum(low[loop], sides[loop][0])
        most = np.minimum(high[loop], sides[loop][1])
        reading &= least <= most
        outside |= (least < step) | (most > bound - 1 + step)
    if any(statement.limits for statement in recurrence.alternatives[access.tensor]):
        return reading
    return reading & outside
