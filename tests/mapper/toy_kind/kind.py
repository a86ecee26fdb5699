"""What links the toy to the commands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
from xml.etree.ElementTree import Element

from mapper.formulations.formulation import Formulation
from mapper.formulations.objective import Objective
from mapper.kind.kind import Kind
from mapper.kind.part import Options, Part, ProblemPart, ShownVerdict, Workload
from mapper.kind.words import ProofWords
from mapper.solver.method import Method
from mapper.workloads.document import InputError
from mapper.workloads.network.network import Dims
from tests.mapper.toy_kind import WORTH
from tests.mapper.toy_kind.machine import PackingMachine
from tests.mapper.toy_kind.methods import METHODS
from tests.mapper.toy_kind.model import Packing, packing_document, packing_from_document
from tests.mapper.toy_kind.picture import packing_picture
from tests.mapper.toy_kind.pins import read_fix
from tests.mapper.toy_kind.problem import PackingProblem, why_infeasible
from tests.mapper.toy_kind.program import PackingProgram
from tests.mapper.toy_kind.referee import verify
from tests.mapper.toy_kind.view import packing_lines
from tests.mapper.toy_kind.words import WORDS
from tests.mapper.toy_kind.workload import Jobs, jobs_document, jobs_from_document, read_jobs

PackingPart = ProblemPart[Jobs, PackingProblem]


@dataclass(frozen=True)
class NamedPacking:
    """A packing that knows its jobs, as documents need it."""

    jobs: Jobs
    packing: Packing

    def to_json(self) -> dict[str, Any]:
        return packing_document(self.jobs, self.packing)


class PackingKind(Kind[Jobs, PackingProblem, Packing]):
    """All jobs are one part."""

    name: ClassVar[str] = "packing"
    objectives: ClassVar[tuple[Objective, ...]] = (WORTH,)
    options: ClassVar[frozenset[str]] = frozenset({"fix"})
    leaves_out: ClassVar[tuple[str, ...]] = ("the way of the jobs to their workers",)

    def peak(self, machine: PackingMachine) -> int:
        return len(machine.cycles)

    def macs(self, text: str, batch: int | None, dims: Dims) -> int:
        return sum(job.cycles for job in read_jobs(text)[0].jobs)

    def read(self, text: str, batch: int | None, dims: Dims) -> Workload[Jobs]:
        if batch is not None:
            raise InputError("--batch", str(batch), "jobs have no batch; leave it out")
        jobs, file = read_jobs(text)
        return Workload(jobs, (file,))

    def pose(
        self, value: Jobs, machine: PackingMachine, objective: Objective, options: Options
    ) -> tuple[PackingPart, ...]:
        pins = read_fix(options.fix, value, len(machine.cycles))
        return (ProblemPart(value.name, value.name, PackingProblem(value, machine, pins), 0, value),)

    def methods(self) -> dict[str, Method[PackingProblem, Packing]]:
        return METHODS

    def why_infeasible(self, problem: PackingProblem) -> str | None:
        return why_infeasible(problem)

    def verify(self, problem: PackingProblem, mapping: Packing) -> ShownVerdict:
        verdict = verify(problem, mapping)
        cost = verdict.cost
        assert cost is not None
        shown = {
            "worth": cost.worth,
            "cycles": cost.cycles,
            "latency_ms": cost.cycles / (1e3 * problem.machine.clock_mhz),
        }
        busy = {f"worker {worker}": cycles for worker, cycles in enumerate(cost.busy)}
        return ShownVerdict(verdict.broken, shown, {"cycles": busy}, cost.worth)

    def read_mapping(self, fields: Mapping[str, Any], problem: PackingProblem, source: str) -> Packing:
        return packing_from_document(fields, problem.jobs, len(problem.machine.cycles), source)

    def shown(self, problem: PackingProblem, mapping: Packing) -> NamedPacking:
        return NamedPacking(problem.jobs, mapping)

    def describe(self, problem: PackingProblem, part: Part) -> list[str]:
        assert isinstance(part.mapping, NamedPacking)
        return packing_lines(problem, part.mapping.packing)

    def total(self, costs: list[dict[str, Any]]) -> dict[str, Any]:
        return dict(costs[0])

    def structure(self, value: Jobs) -> dict[str, Any]:
        return jobs_document(value)

    def read_structure(self, structure: Mapping[str, Any], name: str, source: str) -> Jobs:
        return jobs_from_document(structure, name, f"{source}: problem.structure")

    def formulation(self, problem: PackingProblem) -> Formulation:
        program = PackingProgram(problem)
        program.build()
        return program

    def words(self, problem: PackingProblem, part: Part) -> ProofWords:
        return WORDS

    def picture(
        self, problem: PackingProblem, mapping: Packing, part: Part, prefix: str, most: int
    ) -> list[Element]:
        return packing_picture(problem, mapping)

    def simulate(self, part: PackingPart, mapping: Packing, seed: int) -> dict[str, Any]:
        raise InputError("simulate", part.name, "jobs compute nothing; there is nothing to run")

    def generate(self, part: PackingPart, mapping: Packing, seed: int) -> dict[str, str]:
        raise InputError("generate", part.name, "jobs become no code")


PACKING = PackingKind()
