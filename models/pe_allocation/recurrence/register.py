"""Words that a PE keeps at once for later iterations, its own and those that come from its neighbours."""

from __future__ import annotations

import math

from mapper.models.pe_allocation.nest.grid import Grid
from mapper.models.pe_allocation.nest.mapping import NestMapping
from mapper.models.pe_allocation.nest.work import LINK_LATENCY
from mapper.models.pe_allocation.recurrence.body import Body
from mapper.models.pe_allocation.recurrence.tiling import axes_of, crossings, links, strides


def registers(body: Body, grid: Grid, mapping: NestMapping) -> int:
    """A queue for every tensor and distance, within a tile and for each way over links: a word for every interval
    that a value waits at its reader, and no more than there are values that go this way."""
    axes, tile = axes_of(mapping), mapping.tile_of
    loops = body.recurrence.loops
    stride = strides(mapping.order, tile)
    outer = [0 if loop is None else mapping.outer_of[loop] for loop in axes]
    count = 0
    for one in body.dependences:
        inside = sum(stride[loop] * step for loop, step in zip(loops, one.distance, strict=True))
        for way in crossings(body, axes, tile, one):
            steps = inside - sum(
                0 if loop is None else on * stride[loop] * tile[loop]
                for loop, on in zip(axes, way, strict=True)
            )
            waits = mapping.interval * steps + sum(on * mu for on, mu in zip(way, outer, strict=True))
            waits -= one.latest + LINK_LATENCY * links(grid, *way)
            count += min(waits // mapping.interval + 1, _border(loops, axes, tile, one.distance, way))
    return count


def _border(
    loops: tuple[str, ...],
    axes: tuple[str | None, str | None],
    tile: dict[str, int],
    distance: tuple[int, ...],
    way: tuple[int, int],
) -> int:
    """Iterations of a tile whose value goes this way."""
    on = {loop: step for loop, step in zip(axes, way, strict=True) if loop is not None}
    return math.prod(
        abs(step) if on.get(loop) else tile[loop] - abs(step)
        for loop, step in zip(loops, distance, strict=True)
    )
