"""A lower bound on every partition of a problem, by argument alone: the sum of the least that each layer takes, with
maps that stay in Buf wherever the network lets them, and of what the host takes."""

from __future__ import annotations

from mapper.formulations.trace_partition.problem import PartitionProblem
from mapper.formulations.trace_partition.program.option_cost import in_unit
from mapper.models.trace_partition.bound import layer_bound
from mapper.models.trace_partition.residency import linked


def least_value(problem: PartitionProblem) -> int | float:
    """Cycles, bytes or pJ that every partition takes, pins left aside."""
    links = linked(problem.network)
    bounds = [
        layer_bound(layer, problem.machine, problem.configuration, before, after)
        for layer, before, after in zip(problem.network.traced, (False, *links), links, strict=False)
    ]
    if problem.objective == "latency":
        return in_unit(problem, sum(bound.cycles for bound in bounds))
    if problem.objective == "traffic":
        return in_unit(problem, sum(bound.dram_bytes for bound in bounds))
    return in_unit(problem, sum(bound.energy_parts for bound in bounds))
