"""Heuristics: which loops to lay out, with tiles as small as the array allows."""

from __future__ import annotations

from mapper.formulations.pe_allocation.nest.infeasible import why_nest_infeasible
from mapper.formulations.pe_allocation.nest.problem import NestProblem
from mapper.models.pe_allocation.nest.mapping import NestMapping
from mapper.models.pe_allocation.nest.work import reductions
from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome
from mapper.solver.pe_allocation.nest.exact import Best, least_cycles, tiles
from mapper.solver.pe_allocation.nest.order import Axes


def greedy(problem: NestProblem, effort: Effort) -> Outcome[NestMapping]:
    """The loop that helps most on the rows, then the one that helps most on the columns beside it."""
    best = Best(problem)
    rows_of = list(dict.fromkeys(rows for rows, _ in problem.axes()))
    columns_of = list(dict.fromkeys(columns for _, columns in problem.axes()))
    alone = columns_of[0]
    for rows in rows_of:
        _offer(best, (rows, alone))
    chosen = rows_of[0] if best.mapping is None else best.mapping.rows
    for columns in columns_of[1:]:
        _offer(best, (chosen, columns))
    return _outcome(problem, best)


def output_stationary(problem: NestProblem, effort: Effort) -> Outcome[NestMapping]:
    """The two longest loops of the results, so that every sum stays on its PE."""
    best = Best(problem)
    summing = reductions(problem.nest)

    def short(axes: Axes) -> tuple[int, int]:
        chosen = [loop for loop in axes if loop is not None]
        sums = sum(loop in summing for loop in chosen)
        return sums, -sum(problem.nest.trip_counts[loop] - 1 for loop in chosen)

    for axes in sorted(problem.axes(), key=short):
        _offer(best, axes)
        if best.mapping is not None:
            break
    return _outcome(problem, best)


def _offer(best: Best, axes: Axes) -> None:
    if axes[0] is not None and axes[0] == axes[1]:
        return
    first = next(tiles(best.problem, axes, float("inf")), None)
    if first is not None:
        best.offer(axes, first)


def _outcome(problem: NestProblem, best: Best) -> Outcome[NestMapping]:
    if why_nest_infeasible(problem) is not None or best.mapping is None:
        return Outcome.unknown("heuristic", evaluations=best.evaluations)
    bound = least_cycles(problem, -(-problem.nest.iterations // problem.most_pes))
    value = int(best.cycles)
    return Outcome.ended(
        best.mapping,
        value,
        bound,
        "complete" if value == bound else "heuristic",
        proven=value == bound,
        evaluations=best.evaluations,
    )


GREEDY: Method[NestProblem, NestMapping] = Method(
    "greedy", False, "the best loop for the rows, then the best one for the columns", greedy
)
OUTPUT_STATIONARY: Method[NestProblem, NestMapping] = Method(
    "output-stationary", False, "the two longest loops of the results are laid out", output_stationary
)
