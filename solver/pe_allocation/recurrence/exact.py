"""The exact search: every layout, order and size of tiles, as long as the bound does not exclude it.

For a layout and an order the bound is taken of all sizes at once. Sizes are then tried from the least bound on; where
it passes the best mapping found, none of the others is better.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice, permutations

import numpy as np
from numpy.typing import NDArray

from mapper.formulations.pe_allocation.recurrence.infeasible import why_recurrence_infeasible
from mapper.formulations.pe_allocation.recurrence.problem import RecurrenceProblem
from mapper.models.pe_allocation.nest.mapping import NestMapping
from mapper.models.pe_allocation.recurrence.cost import evaluate, filled
from mapper.models.pe_allocation.recurrence.feed import feeds
from mapper.models.pe_allocation.recurrence.schedule import best_schedule
from mapper.models.pe_allocation.recurrence.tiling import Axes
from mapper.solver.method import Effort, Method, Progress
from mapper.solver.outcome import Outcome
from mapper.solver.pe_allocation.recurrence.bound import NEVER, least_cycles

MOST = 1 << 26
"""Sizes of tiles that are bounded in a layout."""
BLOCK = 1 << 14
"""Sizes of tiles that are bounded at once."""

Numbers = NDArray[np.int64]


@dataclass
class Best:
    """The best mapping so far, by cycles and PEs; of equals the first."""

    problem: RecurrenceProblem
    mapping: NestMapping | None = None
    rank: tuple[float, float] = (math.inf, math.inf)
    evaluations: int = 0

    def offer(self, axes: Axes, order: tuple[str, ...], tile: dict[str, int]) -> None:
        """Try these tiles in this order."""
        problem = self.problem
        self.evaluations += 1
        body, grid = problem.body, problem.grid
        limit = None
        if self.mapping is not None:
            limit = int(self.rank[0]) + 1 - filled(feeds(body, axes, tile), grid)
        if not problem.generates(axes, tile):
            return
        carries = partial(problem.carries, axes, tile)
        found = best_schedule(body, grid, axes, order, tile, limit, carries)
        if found is None:
            return
        rank = problem.rank(evaluate(body, grid, found))
        if rank < self.rank:
            self.mapping, self.rank = found, rank


def orders(problem: RecurrenceProblem) -> list[tuple[str, ...]]:
    """Every order of the loops within a tile, that of the nest first; the one that is pinned."""
    if problem.pins.order is not None:
        return [problem.pins.order]
    return list(permutations(problem.recurrence.loops))


def search(problem: RecurrenceProblem, effort: Effort) -> Outcome[NestMapping]:
    """The mapping of fewest cycles, proven, or a proof that there is none."""
    if why_recurrence_infeasible(problem) is not None:
        return Outcome.infeasible(evaluations=0)
    if any(len(problem.sizes(axes, 0)) * len(problem.sizes(axes, 1)) > MOST for axes in problem.axes()):
        return Outcome.refused(f"more than {MOST:,} sizes of tiles in a layout are not tried")
    best = Best(problem)
    begun: list[tuple[int, int, Axes, tuple[str, ...]]] = []
    for axes in problem.axes():
        for order in orders(problem):
            least: int | None = None
            for one in blocks(problem, axes, order):
                least = one.least if least is None else min(least, one.least)
                stop = effort.stopped()
                if stop is not None:
                    return Outcome.unknown(stop, evaluations=0)
            if least is not None:
                begun.append((least, len(begun), axes, order))
    bound = min((one[0] for one in begun), default=0)
    for least, _, axes, order in sorted(begun):
        if least > best.rank[0]:
            break
        for block in blocks(problem, axes, order):
            stop = effort.stopped()
            if stop is not None:
                value = None if best.mapping is None else int(best.rank[0])
                return Outcome.bounded(best.mapping, value, bound, stop, evaluations=best.evaluations)
            for rank, tile in block.sizes():
                if rank >= best.rank:
                    break
                if effort.stopped() is not None:
                    break
                before = best.rank
                best.offer(axes, order, tile)
                if best.rank < before:
                    effort.report(Progress(int(best.rank[0]), bound, best.evaluations))
    if best.mapping is None:
        return Outcome.infeasible(evaluations=best.evaluations)
    return Outcome.optimal(best.mapping, int(best.rank[0]), evaluations=best.evaluations)


@dataclass(frozen=True)
class Block:
    """Sizes of tiles in a layout: of each the ``bound`` on its cycles and its PEs, the least first, and the sizes along
    rows and columns."""

    counts: dict[str, int]
    axes: Axes
    bound: Numbers
    pes: Numbers
    high: Numbers
    wide: Numbers

    @property
    def least(self) -> int:
        return int(self.bound[0])

    def sizes(self) -> Iterator[tuple[tuple[int, int], dict[str, int]]]:
        """What cycles and PEs are at the least, and the tile."""
        for bound, pes, high, wide in zip(self.bound, self.pes, self.high, self.wide, strict=True):
            tile = dict(self.counts)
            for loop, size in zip(self.axes, (high, wide), strict=True):
                if loop is not None:
                    tile[loop] = int(size)
            yield (int(bound), int(pes)), tile


def blocks(
    problem: RecurrenceProblem, axes: Axes, order: tuple[str, ...], most: int | None = None
) -> Iterator[Block]:
    """Tiles with these loops on rows and columns, those for which there is no schedule left out; of the ``most`` first
    blocks alone, the smallest tiles, where so many are given."""
    if problem.keeps_tiles(axes):
        for high, wide in islice(_parts(problem, axes), most):
            block = _block(problem, axes, order, high, wide)
            if block is not None:
                yield block


def _parts(problem: RecurrenceProblem, axes: Axes) -> Iterator[tuple[range, range]]:
    """Heights and widths of tiles, so many that they are bounded at once."""
    high, wide = problem.sizes(axes, 0), problem.sizes(axes, 1)
    some = min(BLOCK, max(1, len(wide)))
    for begin in range(0, len(high), BLOCK // some):
        for left in range(0, len(wide), some):
            yield high[begin : begin + BLOCK // some], wide[left : left + some]


def _block(
    problem: RecurrenceProblem, axes: Axes, order: tuple[str, ...], high: range, wide: range
) -> Block | None:
    """The tiles of these heights and widths, None if there is no schedule for any of them."""
    counts = problem.recurrence.trip_counts
    tile = {loop: np.full((1, 1), bound, np.int64) for loop, bound in counts.items()}
    pes = np.ones((len(high), len(wide)), np.int64)
    down, across = np.arange(high.start, high.stop), np.arange(wide.start, wide.stop)
    for loop, chosen in zip(axes, (down.reshape(-1, 1), across.reshape(1, -1)), strict=True):
        if loop is not None:
            tile[loop] = chosen
            pes = pes * -(-counts[loop] // chosen)
    bound = np.broadcast_to(least_cycles(problem, axes, order, tile), pes.shape)
    row, column = np.nonzero((bound < NEVER) & (pes <= problem.most_pes))
    if not len(row):
        return None
    bounds, counted = bound[row, column], pes[row, column]
    by = np.lexsort((counted, bounds))
    return Block(counts, axes, bounds[by], counted[by], down[row[by]], across[column[by]])


BRANCH_AND_BOUND: Method[RecurrenceProblem, NestMapping] = Method(
    "branch-and-bound", True, "every layout, order and size of tiles that a bound does not exclude", search
)
