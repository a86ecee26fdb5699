"""Networks under the paper's rule or with the least latency, compiled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from mapper.codegen.trace_partition import compile_program
from mapper.formulations.trace_partition.problem import PartitionProblem
from mapper.models.trace_partition.configuration import configuration_named
from mapper.models.trace_partition.data.quantisation import LayerData, quantised
from mapper.models.trace_partition.data.seeded_weight import sensible_weights
from mapper.models.trace_partition.isa.program import Program
from mapper.models.trace_partition.lowering.building import trace_network
from mapper.models.trace_partition.lowering.host_call import host_calls
from mapper.models.trace_partition.mapping import Partition
from mapper.sim.trace_partition.report import report
from mapper.solver.method import Effort
from mapper.solver.trace_partition.catalogue import METHODS
from mapper.workloads.source import load_layers
from tests.arch.snowflake_machine import machine


@dataclass(frozen=True)
class Case:
    problem: PartitionProblem
    partition: Partition
    data: Mapping[str, LayerData]
    program: Program

    def report(self, program: Program | None = None, seed: int = 0) -> dict[str, Any]:
        given = program or self.program
        return report(self.problem, self.partition, given, self.data, seed)


@cache
def case(workload: str, configuration: str = "1f1i1c", method: str = "greedy", clusters: int = 2) -> Case:
    """``workload`` in ``configuration`` on a machine of ``clusters``, with what ``method`` finds and seeded weights."""
    snowflake = machine(clusters)
    network = load_layers(workload, 1)
    trace = trace_network(network)
    problem = PartitionProblem(trace, snowflake, configuration_named(configuration, snowflake))
    partition = METHODS[method].search(problem, Effort()).mapping
    assert partition is not None
    data = quantised(network, trace, sensible_weights(network, trace, 0))
    calls = host_calls(network, trace)
    program = compile_program(trace, partition, snowflake, problem.configuration, data, calls)
    return Case(problem, partition, data, program)
