"""Partitions for Snowflake as the benchmarks need them: posed, solved, compiled, run by the cycle simulator."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from bench.measure import measure
from mapper.arch.snowflake import SnowflakeMachine
from mapper.arch.source import load_machine
from mapper.formulations.trace_partition.problem import Objective, PartitionProblem
from mapper.formulations.trace_partition.referee.verify import verify
from mapper.kind.trace_partition.run import compiled
from mapper.models.trace_partition.configuration import configuration_named, whole_machine
from mapper.models.trace_partition.isa.program import Program
from mapper.models.trace_partition.lowering.building import trace_network
from mapper.models.trace_partition.lowering.layer import TraceLayer, TraceNetwork
from mapper.models.trace_partition.mapping import Partition
from mapper.models.trace_partition.partition_cost import Cost, LayerCost, PartitionCost, summed
from mapper.sim.trace_partition.cycle.report import CycleReport
from mapper.sim.trace_partition.cycle.simulation import simulate_cycles
from mapper.solver.method import Effort
from mapper.solver.outcome import Outcome
from mapper.solver.trace_partition.catalogue import METHODS
from mapper.workloads.network.network_layer import LayerNetwork
from mapper.workloads.source import load_layers

LINEAR = ("Gemm", "MatMul")
"""Fully connected layers, which the paper's execution times leave out [Chang2018, sec. 5]."""


@lru_cache(maxsize=4)
def networks(name: str) -> tuple[LayerNetwork, TraceNetwork]:
    """A network of the catalogue, and its layers on the accelerator."""
    network = load_layers(name)
    return network, trace_network(network)


def machine_named(arch: str) -> SnowflakeMachine:
    """The machine called ``arch``."""
    machine, _ = load_machine(arch)
    assert isinstance(machine, SnowflakeMachine)
    return machine


def posed(
    name: str, arch: str, configuration: str | None = None, objective: Objective = "latency"
) -> PartitionProblem:
    """The problem of a network; without a configuration one accelerator, one image and all clusters."""
    machine = machine_named(arch)
    whole = whole_machine(machine) if configuration is None else configuration_named(configuration, machine)
    return PartitionProblem(networks(name)[1], machine, whole, objective)


@dataclass(frozen=True)
class Solved:
    """What a method found, judged and costed, and the CPU seconds that it took."""

    problem: PartitionProblem
    partition: Partition
    outcome: Outcome[Partition]
    cost: PartitionCost
    seconds: float

    @property
    def gap(self) -> str:
        """The proven gap to the best value there can be."""
        if self.outcome.proven:
            return "0, proven"
        value, bound = self.outcome.value, self.outcome.bound
        return "–" if not value or bound is None else f"{(value - bound) / value:.2%}"

    def part(self, linear: bool) -> Cost:
        """The cost of all layers, or without the linear ones; without the host."""
        kept = [own for layer, own in self.layers if linear or layer.op not in LINEAR]
        return summed(self.problem.machine, self.problem.configuration, kept)

    @property
    def layers(self) -> list[tuple[TraceLayer, LayerCost]]:
        """Every layer with its cost."""
        return list(zip(self.problem.network.traced, self.cost.layers, strict=True))


def solve(problem: PartitionProblem, method: str = "auto", seconds: float = 300.0) -> Solved:
    """The partition that ``method`` finds in at most ``seconds``."""
    METHODS[method].prepare()
    effort = Effort(deadline=time.monotonic() + seconds)
    run = measure(partial(METHODS[method].search, problem, effort))
    partition = run.result.mapping
    assert partition is not None, f"{problem.network.name}: nothing found in {seconds:g} s"
    verdict = verify(problem, partition)
    assert verdict.cost is not None and not verdict.broken, verdict.broken
    return Solved(problem, partition, run.result, verdict.cost, run.cpu)


def program_of(name: str, solved: Solved) -> tuple[Program, float]:
    """The program with seeded weights, and the CPU seconds that compiling takes."""
    run = measure(partial(compiled, solved.problem, solved.partition, networks(name)[0], 0))
    return run.result[0], run.cpu


def simulated(program: Program, solved: Solved) -> CycleReport:
    """What the cycle simulator says of ``program``."""
    return simulate_cycles(program, solved.problem.machine)


def simulated_cycles(report: CycleReport, solved: Solved, linear: bool) -> int:
    """Cycles of all layers, or without the linear ones."""
    layers: Sequence[TraceLayer] = solved.problem.network.traced
    return sum(report.layer(layer.name).cycles for layer in layers if linear or layer.op not in LINEAR)
