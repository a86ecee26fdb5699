"""Recurrences on a TCPA: tiles of iterations that hand values to their neighbours, by a linear schedule
[Walter2025]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from mapper.arch.tcpa import TcpaMachine
from mapper.formulations.formulation import Formulation
from mapper.formulations.objective import LATENCY, Objective
from mapper.formulations.pe_allocation.recurrence.problem import RecurrenceProblem
from mapper.formulations.pe_allocation.referee.verify_recurrence import verify_recurrence
from mapper.kind.kind import Kind, Options, Part, ProblemPart, ShownVerdict, Workload
from mapper.kind.pe_allocation.nest.kind import UNCERTIFIED
from mapper.kind.pe_allocation.nest.pins import read_nest_fix
from mapper.kind.words import ProofWords
from mapper.models.pe_allocation.nest.mapping import NestMapping
from mapper.models.pe_allocation.nest.mapping_file import nest_mapping_from_json
from mapper.solver.method import Effort, Method
from mapper.solver.proof import Claim, NotCertifiedError, Proof
from mapper.workloads.document import InputError
from mapper.workloads.network.network import Dims
from mapper.workloads.recurrence.recurrence import Recurrence
from mapper.workloads.recurrence.recurrence_file import recurrence_from_document, recurrence_to_document
from mapper.workloads.source import load_recurrence

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

RecurrencePart = ProblemPart[Recurrence, RecurrenceProblem]


class RecurrenceAllocation(Kind[Recurrence, RecurrenceProblem, NestMapping]):
    """The recurrence is one part: tiles on PEs, an order within them, and when each starts."""

    name: ClassVar[str] = "pe_allocation"
    objectives: ClassVar[tuple[Objective, ...]] = (LATENCY,)
    options: ClassVar[frozenset[str]] = frozenset({"fix", "max_pes", "max_buffer"})
    leaves_out: ClassVar[tuple[str, ...]] = ("all operands are in the buffers before the first cycle",)

    def peak(self, machine: TcpaMachine) -> int:
        return machine.pe_count * machine.functional_units.convolution

    def read(self, text: str, batch: int | None, dims: Dims) -> Workload[Recurrence]:
        found = load_recurrence(text, batch)
        if found is None:
            raise InputError(text[:80], "", "carries no values from iteration to iteration")
        return Workload(*found)

    def pose(
        self, value: Recurrence, machine: TcpaMachine, objective: Objective, options: Options
    ) -> tuple[RecurrencePart, ...]:
        if options.model is not None:
            raise InputError("--model", options.model, "holds for networks alone; leave it out")
        if options.min_throughput is not None:
            raise InputError("--min-throughput", "", "a recurrence has no frames; leave it out")
        pins = read_nest_fix(options.fix, value)
        problem = RecurrenceProblem(value, machine, options.max_pes or 0, options.max_buffer, pins)
        return (ProblemPart(value.name, value.name, problem, 0, value),)

    def methods(self) -> dict[str, Method[RecurrenceProblem, NestMapping]]:
        from mapper.solver.pe_allocation.recurrence.catalogue import METHODS

        return METHODS

    def prove(self, problem: RecurrenceProblem, claim: Claim[NestMapping], effort: Effort) -> Proof:
        raise NotCertifiedError(UNCERTIFIED.format("recurrences"))

    def why_infeasible(self, problem: RecurrenceProblem) -> str | None:
        from mapper.formulations.pe_allocation.recurrence.infeasible import why_recurrence_infeasible

        return why_recurrence_infeasible(problem)

    def verify(self, problem: RecurrenceProblem, mapping: NestMapping) -> ShownVerdict:
        verdict = verify_recurrence(problem, mapping)
        cost = verdict.cost
        if cost is None:
            return ShownVerdict(verdict.broken, None, None, None)
        return ShownVerdict(verdict.broken, cost.cost_json(), cost.breakdown_json(), problem.value(cost))

    def read_mapping(self, fields: Mapping[str, Any], problem: RecurrenceProblem, source: str) -> NestMapping:
        return nest_mapping_from_json(fields, problem.recurrence, source)

    def shown(self, problem: RecurrenceProblem, mapping: NestMapping) -> NestMapping:
        return mapping

    def describe(self, problem: RecurrenceProblem, part: Part) -> list[str]:
        from mapper.kind.pe_allocation.nest.view import nest_lines

        assert isinstance(part.mapping, NestMapping) and part.breakdown is not None
        return nest_lines(problem.recurrence, part.mapping, part.breakdown)

    def total(self, costs: list[dict[str, Any]]) -> dict[str, Any]:
        return dict(costs[0])

    def structure(self, value: Recurrence) -> dict[str, Any]:
        return {"recurrence": recurrence_to_document(value)}

    def read_structure(self, structure: Mapping[str, Any], name: str, source: str) -> Recurrence:
        fields = structure.get("recurrence")
        if not isinstance(fields, dict):
            raise InputError(source, "problem.structure.recurrence", "must hold the recurrence")
        return recurrence_from_document(fields, f"{source}: problem.structure.recurrence")

    def formulation(self, problem: RecurrenceProblem) -> Formulation:
        from mapper.formulations.pe_allocation.program.recurrence.ilp import build
        from mapper.models.pe_allocation.recurrence.tiling import axes_of
        from mapper.solver.method import Effort
        from mapper.solver.pe_allocation.recurrence.heuristic import GREEDY

        chosen = GREEDY.search(problem, Effort()).mapping
        if chosen is None:
            remedy = (
                "has no tiles whose schedule could be explained; fix fewer of them, or take a larger array"
            )
            raise InputError(problem.recurrence.name, "loops", remedy)
        return build(problem, axes_of(chosen), chosen.order, chosen.tile_of)

    def remarks(self, problem: RecurrenceProblem, formulation: Formulation) -> list[str]:
        return [
            "The program is that of some good tiles (or of those that --fix names); layouts, orders and sizes of "
            "tiles are tried one by one, as far as a bound on all schedules does not exclude them."
        ]

    def words(self, problem: RecurrenceProblem, part: Part) -> ProofWords:
        tried = (
            "every layout, every order of the loops and every size of tiles was tried for which a bound on all "
            "schedules does not exclude fewer cycles"
        )
        return ProofWords(
            "every choice of two loops for rows and columns, every size of their tiles, every order of the loops "
            "within a tile, every interval, and every start of the tiles",
            {"auto": tried, "branch-and-bound": tried, "brute-force": "every mapping was tried"},
        )

    def picture(
        self, problem: RecurrenceProblem, mapping: NestMapping, part: Part, prefix: str, most: int
    ) -> list[Element]:
        from mapper.kind.pe_allocation.nest.picture import nest_picture

        return nest_picture(problem.recurrence, mapping, part)

    def simulate(self, part: RecurrencePart, mapping: NestMapping, seed: int) -> dict[str, Any]:
        from mapper.kind.pe_allocation.nest.view import nest_notes
        from mapper.sim.pe_allocation.recurrence import report_recurrence

        result = report_recurrence(part.problem, mapping, seed)
        return {**result, "notes": nest_notes(result)}

    def generate(self, part: RecurrencePart, mapping: NestMapping, seed: int) -> dict[str, str]:
        from mapper.codegen.pe_allocation.recurrence import generate_recurrence

        return generate_recurrence(part.problem, mapping)
