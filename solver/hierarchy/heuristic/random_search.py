"""Random search with Timeloop's victory condition: it ends after so many valid mappings without a better one."""

from __future__ import annotations

from random import Random

from mapper.formulations.hierarchy.problem import HierarchyProblem
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.solver.hierarchy.heuristic.draw import draw
from mapper.solver.hierarchy.space import Space
from mapper.solver.hierarchy.trial import Trials
from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome

VICTORY = 500
"""Valid mappings in a row, none better, as Timeloop's ``victory_condition``."""
MOST_DRAWN = 20_000


def random_search(problem: HierarchyProblem, effort: Effort) -> Outcome[HierarchyMapping]:
    """The best of mappings drawn one by one until `VICTORY` valid ones in a row were no better."""
    space, random = Space(problem), Random(effort.seed)
    trials = Trials(problem, effort)
    waited = drawn = 0
    while waited < VICTORY and drawn < MOST_DRAWN:
        stop = effort.stopped()
        if stop is not None:
            return trials.ended(stop)
        drawn += 1
        choice = draw(space, random)
        if choice is None:
            continue
        known = trials.value
        value = trials.take(choice.mapping(space))
        if value is not None:
            waited = 0 if known is None or value < known else waited + 1
    return trials.ended("heuristic")


RANDOM_SEARCH: Method[HierarchyProblem, HierarchyMapping] = Method(
    "random",
    False,
    f"drawn mappings until {VICTORY} valid ones in a row are no better, as Timeloop's mapper searches",
    random_search,
)
