"""What loop nests and recurrences on a TCPA have in common as kinds: one part, tiles on PEs, a linear schedule."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from mapper.arch.tcpa import TcpaMachine
from mapper.formulations.objective import LATENCY, Objective
from mapper.formulations.pe_allocation.nest.tiled_problem import NestPins, TiledProblem
from mapper.formulations.verdict import Verdict
from mapper.kind.kind import Kind
from mapper.kind.part import Options, Part, ProblemPart, ShownVerdict
from mapper.kind.pe_allocation.nest.pins import read_nest_fix
from mapper.models.pe_allocation.nest.cost import NestCost
from mapper.models.pe_allocation.nest.mapping import NestMapping
from mapper.models.pe_allocation.nest.mapping_file import nest_mapping_from_json
from mapper.solver.method import Effort
from mapper.solver.proof import Claim, NotCertifiedError, Proof
from mapper.workloads.document import InputError
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.recurrence.recurrence import Recurrence

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

UNCERTIFIED = (
    "no checker restates {} on TCPAs; that none of all layouts, tiles, orders and starts takes fewer cycles rests "
    "on the search alone, and the mapping has passed the referee"
)
V = TypeVar("V", LoopNest, Recurrence)
P = TypeVar("P", bound=TiledProblem)


class TiledAllocation(Kind[V, P, NestMapping]):
    """The workload is one part: tiles on PEs, an order within them, and when each starts. ``one``: its name."""

    name: ClassVar[str] = "pe_allocation"
    objectives: ClassVar[tuple[Objective, ...]] = (LATENCY,)
    options: ClassVar[frozenset[str]] = frozenset({"fix", "max_pes", "max_buffer"})
    leaves_out: ClassVar[tuple[str, ...]] = ("all operands are in the buffers before the first cycle",)
    one: ClassVar[str]

    @abstractmethod
    def problem_of(self, value: V, machine: TcpaMachine, options: Options, pins: NestPins) -> P:
        """The problem of mapping ``value`` within the limits of ``options``."""

    @abstractmethod
    def verdict(self, problem: P, mapping: NestMapping) -> Verdict[NestCost]:
        """What the referee says."""

    def peak(self, machine: TcpaMachine) -> int:
        return machine.pe_count * machine.functional_units.convolution

    def pose(
        self, value: V, machine: TcpaMachine, objective: Objective, options: Options
    ) -> tuple[ProblemPart[V, P], ...]:
        if options.model is not None:
            raise InputError("--model", options.model, "holds for networks alone; leave it out")
        if options.min_throughput is not None:
            raise InputError("--min-throughput", "", f"a {self.one} has no frames; leave it out")
        problem = self.problem_of(value, machine, options, read_nest_fix(options.fix, value))
        return (ProblemPart(value.name, value.name, problem, 0, value),)

    def prove(self, problem: P, claim: Claim[NestMapping], effort: Effort) -> Proof:
        raise NotCertifiedError(UNCERTIFIED.format(f"{self.one}s"))

    def verify(self, problem: P, mapping: NestMapping) -> ShownVerdict:
        verdict = self.verdict(problem, mapping)
        cost = verdict.cost
        if cost is None:
            return ShownVerdict(verdict.broken, None, None, None)
        return ShownVerdict(verdict.broken, cost.cost_json(), cost.breakdown_json(), problem.value(cost))

    def read_mapping(self, fields: Mapping[str, Any], problem: P, source: str) -> NestMapping:
        return nest_mapping_from_json(fields, problem.iterated, source)

    def shown(self, problem: P, mapping: NestMapping) -> NestMapping:
        return mapping

    def describe(self, problem: P, part: Part) -> list[str]:
        from mapper.kind.pe_allocation.nest.view import nest_lines

        assert isinstance(part.mapping, NestMapping) and part.breakdown is not None
        return nest_lines(problem.iterated, part.mapping, part.breakdown)

    def total(self, costs: list[dict[str, Any]]) -> dict[str, Any]:
        return dict(costs[0])

    def picture(self, problem: P, mapping: NestMapping, part: Part, prefix: str, most: int) -> list[Element]:
        from mapper.kind.pe_allocation.nest.picture import nest_picture

        return nest_picture(problem.iterated, mapping, part)
