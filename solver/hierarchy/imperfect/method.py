"""Methods where factors may be imperfect: branch and bound finds them, others take factors that divide."""

from __future__ import annotations

import time
from dataclasses import replace

from mapper.formulations.hierarchy.infeasible import why_infeasible
from mapper.formulations.hierarchy.problem import HierarchyProblem
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.solver.hierarchy.imperfect.search import CutSearch
from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome


def with_imperfect_factors(
    method: Method[HierarchyProblem, HierarchyMapping],
) -> Method[HierarchyProblem, HierarchyMapping]:
    """A method for factors that divide, which finds the first mapping where they need not."""

    def search(problem: HierarchyProblem, effort: Effort) -> Outcome[HierarchyMapping]:
        if not problem.pins.imperfect:
            return method.search(problem, effort)
        if why_infeasible(problem) is not None:
            return Outcome.infeasible()
        found = CutSearch(problem, effort)
        first = method.search(problem.as_it_is(), first_quarter(effort)).mapping
        if first is not None:
            found.trials.take(first)
        found.gather()
        found.work()
        return found.ended()

    return replace(method, search=search)


def first_quarter(effort: Effort) -> Effort:
    """A quarter of the time that is left."""
    left = effort.seconds_left()
    deadline = None if left is None else time.monotonic() + left / 4
    return replace(effort, deadline=deadline, start=None)
