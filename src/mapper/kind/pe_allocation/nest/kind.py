"""Loop nests on a TCPA: locally sequential, globally parallel, by a linear schedule [Walter2025]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from mapper.arch.tcpa import TcpaMachine
from mapper.formulations.formulation import Formulation
from mapper.formulations.objective import LATENCY, Objective
from mapper.formulations.pe_allocation.nest.problem import NestProblem
from mapper.formulations.pe_allocation.referee.verify_nest import verify_nest
from mapper.kind.kind import Kind, Options, Part, ProblemPart, ShownVerdict, Workload
from mapper.kind.pe_allocation.nest.pins import read_nest_fix
from mapper.kind.words import ProofWords
from mapper.models.pe_allocation.nest.mapping import NestMapping
from mapper.models.pe_allocation.nest.mapping_file import nest_mapping_from_json
from mapper.models.pe_allocation.nest.work import refuse_other_nests
from mapper.solver.method import Effort, Method
from mapper.solver.proof import Claim, NotCertifiedError, Proof
from mapper.workloads.document import InputError
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.nest.nest_file import nest_from_document, nest_to_document
from mapper.workloads.network.network import Dims
from mapper.workloads.source import load_network

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

UNCERTIFIED = (
    "no checker restates {} on TCPAs; that none of all layouts, tiles, orders and starts takes fewer cycles rests "
    "on the search alone, and the mapping has passed the referee"
)
NestPart = ProblemPart[LoopNest, NestProblem]


class NestAllocation(Kind[LoopNest, NestProblem, NestMapping]):
    """The nest is one part: tiles on PEs, an order within them, and when each starts."""

    name: ClassVar[str] = "pe_allocation"
    objectives: ClassVar[tuple[Objective, ...]] = (LATENCY,)
    options: ClassVar[frozenset[str]] = frozenset({"fix", "max_pes", "max_buffer"})
    leaves_out: ClassVar[tuple[str, ...]] = ("all operands are in the buffers before the first cycle",)

    def peak(self, machine: TcpaMachine) -> int:
        return machine.pe_count * machine.functional_units.convolution

    def read(self, text: str, batch: int | None, dims: Dims) -> Workload[LoopNest]:
        network = load_network(text, batch)
        if len(network.layers) != 1:
            remedy = f"lists {len(network.layers)} nests, and a TCPA takes one; name it, as in"
            raise InputError(text[:80], "", f"{remedy} {text[:80]}/{network.layers[0].name}")
        nest = network.layers[0].nest
        refuse_other_nests(nest)
        return Workload(nest, network.inputs)

    def pose(
        self, value: LoopNest, machine: TcpaMachine, objective: Objective, options: Options
    ) -> tuple[NestPart, ...]:
        if options.model is not None:
            raise InputError("--model", options.model, "holds for networks alone; leave it out")
        if options.min_throughput is not None:
            raise InputError("--min-throughput", "", "a loop nest has no frames; leave it out")
        pins = read_nest_fix(options.fix, value)
        problem = NestProblem(value, machine, options.max_pes or 0, options.max_buffer, pins)
        return (ProblemPart(value.name, value.name, problem, 0, value),)

    def methods(self) -> dict[str, Method[NestProblem, NestMapping]]:
        from mapper.solver.pe_allocation.nest.catalogue import METHODS

        return METHODS

    def prove(self, problem: NestProblem, claim: Claim[NestMapping], effort: Effort) -> Proof:
        raise NotCertifiedError(UNCERTIFIED.format("loop nests"))

    def why_infeasible(self, problem: NestProblem) -> str | None:
        from mapper.formulations.pe_allocation.nest.infeasible import why_nest_infeasible

        return why_nest_infeasible(problem)

    def verify(self, problem: NestProblem, mapping: NestMapping) -> ShownVerdict:
        verdict = verify_nest(problem, mapping)
        cost = verdict.cost
        if cost is None:
            return ShownVerdict(verdict.broken, None, None, None)
        return ShownVerdict(verdict.broken, cost.cost_json(), cost.breakdown_json(), problem.value(cost))

    def read_mapping(self, fields: Mapping[str, Any], problem: NestProblem, source: str) -> NestMapping:
        return nest_mapping_from_json(fields, problem.nest, source)

    def shown(self, problem: NestProblem, mapping: NestMapping) -> NestMapping:
        return mapping

    def describe(self, problem: NestProblem, part: Part) -> list[str]:
        from mapper.kind.pe_allocation.nest.view import nest_lines

        assert isinstance(part.mapping, NestMapping) and part.breakdown is not None
        return nest_lines(problem.nest, part.mapping, part.breakdown)

    def total(self, costs: list[dict[str, Any]]) -> dict[str, Any]:
        return dict(costs[0])

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

    def picture(
        self, problem: NestProblem, mapping: NestMapping, part: Part, prefix: str, most: int
    ) -> list[Element]:
        from mapper.kind.pe_allocation.nest.picture import nest_picture

        return nest_picture(problem.nest, mapping, part)

    def simulate(self, part: NestPart, mapping: NestMapping, seed: int) -> dict[str, Any]:
        from mapper.kind.pe_allocation.nest.view import nest_notes
        from mapper.sim.pe_allocation.nest import report_nest

        result = report_nest(part.problem, mapping, seed)
        return {**result, "notes": nest_notes(result)}

    def generate(self, part: NestPart, mapping: NestMapping, seed: int) -> dict[str, str]:
        from mapper.codegen.pe_allocation.nest import generate_nest

        return generate_nest(part.problem, mapping)
