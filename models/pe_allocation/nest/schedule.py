"""The least starts of tiles that sums and inputs handed from PE to PE allow."""

from __future__ import annotations

from dataclasses import replace

from mapper.models.pe_allocation.nest.cost import grid_shape, held
from mapper.models.pe_allocation.nest.grid import Grid
from mapper.models.pe_allocation.nest.mapping import NestMapping
from mapper.models.pe_allocation.nest.work import LINK_LATENCY, UNIT_LATENCY, reductions, written
from mapper.workloads.nest.loop_nest import LoopNest


def with_least_starts(nest: LoopNest, grid: Grid, mapping: NestMapping) -> NestMapping:
    """``mapping`` with every tile as early as its words and sums reach it.

    A sum goes along the columns first and, where both loops that are laid out sum, from the end of a row to the
    beginning of the next. Each start has lower bounds alone, the row's rising with the column's, so that the least
    ones are least together.
    """
    rows, columns = grid_shape(nest, mapping)
    found = dict.fromkeys(nest.loops, 0)
    summing = reductions(nest)
    across, down = mapping.columns, mapping.rows
    if across is not None and columns > 1:
        found[across] = _handed(nest, mapping, 1)
        if across in summing:
            found[across] = max(found[across], _span(nest, mapping, {}) + UNIT_LATENCY + LINK_LATENCY)
    if down is not None and rows > 1:
        found[down] = _handed(nest, mapping, 0)
        if down in summing:
            wraps = across is not None and columns > 1 and across in summing
            last = {}
            if wraps and across is not None:
                bound = nest.trip_counts[across]
                last = {across: bound - (columns - 1) * mapping.tile_of[across]}
            links = grid.between((0, columns - 1), (1, 0)) if wraps else 1
            before = (columns - 1) * found[across] if wraps and across is not None else 0
            needed = before + _span(nest, mapping, last) + UNIT_LATENCY + LINK_LATENCY * links
            found[down] = max(found[down], needed)
    return replace(mapping, outer=tuple(found[loop] for loop in nest.loops))


def _handed(nest: LoopNest, mapping: NestMapping, axis: int) -> int:
    """Cycles that an input takes to the next tile along an axis of the array, if one is handed on there."""
    target = written(nest)
    if any(not held(nest, mapping, one)[axis] for one in nest.operands if one is not target):
        return LINK_LATENCY
    return 0


def _span(nest: LoopNest, mapping: NestMapping, sizes: dict[str, int]) -> int:
    """Cycles from the first addition to a sum within a tile to the last; ``sizes`` where the tile is smaller."""
    return sum(
        mapping.inner_of[loop] * (mapping.words(loop, sizes.get(loop, mapping.tile_of[loop])) - 1)
        for loop in reductions(nest)
    )
