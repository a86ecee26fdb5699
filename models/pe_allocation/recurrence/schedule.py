"""The interval and the starts of tiles that bring the last result back first, for given tiles and a given order.

The interval and the two starts are whole numbers; what dependences ask of them is linear. For each interval, the least
start of a column is searched for on a convex function: the least start of a row that goes with it, and so the last
result, is convex in it, since all coefficients of starts are 1, 0 or -1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mapper.models.pe_allocation.nest.grid import Grid
from mapper.models.pe_allocation.nest.mapping import NestMapping
from mapper.models.pe_allocation.nest.work import LINK_LATENCY
from mapper.models.pe_allocation.recurrence.body import Body
from mapper.models.pe_allocation.recurrence.cost import NEVER, last_steps
from mapper.models.pe_allocation.recurrence.feed import feeds, handed_on
from mapper.models.pe_allocation.recurrence.tiling import Axes, Demand, demands, shape_of

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Start:
    """Cycles from row to row and from column to column, and when the last result is back with them."""

    down: int
    across: int
    last: int


def best_schedule(
    body: Body,
    grid: Grid,
    axes: Axes,
    order: tuple[str, ...],
    tile: dict[str, int],
    limit: int | None = None,
    carries: Callable[[int], bool] = lambda interval: True,
) -> NestMapping | None:
    """The mapping of these tiles in this order whose last result is soonest; None if there is no schedule, or none
    whose last result is back before ``limit``."""
    asked = demands(body, grid, axes, order, tile)
    if asked is None:
        return None
    for feed in feeds(body, axes, tile):
        asked += handed_on(feed)
    # Words of a tile that cross a link are no further apart than its operations and the links to the border.
    spread = body.operations + LINK_LATENCY * int(grid.to_border.max()) + 2
    possible = intervals(asked, body.interval, spread)
    if possible is None:
        return None
    shape = shape_of(body.recurrence, axes, tile)
    border = LINK_LATENCY * grid.to_border[: shape[0], : shape[1]]
    steps = last_steps(body, axes, order, tile)
    best: tuple[int, Start] | None = None
    for interval in range(possible[0], possible[1] + 1):
        back = [np.where(count == NEVER, NEVER, interval * count + end + border) for count, end in steps]
        soonest = max(int(one.max()) for one in back)
        if (limit is not None and soonest >= limit) or (best is not None and soonest >= best[1].last):
            break
        found = least_starts(asked, interval, back) if carries(interval) else None
        if found is not None and (best is None or found.last < best[1].last):
            best = interval, found
    if best is None or (limit is not None and best[1].last >= limit):
        return None
    starts = dict(zip(axes, (best[1].down, best[1].across), strict=True))
    loops = body.recurrence.loops
    sizes, outer = tuple(tile[loop] for loop in loops), tuple(starts.get(loop, 0) for loop in loops)
    return NestMapping(loops, sizes, order, best[0], 1, outer, *axes)


def intervals(asked: list[Demand], least: int, spread: int) -> tuple[int, int] | None:
    """The least interval at which iterations of one tile find their values, and one beyond which a longer one is of no
    use; None if there is none.

    Beyond sixteen times the longest latency no two of the lines that bound interval and starts meet any more (a start
    is eliminated from at most four of them, with coefficients of at most two), so that what is best grows with it.
    Beyond the ``spread`` of a tile's words on a link, a longer interval parts no more of them.
    """
    most = least + spread + 16 * (1 + max((abs(one.cycles) for one in asked), default=0))
    for one in asked:
        if one.down or one.across:
            continue
        if one.steps > 0:
            least = max(least, -(-one.cycles // one.steps))
        elif one.steps < 0 and one.cycles < 0:
            most = min(most, one.cycles // one.steps)
        elif one.steps < 0 or one.cycles > 0:
            return None
    return (least, most) if least <= most else None


def least_starts(asked: list[Demand], interval: int, back: list[Numbers]) -> Start | None:
    """The starts with which the last of the results (per tile, were all started at once) is soonest, and the least of
    them; None if no starts satisfy what is asked."""
    lines = [(one.down, one.across, one.cycles - interval * one.steps) for one in asked]
    lines += [(1, 0, 0), (0, 1, 0)]
    lower = [(b, c) for a, b, c in lines if a > 0]
    upper = [(b, c) for a, b, c in lines if a < 0]
    low, high = 0, 2 + sum(abs(c) for _, _, c in lines)
    # What is asked of the column's start alone, and what remains of it between the bounds of the row's.
    alone = [(b, c) for a, b, c in lines if a == 0]
    alone += [(b + e, c + f) for b, c in lower for e, f in upper]
    for b, c in alone:
        if b > 0:
            low = max(low, -(-c // b))
        elif b < 0:
            high = min(high, -c // -b)
        elif c > 0:
            return None
    if low > high:
        return None
    rows = np.arange(back[0].shape[0]).reshape(-1, 1)
    columns = np.arange(back[0].shape[1]).reshape(1, -1)

    def started(across: int) -> Start:
        down = max(c - b * across for b, c in lower)
        moved = down * rows + across * columns
        last = max(int(np.where(one == NEVER, NEVER, one + moved).max()) for one in back)
        return Start(down, across, last)

    if any(b > 0 for b, _ in lower):
        while low < high:
            middle = (low + high) // 2
            if started(middle).last <= started(middle + 1).last:
                high = middle
            else:
                low = middle + 1
    return started(low)
