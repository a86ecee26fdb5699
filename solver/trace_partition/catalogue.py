"""Every method for partitions, exact ones first."""

from __future__ import annotations

from mapper.formulations.trace_partition.problem import PartitionProblem
from mapper.models.trace_partition.mapping import Partition
from mapper.solver.method import Method
from mapper.solver.trace_partition.annealing import ANNEALING
from mapper.solver.trace_partition.brute_force import BRUTE_FORCE
from mapper.solver.trace_partition.constraint_program import (
    CONSTRAINT_PROGRAM,
    DYNAMIC_PROGRAM,
    constraint_program,
)
from mapper.solver.trace_partition.greedy import GREEDY

PartitionMethod = Method[PartitionProblem, Partition]

AUTOMATIC: PartitionMethod = Method(
    "auto",
    True,
    "the joint optimum: best options of every layer in the constraint program",
    constraint_program,
)

METHODS: dict[str, PartitionMethod] = {
    method.name: method
    for method in (AUTOMATIC, CONSTRAINT_PROGRAM, DYNAMIC_PROGRAM, BRUTE_FORCE, GREEDY, ANNEALING)
}
