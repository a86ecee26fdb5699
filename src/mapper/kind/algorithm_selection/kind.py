"""The kind ``algorithm_selection``: networks on the DYNAMAP overlay [Meng2021]."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar
from xml.etree.ElementTree import Element

from mapper.arch.overlay import OverlayMachine
from mapper.formulations.algorithm_selection.problem import SelectionProblem
from mapper.formulations.formulation import Formulation
from mapper.formulations.objective import DSPS, EDP, LATENCY, Objective
from mapper.kind.algorithm_selection import part as selection_part
from mapper.kind.algorithm_selection.part import SelectionPart
from mapper.kind.kind import Kind
from mapper.kind.operator_structure import operator_structure, read_operator_structure
from mapper.kind.part import JsonValue, Options, Part, ShownVerdict, Workload
from mapper.kind.words import ProofWords
from mapper.models.algorithm_selection.mapping import Selection
from mapper.models.algorithm_selection.mapping_file import selection_from_json
from mapper.solver.method import Effort, Method
from mapper.solver.proof import Claim, Proof
from mapper.workloads.document import InputError
from mapper.workloads.graph.kernel_source import is_kernel
from mapper.workloads.network.network import Dims, InputFile
from mapper.workloads.network.network_layer import LayerNetwork


class AlgorithmSelection(Kind[LayerNetwork, SelectionProblem, Selection]):
    """A network is one part, for the least latency."""

    name: ClassVar[str] = "algorithm_selection"
    objectives: ClassVar[tuple[Objective, ...]] = (LATENCY, EDP, DSPS)
    options: ClassVar[frozenset[str]] = frozenset({"fix", "min_throughput", "max_pes"})
    leaves_out: ClassVar[tuple[str, ...]] = (
        "LRN and softmax run beside the array and take no time, and so do pools, additions and concatenations where "
        "the machine's file has no engines",
        "transfers of maps and weights are hidden or free where the machine's file says so",
    )

    def peak(self, machine: OverlayMachine) -> int:
        return machine.pes

    def in_a_line(self, problem: SelectionProblem, part: Part) -> str:
        from mapper.kind.algorithm_selection.view import one_line

        return one_line(part)

    def layer_times(self, problem: SelectionProblem, part: Part) -> dict[str, float]:
        """The time of each layer's products, layouts apart."""
        assert part.breakdown is not None
        clock = problem.network.machine.clock_hz
        return {name: 1e3 * one["cycles"] / clock for name, one in part.breakdown["layers"].items()}

    def read(self, text: str, batch: int | None, dims: Dims) -> Workload[LayerNetwork]:
        if is_kernel(text):
            raise InputError(text, "", "is a kernel, which the overlay does not run; try --arch srp-4x4")
        return selection_part.read_network(text, batch, dims)

    def pose(
        self, value: LayerNetwork, machine: OverlayMachine, objective: Objective, options: Options
    ) -> tuple[SelectionPart, ...]:
        return selection_part.pose_network(value, machine, objective, options)

    def left_out(self, value: LayerNetwork, machine: OverlayMachine) -> tuple[dict[str, Any], ...]:
        return selection_part.skipped(value, machine)

    def methods(self) -> dict[str, Method[SelectionProblem, Selection]]:
        from mapper.solver.algorithm_selection.catalogue import METHODS

        return dict(METHODS)

    def prove(self, problem: SelectionProblem, claim: Claim[Selection], effort: Effort) -> Proof:
        from mapper.solver.algorithm_selection.proof import prove

        return prove(problem, claim, effort)

    def restated(self, problem: SelectionProblem) -> Mapping[str, Any] | None:
        from mapper.solver.algorithm_selection.proof import restated

        return restated(problem)

    def why_infeasible(self, problem: SelectionProblem) -> str | None:
        from mapper.formulations.algorithm_selection.infeasible import why_infeasible

        return why_infeasible(problem)

    def verify(self, problem: SelectionProblem, mapping: Selection) -> ShownVerdict:
        return selection_part.verify_selection(problem, mapping)

    def read_mapping(self, fields: Mapping[str, Any], problem: SelectionProblem, source: str) -> Selection:
        return selection_from_json(fields, problem.network, source)

    def shown(self, problem: SelectionProblem, mapping: Selection) -> JsonValue:
        return selection_part.NamedSelection(problem.network, mapping)

    def describe(self, problem: SelectionProblem, part: Part) -> list[str]:
        from mapper.kind.algorithm_selection.view import selection_lines

        return selection_lines(problem, part)

    def total(self, costs: list[dict[str, Any]]) -> dict[str, Any]:
        return dict(costs[0])

    def structure(self, value: LayerNetwork) -> dict[str, Any]:
        return operator_structure(value)

    def read_structure(self, structure: Mapping[str, Any], name: str, source: str) -> LayerNetwork:
        return read_operator_structure(structure, source)

    def located(self, value: LayerNetwork, inputs: tuple[InputFile, ...]) -> LayerNetwork:
        return replace(value, operators=replace(value.operators, files=inputs))

    def formulation(self, problem: SelectionProblem) -> Formulation:
        from mapper.formulations.pbqp.program.ilp import PbqpProgram

        program = PbqpProgram(selection_part.cost_problem(problem))
        program.build()
        return program

    def compared(self, problem: SelectionProblem, mappings: Mapping[str, JsonValue]) -> list[str]:
        from mapper.kind.algorithm_selection.view import compared_lines

        return compared_lines(problem, mappings)

    def remarks(self, problem: SelectionProblem, formulation: Formulation) -> list[str]:
        from mapper.formulations.pbqp.program.ilp import PbqpProgram
        from mapper.kind.pbqp.view import reduction_lines

        assert isinstance(formulation, PbqpProgram)
        rows, columns = selection_part.largest_array(problem)
        return [
            f"costs are those of the largest array, {rows:,} x {columns:,}",
            *reduction_lines(formulation.problem, selection_part.cost_names(problem)),
        ]

    def proof_lines(self, proof: Mapping[str, Any], reason: str) -> list[str]:
        from mapper.kind.algorithm_selection.words import proof_lines

        return proof_lines(proof, reason)

    def proof_picture(self, proof: Mapping[str, Any], reason: str) -> list[Element]:
        from mapper.kind.algorithm_selection.picture import proof_picture

        return proof_picture(proof, reason)

    def words(self, problem: SelectionProblem, part: Part) -> ProofWords:
        from mapper.kind.algorithm_selection.words import WORDS

        return WORDS

    def picture(
        self, problem: SelectionProblem, mapping: Selection, part: Part, prefix: str, most: int
    ) -> list[Element]:
        from mapper.kind.algorithm_selection.picture import network_picture

        return network_picture(problem, mapping)

    def simulate(self, part: SelectionPart, mapping: Selection, seed: int) -> dict[str, Any]:
        from mapper.kind.algorithm_selection.numbers import run_of
        from mapper.sim.algorithm_selection import report
        from mapper.sim.algorithm_selection.running import report_running

        run = run_of(part.workload, seed)
        if part.problem.machine.engines is None:
            result = report(part.problem, mapping, part.workload, seed, run)
        else:
            _, files = selection_part.overlay_of(part, mapping, run.numbers)
            timeline = {one["name"]: one["cycles"] for one in json.loads(files["overlay.json"])["steps"]}
            result = report_running(part.problem, mapping, part.workload, timeline, seed, run)
        return selection_part.with_own_numbers(result, part.workload, run)

    def simulate_rtl(self, part: SelectionPart, mapping: Selection, seed: int) -> dict[str, Any]:
        from mapper.kind.algorithm_selection.numbers import run_of
        from mapper.models.algorithm_selection.layer_cause import causes
        from mapper.sim.algorithm_selection.host import hosted
        from mapper.sim.algorithm_selection.rtl.network import report_rtl

        run = run_of(part.workload, seed)
        control, files = selection_part.overlay_of(part, mapping, run.numbers)
        cost = self.verify(part.problem, mapping).cost
        assert cost is not None
        said = causes(part.problem.network, mapping)
        result = report_rtl(control, part.workload, files, cost["cycles"], said, seed, run)
        ran = [one["name"] for one in result["steps"]]
        result["host"] = hosted(part.workload, ran, part.problem.machine)
        return {**result, "notes": selection_part.rtl_lines(result, mapping.array)}

    def generate(self, part: SelectionPart, mapping: Selection, seed: int) -> dict[str, str | bytes]:
        from mapper.codegen.algorithm_selection.picture import picture
        from mapper.kind.algorithm_selection.inference import run_files
        from mapper.kind.algorithm_selection.numbers import run_of

        numbers = run_of(part.workload, seed).numbers
        _, files = selection_part.overlay_of(part, mapping, numbers)
        files |= run_files(part.workload, part.problem.network, mapping, numbers, files)
        return {**files, "network.svg": picture(part.problem.network, mapping)}


ALGORITHM_SELECTION = AlgorithmSelection()
