"""The PBQP solver on random instances, beside the published times of other solvers on such instances.

CPU seconds, warm, of the whole search: reductions, elimination, choices back, and the value. Peak memory is the
process's, the instance and its making included.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bench.measure import measure, peak_mebibytes, show
from bench.pbqp.random_instance import k_tree, series_parallel
from mapper.formulations.pbqp.problem import PbqpProblem
from mapper.solver.method import Effort
from mapper.solver.pbqp.catalogue import METHODS
from mapper.workloads.pbqp.instance import PbqpInstance

KEPT = 0.8
"""Share of the edges of a 3-tree that a partial 3-tree keeps."""


@dataclass(frozen=True)
class Case:
    """``make`` an instance; the ``limit`` in CPU seconds that is to be kept, and what ``others`` take."""

    name: str
    make: Callable[[], PbqpInstance]
    limit: float
    others: str


CASES = (
    Case("series-parallel N=1e5 d=3", lambda: series_parallel(10**5, 3, 1), 0.3, "kaps 0.24, toulbar2 7.8"),
    Case(
        "series-parallel N=1e5 d=10", lambda: series_parallel(10**5, 10, 1), 0.9, "kaps 0.87, toulbar2 17.8"
    ),
    Case("series-parallel N=1e4 d=30", lambda: series_parallel(10**4, 30, 1), 1.0, "kaps 1.04, LLVM 0.41"),
    Case("series-parallel N=1e6 d=3", lambda: series_parallel(10**6, 3, 1), 6.0, "-"),
    Case("partial 3-tree N=1e4 d=10", lambda: k_tree(10**4, 10, 3, KEPT, 1), 0.5, "elimination in C++ 0.43"),
    Case("partial 3-tree N=1e5 d=10", lambda: k_tree(10**5, 10, 3, KEPT, 1), 6.0, "elimination in C++ 4.6"),
    Case("partial 3-tree N=1e3 d=30", lambda: k_tree(10**3, 30, 3, KEPT, 1), 1.5, "elimination in C++ 1.1"),
)


def main() -> None:
    auto, fixing = METHODS["auto"], METHODS["fixing"]
    auto.prepare()
    lines = []
    for case in CASES:
        problem = PbqpProblem(case.make())
        auto.search(problem, Effort())
        exact = measure(lambda problem=problem: auto.search(problem, Effort()))  # type: ignore[misc]
        assert exact.result.proven and exact.result.value is not None
        quick = measure(lambda problem=problem: fixing.search(problem, Effort()))  # type: ignore[misc]
        value = quick.result.value or 0
        given = problem.instance
        size = sum(array.nbytes for array in (given.vertex_cost, given.edge_cost, given.edge_end)) / 2**20
        lines.append(
            [
                case.name,
                f"{exact.cpu:.2f}",
                f"{case.limit:g}",
                case.others,
                f"{size:.0f}",
                f"{peak_mebibytes():.0f}",
                f"{quick.cpu:.2f} s, {100 * (value / exact.result.value - 1):.2f} % above",
            ]
        )
    heading = ["instance", "exact, CPU s", "to reach", "others, CPU s", "MiB", "peak MiB", "fixing"]
    show("PBQP, random costs", heading, lines)


if __name__ == "__main__":
    main()
