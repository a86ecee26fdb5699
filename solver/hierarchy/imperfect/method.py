"""Methods where factors may be imperfect: branch and bound finds them, others take factors that divide."""

from __future__ import annotations

import time
from dataclasses import replace

from mapper.formulations.hierarchy.infeasible import why_infeasible
from mapper.formulations.hierarchy.problem import HierarchyProblem, Pins
from mapper.models.hierarchy.imperfect.digit import with_last_passes
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.solver.hierarchy.imperfect.search import CutSearch
from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome


def with_imperfect_factors(
    method: Method[HierarchyProblem, HierarchyMapping],
) -> Method[HierarchyProblem, HierarchyMapping]:
    """A method for factors that divide, which finds the first mappings where they need not."""

    def search(problem: HierarchyProblem, effort: Effort) -> Outcome[HierarchyMapping]:
        if not problem.pins.imperfect:
            return method.search(problem, effort)
        if why_infeasible(problem) is not None:
            return Outcome.infeasible()
        found = CutSearch(problem, effort)
        for near in _near(problem):
            first = method.search(near, _part(effort)).mapping
            if first is not None:
                cut = replace(first, padded=problem.pins.padded)
                found.trials.take(with_last_passes(cut, problem.bounds))
        found.gather()
        found.work()
        return found.ended()

    return replace(method, search=search)


def _near(problem: HierarchyProblem) -> list[HierarchyProblem]:
    """Problems whose mappings are close: with factors that divide the bounds, or larger ones."""
    plain = problem.as_it_is()
    pins: Pins = plain.pins
    loops = tuple(loop for loop, bound in problem.bounds.items() if bound > 1)
    return [plain, replace(plain, pins=replace(pins, free=loops))]


def _part(effort: Effort) -> Effort:
    """A quarter of the time that is left."""
    left = effort.seconds_left()
    deadline = None if left is None else time.monotonic() + left / 4
    return replace(effort, deadline=deadline, start=None)
