"""Algorithm 1 of [Meng2021] as printed, and the PBQP of the shape that it finds."""

from __future__ import annotations

import numpy as np

from mapper.formulations.algorithm_selection.problem import SelectionProblem
from mapper.formulations.algorithm_selection.program.cost_graph import GraphBuilder
from mapper.formulations.algorithm_selection.program.shape import shapes
from mapper.formulations.algorithm_selection.program.whole_cost import LARGEST, Costs
from mapper.models.algorithm_selection.mapping import Selection
from mapper.solver.algorithm_selection.exact.fixed import Array, outcome_of, solve_at
from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome

SHAPE = "the array's shape is Algorithm 1's"


def algorithm_one(problem: SelectionProblem) -> Array | None:
    """The shape with the least sum of computation times over all layers and all algorithms they have, each in its best
    dataflow; the first one on a tie, rows first. None if no shape is allowed or a layer has no algorithm."""
    builder = GraphBuilder(problem)
    rows, columns = shapes(problem)
    if builder.nothing_left is not None or not len(rows):
        return None
    # Each cost is below the limit of a graph, but not their sum over algorithms.
    every = builder.on_array(rows, columns)
    wide = sum(int(costs.max(initial=0)) * costs.shape[1] for costs in every) >= LARGEST
    total: Costs = sum(costs.sum(axis=1, dtype=object if wide else np.int64) for costs in every)
    at = int(total.argmin())
    return int(rows[at]), int(columns[at])


def search(problem: SelectionProblem, effort: Effort) -> Outcome[Selection]:
    """The shape of Algorithm 1, and the optimal selection for it."""
    array = algorithm_one(problem)
    found = None if array is None else solve_at(problem, array)
    selection = None if found is None else found.selection
    return outcome_of(problem, selection, effort, 1, (SHAPE,))


ALGORITHM_ONE: Method[SelectionProblem, Selection] = Method(
    "algorithm-1", False, "the paper's method: the shape of Algorithm 1, then its PBQP", search
)
