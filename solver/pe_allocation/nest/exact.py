"""The exact search: every layout and every size of tiles, cut off by the words of a full tile.

A full tile holds the product of its loops' iterations, which a PE works off word by word; no mapping with such tiles is
faster, whatever its order and schedule. The product grows with each size, so that a row of sizes ends where it passes
the best mapping found.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from mapper.formulations.pe_allocation.nest.infeasible import why_nest_infeasible
from mapper.formulations.pe_allocation.nest.problem import NestProblem
from mapper.models.pe_allocation.nest.cost import evaluate, streams
from mapper.models.pe_allocation.nest.mapping import NestMapping
from mapper.solver.method import Effort, Method, Progress
from mapper.solver.outcome import Outcome
from mapper.solver.pe_allocation.nest.order import Axes, mapping_of, orders

LOOK = 64
"""Sizes of tiles between two looks at the clock."""


@dataclass
class Best:
    """The best mapping so far, by cycles, PEs and the least text."""

    problem: NestProblem
    mapping: NestMapping | None = None
    rank: tuple[float, ...] = (math.inf,)
    evaluations: int = 0
    _text: str = field(default="", repr=False)

    @property
    def cycles(self) -> float:
        return self.rank[0]

    def offer(self, axes: Axes, tile: dict[str, int]) -> None:
        """Try the orders of these tiles."""
        counts = self.problem.nest.trip_counts
        shape = tuple(1 if loop is None else -(-counts[loop] // tile[loop]) for loop in axes)
        for order in orders(self.problem, axes, tile):
            joined = min(self.problem.work.lanes, tile[order[-1]])
            if not self.problem.carries(axes, (shape[0], shape[1]), order[-1], joined):
                continue
            found = mapping_of(self.problem, axes, tile, order)
            cost = evaluate(self.problem.nest, self.problem.grid, found)
            self.evaluations += 1
            rank, text = self.problem.rank(cost), str(found.to_json())
            if (rank, text) < (self.rank, self._text):
                self.mapping, self.rank, self._text = found, rank, text


def least_cycles(problem: NestProblem, iterations: int) -> int:
    """Cycles that a mapping takes at the least whose full tiles hold so many iterations."""
    work = problem.work
    return work.interval * (-(-iterations // work.lanes) - 1) + work.depth


def search(problem: NestProblem, effort: Effort) -> Outcome[NestMapping]:
    """The mapping of fewest cycles, proven, or a proof that there is none."""
    if why_nest_infeasible(problem) is not None:
        return Outcome.infeasible(evaluations=0)
    best = Best(problem)
    for axes in problem.axes():
        first = next(tiles(problem, axes, math.inf), None)
        if first is not None:
            best.offer(axes, first)
    bound = least_cycles(problem, -(-problem.nest.iterations // problem.most_pes))
    seen = 0
    for axes in problem.axes():
        for tile in tiles(problem, axes, best):
            seen += 1
            stop = effort.stopped() if seen % LOOK == 0 else None
            if stop is not None:
                value = None if best.mapping is None else int(best.cycles)
                return Outcome.bounded(best.mapping, value, bound, stop, evaluations=best.evaluations)
            before = best.cycles
            best.offer(axes, tile)
            if best.cycles < before:
                effort.report(Progress(int(best.cycles), bound, best.evaluations))
    if best.mapping is None:
        return Outcome.infeasible(evaluations=best.evaluations)
    return Outcome.optimal(best.mapping, int(best.cycles), evaluations=best.evaluations)


def tiles(problem: NestProblem, axes: Axes, best: Best | float) -> Iterator[dict[str, int]]:
    """Every size of tiles with these loops on rows and columns that may not be worse than the best; loops that are
    laid out have at least two tiles, since fewer are another layout's."""
    rows, columns = axes
    nest = problem.nest
    tile = dict(nest.trip_counts)
    for loop, size in problem.pins.tile.items():
        if loop not in axes and size != tile[loop]:
            return
    inside = math.prod(bound for loop, bound in nest.bounds if loop not in axes)

    def worse(iterations: int) -> bool:
        limit = best if isinstance(best, float) else best.cycles
        return least_cycles(problem, iterations) > limit

    for high in _sizes(problem, rows, min(problem.machine.rows, problem.most_pes)):
        if worse(inside * high):
            return
        above = 1 if rows is None else -(-nest.trip_counts[rows] // high)
        for wide in _sizes(problem, columns, _most_columns(problem, axes, above)):
            if worse(inside * high * wide):
                break
            for laid_out, size in ((rows, high), (columns, wide)):
                if laid_out is not None:
                    tile[laid_out] = size
            yield dict(tile)


def _most_columns(problem: NestProblem, axes: Axes, rows: int) -> int:
    """The most columns that PEs and address generators allow beside so many rows, 0 if none."""
    most = min(problem.machine.columns, problem.most_pes // rows)
    generators = problem.machine.border.address_generators
    if generators is None:
        return most
    fitting = (
        count for count in range(most, 0, -1) if streams(problem.nest, axes, (rows, count)) <= generators
    )
    return next(fitting, 0)


def _sizes(problem: NestProblem, loop: str | None, most: int) -> Iterator[int]:
    """Sizes that make at least two tiles of a loop, the smallest first; 1 where no loop is laid out."""
    if loop is None:
        if most:
            yield 1
        return
    bound = problem.nest.trip_counts[loop]
    pinned = problem.pins.axes
    few = loop in pinned.values()
    for size in problem.sizes(loop, most) if most else ():
        if size < bound or few:
            yield size


BRANCH_AND_BOUND: Method[NestProblem, NestMapping] = Method(
    "branch-and-bound", True, "every layout and size of tiles, cut off by the words of a full tile", search
)
