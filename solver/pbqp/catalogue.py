"""Every method for PBQP, exact ones first.

Among equal costs, the least choice of each vertex is taken as it is decided, so answers are reproducible; the
lexicographically least assignment is best effort.
"""

from __future__ import annotations

import math

from mapper.formulations.pbqp.problem import PbqpProblem
from mapper.models.pbqp.mapping import PbqpAssignment
from mapper.solver.method import Effort, Method
from mapper.solver.pbqp.exact.decomposition import decomposed
from mapper.solver.pbqp.exact.program import brute_force, constraint_program, integer_program
from mapper.solver.pbqp.exact.reduce_and_search import Strategy, exact_search
from mapper.solver.pbqp.heuristic.heuristic import descend_once, descent, fix_and_reduce
from mapper.solver.pbqp.reduction.elimination import Eliminated, reduced
from mapper.workloads.pbqp.instance import Cost, PbqpInstance, instance

EXACT: tuple[Strategy, ...] = ("elimination", "branch-and-bound")
PbqpMethod = Method[PbqpProblem, PbqpAssignment]


def _prepare() -> None:
    """Compile everything, for integers and for floating point, on a graph that no reduction takes apart."""
    for large in (7, 0.5):
        problem = PbqpProblem(_complete(large))
        for strategy in EXACT:
            exact_search(strategy)(problem, Effort())
        if problem.instance.exact:
            core = reduced(problem.instance, Effort())
            assert isinstance(core, Eliminated) and core.core is not None
            decomposed(core.core, None, Effort(), lambda progress: None)
        descent(problem, Effort())


def _complete(large: float) -> PbqpInstance:
    matrix: list[list[Cost]] = [[0, large, 1], [large, 2, math.inf], [3, 1, 0]]
    edges = [(u, v, matrix) for u in range(6) for v in range(u)]
    return instance([[large, 1, 2] for _ in range(7)], [*edges, (0, 6, matrix), (6, 0, matrix)])


def _brute_force_prepare() -> None:
    for large in (7, 0.5):
        brute_force(PbqpProblem(instance([[large, 1]])), Effort())


METHODS: dict[str, PbqpMethod] = {
    method.name: method
    for method in (
        Method(
            "auto",
            True,
            "reductions, then elimination where tables fit the memory, otherwise decomposition and branch and bound",
            exact_search("auto"),
            _prepare,
            Method("descent", False, "one descent", descend_once),
        ),
        Method(
            "elimination",
            True,
            "reductions, then elimination along an order of small width",
            exact_search("elimination"),
            _prepare,
        ),
        Method(
            "branch-and-bound",
            True,
            "reductions, then branch and bound with reductions inside",
            exact_search("branch-and-bound"),
            _prepare,
        ),
        Method(
            "ilp", True, "an integer linear program over the local polytope, solved by CBC", integer_program
        ),
        Method(
            "cp-sat",
            True,
            "the same choices and pairs as a constraint program, solved by CP-SAT",
            constraint_program,
        ),
        Method(
            "brute-force", True, "every assignment; for small instances", brute_force, _brute_force_prepare
        ),
        Method(
            "fixing", False, "reductions, and fixing vertices of high degree (RN)", fix_and_reduce, _prepare
        ),
        Method(
            "descent",
            False,
            "gives every vertex its best choice given its neighbours, with perturbations",
            descent,
            _prepare,
        ),
    )
}
