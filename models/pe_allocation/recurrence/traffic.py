"""Words a cycle on the links of a recurrence's mapping, and buffers at border PEs."""

from __future__ import annotations

from mapper.models.pe_allocation.nest.grid import Grid
from mapper.models.pe_allocation.nest.traffic import Flow, Move, busiest, fullest
from mapper.models.pe_allocation.recurrence.body import Body
from mapper.models.pe_allocation.recurrence.feed import feeds
from mapper.models.pe_allocation.recurrence.tiling import Axes, crossings, shape_of
from mapper.workloads.recurrence.recurrence import Access


def busiest_link(body: Body, grid: Grid, axes: Axes, tile: dict[str, int], interval: int) -> int:
    """Words a cycle on the busiest link at this interval: a word of every stream for each iteration, and of every
    tensor for each way that its values go."""
    shape = shape_of(body.recurrence, axes, tile)
    reads: dict[Access, set[int]] = {}
    for program in body.programs:
        for access, operations in program.reads:
            reads.setdefault(access, set()).add(operations)
    streams: list[Flow | Move] = []
    for feed in feeds(body, axes, tile):
        when = {body.ends[feed.access.tensor]} if feed.leaves else reads[feed.access]
        streams.append(Flow(1, feed.at, feed.further[0], feed.further[1], feed.leaves, tuple(sorted(when))))
    ways = {
        (one.tensor, way) for one in body.dependences for way in crossings(body, axes, tile, one) if any(way)
    }
    for tensor, (down, across) in sorted(ways):
        streams.append(Move(1, shape, down, across, (body.ends[tensor],)))
    return busiest(grid, streams, interval)


def fullest_border(body: Body, grid: Grid, axes: Axes, tile: dict[str, int]) -> int:
    """Buffers that a border PE has at the most."""
    return fullest(grid, [(feed.access.tensor, feed.at) for feed in feeds(body, axes, tile)])
