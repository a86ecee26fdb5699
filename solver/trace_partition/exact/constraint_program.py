"""The joint program over all layers, solved by CP-SAT; and the same table as a shortest path."""

from __future__ import annotations

from dataclasses import replace

from mapper.formulations.trace_partition.problem import PartitionProblem
from mapper.formulations.trace_partition.program.option_cost import in_unit
from mapper.formulations.trace_partition.program.option_table import OptionTable, option_table
from mapper.models.trace_partition.mapping import Partition
from mapper.solver.method import Effort, Method, Progress
from mapper.solver.outcome import Outcome
from mapper.solver.trace_partition.outcome import IMPOSSIBLE, from_table, value_of

TIES = 2
"""Places of the rank after the objective: cycles, bytes."""
LARGEST = 1 << 50
"""CP-SAT tells sums apart up to this; beyond, the shortest path does, in whole numbers of any size."""


def table_of(problem: PartitionProblem, effort: Effort) -> OptionTable:
    """The options of every layer, as far as the effort reaches."""
    start = effort.known(problem)
    return option_table(
        problem,
        lambda: effort.stopped() is not None,
        lambda costed: effort.report(Progress(None, None, costed)),
        None if start is None else start.mapping,
    )


def shortest_path(problem: PartitionProblem, effort: Effort) -> Outcome[Partition]:
    """The best options of every layer, then the dynamic program over the chain of layers."""
    found = from_table(table_of(problem, effort), effort)
    if found.value is not None:
        effort.report(Progress(found.value, found.bound, found.evaluations or 0))
    return found


def constraint_program(problem: PartitionProblem, effort: Effort) -> Outcome[Partition]:
    """The best options of every layer, then the joint program."""
    from mapper.formulations.trace_partition.program.cp_sat import PartitionProgram
    from mapper.solver.cp_sat import run_cp_sat

    table = table_of(problem, effort)
    if not table.complete:
        # The options that are left have no cost yet; what is known is a chain.
        return from_table(table, effort)
    if _largest_sum(table) > LARGEST:
        return replace(from_table(table, effort), method=DYNAMIC_PROGRAM.name)
    program = PartitionProgram(table)
    program.build()
    result = run_cp_sat(program.model, effort, lambda value, bound: None)
    if result.answer == "infeasible":
        return replace(IMPOSSIBLE, evaluations=table.costed)
    if result.answer != "optimal":
        # Its time is over, but all that it would have weighed is there: the shortest path takes no time.
        return replace(from_table(table, effort), method=DYNAMIC_PROGRAM.name)
    partition = program.extract(result.value_of)
    least = program.total(0, result.value_of)
    for place in range(TIES):
        if effort.stopped() is not None:
            break
        program.break_ties(place, program.total(place, result.value_of))
        result = run_cp_sat(program.model, effort, lambda value, bound: None)
        if not result.found:
            break
        partition = program.extract(result.value_of)
    value, bound = value_of(problem, partition), in_unit(problem, least)
    effort.report(Progress(value, bound, table.costed))
    # The table holds what the model says of each layer: were the sum another, nothing would be proven.
    proven = value == bound
    return Outcome.ended(
        partition,
        value,
        bound,
        "complete" if proven else "heuristic",
        proven=proven,
        evaluations=table.costed,
    )


def _largest_sum(table: OptionTable) -> int:
    """The most that any place of the rank comes to in the program."""
    ranks = [[one.best.rank for one in layer.values() if one.best] for layer in table.layers]
    return max(sum(max((rank[at] for rank in layer), default=0) for layer in ranks) for at in range(1 + TIES))


CONSTRAINT_PROGRAM: Method[PartitionProblem, Partition] = Method(
    "cp-sat", True, "best options of every layer in the joint constraint program", constraint_program
)
DYNAMIC_PROGRAM: Method[PartitionProblem, Partition] = Method(
    "dynamic-programming",
    True,
    "best options of every layer, then a shortest path through the layers",
    shortest_path,
)
