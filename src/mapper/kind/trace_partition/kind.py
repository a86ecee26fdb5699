"""The kind ``trace_partition``: networks on the Snowflake accelerator [Chang2018]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, cast
from xml.etree.ElementTree import Element

from mapper.arch.snowflake import MACS, SnowflakeMachine
from mapper.formulations.formulation import Formulation
from mapper.formulations.objective import ENERGY, LATENCY, TRAFFIC, Objective
from mapper.formulations.trace_partition.magnitude import refuse_large
from mapper.formulations.trace_partition.problem import Objective as ObjectiveName
from mapper.formulations.trace_partition.problem import PartitionProblem
from mapper.formulations.trace_partition.referee.verify import verify
from mapper.kind.kind import Kind
from mapper.kind.operator_structure import operator_structure, read_operator_structure
from mapper.kind.part import JsonValue, Options, Part, ProblemPart, ShownVerdict, Workload
from mapper.kind.trace_partition import part as trace_part
from mapper.kind.trace_partition.part import PartitionPart
from mapper.kind.trace_partition.pins import read_fix
from mapper.kind.words import ProofWords
from mapper.models.trace_partition.lowering.building import trace_network
from mapper.models.trace_partition.mapping import Partition
from mapper.solver.method import Effort, Method
from mapper.solver.proof import Claim, Proof
from mapper.workloads.document import InputError
from mapper.workloads.graph.kernel_source import is_kernel
from mapper.workloads.network.network import Dims, InputFile
from mapper.workloads.network.network_layer import LayerNetwork
from mapper.workloads.source import load_layers

ROUNDING = 1e-9
"""The share of an energy by which sums of the same floats differ, with room to spare."""


class TracePartition(Kind[LayerNetwork, PartitionProblem, Partition]):
    """The layers of a network are decided together, since what stays in Buf couples them, and listed one by one."""

    name: ClassVar[str] = "trace_partition"
    objectives: ClassVar[tuple[Objective, ...]] = (LATENCY, TRAFFIC, ENERGY)
    options: ClassVar[frozenset[str]] = frozenset({"fix"})
    leaves_out: ClassVar[tuple[str, ...]] = ("the image's way from and to the host",)

    def peak(self, machine: SnowflakeMachine) -> int:
        return MACS * machine.clusters

    def in_a_line(self, problem: PartitionProblem, part: Part) -> str:
        from mapper.kind.trace_partition.view import one_line

        return one_line(problem, part)

    def read(self, text: str, batch: int | None, dims: Dims) -> Workload[LayerNetwork]:
        if is_kernel(text):
            raise InputError(text, "", "is a kernel, which Snowflake does not run; try --arch srp-4x4")
        network = load_layers(text, batch, dims)
        return Workload(network, network.operators.files, network.operators.batch)

    def left_out(self, value: LayerNetwork, machine: SnowflakeMachine) -> tuple[dict[str, Any], ...]:
        return trace_part.hosted(trace_network(value), machine)

    def pose(
        self, value: LayerNetwork, machine: SnowflakeMachine, objective: Objective, options: Options
    ) -> tuple[PartitionPart, ...]:
        network = trace_network(value)
        if not network.traced:
            raise InputError(
                value.name[:60], "", "has no layer that the accelerator runs; give a convolution"
            )
        configuration, pins = read_fix(options.fix, network, machine)
        problem = PartitionProblem(network, machine, configuration, cast(ObjectiveName, objective.name), pins)
        refuse_large(problem)
        return (ProblemPart(value.name, value.name, problem, 0, value),)

    def methods(self) -> dict[str, Method[PartitionProblem, Partition]]:
        from mapper.solver.trace_partition.catalogue import METHODS

        return METHODS

    def prove(self, problem: PartitionProblem, claim: Claim[Partition], effort: Effort) -> Proof:
        from mapper.solver.trace_partition.proof import prove

        return prove(problem, claim, effort)

    def restated(self, problem: PartitionProblem) -> Mapping[str, Any] | None:
        from mapper.solver.trace_partition.proof import problem_document

        return problem_document(problem)

    def why_infeasible(self, problem: PartitionProblem) -> str | None:
        from mapper.formulations.trace_partition.infeasible import why_infeasible

        return why_infeasible(problem)

    def slack(self, problem: PartitionProblem, value: int | float) -> float:
        return ROUNDING * abs(value)

    def verify(self, problem: PartitionProblem, mapping: Partition) -> ShownVerdict:
        verdict = verify(problem, mapping)
        cost = verdict.cost
        if cost is None:
            return ShownVerdict(verdict.broken, None, None, None)
        return ShownVerdict(verdict.broken, cost.cost_json(), cost.breakdown_json(), problem.value(cost))

    def read_mapping(self, fields: Mapping[str, Any], problem: PartitionProblem, source: str) -> Partition:
        return trace_part.read_partition(fields, problem, source)

    def shown(self, problem: PartitionProblem, mapping: Partition) -> trace_part.NamedPartition:
        return trace_part.NamedPartition(problem, mapping)

    def pieces(self, shown: JsonValue) -> Any:
        assert isinstance(shown, trace_part.NamedPartition)
        return [list(floor) for floor in shown.partition.floors]

    def with_pieces(self, mapping: Partition, pieces: Any) -> Partition:
        floors = [(value, cycles, moved) for value, cycles, moved in pieces]
        if any(type(one) is not int for floor in floors for one in floor):
            raise TypeError("no rank of an option")
        if len(floors) not in (0, len(mapping.layers)):
            raise ValueError("not of this partition")
        return replace(mapping, floors=tuple(floors))

    def spread(self, problem: PartitionProblem, part: Part) -> tuple[Part, ...]:
        return trace_part.layer_parts(problem, part)

    def gather(
        self, problem: PartitionProblem, name: str, mappings: Mapping[str, Any]
    ) -> Mapping[str, Any] | None:
        return trace_part.gathered(problem, mappings)

    def shares(
        self, skipped: tuple[dict[str, Any], ...], problem: PartitionProblem, cost: Mapping[str, Any] | None
    ) -> tuple[dict[str, Any], ...]:
        return trace_part.shares(skipped, problem, cost)

    def describe(self, problem: PartitionProblem, part: Part) -> list[str]:
        from mapper.kind.trace_partition.view import partition_lines

        assert isinstance(part.mapping, trace_part.NamedPartition)
        return partition_lines(problem, part.mapping.partition)

    def total(self, costs: list[dict[str, Any]]) -> dict[str, Any]:
        return dict(costs[0])

    def structure(self, value: LayerNetwork) -> dict[str, Any]:
        return operator_structure(value)

    def read_structure(self, structure: Mapping[str, Any], name: str, source: str) -> LayerNetwork:
        return read_operator_structure(structure, source)

    def located(self, value: LayerNetwork, inputs: tuple[InputFile, ...]) -> LayerNetwork:
        return replace(value, operators=replace(value.operators, files=inputs))

    def formulation(self, problem: PartitionProblem) -> Formulation:
        from mapper.formulations.trace_partition.program.cp_sat import PartitionProgram
        from mapper.formulations.trace_partition.program.first_option import first_options

        # Which residencies a layer can be in makes the counts; only the objective's numbers would take a search.
        program = PartitionProgram(first_options(problem))
        program.build()
        return program

    def model(self, problem: PartitionProblem) -> Formulation:
        from mapper.formulations.trace_partition.program.cp_sat import PartitionProgram
        from mapper.formulations.trace_partition.program.option_table import option_table

        program = PartitionProgram(option_table(problem))
        program.build()
        return program

    def proof_lines(self, proof: Mapping[str, Any], reason: str) -> list[str]:
        from mapper.kind.trace_partition.words import proof_lines

        return proof_lines(proof, reason)

    def proof_picture(self, proof: Mapping[str, Any], reason: str) -> list[Element]:
        from mapper.kind.trace_partition.picture import proof_picture

        return proof_picture(proof)

    def words(self, problem: PartitionProblem, part: Part) -> ProofWords:
        from mapper.kind.trace_partition.words import WORDS

        return WORDS

    def picture(
        self, problem: PartitionProblem, mapping: Partition, part: Part, prefix: str, most: int
    ) -> list[Element]:
        from mapper.kind.trace_partition.picture import partition_picture

        return partition_picture(problem, mapping)

    def simulate(self, part: PartitionPart, mapping: Partition, seed: int) -> dict[str, Any]:
        from mapper.kind.trace_partition.run import simulated

        return simulated(part, mapping, seed, None)

    def simulate_program(
        self, part: PartitionPart, mapping: Partition, seed: int, program: Path
    ) -> dict[str, Any]:
        from mapper.kind.trace_partition.run import simulated

        return simulated(part, mapping, seed, program)

    def generate(self, part: PartitionPart, mapping: Partition, seed: int) -> Mapping[str, str | bytes]:
        from mapper.kind.trace_partition.run import generated

        return generated(part, mapping, seed)


TRACE_PARTITION = TracePartition()
