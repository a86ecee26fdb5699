"""The kind ``hierarchy``: loop nests on machines of any memory hierarchy, by Timeloop's dense model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, cast
from xml.etree.ElementTree import Element

from mapper.arch.hierarchy import HierarchyMachine
from mapper.formulations.formulation import Formulation
from mapper.formulations.hierarchy.infeasible import why_infeasible
from mapper.formulations.hierarchy.problem import ROUNDING, HierarchyProblem, ObjectiveName
from mapper.formulations.hierarchy.referee.verify import verify
from mapper.formulations.objective import EDP, ENERGY, LATENCY, Objective
from mapper.kind.hierarchy.pins import FACTORS, IMPERFECT, parse_pins
from mapper.kind.kind import Kind
from mapper.kind.part import FrontAxes, Options, Part, ProblemPart, ShownVerdict, Workload
from mapper.kind.tiling.kind import FRONT_AXES, TILING
from mapper.kind.tiling.limit import most_cycles
from mapper.kind.tiling.pins import OFF, PADDING, own_pins
from mapper.kind.words import ProofWords
from mapper.models.hierarchy.imperfect.digit import reached, with_last_passes
from mapper.models.hierarchy.imperfect.limit import why_only_perfect
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.models.hierarchy.mapping_file import hierarchy_mapping
from mapper.models.hierarchy.one_line import is_one_line, line_of, one_line_document
from mapper.solver.front import CoDesigned, Front
from mapper.solver.method import Effort, Method
from mapper.solver.proof import Claim, NotCertifiedError, Proof
from mapper.workloads.document import InputError, decoded, parse_document
from mapper.workloads.network.network import Dims, Network


class Hierarchy(Kind[Network, HierarchyProblem, HierarchyMapping]):
    """Every layer is a part of its own: factors, orders, loops in space and tensors kept, for the least objective."""

    name: ClassVar[str] = "hierarchy"
    objectives: ClassVar[tuple[Objective, ...]] = (EDP, ENERGY, LATENCY)
    options: ClassVar[frozenset[str]] = frozenset({"batch", "fix", "max_latency"})
    leaves_out: ClassVar[tuple[str, ...]] = TILING.leaves_out
    at_once: ClassVar[frozenset[str]] = frozenset({"cycles"})

    def peak(self, machine: HierarchyMachine) -> int:
        return machine.units * machine.compute.rate

    def in_a_line(self, problem: HierarchyProblem, part: Part) -> str:
        return line_of(cast(HierarchyMapping, part.mapping), problem.nest)

    def read(self, text: str, batch: int | None, dims: Dims) -> Workload[Network]:
        return TILING.read(text, batch, dims)

    def usual_fix(self, value: Network, given: Mapping[str, str]) -> dict[str, str]:
        usual = TILING.usual_fix(value, given)
        return usual | ({PADDING: OFF} if given.get(FACTORS) == IMPERFECT else {})

    def pose(
        self, value: Network, machine: HierarchyMachine, objective: Objective, options: Options
    ) -> tuple[ProblemPart[Network, HierarchyProblem], ...]:
        names = [layer.name for layer in value.layers]
        most = most_cycles(options.max_latency, machine)
        parts = []
        for layer in value.layers:
            pins = parse_pins(own_pins(options.fix, layer.name, names), layer.nest, machine, value.name)
            problem = HierarchyProblem(layer.nest, machine, cast(ObjectiveName, objective.name), pins, most)
            key = (layer.nest.same_problem(), repr(pins))
            parts.append(ProblemPart(layer.name, layer.source, problem, key, value, layer.merged))
        return tuple(parts)

    def methods(self) -> dict[str, Method[HierarchyProblem, HierarchyMapping]]:
        from mapper.solver.hierarchy.catalogue import METHODS

        return dict(METHODS)

    def front(self, problem: HierarchyProblem, effort: Effort) -> Front[HierarchyMapping]:
        from mapper.solver.hierarchy.front import front

        return front(problem, effort)

    def limit_of(self, problem: HierarchyProblem) -> int | None:
        return problem.max_cycles

    def within(
        self, problem: HierarchyProblem, cycles: int | None, objective: str | None
    ) -> HierarchyProblem:
        name = cast(ObjectiveName, objective or problem.objective)
        return replace(problem, max_cycles=cycles, objective=name)

    def front_axes(self) -> FrontAxes:
        return FRONT_AXES

    def criteria(self, problem: HierarchyProblem, mapping: HierarchyMapping) -> tuple[int, ...]:
        from mapper.solver.hierarchy.front import criteria

        return criteria(problem, mapping)

    def on_chip_bytes(self, machine: HierarchyMachine) -> int:
        return machine.on_chip_bytes

    def co_designed(self, problems: Sequence[HierarchyProblem]) -> CoDesigned[HierarchyMapping]:
        from mapper.solver.hierarchy.co_design.search import CoDesign

        for problem in problems:
            _only_perfect(problem, "sweep --pareto", "fronts of machines")
        return CoDesign(problems)

    def slack(self, problem: HierarchyProblem, value: int | float) -> float:
        return ROUNDING * abs(value)

    def prove(self, problem: HierarchyProblem, claim: Claim[HierarchyMapping], effort: Effort) -> Proof:
        from mapper.solver.hierarchy.proof import prove

        if problem.pins.imperfect:
            raise NotCertifiedError(
                "the checker knows factors that divide; leave out --fix factors=imperfect"
            )
        return prove(problem, claim, effort)

    def restated(self, problem: HierarchyProblem) -> Mapping[str, Any] | None:
        from mapper.solver.hierarchy.proof import restated

        return restated(problem)

    def why_infeasible(self, problem: HierarchyProblem) -> str | None:
        reason, most = why_infeasible(problem), problem.max_cycles
        if reason is None and most is not None:
            return f"none that fits takes {most:,} cycles or fewer; raise --max-latency"
        return reason

    def verify(self, problem: HierarchyProblem, mapping: HierarchyMapping) -> ShownVerdict:
        verdict = verify(problem, mapping)
        cost = verdict.cost
        if cost is None:
            return ShownVerdict(verdict.broken, None, None, None)
        # A mapping on a machine without energies has a latency all the same.
        value = None if cost.energy_steps is None and problem.objective != "latency" else problem.value(cost)
        return ShownVerdict(verdict.broken, cost.cost_json(), cost.breakdown_json(), value)

    def mapping_document(self, data: bytes, source: str) -> dict[str, Any]:
        text = decoded(data, source)
        if is_one_line(text):
            return one_line_document(text)
        return parse_document(data, source)

    def read_mapping(
        self, fields: Mapping[str, Any], problem: HierarchyProblem, source: str
    ) -> HierarchyMapping:
        mapping = hierarchy_mapping(fields, problem.nest, problem.machine, source)
        if not mapping.is_perfect:
            reason = why_only_perfect(problem.nest, problem.machine)
            if reason is not None:
                raise InputError(source, "mapping", reason)
            return _as_counted(mapping, problem)
        return _saying_bounds(mapping, problem, "levels" in fields)

    def shown(self, problem: HierarchyProblem, mapping: HierarchyMapping) -> HierarchyMapping:
        return mapping

    def describe(self, problem: HierarchyProblem, part: Part) -> list[str]:
        from mapper.kind.hierarchy.imperfect import imperfect_lines
        from mapper.kind.hierarchy.padding import padding_lines
        from mapper.kind.hierarchy.view import hierarchy_lines

        assert isinstance(part.mapping, HierarchyMapping)
        if not part.breakdown:
            return []
        lines = hierarchy_lines(part.mapping, part.breakdown, problem.nest)
        more = imperfect_lines(problem, part) if problem.pins.imperfect else padding_lines([(problem, part)])
        return [*lines[:-1], *more, lines[-1]]

    def describe_all(self, answered: Sequence[tuple[HierarchyProblem, Part]]) -> list[str]:
        from mapper.kind.hierarchy.padding import padding_lines

        return padding_lines(answered)

    def total(self, costs: list[dict[str, Any]]) -> dict[str, Any]:
        energies, latencies = [cost["energy_pj"] for cost in costs], [cost["latency_ms"] for cost in costs]
        cycles = sum(cost["cycles"] for cost in costs)
        energy = None if None in energies else math.fsum(energies)
        share = sum(cost["utilisation"] * cost["cycles"] for cost in costs)
        return {
            "energy_pj": energy,
            "cycles": cycles,
            "edp_pj_cycles": None if energy is None else math.fsum(cost["edp_pj_cycles"] for cost in costs),
            "latency_ms": None if None in latencies else math.fsum(latencies),
            "utilisation": share / cycles if cycles else 0.0,
            "area_mm2": costs[0]["area_mm2"] if costs else None,
            "edp_of_totals": None if energy is None else energy * cycles,
        }

    def structure(self, value: Network) -> dict[str, Any]:
        return TILING.structure(value)

    def read_structure(self, structure: Mapping[str, Any], name: str, source: str) -> Network:
        return TILING.read_structure(structure, name, source)

    def formulation(self, problem: HierarchyProblem) -> Formulation:
        from mapper.formulations.hierarchy.program.cp_sat import build

        return build(problem.as_it_is())

    def remarks(self, problem: HierarchyProblem, formulation: Formulation) -> list[str]:
        from mapper.kind.tiling.padding import BOUNDS_REMARK

        return [BOUNDS_REMARK] if problem.pins.free else []

    def proof_lines(self, proof: Mapping[str, Any], reason: str) -> list[str]:
        from mapper.kind.hierarchy.words import proof_lines

        return proof_lines(proof, reason)

    def words(self, problem: HierarchyProblem, part: Part) -> ProofWords:
        from mapper.kind.hierarchy.words import IMPERFECT_WORDS, PADDED_WORDS, WORDS

        if problem.pins.imperfect:
            return IMPERFECT_WORDS
        return PADDED_WORDS if problem.pins.free else WORDS

    def picture(
        self, problem: HierarchyProblem, mapping: HierarchyMapping, part: Part, prefix: str, most: int
    ) -> list[Element]:
        from mapper.kind.hierarchy.picture import hierarchy_picture

        return hierarchy_picture(problem, mapping, part, prefix)

    def simulate(
        self, part: ProblemPart[Network, HierarchyProblem], mapping: HierarchyMapping, seed: int
    ) -> dict[str, Any]:
        from mapper.sim.hierarchy import report

        problem = part.problem
        return report(problem.nest, problem.machine, mapping, seed)

    def generate(
        self, part: ProblemPart[Network, HierarchyProblem], mapping: HierarchyMapping, seed: int
    ) -> dict[str, str]:
        from mapper.codegen.hierarchy import generate_c
        from mapper.models.hierarchy.one_line import line_of
        from mapper.models.hierarchy.timeloop_mapping import timeloop_text

        nest = part.problem.nest
        return {
            **generate_c(nest, part.problem.machine, mapping, seed),
            "map.yaml": timeloop_text(mapping, nest),
            "map.txt": line_of(mapping, nest) + "\n",
        }


def _only_perfect(problem: HierarchyProblem, option: str, what: str) -> None:
    if problem.pins.imperfect:
        raise InputError(
            option, FACTORS, f"{what} are proven for factors that divide; leave out {FACTORS}={IMPERFECT}"
        )


def _as_counted(mapping: HierarchyMapping, problem: HierarchyProblem) -> HierarchyMapping:
    """The mapping whose outermost loops turn no more often than they do, if its passes make the bounds."""
    bounds = {**problem.bounds, **dict(mapping.padded)}
    if any(reached(mapping, loop) != bound for loop, bound in bounds.items()):
        return mapping
    padded = tuple((loop, size) for loop, size in bounds.items() if size > problem.nest.trip_counts[loop])
    return with_last_passes(replace(mapping, padded=padded), bounds)


def _saying_bounds(mapping: HierarchyMapping, problem: HierarchyProblem, could_say: bool) -> HierarchyMapping:
    """The mapping with the bounds that the problem demands, and, where its form has no place for bounds, with those
    that its factors make of loops that may be padded."""
    if mapping.padded:
        return mapping
    grown = dict(problem.pins.padded)
    for loop, own in problem.nest.bounds:
        if loop in problem.pins.free and not could_say and own < mapping.trips(loop) < 2 * own:
            grown[loop] = mapping.trips(loop)
    return replace(mapping, padded=tuple((loop, grown[loop]) for loop in problem.nest.loops if loop in grown))


HIERARCHY = Hierarchy()
"""The kind ``hierarchy``: loop nests on machines of any memory hierarchy."""
