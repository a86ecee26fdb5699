"""Exact elimination of vertices, and what is left of an instance: a smaller one, and the way back from its choices.

The work of a step is the product of the choices of a vertex and of its front, so that a vertex of degree 2 costs d^3,
not the d^2 of Theorem 4.1 [Meng2021, sec. 4]: the theorem's O(N d^2) is true of the merging of parallel edges and of
vertices of degree 1, and a series-parallel graph takes O(N d^3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mapper.solver.certificate import Stop
from mapper.solver.method import Effort
from mapper.solver.pbqp.reduction.core import core_instance
from mapper.solver.pbqp.reduction.cost_array import cost_arrays
from mapper.solver.pbqp.reduction.elimination_kernel import Work, choose_back, eliminate_steps, scratch
from mapper.solver.pbqp.reduction.elimination_plan import Array, Plan, plan, size
from mapper.solver.pbqp.reduction.series_parallel import reduce_graph
from mapper.workloads.pbqp.instance import Cost, PbqpInstance

WORK_PER_CALL = 2e8
"""Additions between two looks at the clock."""


@dataclass(frozen=True)
class Eliminated:
    """An instance of which vertices went: ``constant`` that all choices pay (infinite: there is none), ``core`` over
    the vertices ``stays`` (None if none is left), and what is needed to find the choices back."""

    whole: PbqpInstance
    constant: Cost
    core: PbqpInstance | None
    stays: Array
    made: Plan
    arg_start: Array
    arg: Array

    @property
    def infeasible(self) -> bool:
        return self.constant == self.whole.infinity

    def lift(self, choice: Array) -> Array:
        """The best choices of all vertices given those of the core, ties to the least choice of the vertex."""
        chosen = np.zeros(self.whole.vertices, np.int64)
        chosen[self.stays] = choice
        choose_back(self.made, self.whole.choices, self.arg_start, self.arg, chosen)
        return chosen


def reduced(problem: PbqpInstance, effort: Effort) -> Eliminated | Stop:
    """``problem`` without the vertices that series and parallel reductions take away."""
    order, front, rest = reduce_graph(problem.vertices, problem.edge_end)
    start = np.zeros(len(order) + 1, np.int64)
    np.cumsum(np.count_nonzero(front >= 0, axis=1), out=start[1:])
    made = plan(problem, order, start, front[front >= 0].astype(np.int64))
    return eliminated(problem, made, rest, effort)


def eliminated(problem: PbqpInstance, made: Plan, rest: Array, effort: Effort) -> Eliminated | Stop:
    """``problem`` without the vertices of the plan; ``rest`` [., 2] are the pairs that are joined afterwards. The
    reason if effort ends before."""
    needed = size(problem, made)
    steps = len(made.vertex)
    arg_start = np.zeros(steps + 1, np.int64)
    np.cumsum(needed.table, out=arg_start[1:], dtype=np.int64)
    arg = np.empty(arg_start[-1], np.int32)
    costs: Any = problem.vertex_cost.dtype
    constant, kept = np.zeros(1, costs), np.empty(int(needed.kept), costs)
    held = Work(
        state=np.zeros(3, np.int64),
        stack=np.empty(int(needed.stack), costs),
        place=np.empty(steps + 1, np.int64),
        owner=np.empty(steps + 1, np.int64),
        constant=constant,
        kept=kept,
        arg_start=arg_start,
        arg=arg,
        where=np.zeros(problem.vertices, np.int64),
    )
    given = cost_arrays(problem)
    room = scratch(made, given)
    done, work = 0, np.cumsum(needed.work)
    while done < steps:
        stop = effort.stopped()
        if stop is not None:
            return stop
        before = work[done - 1] if done else 0.0
        end = max(done + 1, int(np.searchsorted(work, before + WORK_PER_CALL)))
        eliminate_steps(made, given, held, room, done, end)
        done = end
    stays = np.ones(problem.vertices, np.bool_)
    stays[made.vertex] = False
    core = core_instance(problem, made, np.flatnonzero(stays), rest, kept) if np.any(stays) else None
    return Eliminated(problem, constant[0].item(), core, np.flatnonzero(stays), made, arg_start, arg)
