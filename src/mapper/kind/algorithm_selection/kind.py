"""The kind ``algorithm_selection``: networks on the DYNAMAP overlay, and PBQP instances as such [Meng2021]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from mapper.arch.overlay import OverlayMachine
from mapper.formulations.algorithm_selection.problem import SelectionProblem
from mapper.formulations.objective import DSPS, EDP, LATENCY, VALUE
from mapper.formulations.objective import Objective as Goal
from mapper.formulations.pbqp.problem import PbqpProblem
from mapper.kind.algorithm_selection import part as selection_part
from mapper.kind.kind import JsonValue, Judged, Kind, Options, Part, PosedPart, Workload
from mapper.kind.operator_structure import operator_structure, read_operator_structure
from mapper.kind.pbqp import part as pbqp_part
from mapper.models.algorithm_selection.mapping_file import selection_from_json
from mapper.models.pbqp.mapping import assignment_from_json
from mapper.solver.method import Method
from mapper.workloads.document import InputError
from mapper.workloads.graph.kernel_source import is_kernel
from mapper.workloads.network.network_layer import LayerNetwork
from mapper.workloads.pbqp.file import is_pbqp
from mapper.workloads.pbqp.instance import PbqpInstance

Value = LayerNetwork | PbqpInstance
Problem = SelectionProblem | PbqpProblem


class AlgorithmSelection(Kind):
    """A network is one part, for the least latency; a PBQP instance is one, for the least value."""

    name: ClassVar[str] = "algorithm_selection"
    objectives: ClassVar[tuple[Goal, ...]] = (LATENCY, EDP, DSPS, VALUE)
    options: ClassVar[frozenset[str]] = frozenset({"fix", "min_throughput", "max_pes"})
    leaves_out: ClassVar[tuple[str, ...]] = (
        "pools, additions, LRN, softmax and concatenations run beside the array in no time",
        "transfers of maps and weights are hidden or free where the machine's file says so",
    )

    def peak(self, machine: OverlayMachine) -> int:
        return machine.pes

    def layer_times(self, problem: Problem, part: Part) -> dict[str, float]:
        """The time of each layer's products, layouts apart."""
        if isinstance(problem, PbqpProblem):
            return {}
        assert part.breakdown is not None
        clock = problem.network.machine.clock_hz
        return {name: 1e3 * one["cycles"] / clock for name, one in part.breakdown["layers"].items()}

    def objectives_of(self, value: Value) -> tuple[Goal, ...]:
        return (VALUE,) if isinstance(value, PbqpInstance) else (LATENCY, EDP, DSPS)

    def read(self, text: str, batch: int | None) -> Workload:
        if is_pbqp(text):
            if batch is not None:
                raise InputError("--batch", str(batch), "a PBQP instance has no batch; leave it out")
            return pbqp_part.read_instance(text)
        if is_kernel(text):
            raise InputError(text, "", "is a kernel, which the overlay does not run; try --arch srp-4x4")
        return selection_part.read_network(text, batch)

    def pose(
        self, value: Value, machine: OverlayMachine | None, objective: str, options: Options
    ) -> tuple[PosedPart, ...]:
        if isinstance(value, PbqpInstance):
            return pbqp_part.pose_instance(value, options)
        assert machine is not None
        return selection_part.pose_network(value, machine, objective, options)

    def left_out(self, value: Value, machine: OverlayMachine | None) -> tuple[dict[str, Any], ...]:
        if isinstance(value, PbqpInstance) or machine is None:
            return ()
        return selection_part.skipped(value, machine)

    def methods(self) -> dict[str, Method[Any, Any]]:
        from mapper.solver.algorithm_selection.catalogue import METHODS as NETWORK_METHODS
        from mapper.solver.pbqp.catalogue import METHODS as PBQP_METHODS

        return {**PBQP_METHODS, **NETWORK_METHODS}

    def methods_of(self, value: Value) -> dict[str, Method[Any, Any]]:
        if isinstance(value, PbqpInstance):
            from mapper.solver.pbqp.catalogue import METHODS as PBQP_METHODS

            return dict(PBQP_METHODS)
        from mapper.solver.algorithm_selection.catalogue import METHODS as NETWORK_METHODS

        return dict(NETWORK_METHODS)

    def why_infeasible(self, problem: Problem) -> str | None:
        from mapper.formulations.algorithm_selection import infeasible as of_network
        from mapper.formulations.pbqp import infeasible as of_instance

        if isinstance(problem, PbqpProblem):
            return of_instance.impossible(problem)
        return of_network.impossible(problem)

    def slack(self, problem: Problem, value: int | float) -> float:
        return pbqp_part.rounding(problem) if isinstance(problem, PbqpProblem) else 0.0

    def judge(self, problem: Problem, mapping: Any) -> Judged:
        if isinstance(problem, PbqpProblem):
            return pbqp_part.judge_assignment(problem, mapping)
        return selection_part.judge_selection(problem, mapping)

    def read_mapping(self, fields: Mapping[str, Any], problem: Problem, source: str) -> Any:
        if isinstance(problem, PbqpProblem):
            return assignment_from_json(fields, problem.instance, source)
        return selection_from_json(fields, problem.network, source)

    def shown(self, problem: Problem, mapping: Any) -> JsonValue:
        if isinstance(problem, PbqpProblem):
            shown: JsonValue = mapping
            return shown
        return selection_part.NamedSelection(problem.network, mapping)

    def describe(self, problem: Problem, part: Part) -> list[str]:
        if isinstance(problem, PbqpProblem):
            return pbqp_part.describe_assignment(problem, part)
        return selection_part.describe_selection(problem, part)

    def total(self, costs: list[dict[str, Any]]) -> dict[str, Any]:
        return dict(costs[0])

    def structure(self, value: Value) -> dict[str, Any]:
        if isinstance(value, PbqpInstance):
            return pbqp_part.instance_structure(value)
        return operator_structure(value)

    def read_structure(self, structure: Mapping[str, Any], name: str, source: str) -> Value:
        if "pbqp" in structure:
            return pbqp_part.read_instance_structure(structure, name, source)
        return read_operator_structure(structure, source)

    def formulation(self, problem: Problem) -> Any:
        from mapper.formulations.pbqp.program.ilp import PbqpProgram

        instance = problem if isinstance(problem, PbqpProblem) else selection_part.cost_problem(problem)
        program = PbqpProgram(instance)
        program.build()
        return program

    def compared(self, problem: Problem, mappings: Mapping[str, Any]) -> list[str]:
        if isinstance(problem, PbqpProblem):
            return []
        return selection_part.compared_lines(problem, mappings)

    def remarks(self, problem: Problem, formulation: Any) -> list[str]:
        from mapper.kind.pbqp.view import reduction_lines

        names = None if isinstance(problem, PbqpProblem) else selection_part.cost_names(problem)
        return reduction_lines(formulation.problem, names)

    def simulate(self, part: PosedPart, mapping: Any, seed: int) -> dict[str, Any]:
        from mapper.sim.algorithm_selection import report

        if isinstance(part.problem, PbqpProblem):
            raise InputError(
                "simulate", part.name, "a PBQP instance runs on nothing; simulate a network's solution"
            )
        return report(part.problem, mapping, part.workload, seed)

    def simulate_rtl(self, part: PosedPart, mapping: Any, seed: int) -> dict[str, Any]:
        from mapper.sim.algorithm_selection.rtl.machine import check_size
        from mapper.sim.algorithm_selection.rtl.network import report_rtl

        if isinstance(part.problem, PbqpProblem):
            raise InputError("--rtl", part.name, "a PBQP instance becomes no Verilog; leave it out")
        check_size(mapping.array)
        control, files = selection_part.overlay_of(part, mapping)
        result = report_rtl(control, part.workload, files, seed)
        said = f"Verilog: {len(result['steps'])} steps run on {mapping.array[0]}x{mapping.array[1]} PEs, "
        said += "every word equal" if result["outputs_equal"] else "words DIFFER"
        beside = f"; beside it: {', '.join(result['beside'])}" if result["beside"] else ""
        return {**result, "notes": [said + beside]}

    def generate(self, part: PosedPart, mapping: Any, seed: int) -> dict[str, str]:
        from mapper.codegen.algorithm_selection.picture import picture

        if isinstance(part.problem, PbqpProblem):
            raise InputError(
                "generate", part.name, "a PBQP instance becomes no code; generate a network's solution"
            )
        _, files = selection_part.overlay_of(part, mapping)
        return {**files, "network.svg": picture(part.problem.network, mapping)}


ALGORITHM_SELECTION = AlgorithmSelection()
