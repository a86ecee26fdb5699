"""The best selection on a few of the arrays with most PEs: a fraction of a second, and seldom far from the optimum."""

from __future__ import annotations

import numpy as np

from mapper.formulations.algorithm_selection.problem import SelectionProblem
from mapper.formulations.algorithm_selection.program.cost_graph import GraphBuilder
from mapper.formulations.algorithm_selection.program.shape import shapes
from mapper.formulations.algorithm_selection.referee.verify import verify
from mapper.models.algorithm_selection.mapping import Selection
from mapper.solver.algorithm_selection.exact.elimination import eliminate, elimination_order, least_bounds
from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome

ARRAYS = 16
RESTRICTION = f"only the {ARRAYS} arrays with most PEs"


def search(problem: SelectionProblem, effort: Effort) -> Outcome[Selection]:
    """The least latency on these arrays, whatever the objective; the bound is that of one array as long and as wide as
    any, since none of them takes fewer passes or sets up sooner than the least array does."""
    builder = GraphBuilder(problem)
    rows, columns = shapes(problem)
    if builder.nothing_left is not None or not len(rows):
        return Outcome.infeasible()
    chosen = np.argsort(-(rows * columns), kind="stable")[:ARRAYS]
    graph = builder.graph(rows[chosen], columns[chosen])
    values, picked = eliminate(graph, elimination_order(graph))
    best = int(values.argmin())
    at = chosen[best]
    selection = builder.selection((int(rows[at]), int(columns[at])), [int(one) for one in picked[best]])
    bound = _bound(problem, builder) if problem.objective == "latency" else None
    stop = effort.stopped() or "heuristic"
    cost = verify(problem, selection).cost
    if cost is None or (problem.longest_units is not None and values[best] > problem.longest_units):
        return Outcome.bounded(None, None, bound, stop, restrictions=(RESTRICTION,), evaluations=ARRAYS)
    value = problem.value(cost)
    if value == bound:
        return Outcome.optimal(selection, value, evaluations=ARRAYS)
    return Outcome.bounded(selection, value, bound, stop, restrictions=(RESTRICTION,), evaluations=ARRAYS)


def _bound(problem: SelectionProblem, builder: GraphBuilder) -> int:
    """A lower bound of the latency over all arrays, in cycles."""
    rows, columns = shapes(problem)
    most = (np.array([rows.max()]), np.array([columns.max()]))
    least = (np.array([rows.min()]), np.array([columns.min()]))
    units = int(least_bounds(builder.graph(*most, least=least))[0])
    return -(-units // problem.machine.units_per_cycle)


LARGEST_ARRAYS: Method[SelectionProblem, Selection] = Method(
    "largest-arrays", False, f"the best selection on the {ARRAYS} arrays with most PEs", search
)
