"""Loop nests on a TCPA: locally sequential, globally parallel, by a linear schedule [Walter2025]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from mapper.arch.tcpa import TcpaMachine
from mapper.formulations.formulation import Formulation
from mapper.formulations.pe_allocation.nest.problem import NestProblem
from mapper.formulations.pe_allocation.nest.tiled_problem import NestPins
from mapper.formulations.pe_allocation.referee.verify_nest import verify_nest
from mapper.formulations.verdict import Verdict
from mapper.kind.part import Options, Part, ProblemPart, Workload
from mapper.kind.pe_allocation.nest.tiled_kind import TiledAllocation
from mapper.kind.words import ProofWords
from mapper.models.pe_allocation.nest.cost import NestCost
from mapper.models.pe_allocation.nest.mapping import NestMapping
from mapper.models.pe_allocation.nest.work import refuse_other_nests
from mapper.solver.method import Method
from mapper.workloads.document import InputError
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.nest.nest_file import nest_from_document, nest_to_document
from mapper.workloads.network.network import Dims
from mapper.workloads.source import load_network

if TYPE_CHECKING:
    pass

NestPart = ProblemPart[LoopNest, NestProblem]


class NestAllocation(TiledAllocation[LoopNest, NestProblem]):
    """A loop nest as tiles on PEs."""

    one: ClassVar[str] = "loop nest"

    def read(self, text: str, batch: int | None, dims: Dims) -> Workload[LoopNest]:
        network = load_network(text, batch)
        if len(network.layers) != 1:
            remedy = f"lists {len(network.layers)} nests, and a TCPA takes one; name it, as in"
            raise InputError(text[:80], "", f"{remedy} {text[:80]}/{network.layers[0].name}")
        nest = network.layers[0].nest
        refuse_other_nests(nest)
        return Workload(nest, network.inputs)

    def problem_of(
        self, value: LoopNest, machine: TcpaMachine, options: Options, pins: NestPins
    ) -> NestProblem:
        return NestProblem(value, machine, options.max_pes or 0, options.max_buffer, pins)

    def methods(self) -> dict[str, Method[NestProblem, NestMapping]]:
        from mapper.solver.pe_allocation.nest.catalogue import METHODS

        return METHODS

    def why_infeasible(self, problem: NestProblem) -> str | None:
        from mapper.formulations.pe_allocation.nest.infeasible import why_nest_infeasible

        return why_nest_infeasible(problem)

    def verdict(self, problem: NestProblem, mapping: NestMapping) -> Verdict[NestCost]:
        return verify_nest(problem, mapping)

    def structure(self, value: LoopNest) -> dict[str, Any]:
        return {"nest": nest_to_document(value)}

    def read_structure(self, structure: Mapping[str, Any], name: str, source: str) -> LoopNest:
        fields = structure.get("nest")
        if not isinstance(fields, dict):
            raise InputError(source, "problem.structure.nest", "must hold the loop nest")
        nest = nest_from_document(fields, f"{source}: problem.structure.nest")
        refuse_other_nests(nest)
        return nest

    def formulation(self, problem: NestProblem) -> Formulation:
        from mapper.formulations.pe_allocation.program.nest.cp_sat import build, refusal

        too_large = refusal(problem)
        if too_large is not None:
            raise InputError(problem.nest.name, "loops", f"{too_large}; explain a smaller nest or array")
        return build(problem)

    def words(self, problem: NestProblem, part: Part) -> ProofWords:
        tried = (
            "every layout and size of tiles was tried whose full tile alone does not take longer, in the orders among "
            "which a best one is"
        )
        return ProofWords(
            "every choice of two loops for rows and columns, every size of their tiles, every order of the loops "
            "within a tile, and every start of the tiles",
            {
                "auto": tried,
                "branch-and-bound": tried,
                "cp-sat": "CP-SAT has refuted fewer cycles",
                "brute-force": "every mapping was tried",
            },
        )

    def simulate(self, part: NestPart, mapping: NestMapping, seed: int) -> dict[str, Any]:
        from mapper.kind.pe_allocation.nest.view import nest_notes
        from mapper.sim.pe_allocation.nest import report_nest

        result = report_nest(part.problem, mapping, seed)
        return {**result, "notes": nest_notes(result)}

    def generate(self, part: NestPart, mapping: NestMapping, seed: int) -> dict[str, str]:
        from mapper.codegen.pe_allocation.nest import generate_nest

        return generate_nest(part.problem, mapping)
