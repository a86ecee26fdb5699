"""The joint optimum over all shapes of the array and all selections, with a proof.

A lower bound of every shape comes first, from vectors over all of them; then the cost graphs are solved in the order of
the bounds, many at once, until no bound is left below the best value.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mapper.formulations.algorithm_selection.problem import SelectionProblem
from mapper.formulations.algorithm_selection.program.cost_graph import GraphBuilder
from mapper.formulations.algorithm_selection.program.shape import shapes
from mapper.formulations.algorithm_selection.program.whole_cost import Costs, Shapes
from mapper.models.algorithm_selection.mapping import Selection
from mapper.models.algorithm_selection.resource import slices
from mapper.models.limit import UnfinishedError
from mapper.solver.algorithm_selection.exact.elimination import eliminate, elimination_order, least_bounds
from mapper.solver.algorithm_selection.exact.product_search import least_product
from mapper.solver.certificate import Stop
from mapper.solver.method import Effort, Method, Progress
from mapper.solver.outcome import Outcome

FIRST = 16
"""Cost graphs that are solved at first; each further batch is twice as large."""
CHUNK = 4096
"""Shapes whose bounds are computed at once, which bounds the memory."""


@dataclass(frozen=True, eq=False)
class Bounded:
    """Shapes with a lower bound of the latency of each, in the machine's units."""

    rows: Shapes
    columns: Shapes
    bounds: Costs


def bounded(builder: GraphBuilder) -> Bounded:
    """All shapes of a problem with their bounds."""
    rows, columns = shapes(builder.problem)
    parts = [
        least_bounds(builder.graph(rows[at : at + CHUNK], columns[at : at + CHUNK], tied=False))
        for at in range(0, len(rows), CHUNK)
    ]
    return Bounded(rows, columns, np.concatenate(parts) if parts else np.zeros(0, np.int64))


def batches(count: int) -> Iterator[slice]:
    """Slices of a list, each twice as long as the one before."""
    at, size = 0, FIRST
    while at < count:
        yield slice(at, min(at + size, count))
        at, size = at + size, min(2 * size, CHUNK)


def joint(problem: SelectionProblem, effort: Effort) -> Outcome[Selection]:
    """The best selection of all; what is left when the effort ends is the least bound of the shapes not solved. Shapes
    whose bound is above what is known are not solved."""
    builder = GraphBuilder(problem, effort.is_over)
    if builder.nothing_left is not None:
        return Outcome.infeasible()
    start = effort.known(problem)
    try:
        if problem.objective == "edp":
            return least_product(builder, effort, None if start is None else start.value)
        known = bounded(builder)
    except UnfinishedError:
        return Outcome.unknown(effort.stopped() or "time_limit")
    if not len(known.rows):
        return Outcome.infeasible()
    search = _fewest if problem.objective == "dsps" else _fastest
    return search(builder, known, effort)


def _fastest(builder: GraphBuilder, known: Bounded, effort: Effort) -> Outcome[Selection]:
    """Least latency, then fewest PEs, then fewest rows."""
    problem = builder.problem
    pes = known.rows * known.columns
    order = np.lexsort((known.rows, pes, known.bounds))
    best: tuple[tuple[int, int, int], list[int]] | None = None
    stop: Stop = "complete"
    least, solved = int(known.bounds[order[0]]), 0
    unit, plan = problem.machine.units_per_cycle, None
    start = effort.known(problem)
    # Cycles are whole: what rounds up to the cycles known may take so many units.
    limit = math.inf if start is None else math.ceil(start.value) * unit
    for batch in batches(len(order)):
        chosen = order[batch]
        least = int(known.bounds[chosen[0]])
        limit = limit if best is None else min(limit, best[0][0])
        if least > limit:
            break
        chosen = chosen[known.bounds[chosen] <= limit]
        try:
            graph = builder.graph(known.rows[chosen], known.columns[chosen])
        except UnfinishedError:
            stop = effort.stopped() or "time_limit"
            break
        plan = plan or elimination_order(graph)
        values, picked = eliminate(graph, plan)
        solved += len(chosen)
        first = int(np.lexsort((known.rows[chosen], pes[chosen], values))[0])
        at = chosen[first]
        rank = (int(values[first]), int(pes[at]), int(known.rows[at]))
        if best is None or rank < best[0]:
            best = rank, [int(one) for one in picked[first]]
        reached = best[0][0]
        if problem.longest_units is None or reached <= problem.longest_units:
            effort.report(Progress(-(-reached // unit), -(-min(reached, least) // unit), solved))
    if best is None:
        return Outcome.unknown(stop, -(-least // unit), evaluations=solved)
    value, count, rows = best[0]
    proven = stop == "complete"
    if problem.longest_units is not None and value > problem.longest_units:
        return Outcome.ended(None, None, None, stop, proven=proven, evaluations=solved)
    bound = value if proven else min(value, least)
    selection = builder.selection((rows, count // rows), best[1])
    return Outcome.ended(
        selection, -(-value // unit), -(-bound // unit), stop, proven=proven, evaluations=solved
    )


def _fewest(builder: GraphBuilder, known: Bounded, effort: Effort) -> Outcome[Selection]:
    """Fewest DSP slices within the longest latency, then least latency, then fewest PEs, then fewest rows."""
    problem = builder.problem
    longest, dsps = problem.longest_units, slices(known.rows, known.columns, builder.machine)
    assert longest is not None
    hopeful = np.flatnonzero(known.bounds <= longest)
    hopeful = hopeful[np.argsort(dsps[hopeful], kind="stable")]
    solved, plan = 0, None
    best: tuple[tuple[int, int, int, int], list[int]] | None = None
    for batch in batches(len(hopeful)):
        chosen = hopeful[batch]
        if best is not None and dsps[chosen[0]] > best[0][0]:
            break
        try:
            graph = builder.graph(known.rows[chosen], known.columns[chosen])
        except UnfinishedError:
            stop = effort.stopped() or "time_limit"
            return _cut(builder, best, int(dsps[chosen[0]]), stop, solved)
        plan = plan or elimination_order(graph)
        values, picked = eliminate(graph, plan)
        solved += len(chosen)
        for first in np.flatnonzero(values <= longest):
            at = chosen[first]
            pes = int(known.rows[at] * known.columns[at])
            rank = (int(dsps[at]), int(values[first]), pes, int(known.rows[at]))
            if best is None or rank < best[0]:
                best = rank, [int(one) for one in picked[first]]
    if best is None:
        return Outcome.infeasible(evaluations=solved)
    return _cut(builder, best, best[0][0], "complete", solved)


def _cut(
    builder: GraphBuilder,
    best: tuple[tuple[int, int, int, int], list[int]] | None,
    bound: int,
    stop: Stop,
    solved: int,
) -> Outcome[Selection]:
    """The outcome in DSP slices, of which at least ``bound`` are needed."""
    if best is None:
        return Outcome.unknown(stop, bound, evaluations=solved)
    value, _, pes, rows = best[0]
    array, proven = (rows, pes // rows), stop == "complete"
    return Outcome.ended(
        builder.selection(array, best[1]), value, min(value, bound), stop, proven=proven, evaluations=solved
    )


JOINT: Method[SelectionProblem, Selection] = Method(
    "joint", True, "bounds of all shapes, then the cost graphs of the promising ones by elimination", joint
)
