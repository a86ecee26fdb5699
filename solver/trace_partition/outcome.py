"""What a partition is worth, compared with what the bounds by argument and the tables say."""

from __future__ import annotations

from mapper.formulations.trace_partition.bound import least_value
from mapper.formulations.trace_partition.infeasible import why_infeasible
from mapper.formulations.trace_partition.problem import PartitionProblem
from mapper.formulations.trace_partition.program.option_cost import in_unit
from mapper.formulations.trace_partition.program.option_search import Searched
from mapper.formulations.trace_partition.program.option_table import OptionTable
from mapper.formulations.trace_partition.program.residency import Residency
from mapper.models.trace_partition.cost import evaluate
from mapper.models.trace_partition.mapping import Partition
from mapper.solver.certificate import Stop
from mapper.solver.method import Effort
from mapper.solver.outcome import Outcome
from mapper.solver.trace_partition.exact.chain import first_in_rank

Found = Outcome[Partition]
IMPOSSIBLE: Found = Outcome.infeasible()


def value_of(problem: PartitionProblem, partition: Partition) -> int | float:
    """The objective's value by the model."""
    cost = evaluate(problem.network, problem.machine, problem.configuration, partition)
    return problem.value(cost)


def from_table(table: OptionTable, effort: Effort) -> Found:
    """The best partition of a table, proven if the table is complete; else with the bound that it gives."""
    problem = table.problem
    found = first_in_rank(table, lambda searched: searched.best.rank if searched.best else None)
    if found is None and table.complete:
        return IMPOSSIBLE
    stop: Stop = "complete" if table.complete else effort.stopped() or "time_limit"
    floor = first_in_rank(table, _floor)
    bound = None if floor is None else in_unit(problem, floor[0][0])
    if found is None:
        return Outcome.unknown(stop, bound, evaluations=table.costed)
    partition = partition_of(table, found[1])
    value = value_of(problem, partition)
    bound = value if table.complete else max(least_value(problem), bound or 0)
    return Outcome.ended(partition, value, bound, stop, proven=table.complete, evaluations=table.costed)


def _floor(searched: Searched) -> tuple[int, int, int] | None:
    return searched.floor


def partition_of(table: OptionTable, residencies: tuple[Residency, ...]) -> Partition:
    """The best options of the layers' residencies."""
    taken = [layer[at] for layer, at in zip(table.layers, residencies, strict=True)]
    best = tuple(one.best.mapping for one in taken if one.best is not None)
    return Partition(best, floors=tuple(one.floor for one in taken if one.floor is not None))


def heuristic(problem: PartitionProblem, partition: Partition | None, effort: Effort, seen: int) -> Found:
    """The outcome of a heuristic: nothing is proven but by argument, that there is no partition or none of less
    value."""
    stop: Stop = effort.stopped() or "heuristic"
    if partition is None:
        if why_infeasible(problem) is not None:
            return IMPOSSIBLE
        return Outcome.unknown(stop, evaluations=seen)
    value, bound = value_of(problem, partition), least_value(problem)
    if value == bound:
        return Outcome.optimal(partition, value, evaluations=seen)
    return Outcome.bounded(partition, value, bound, stop, evaluations=seen)
