"""Every method for partitions, exact ones first."""

from __future__ import annotations

from dataclasses import replace

from mapper.formulations.trace_partition.infeasible import why_infeasible
from mapper.formulations.trace_partition.problem import PartitionProblem
from mapper.models.trace_partition.mapping import Partition
from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome
from mapper.solver.trace_partition.exact.brute_force import BRUTE_FORCE
from mapper.solver.trace_partition.exact.constraint_program import (
    CONSTRAINT_PROGRAM,
    DYNAMIC_PROGRAM,
    constraint_program,
)
from mapper.solver.trace_partition.heuristic.annealing import ANNEALING
from mapper.solver.trace_partition.heuristic.greedy import GREEDY

PartitionMethod = Method[PartitionProblem, Partition]

AUTOMATIC: PartitionMethod = Method(
    "auto",
    True,
    "the joint optimum: best options of every layer in the constraint program",
    constraint_program,
    at_once=GREEDY,
)


def _argued_first(method: PartitionMethod) -> PartitionMethod:
    """The method, after the argument that some layer fits no buffer: that is proven in no time, while counting out all
    tiles of the other layers is not."""

    def search(problem: PartitionProblem, effort: Effort) -> Outcome[Partition]:
        if why_infeasible(problem) is not None:
            return Outcome.infeasible()
        return method.search(problem, effort)

    return replace(method, search=search)


METHODS: dict[str, PartitionMethod] = {
    method.name: method
    for method in (
        *map(_argued_first, (AUTOMATIC, CONSTRAINT_PROGRAM, DYNAMIC_PROGRAM)),
        BRUTE_FORCE,
        *map(_argued_first, (GREEDY, ANNEALING)),
    )
}
