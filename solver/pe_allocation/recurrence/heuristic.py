"""Heuristics: the smallest tiles in some layouts."""

from __future__ import annotations

from mapper.formulations.pe_allocation.recurrence.infeasible import why_recurrence_infeasible
from mapper.formulations.pe_allocation.recurrence.problem import RecurrenceProblem
from mapper.models.pe_allocation.nest.mapping import NestMapping
from mapper.models.pe_allocation.recurrence.tiling import Axes
from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome
from mapper.solver.pe_allocation.recurrence.exact import Best, blocks, orders

FEW = 16
"""Blocks of tiles that are bounded in a layout."""


def greedy(problem: RecurrenceProblem, effort: Effort) -> Outcome[NestMapping]:
    """For every layout and order the tiles of the least bound among the smallest, layouts on most axes first; once the
    time is over, those that are left are not tried if there is a mapping."""
    best = Best(problem)
    for axes in sorted(problem.axes(), key=lambda axes: axes.count(None)):
        for order in orders(problem):
            if best.mapping is not None and effort.stopped() is not None:
                break
            first = next(blocks(problem, axes, order, FEW), None)
            if first is not None:
                best.offer(axes, order, next(first.sizes())[1])
    return _outcome(problem, best)


def in_sequence(problem: RecurrenceProblem, effort: Effort) -> Outcome[NestMapping]:
    """The loops in the order of the nest, the innermost two that can be laid out on rows and columns."""
    best = Best(problem)

    def inner(axes: Axes) -> tuple[int, int]:
        places = [-1 if loop is None else problem.recurrence.loops.index(loop) for loop in axes]
        return -sum(places), -places[1]

    order = problem.pins.order or problem.recurrence.loops
    for axes in sorted(problem.axes(), key=inner):
        first = next(blocks(problem, axes, order, FEW), None)
        if first is not None:
            best.offer(axes, order, next(first.sizes())[1])
            if best.mapping is not None:
                break
    return _outcome(problem, best)


def _outcome(problem: RecurrenceProblem, best: Best) -> Outcome[NestMapping]:
    if why_recurrence_infeasible(problem) is not None or best.mapping is None:
        return Outcome.unknown("heuristic", evaluations=best.evaluations)
    return Outcome.ended(
        best.mapping, int(best.rank[0]), None, "heuristic", proven=False, evaluations=best.evaluations
    )


GREEDY: Method[RecurrenceProblem, NestMapping] = Method(
    "greedy", False, "for every layout and order the tiles of the least bound among the smallest", greedy
)
IN_SEQUENCE: Method[RecurrenceProblem, NestMapping] = Method(
    "in-sequence", False, "loops in the nest's order, the innermost ones laid out", in_sequence
)
