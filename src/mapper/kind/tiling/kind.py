"""The kind ``tiling``: loop nests on dataflow accelerators [Dave2019]."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, cast
from xml.etree.ElementTree import Element

from mapper.arch.dataflow import PHYSICAL_RULES, DataflowMachine
from mapper.formulations.formulation import Formulation
from mapper.formulations.objective import EDP, ENERGY, LATENCY, Objective
from mapper.formulations.tiling.problem import ROUNDING, Pins, TilingProblem
from mapper.formulations.tiling.problem import Objective as ObjectiveName
from mapper.formulations.tiling.referee.verify import verify
from mapper.kind.kind import Kind
from mapper.kind.part import FrontAxes, Options, Part, ProblemPart, ShownVerdict, Workload
from mapper.kind.tiling.limit import most_cycles
from mapper.kind.tiling.pins import AUTO, OFF, PADDING, is_published, own_pins, padding_of
from mapper.kind.words import ProofWords
from mapper.models.tiling.mapping import TilingMapping
from mapper.models.tiling.mapping_file import tiling_from_json
from mapper.models.tiling.tile import useful_operations
from mapper.solver.front import Front
from mapper.solver.method import Effort, Method
from mapper.solver.proof import Claim, Proof
from mapper.workloads.document import InputError
from mapper.workloads.graph.kernel_source import is_kernel
from mapper.workloads.nest.nest_file import nest_from_document, nest_to_document
from mapper.workloads.network.network import Dims, Layer, Network
from mapper.workloads.source import load_network
from mapper.workloads.text.nearest import meant

PHYSICAL = "physical"
MODELS = ("published", PHYSICAL)
"""What costs follow: the named rules of the machine's file (also where nobody says), or those of a physical machine."""
FRONT_AXES = FrontAxes(
    ("latency_ms", "latency, ms"),
    ("energy_pj", "energy, pJ"),
    ("edp_pj_cycles", "energy-delay product, pJ cycles"),
    "cycles",
)


class Tiling(Kind[Network, TilingProblem, TilingMapping]):
    """Every layer is a part of its own: tile and order its loop nest for the least objective."""

    name: ClassVar[str] = "tiling"
    objectives: ClassVar[tuple[Objective, ...]] = (EDP, ENERGY, LATENCY)
    options: ClassVar[frozenset[str]] = frozenset({"batch", "fix", "model", "max_latency"})
    criteria_add: ClassVar[bool] = True
    leaves_out: ClassVar[tuple[str, ...]] = (
        "layers one after another, each with its weights from and to DRAM: nothing stays on the chip between them",
        "pools, additions, activations, normalisations",
    )

    def peak(self, machine: DataflowMachine) -> int:
        return machine.pes

    def work(self, problem: TilingProblem) -> int:
        return useful_operations(problem.nest)

    def in_a_line(self, problem: TilingProblem, part: Part) -> str:
        from mapper.kind.tiling.view import one_line

        return one_line(cast(TilingMapping, part.mapping))

    def read(self, text: str, batch: int | None, dims: Dims) -> Workload[Network]:
        if is_kernel(text):
            raise InputError(text, "", "is a kernel, which no dataflow accelerator runs; try --arch srp-4x4")
        network = load_network(text, batch, dims)
        return Workload(network, network.inputs, network.batch, tuple(_skipped(network)))

    def usual_fix(self, value: Network, given: Mapping[str, str]) -> dict[str, str]:
        return {PADDING: OFF if is_published(value.name) else AUTO}

    def pose(
        self, value: Network, machine: DataflowMachine, objective: Objective, options: Options
    ) -> tuple[ProblemPart[Network, TilingProblem], ...]:
        if options.model not in (None, *MODELS):
            raise InputError(
                "--model",
                options.model or "",
                f"{meant(options.model or '', MODELS)}must be {' or '.join(MODELS)}",
            )
        if options.model == PHYSICAL:
            rules = PHYSICAL_RULES.model_copy(update={"array_axes": machine.rules.array_axes})
            machine = machine.model_copy(update={"rules": rules})
        names = [layer.name for layer in value.layers]
        most = most_cycles(options.max_latency, machine)
        parts = []
        for layer in value.layers:
            own = own_pins(options.fix, layer.name, names)
            nest, padding = layer.nest, padding_of(layer.nest, own.pop(PADDING, OFF), value.name)
            pins = Pins.parse(own, nest)
            objective_name = cast(ObjectiveName, objective.name)
            problem = TilingProblem(nest, machine, objective_name, pins, most, padding)
            key = (nest.same_problem(), pins, padding)
            parts.append(ProblemPart(layer.name, layer.source, problem, key, value, layer.merged))
        return tuple(parts)

    def methods(self) -> dict[str, Method[TilingProblem, TilingMapping]]:
        from mapper.solver.tiling.catalogue import METHODS

        return dict(METHODS)

    def front(self, problem: TilingProblem, effort: Effort) -> Front[TilingMapping]:
        from mapper.solver.tiling.front import front

        return front(problem, effort)

    def limit_of(self, problem: TilingProblem) -> int | None:
        return problem.max_cycles

    def within(self, problem: TilingProblem, cycles: int | None, objective: str | None) -> TilingProblem:
        name = cast(ObjectiveName, objective or problem.objective)
        return replace(problem, max_cycles=cycles, objective=name)

    def front_axes(self) -> FrontAxes:
        return FRONT_AXES

    def criteria(self, problem: TilingProblem, mapping: TilingMapping) -> tuple[int, ...]:
        from mapper.solver.tiling.front import criteria

        return criteria(problem, mapping)

    def slack(self, problem: TilingProblem, value: int | float) -> float:
        return ROUNDING * abs(value)

    def prove(self, problem: TilingProblem, claim: Claim[TilingMapping], effort: Effort) -> Proof:
        from mapper.solver.tiling.proof import prove

        return prove(problem, claim, effort)

    def restated(self, problem: TilingProblem) -> Mapping[str, Any] | None:
        from mapper.solver.tiling.proof import restated

        return restated(problem)

    def why_infeasible(self, problem: TilingProblem) -> str | None:
        most = problem.max_cycles
        return None if most is None else f"none that fits takes {most:,} cycles or fewer; raise --max-latency"

    def verify(self, problem: TilingProblem, mapping: TilingMapping) -> ShownVerdict:
        verdict = verify(problem, mapping)
        cost = verdict.cost
        if cost is None:
            return ShownVerdict(verdict.broken, None, None, None)
        macs = self.work(problem)
        used = {
            "macs": macs,
            "utilisation": macs / (problem.machine.pes * cost.cycles) if cost.cycles else None,
        }
        return ShownVerdict(
            verdict.broken, cost.cost_json(), cost.breakdown_json() | used, problem.value(cost)
        )

    def read_mapping(self, fields: Mapping[str, Any], problem: TilingProblem, source: str) -> TilingMapping:
        demanded = {loop: least for loop, least, most in problem.padding.ranges if least == most}
        if demanded and isinstance(fields, Mapping) and "padded" not in fields:
            fields = {**fields, "padded": demanded}
        return tiling_from_json(fields, problem.nest, source, problem.machine.rules.array_axes)

    def shown(self, problem: TilingProblem, mapping: TilingMapping) -> TilingMapping:
        return mapping

    def describe(self, problem: TilingProblem, part: Part) -> list[str]:
        from mapper.kind.tiling.padding import padding_lines
        from mapper.kind.tiling.view import processing_line, tiling_lines

        assert isinstance(part.mapping, TilingMapping)
        lines = tiling_lines(part.mapping, part.breakdown or {})
        lines += padding_lines([(problem, part)])
        if problem.machine.streams:
            lines.append(processing_line(part.breakdown or {}, problem.machine))
        return lines

    def describe_all(self, answered: Sequence[tuple[TilingProblem, Part]]) -> list[str]:
        from mapper.kind.tiling.padding import padding_lines

        return padding_lines(answered)

    def total(self, costs: list[dict[str, Any]]) -> dict[str, Any]:
        total = {key: sum(cost[key] for cost in costs) for key in ("energy_pj", "cycles", "edp_pj_cycles")}
        return {
            **total,
            "latency_ms": math.fsum(cost["latency_ms"] for cost in costs),
            "edp_of_totals": total["energy_pj"] * total["cycles"],
        }

    def structure(self, value: Network) -> dict[str, Any]:
        return {
            "layers": [
                {
                    "name": layer.name,
                    "source": layer.source,
                    "op": layer.op,
                    "merged": [list(merged) for merged in layer.merged],
                    "nest": nest_to_document(layer.nest),
                }
                for layer in value.layers
            ]
        }

    def read_structure(self, structure: Mapping[str, Any], name: str, source: str) -> Network:
        layers = structure.get("layers")
        if not isinstance(layers, list) or not layers:
            raise InputError(source, "problem.structure.layers", "must list the layers")
        return Network(name, tuple(_layer(entry, place, source) for place, entry in enumerate(layers)))

    def formulation(self, problem: TilingProblem) -> Formulation:
        from mapper.formulations.tiling.program.cp_sat import build

        return build(problem.as_it_is())

    def remarks(self, problem: TilingProblem, formulation: Formulation) -> list[str]:
        from mapper.kind.tiling.padding import BOUNDS_REMARK

        return [BOUNDS_REMARK] if problem.padding.is_free else []

    def proof_lines(self, proof: Mapping[str, Any], reason: str) -> list[str]:
        from mapper.kind.tiling.words import proof_lines

        return proof_lines(proof, reason)

    def proof_picture(self, proof: Mapping[str, Any], reason: str) -> list[Element]:
        from mapper.kind.tiling.picture import proof_picture

        return proof_picture(reason)

    def words(self, problem: TilingProblem, part: Part) -> ProofWords:
        from mapper.kind.tiling.words import PADDED_WORDS, WORDS

        return PADDED_WORDS if problem.padding.is_free else WORDS

    def picture(
        self, problem: TilingProblem, mapping: TilingMapping, part: Part, prefix: str, most: int
    ) -> list[Element]:
        from mapper.kind.tiling.padding import padded_to
        from mapper.kind.tiling.picture import tiling_picture

        return tiling_picture(padded_to(problem, mapping), mapping, (part.cost or {})["cycles"])

    def simulate(
        self, part: ProblemPart[Network, TilingProblem], mapping: TilingMapping, seed: int
    ) -> dict[str, Any]:
        from mapper.sim.tiling import report

        problem = part.problem
        return report(problem.nest, problem.machine, mapping, seed)

    def simulate_words(
        self, part: ProblemPart[Network, TilingProblem], mapping: TilingMapping, seed: int
    ) -> dict[str, Any]:
        from mapper.codegen.tiling import generate_tables
        from mapper.sim.tiling import array_report, program_line

        problem = part.problem
        tables = generate_tables(problem.nest, problem.machine, mapping)
        found = array_report(problem.nest, problem.machine, mapping, tables, seed)
        return {**found, "notes": [f"{part.name}: {program_line(found)}"]}

    def generate(
        self, part: ProblemPart[Network, TilingProblem], mapping: TilingMapping, seed: int
    ) -> dict[str, str]:
        from mapper.codegen.tiling import generate_c

        problem = part.problem
        return generate_c(problem.nest, problem.machine, mapping, seed)


def _skipped(network: Network) -> list[dict[str, Any]]:
    macs = network.macs
    return [
        {
            "name": operator.name,
            "op": operator.op,
            "reason": operator.reason,
            "macs": operator.macs,
            "share_of_macs": operator.macs / macs if macs else 0.0,
            "share_of_time": None,
        }
        for operator in network.skipped
    ]


def _layer(entry: Any, place: int, source: str) -> Layer:
    field = f"problem.structure.layers.{place}"
    if not isinstance(entry, Mapping) or not isinstance(entry.get("nest"), dict):
        raise InputError(source, field, "must have a nest")
    merged = entry.get("merged", [])
    if not isinstance(merged, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in merged):
        raise InputError(source, f"{field}.merged", "must list pairs of name and operator")
    return Layer(
        str(entry.get("name", "")),
        str(entry.get("source", "")),
        str(entry.get("op", "")),
        nest_from_document(entry["nest"], f"{source}: {field}.nest"),
        tuple((str(name), str(op)) for name, op in merged),
    )


TILING = Tiling()
