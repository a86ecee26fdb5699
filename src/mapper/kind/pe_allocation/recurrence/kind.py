"""Recurrences on a TCPA: tiles of iterations that hand values to their neighbours, by a linear schedule
[Walter2025]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from mapper.arch.tcpa import TcpaMachine
from mapper.formulations.formulation import Formulation
from mapper.formulations.pe_allocation.nest.tiled_problem import NestPins
from mapper.formulations.pe_allocation.recurrence.problem import RecurrenceProblem
from mapper.formulations.pe_allocation.referee.verify_recurrence import verify_recurrence
from mapper.formulations.verdict import Verdict
from mapper.kind.part import Options, Part, ProblemPart, Workload
from mapper.kind.pe_allocation.nest.tiled_kind import TiledAllocation
from mapper.kind.words import ProofWords
from mapper.models.pe_allocation.nest.cost import NestCost
from mapper.models.pe_allocation.nest.mapping import NestMapping
from mapper.solver.method import Effort, Method
from mapper.workloads.document import InputError
from mapper.workloads.network.network import Dims
from mapper.workloads.recurrence.recurrence import Recurrence
from mapper.workloads.recurrence.recurrence_file import recurrence_from_document, recurrence_to_document
from mapper.workloads.source import load_recurrence

if TYPE_CHECKING:
    pass

RecurrencePart = ProblemPart[Recurrence, RecurrenceProblem]


class RecurrenceAllocation(TiledAllocation[Recurrence, RecurrenceProblem]):
    """A recurrence as tiles on PEs."""

    one: ClassVar[str] = "recurrence"

    def read(self, text: str, batch: int | None, dims: Dims) -> Workload[Recurrence]:
        found = load_recurrence(text, batch)
        if found is None:
            raise InputError(text[:80], "", "carries no values from iteration to iteration")
        return Workload(*found)

    def problem_of(
        self, value: Recurrence, machine: TcpaMachine, options: Options, pins: NestPins
    ) -> RecurrenceProblem:
        return RecurrenceProblem(value, machine, options.max_pes or 0, options.max_buffer, pins)

    def methods(self) -> dict[str, Method[RecurrenceProblem, NestMapping]]:
        from mapper.solver.pe_allocation.recurrence.catalogue import METHODS

        return METHODS

    def why_infeasible(self, problem: RecurrenceProblem) -> str | None:
        from mapper.formulations.pe_allocation.recurrence.infeasible import why_recurrence_infeasible

        return why_recurrence_infeasible(problem)

    def verdict(self, problem: RecurrenceProblem, mapping: NestMapping) -> Verdict[NestCost]:
        return verify_recurrence(problem, mapping)

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

    def simulate(self, part: RecurrencePart, mapping: NestMapping, seed: int) -> dict[str, Any]:
        from mapper.kind.pe_allocation.nest.view import nest_notes
        from mapper.sim.pe_allocation.recurrence import report_recurrence

        result = report_recurrence(part.problem, mapping, seed)
        return {**result, "notes": nest_notes(result)}

    def generate(self, part: RecurrencePart, mapping: NestMapping, seed: int) -> dict[str, str]:
        from mapper.codegen.pe_allocation.recurrence import generate_recurrence

        return generate_recurrence(part.problem, mapping)
