"""What a mapping of a recurrence costs, in the terms of loop nests."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mapper.models.pe_allocation.nest.cost import NestCost
from mapper.models.pe_allocation.nest.grid import Grid
from mapper.models.pe_allocation.nest.mapping import NestMapping
from mapper.models.pe_allocation.nest.work import LINK_LATENCY
from mapper.models.pe_allocation.recurrence.body import Body
from mapper.models.pe_allocation.recurrence.feed import Feed, feeds
from mapper.models.pe_allocation.recurrence.register import registers
from mapper.models.pe_allocation.recurrence.tiling import Axes, axes_of, corners, shape_of, strides
from mapper.workloads.recurrence.memory import fields_of

Numbers = NDArray[np.int64]
NEVER = -1


def evaluate(body: Body, grid: Grid, mapping: NestMapping) -> NestCost:
    """The cost of ``mapping``, whose tiles must fit the array and reach no further than their neighbours."""
    axes, tile = axes_of(mapping), mapping.tile_of
    shape = shape_of(body.recurrence, axes, tile)
    distance = grid.to_border[: shape[0], : shape[1]]
    starts = np.zeros(shape, np.int64)
    for along, loop in enumerate(axes):
        if loop is not None:
            index = np.arange(shape[along]).reshape((-1, 1) if along == 0 else (1, -1))
            starts = starts + mapping.outer_of[loop] * index
    found = feeds(body, axes, tile)
    best = (NEVER, 0, 0, 0, 0)
    for steps, end in last_steps(body, axes, mapping.order, tile):
        words = mapping.interval * steps
        back = np.where(steps == NEVER, NEVER, starts + words + end + LINK_LATENCY * distance)
        place = np.unravel_index(int(back.argmax()), shape)
        drain = LINK_LATENCY * int(distance[place])
        best = max(best, (int(back[place]), int(starts[place]), int(words[place]), end, drain))
    return NestCost(
        fill=filled(found, grid),
        wait=best[1],
        words=best[2],
        pipeline=best[3],
        drain=best[4],
        pes=shape[0] * shape[1],
        bytes_of=bytes_of(body, grid),
        streams=sum(feed.streams for feed in found),
        registers=registers(body, grid, mapping),
        clock_hz=grid.machine.clock_hz,
    )


def bytes_of(body: Body, grid: Grid) -> dict[str, int]:
    """Bytes in the buffers of every tensor that is not local."""
    return {
        name: field.words * grid.machine.word_bytes
        for name, field in fields_of(body.recurrence).items()
        if name not in body.recurrence.local
    }


def filled(found: list[Feed], grid: Grid) -> int:
    """Cycles until every stream into the array has reached its tile."""
    far = [
        int(grid.to_border[: feed.at.shape[0], : feed.at.shape[1]][feed.at].max(initial=0))
        for feed in found
        if not feed.leaves
    ]
    return LINK_LATENCY * max(far, default=0)


def last_steps(
    body: Body, axes: Axes, order: tuple[str, ...], tile: dict[str, int]
) -> list[tuple[Numbers, int]]:
    """For each statement of a result: after how many steps every tile begins the last iteration that writes it (-1
    where none does), and after how many cycles more it is written."""
    recurrence, stride = body.recurrence, strides(order, tile)
    low, high = corners(recurrence, axes, tile)
    found = []
    for name in recurrence.results:
        for statement in recurrence.alternatives[name]:
            greatest, there = recurrence.region(statement).greatest(low, high)
            steps = np.zeros(there.shape, np.int64)
            for loop, value in greatest.items():
                steps = steps + stride[loop] * (value - low[loop])
            found.append((np.where(there, steps, NEVER), body.ends[name]))
    return found
