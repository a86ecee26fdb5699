"""The kind ``pe_allocation``: layer-parallel networks on tightly coupled processor arrays [Heidorn2019]."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, cast
from xml.etree.ElementTree import Element

from mapper.arch.tcpa import TcpaMachine
from mapper.formulations.formulation import Formulation
from mapper.formulations.objective import LATENCY, PES, THROUGHPUT, Objective
from mapper.formulations.pe_allocation.magnitude import refuse_large
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.problem import Objective as ObjectiveName
from mapper.formulations.pe_allocation.referee.verify import verify
from mapper.kind.kind import Kind
from mapper.kind.operator_structure import operator_structure, read_operator_structure
from mapper.kind.part import FrontAxes, JsonValue, Options, Part, ProblemPart, ShownVerdict, Workload
from mapper.kind.pe_allocation.nest.kind import NestAllocation
from mapper.kind.pe_allocation.pins import Fixed, read_fix
from mapper.kind.pe_allocation.recurrence.kind import RecurrenceAllocation
from mapper.kind.pe_allocation.workload_kind import WorkloadKind
from mapper.kind.words import ProofWords
from mapper.models.pe_allocation.cost import MODELS, Model
from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.mapping_file import allocation_from_json
from mapper.models.pe_allocation.stream.layer import StreamNetwork, stream_network
from mapper.solver.front import Front
from mapper.solver.method import Effort, Method
from mapper.solver.proof import Claim, Proof
from mapper.workloads.document import InputError
from mapper.workloads.graph.kernel_source import is_kernel
from mapper.workloads.network.network import Dims, InputFile
from mapper.workloads.network.network_layer import LayerNetwork
from mapper.workloads.source import load_layers
from mapper.workloads.text.nearest import meant

RUNS_APART = (
    "the program is that of all layers in one run; of several runs each is such a program of its own layers on all "
    "PEs, and the runs are a shortest path, whose length is the sum of their latencies"
)
AllocationPart = ProblemPart[LayerNetwork, AllocationProblem]


@dataclass(frozen=True)
class NamedAllocation:
    """An allocation that knows its layers, as documents need them."""

    network: StreamNetwork
    allocation: Allocation

    def to_json(self) -> dict[str, Any]:
        return self.allocation.to_json(self.network.names)


class PeAllocation(Kind[LayerNetwork, AllocationProblem, Allocation]):
    """The whole network is one part: PEs for every layer."""

    name: ClassVar[str] = "pe_allocation"
    objectives: ClassVar[tuple[Objective, ...]] = (THROUGHPUT, LATENCY, PES)
    options: ClassVar[frozenset[str]] = frozenset({"fix", "min_throughput", "max_pes", "max_buffer", "model"})
    default_model: ClassVar[str | None] = MODELS[0]
    leaves_out: ClassVar[tuple[str, ...]] = (
        "weights are in the PEs before the first frame",
        "the time in which runs of mixed mode, and layers one by one, load theirs in every frame",
        "pixels come as fast as the first layer takes them",
        "latency is of one frame; the next comes after an interval, before this one is done",
    )

    def peak(self, machine: TcpaMachine) -> int:
        return machine.pe_count * machine.functional_units.convolution

    def in_a_line(self, problem: AllocationProblem, part: Part) -> str:
        """PEs of every layer."""
        assert isinstance(part.mapping, NamedAllocation)
        pes = zip(problem.network.names, part.mapping.allocation.pes, strict=True)
        return ", ".join(f"{name} {count}" for name, count in pes)

    def layer_times(self, problem: AllocationProblem, part: Part) -> dict[str, float]:
        """How long each layer works on a frame; layers overlap."""
        assert part.breakdown is not None
        layers = part.breakdown["layers"].items()
        return {name: 1e3 * one["latency"] / problem.machine.clock_hz for name, one in layers}

    def read(self, text: str, batch: int | None, dims: Dims) -> Workload[LayerNetwork]:
        if is_kernel(text):
            raise InputError(text, "", "is a kernel, which no TCPA of layers runs; try --arch srp-4x4")
        network = load_layers(text, batch, dims)
        return Workload(network, network.operators.files, network.operators.batch, tuple(_skipped(network)))

    def pose(
        self, value: LayerNetwork, machine: TcpaMachine, objective: Objective, options: Options
    ) -> tuple[AllocationPart, ...]:
        network = stream_network(value)
        if options.model not in MODELS:
            raise InputError(
                "--model",
                str(options.model),
                f"{meant(str(options.model), MODELS)}the kind has {', '.join(MODELS)}",
            )
        fixed = read_fix(options.fix, network)
        if options.model == "lanes" and fixed.mode != "layer-by-layer":
            raise InputError("--model", options.model, "holds for --fix mode=layer-by-layer alone")
        problem = _problem(network, machine, cast(ObjectiveName, objective.name), options, fixed)
        refuse_large(problem)
        return (ProblemPart(value.name, value.name, problem, 0, value),)

    def methods(self) -> dict[str, Method[AllocationProblem, Allocation]]:
        from mapper.solver.pe_allocation.catalogue import METHODS

        return METHODS

    def front(self, problem: AllocationProblem, effort: Effort) -> Front[Allocation]:
        from mapper.solver.pe_allocation.parallel.front import front

        return front(problem, effort)

    def front_axes(self) -> FrontAxes:
        from mapper.kind.pe_allocation.picture import FRONT_AXES

        return FRONT_AXES

    def criteria(self, problem: AllocationProblem, mapping: Allocation) -> tuple[int, ...]:
        from mapper.solver.pe_allocation.parallel.front import criteria

        found = criteria(problem, mapping)
        return found if problem.mode == "mixed" else found[:3]

    def prove(self, problem: AllocationProblem, claim: Claim[Allocation], effort: Effort) -> Proof:
        from mapper.solver.pe_allocation.proof import prove

        return prove(problem, claim, effort)

    def restated(self, problem: AllocationProblem) -> Mapping[str, Any] | None:
        from mapper.solver.pe_allocation.proof import restated

        return restated(problem)

    def why_infeasible(self, problem: AllocationProblem) -> str | None:
        from mapper.formulations.pe_allocation.infeasible import why_infeasible
        from mapper.solver.pe_allocation.mixed.reason import why_mixed_infeasible

        said = why_infeasible(problem)
        return why_mixed_infeasible(problem) if said is None and problem.mode == "mixed" else said

    def verify(self, problem: AllocationProblem, mapping: Allocation) -> ShownVerdict:
        from mapper.models.pe_allocation.placement import links_json, placement_json

        verdict = verify(problem, mapping)
        cost = verdict.cost
        if cost is None:
            return ShownVerdict(verdict.broken, None, None, None)
        breakdown = {
            **cost.breakdown_json(problem.network.names),
            "placement": placement_json(problem.network, problem.machine, mapping),
        }
        if mapping.placement is not None and not verdict.broken:
            z_out = [timing.z_out for timing in cost.timed]
            breakdown["links"] = links_json(problem.network, problem.machine, mapping, z_out)
        return ShownVerdict(verdict.broken, cost.cost_json(), breakdown, problem.value(cost))

    def read_mapping(self, fields: Mapping[str, Any], problem: AllocationProblem, source: str) -> Allocation:
        return allocation_from_json(fields, problem.network.names, source)

    def shown(self, problem: AllocationProblem, mapping: Allocation) -> NamedAllocation:
        return NamedAllocation(problem.network, mapping)

    def pieces(self, shown: JsonValue) -> Any:
        assert isinstance(shown, NamedAllocation)
        placed = shown.allocation.placement
        bound = None if placed is None else placed.bound
        return {"wiring_bound": bound, "unplaceable": shown.allocation.unplaceable}

    def with_pieces(self, mapping: Allocation, pieces: Any) -> Allocation:
        bound, unplaceable = pieces["wiring_bound"], pieces["unplaceable"]
        if type(unplaceable) is not bool or (bound is not None and type(bound) is not int):
            raise TypeError("no bound of a wiring")
        placed = mapping.placement
        placed = None if placed is None else replace(placed, bound=bound)
        return replace(mapping, placement=placed, unplaceable=unplaceable)

    def describe(self, problem: AllocationProblem, part: Part) -> list[str]:
        from mapper.kind.pe_allocation.view import allocation_lines

        assert isinstance(part.mapping, NamedAllocation)
        return allocation_lines(problem, part.mapping.allocation)

    def total(self, costs: list[dict[str, Any]]) -> dict[str, Any]:
        return dict(costs[0])

    def structure(self, value: LayerNetwork) -> dict[str, Any]:
        return operator_structure(value)

    def read_structure(self, structure: Mapping[str, Any], name: str, source: str) -> LayerNetwork:
        return read_operator_structure(structure, source)

    def located(self, value: LayerNetwork, inputs: tuple[InputFile, ...]) -> LayerNetwork:
        return replace(value, operators=replace(value.operators, files=inputs))

    def formulation(self, problem: AllocationProblem) -> Formulation:
        from mapper.formulations.pe_allocation.program.ilp import build

        if problem.mode == "mixed" and problem.model == "streaming":
            # Each run is a problem of layers that work at once; this is the one of all layers.
            return build(replace(problem, mode="layer-parallel", sharing=False, segments=None))
        if problem.mode == "mixed":
            from mapper.formulations.pe_allocation.program.mixed.ilp import build as build_mixed

            return build_mixed(problem)
        return build(problem)

    def remarks(self, problem: AllocationProblem, formulation: Formulation) -> list[str]:
        from mapper.formulations.pe_allocation.bound import paced_allocation
        from mapper.formulations.pe_allocation.infeasible import why_infeasible
        from mapper.formulations.pe_allocation.program.sequential.closed_form import best_sequential
        from mapper.kind.pe_allocation.view import adjustment_lines, fusion_lines

        found: Allocation | None = None
        if why_infeasible(problem) is not None:
            pass
        elif problem.mode == "layer-by-layer":
            found = best_sequential(problem)
        else:
            found = paced_allocation(problem)
        lines = [] if found is None else adjustment_lines(problem, found)
        if problem.mode != "mixed":
            return lines
        if problem.model == "streaming":
            lines.append(RUNS_APART)
        return lines + fusion_lines(problem)

    def proof_lines(self, proof: Mapping[str, Any], reason: str) -> list[str]:
        from mapper.kind.pe_allocation.words import proof_lines

        return proof_lines(proof, reason)

    def proof_picture(self, proof: Mapping[str, Any], reason: str) -> list[Element]:
        from mapper.kind.pe_allocation.picture import proof_picture

        return proof_picture(proof)

    def words(self, problem: AllocationProblem, part: Part) -> ProofWords:
        from mapper.kind.pe_allocation.words import WORDS

        return WORDS

    def picture(
        self, problem: AllocationProblem, mapping: Allocation, part: Part, prefix: str, most: int
    ) -> list[Element]:
        from mapper.kind.pe_allocation.picture import allocation_picture

        return allocation_picture(problem, mapping, prefix)

    def simulate(self, part: AllocationPart, mapping: Allocation, seed: int) -> dict[str, Any]:
        from mapper.kind.pe_allocation.numbers import given_numbers
        from mapper.kind.pe_allocation.view import simulated_lines
        from mapper.sim.pe_allocation import report

        result = report(part.problem, mapping, seed, given_numbers(part.workload, seed))
        return {**result, "notes": simulated_lines(result)}

    def simulate_words(self, part: AllocationPart, mapping: Allocation, seed: int) -> dict[str, Any]:
        from mapper.kind.pe_allocation.numbers import given_numbers
        from mapper.kind.pe_allocation.view import simulated_lines, word_lines
        from mapper.sim.pe_allocation import report

        result = report(part.problem, mapping, seed, given_numbers(part.workload, seed), words=True)
        return {**result, "notes": [*simulated_lines(result), *word_lines(result["words"])]}

    def generate(self, part: AllocationPart, mapping: Allocation, seed: int) -> dict[str, str | bytes]:
        from mapper.codegen.pe_allocation import constants, generate
        from mapper.codegen.pe_allocation.words import generate_words
        from mapper.kind.pe_allocation.numbers import planned
        from mapper.models.pe_allocation.configuration.configuration import configure
        from mapper.sim.pe_allocation.data import seeded

        problem = part.problem
        plan, origin = planned(part, seed)
        configuration = configure(problem.network, problem.machine, mapping, problem.model)
        layers = seeded(configuration, 1, seed).layers
        if plan is not None:
            configuration, layers = plan.configured(configuration), tuple(one.data for one in plan.layers)
        words = generate_words(configuration, problem.machine, layers)
        return {**generate(problem, mapping, plan, origin), **constants(plan), **words}


def _problem(
    network: StreamNetwork, machine: TcpaMachine, objective: ObjectiveName, options: Options, fixed: Fixed
) -> AllocationProblem:
    longest = None
    if options.min_throughput is not None and not math.isfinite(options.min_throughput):
        raise InputError(
            "--min-throughput", str(options.min_throughput), "is not a number of frames per second"
        )
    if options.min_throughput:
        # What was typed counts, not its nearest binary fraction.
        longest = int(machine.clock_hz / Fraction(repr(options.min_throughput)))
    return AllocationProblem(
        network,
        machine,
        objective,
        cast(Model, options.model),
        fixed.mode,
        longest,
        options.max_pes or 0,
        options.max_buffer,
        fixed.sharing,
        fixed.free_delta,
        fixed.pins,
        fixed.segments,
    )


def _skipped(network: LayerNetwork) -> list[dict[str, Any]]:
    """What runs on the tile's processor."""
    streams = stream_network(network)
    macs = network.macs or 1
    return [
        {
            "name": layer.name,
            "op": layer.op,
            "reason": layer.reason,
            "macs": layer.macs,
            "share_of_macs": layer.macs / macs,
            "share_of_time": None,
        }
        for layer in streams.host
    ]


PE_ALLOCATION = WorkloadKind(PeAllocation(), NestAllocation(), RecurrenceAllocation())
