"""The kind ``pbqp``: instances as such, without a machine [Meng2021, sec. 4]. Documents say ``algorithm_selection``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar
from xml.etree.ElementTree import Element

from mapper.formulations.formulation import Formulation
from mapper.formulations.objective import VALUE, Objective
from mapper.formulations.pbqp.problem import PbqpProblem
from mapper.kind.kind import Kind
from mapper.kind.part import JsonValue, Options, Part, ShownVerdict, Workload
from mapper.kind.pbqp import part as pbqp_part
from mapper.kind.pbqp.part import InstancePart
from mapper.kind.words import ProofWords
from mapper.models.pbqp.mapping import PbqpAssignment
from mapper.models.pbqp.mapping_file import assignment_from_json
from mapper.solver.method import Effort, Method
from mapper.solver.proof import Claim, Proof
from mapper.workloads.document import InputError
from mapper.workloads.network.network import Dims
from mapper.workloads.pbqp.instance import PbqpInstance


class Pbqp(Kind[PbqpInstance, PbqpProblem, PbqpAssignment]):
    """An instance is one part, for the least value."""

    name: ClassVar[str] = "algorithm_selection"
    objectives: ClassVar[tuple[Objective, ...]] = (VALUE,)
    options: ClassVar[frozenset[str]] = frozenset({"fix", "min_throughput", "max_pes"})
    leaves_out: ClassVar[tuple[str, ...]] = ()

    def peak(self, machine: None) -> int:
        raise InputError("--arch", "", "a PBQP instance has no machine; leave it out")

    def layer_times(self, problem: PbqpProblem, part: Part) -> dict[str, float]:
        return {}

    def read(self, text: str, batch: int | None, dims: Dims) -> Workload[PbqpInstance]:
        if batch is not None:
            raise InputError("--batch", str(batch), "a PBQP instance has no batch; leave it out")
        return pbqp_part.read_instance(text)

    def pose(
        self, value: PbqpInstance, machine: None, objective: Objective, options: Options
    ) -> tuple[InstancePart, ...]:
        return pbqp_part.pose_instance(value, options)

    def methods(self) -> dict[str, Method[PbqpProblem, PbqpAssignment]]:
        from mapper.solver.pbqp.catalogue import METHODS

        return dict(METHODS)

    @property
    def proof_kind(self) -> str:
        return "pbqp"

    def prove(self, problem: PbqpProblem, claim: Claim[PbqpAssignment], effort: Effort) -> Proof:
        from mapper.solver.pbqp.proof import prove

        return prove(problem, claim, effort)

    def restated(self, problem: PbqpProblem) -> Mapping[str, Any] | None:
        from mapper.solver.pbqp.proof import restated

        return restated(problem)

    def why_infeasible(self, problem: PbqpProblem) -> str | None:
        from mapper.formulations.pbqp.infeasible import why_infeasible

        return why_infeasible(problem)

    def slack(self, problem: PbqpProblem, value: int | float) -> float:
        return pbqp_part.rounding(problem)

    def verify(self, problem: PbqpProblem, mapping: PbqpAssignment) -> ShownVerdict:
        return pbqp_part.verify_assignment(problem, mapping)

    def read_mapping(self, fields: Mapping[str, Any], problem: PbqpProblem, source: str) -> PbqpAssignment:
        return assignment_from_json(fields, problem.instance, source)

    def shown(self, problem: PbqpProblem, mapping: PbqpAssignment) -> JsonValue:
        return mapping

    def describe(self, problem: PbqpProblem, part: Part) -> list[str]:
        from mapper.kind.pbqp.view import assignment_lines

        assert isinstance(part.mapping, PbqpAssignment)
        return assignment_lines(problem, part.mapping)

    def total(self, costs: list[dict[str, Any]]) -> dict[str, Any]:
        return dict(costs[0])

    def structure(self, value: PbqpInstance) -> dict[str, Any]:
        return pbqp_part.instance_structure(value)

    def read_structure(self, structure: Mapping[str, Any], name: str, source: str) -> PbqpInstance:
        return pbqp_part.read_instance_structure(structure, name, source)

    def formulation(self, problem: PbqpProblem) -> Formulation:
        from mapper.formulations.pbqp.program.ilp import PbqpProgram

        program = PbqpProgram(problem)
        program.build()
        return program

    def remarks(self, problem: PbqpProblem, formulation: Formulation) -> list[str]:
        from mapper.formulations.pbqp.program.ilp import PbqpProgram
        from mapper.kind.pbqp.view import reduction_lines

        assert isinstance(formulation, PbqpProgram)
        return reduction_lines(formulation.problem, None)

    def proof_lines(self, proof: Mapping[str, Any], reason: str) -> list[str]:
        from mapper.kind.pbqp.words import proof_lines

        return proof_lines(proof, reason)

    def proof_picture(self, proof: Mapping[str, Any], reason: str) -> list[Element]:
        from mapper.kind.pbqp.picture import proof_picture

        return proof_picture(proof)

    def words(self, problem: PbqpProblem, part: Part) -> ProofWords:
        from mapper.kind.pbqp.words import WORDS

        return WORDS

    def picture(
        self, problem: PbqpProblem, mapping: PbqpAssignment, part: Part, prefix: str, most: int
    ) -> list[Element]:
        from mapper.kind.pbqp.picture import instance_picture

        return instance_picture(problem, mapping)

    def simulate(self, part: InstancePart, mapping: PbqpAssignment, seed: int) -> dict[str, Any]:
        raise InputError(
            "simulate", part.name, "a PBQP instance cannot be simulated; simulate a network's solution"
        )

    def simulate_rtl(self, part: InstancePart, mapping: PbqpAssignment, seed: int) -> dict[str, Any]:
        raise InputError("--rtl", part.name, "a PBQP instance has no Verilog; leave it out")

    def generate(self, part: InstancePart, mapping: PbqpAssignment, seed: int) -> dict[str, str]:
        raise InputError(
            "generate", part.name, "there is no code for a PBQP instance; generate a network's solution"
        )


PBQP = Pbqp()
