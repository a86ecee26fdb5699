"""Every method for algorithm selections, exact ones first."""

from __future__ import annotations

from mapper.formulations.algorithm_selection.problem import SelectionProblem
from mapper.models.algorithm_selection.mapping import Selection
from mapper.solver.algorithm_selection.exact.brute_force import BRUTE_FORCE
from mapper.solver.algorithm_selection.exact.joint import JOINT, joint
from mapper.solver.algorithm_selection.heuristic.algorithm_one import ALGORITHM_ONE
from mapper.solver.algorithm_selection.heuristic.annealing import ANNEALING, RANDOM
from mapper.solver.algorithm_selection.heuristic.baseline import BASELINES, GREEDY
from mapper.solver.algorithm_selection.heuristic.largest_arrays import LARGEST_ARRAYS
from mapper.solver.method import Method

SelectionMethod = Method[SelectionProblem, Selection]

AUTOMATIC: SelectionMethod = Method(
    "auto", True, "the joint optimum over shapes and selections", joint, at_once=LARGEST_ARRAYS
)

METHODS: dict[str, SelectionMethod] = {
    method.name: method
    for method in (
        AUTOMATIC,
        JOINT,
        BRUTE_FORCE,
        ALGORITHM_ONE,
        *BASELINES,
        GREEDY,
        ANNEALING,
        RANDOM,
    )
}
