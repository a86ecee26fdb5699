"""The kind ``modulo_schedule``: kernels and layers of networks on CGRAs [Bae2018]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar
from xml.etree.ElementTree import Element

from mapper.arch.cgra import CgraMachine
from mapper.formulations.formulation import Formulation
from mapper.formulations.modulo_schedule.network.problem import LayerProblem
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.formulations.modulo_schedule.whole.problem import WholeProblem
from mapper.formulations.objective import II, LATENCY, Objective
from mapper.kind.kind import Kind
from mapper.kind.modulo_schedule.given_placement import routed
from mapper.kind.modulo_schedule.kernel_part import NamedSchedule, pose_kernel, verify_kernel
from mapper.kind.modulo_schedule.layer_part import (
    NamedLayer,
    least_intervals,
    pose_layers,
    read_layer,
    read_layers,
    total_cost,
    verify_layer,
    with_least_intervals,
)
from mapper.kind.modulo_schedule.whole.part import (
    NamedWhole,
    generated_whole,
    pose_whole,
    verify_whole_kernel,
    whole_mapping,
    with_least,
)
from mapper.kind.modulo_schedule.whole.source import read_loops, whole_document, whole_from_document
from mapper.kind.operator_structure import operator_structure, read_operator_structure
from mapper.kind.part import JsonValue, Options, Part, ProblemPart, ShownVerdict, Workload
from mapper.kind.words import ProofWords
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.models.modulo_schedule.mapping_file import schedule_from_json
from mapper.models.modulo_schedule.network.mapping import LayerMapping
from mapper.models.modulo_schedule.neura_mapping import COMPILED_II, neura_document, placements_from_neura
from mapper.models.modulo_schedule.whole.mapping import WholeMapping
from mapper.solver.method import Effort, Method
from mapper.solver.proof import Claim, Proof
from mapper.workloads.c.reading import AS_WRITTEN, SourceReading
from mapper.workloads.document import InputError
from mapper.workloads.graph.document import kernel_document, kernel_from_document
from mapper.workloads.graph.kernel import Kernel
from mapper.workloads.graph.kernel_source import is_kernel
from mapper.workloads.network.network import Dims, InputFile
from mapper.workloads.network.network_layer import LayerNetwork
from mapper.workloads.whole.program import WholeKernel

Value = Kernel | WholeKernel | LayerNetwork
Problem = ModuloProblem | WholeProblem | LayerProblem
Answer = ModuloSchedule | WholeMapping | LayerMapping


class ModuloScheduling(Kind[Value, Problem, Answer]):
    """A kernel is one part, for the least initiation interval; a network has a part for every layer, for the
    fewest cycles."""

    name: ClassVar[str] = "modulo_schedule"
    objectives: ClassVar[tuple[Objective, ...]] = (II, LATENCY)
    options: ClassVar[frozenset[str]] = frozenset({"fix"})
    closes_gaps: ClassVar[bool] = True

    leaves_out: ClassVar[tuple[str, ...]] = (
        "maps and weights are in the SRAM from the start: no transfers from the external memory",
        "latencies of VLIW code, links and units that the paper does not publish are this project's",
    )

    def peak(self, machine: CgraMachine) -> int:
        """One operation of each PE, as if sums, loads and addresses took none."""
        return len(machine.all_pes)

    def in_a_line(self, problem: Problem, part: Part) -> str | None:
        from mapper.kind.modulo_schedule.view import one_line

        return one_line(problem, part) if isinstance(problem, LayerProblem) else None

    def objectives_of(self, value: Value) -> tuple[Objective, ...]:
        return (II,) if isinstance(value, Kernel) else (LATENCY,)

    def usual_fix(self, value: Value, given: Mapping[str, str]) -> dict[str, str]:
        return {"nest": value.nest} if isinstance(value, WholeKernel) else {}

    def read(self, text: str, batch: int | None, dims: Dims) -> Workload[Value]:
        return self.read_source(text, batch, dims, AS_WRITTEN, {})

    def read_source(
        self, text: str, batch: int | None, dims: Dims, source: SourceReading, fix: Mapping[str, str]
    ) -> Workload[Value]:
        if not is_kernel(text):
            return read_layers(text, batch, dims)
        if batch is not None:
            raise InputError("--batch", str(batch), "a kernel has no batch; leave it out")
        return read_loops(text, source, fix)

    def pose(
        self, value: Value, machine: CgraMachine, objective: Objective, options: Options
    ) -> tuple[ProblemPart[Value, Problem], ...]:
        if isinstance(value, LayerNetwork):
            return pose_layers(value, machine, options.fix)
        if isinstance(value, WholeKernel):
            return pose_whole(value, machine, options.fix)
        return pose_kernel(value, machine, options.fix)

    def methods(self) -> dict[str, Method[Problem, Answer]]:
        from mapper.solver.modulo_schedule.network.catalogue import METHODS

        return dict(METHODS)

    def methods_of(self, value: Value) -> dict[str, Method[Problem, Answer]]:
        from mapper.solver.modulo_schedule.network.catalogue import METHODS, OF_NETWORKS

        return dict(OF_NETWORKS if isinstance(value, LayerNetwork) else METHODS)

    def prove(self, problem: Problem, claim: Claim[Answer], effort: Effort) -> Proof:
        from mapper.solver.modulo_schedule.proof import prove

        return prove(problem, claim, effort)

    def restated(self, problem: Problem) -> Mapping[str, Any] | None:
        from mapper.solver.modulo_schedule.proof import restated

        return restated(problem)

    def alone(self, problem: Problem) -> str | None:
        return repr((problem.space, problem.layer.op)) if isinstance(problem, LayerProblem) else None

    def verify(self, problem: Problem, mapping: Answer) -> ShownVerdict:
        if isinstance(problem, LayerProblem):
            return verify_layer(problem, _layer(mapping))
        if isinstance(problem, WholeProblem):
            return verify_whole_kernel(problem, _whole(mapping))
        return verify_kernel(problem, _schedule(mapping))

    def mapping_document(self, data: bytes, source: str) -> dict[str, Any]:
        return neura_document(data, source) or super().mapping_document(data, source)

    def read_mapping(self, fields: Mapping[str, Any], problem: Problem, source: str) -> Answer:
        if isinstance(problem, LayerProblem):
            return read_layer(fields, problem, source)
        if isinstance(problem, WholeProblem):
            return whole_mapping(fields, problem, source)
        if COMPILED_II in fields:
            return routed(problem, *placements_from_neura(fields, problem.kernel, source), source)
        return schedule_from_json(fields, problem.kernel, source)

    def shown(self, problem: Problem, mapping: Answer) -> JsonValue:
        if isinstance(problem, LayerProblem):
            return NamedLayer(problem, _layer(mapping))
        if isinstance(problem, WholeProblem):
            return NamedWhole(problem, _whole(mapping))
        return NamedSchedule(problem.kernel, _schedule(mapping))

    def pieces(self, shown: JsonValue) -> Any:
        if isinstance(shown, NamedWhole):
            return list(shown.mapping.least)
        return least_intervals(shown.mapping) if isinstance(shown, NamedLayer) else None

    def with_pieces(self, mapping: Answer, pieces: Any) -> Answer:
        if isinstance(mapping, ModuloSchedule):
            raise TypeError("a schedule has no pieces")
        if isinstance(mapping, WholeMapping):
            return with_least(mapping, pieces)
        return with_least_intervals(mapping, pieces)

    def describe(self, problem: Problem, part: Part) -> list[str]:
        from mapper.kind.modulo_schedule.view import kernel_lines, layer_lines

        if isinstance(problem, WholeProblem):
            from mapper.kind.modulo_schedule.whole.view import whole_lines

            return whole_lines(problem, part)
        if isinstance(problem, LayerProblem):
            return layer_lines(problem, part)
        return kernel_lines(problem, part)

    def total(self, costs: list[dict[str, Any]]) -> dict[str, Any]:
        return dict(costs[0]) if len(costs) == 1 else total_cost(costs)

    def structure(self, value: Value) -> dict[str, Any]:
        if isinstance(value, WholeKernel):
            return {"whole": whole_document(value)}
        return (
            operator_structure(value)
            if isinstance(value, LayerNetwork)
            else {"kernel": kernel_document(value)}
        )

    def read_structure(self, structure: Mapping[str, Any], name: str, source: str) -> Value:
        if "operators" in structure:
            return read_operator_structure(structure, source)
        if "whole" in structure:
            return whole_from_document(structure["whole"], f"{source}: problem.structure.whole")
        fields = structure.get("kernel")
        if not isinstance(fields, dict):
            raise InputError(source, "problem.structure.kernel", "must hold the kernel's graph")
        return kernel_from_document(fields, f"{source}: problem.structure.kernel")

    def located(self, value: Value, inputs: tuple[InputFile, ...]) -> Value:
        if isinstance(value, Kernel | WholeKernel):
            return value
        return replace(value, operators=replace(value.operators, files=inputs))

    def remarks(self, problem: Problem, formulation: Formulation) -> list[str]:
        from mapper.kind.modulo_schedule.whole.remark import whole_remarks

        return whole_remarks(problem) if isinstance(problem, WholeProblem) else []

    def source_remarks(
        self, text: str, value: Value, machine: CgraMachine, source: SourceReading
    ) -> list[str]:
        from mapper.kind.modulo_schedule.pass_remark import pass_remarks
        from mapper.kind.modulo_schedule.whole.remark import whole_pass_remarks

        if isinstance(value, WholeKernel):
            return whole_pass_remarks(value, machine, source)
        return pass_remarks(text, machine, source)

    def formulation(self, problem: Problem) -> Formulation:
        return self._program(problem, counted=True)

    def model(self, problem: Problem) -> Formulation:
        return self._program(problem, counted=False)

    def _program(self, problem: Problem, counted: bool) -> Formulation:
        from mapper.formulations.modulo_schedule.network.program.choice import LayerFormulation
        from mapper.formulations.modulo_schedule.program.counting import CountedProgram
        from mapper.formulations.modulo_schedule.program.cp_sat import ModuloProgram, instance_to_explain
        from mapper.formulations.modulo_schedule.whole.program import WholeFormulation

        if isinstance(problem, WholeProblem):
            return WholeFormulation(problem)
        if isinstance(problem, LayerProblem):
            return LayerFormulation(problem)
        program = (CountedProgram if counted else ModuloProgram)(instance_to_explain(problem))
        program.build()
        return program

    def proof_lines(self, proof: Mapping[str, Any], reason: str) -> list[str]:
        from mapper.kind.modulo_schedule.words import proof_lines

        return proof_lines(proof, reason)

    def proof_picture(self, proof: Mapping[str, Any], reason: str) -> list[Element]:
        from mapper.kind.modulo_schedule.picture import proof_picture

        return proof_picture(proof)

    def words(self, problem: Problem, part: Part) -> ProofWords:
        from mapper.kind.modulo_schedule.words import LAYER_WORDS, WHOLE_WORDS, kernel_words

        if isinstance(problem, WholeProblem):
            return WHOLE_WORDS
        return LAYER_WORDS if isinstance(problem, LayerProblem) else kernel_words(part)

    def picture(self, problem: Problem, mapping: Answer, part: Part, prefix: str, most: int) -> list[Element]:
        from mapper.kind.modulo_schedule.picture import kernel_picture, layer_picture

        if isinstance(problem, LayerProblem):
            return layer_picture(problem, _layer(mapping), prefix, most)
        if isinstance(problem, WholeProblem):
            loops = zip(problem.choice(_whole(mapping).nest).loops, _whole(mapping).loops, strict=True)
            drawn = [kernel_picture(loop, own, f"{prefix}{at}-") for at, (loop, own) in enumerate(loops)]
            return [element for one in drawn for element in one]
        return kernel_picture(problem, _schedule(mapping), prefix)

    def simulate(self, part: ProblemPart[Value, Problem], mapping: Answer, seed: int) -> dict[str, Any]:
        from mapper.sim.modulo_schedule import report
        from mapper.sim.modulo_schedule.layer import report_layer

        problem = part.problem
        if isinstance(problem, LayerProblem):
            from mapper.kind.modulo_schedule.layer_run import with_whole_run

            assert isinstance(part.workload, LayerNetwork)
            found = report_layer(problem, _layer(mapping), seed)
            return with_whole_run(found, part.workload, problem, _layer(mapping), seed)
        if isinstance(problem, WholeProblem):
            from mapper.sim.modulo_schedule.whole.report import report_whole

            return report_whole(problem, _whole(mapping), seed)
        return report(problem.kernel, problem.machine, _schedule(mapping), seed)

    def generate(self, part: ProblemPart[Value, Problem], mapping: Answer, seed: int) -> dict[str, str]:
        from mapper.codegen.modulo_schedule import generate
        from mapper.codegen.modulo_schedule.layer import generate_layer

        problem = part.problem
        if isinstance(problem, LayerProblem):
            return generate_layer(problem, _layer(mapping))
        if isinstance(problem, WholeProblem):
            return generated_whole(problem, _whole(mapping))
        return generate(problem.kernel, problem.machine, _schedule(mapping))

    def generate_whole(
        self, value: Value, answered: Sequence[tuple[Problem, Answer]], seed: int
    ) -> Mapping[str, str | bytes]:
        if isinstance(value, Kernel | WholeKernel):
            return {}
        from mapper.kind.modulo_schedule.network_program import generated_network

        layers = [
            (problem, _layer(mapping)) for problem, mapping in answered if isinstance(problem, LayerProblem)
        ]
        return generated_network(value, layers, seed)


def _whole(mapping: Answer) -> WholeMapping:
    """The answer to a whole kernel's problem."""
    if not isinstance(mapping, WholeMapping):
        raise TypeError("a whole kernel is answered by a mapping of its loops")
    return mapping


def _layer(mapping: Answer) -> LayerMapping:
    """The answer to a layer's problem."""
    if not isinstance(mapping, LayerMapping):
        raise TypeError("a layer is answered by a mapping of its loops")
    return mapping


def _schedule(mapping: Answer) -> ModuloSchedule:
    """The answer to a kernel's problem."""
    if not isinstance(mapping, ModuloSchedule):
        raise TypeError("a kernel is answered by a schedule")
    return mapping


MODULO_SCHEDULING = ModuloScheduling()
