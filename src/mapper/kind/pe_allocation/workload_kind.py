"""The kind ``pe_allocation`` for its sorts of workload: networks, loop nests and recurrences, each with a kind of its
own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar
from xml.etree.ElementTree import Element

from mapper.formulations.formulation import Formulation
from mapper.formulations.objective import LATENCY, PES, THROUGHPUT, Objective
from mapper.formulations.pe_allocation.nest.problem import NestProblem
from mapper.formulations.pe_allocation.recurrence.problem import RecurrenceProblem
from mapper.kind.kind import AnyKind, Kind
from mapper.kind.part import FrontAxes, JsonValue, Options, Part, ProblemPart, ShownVerdict, Workload
from mapper.kind.words import ProofWords
from mapper.models.pe_allocation.nest.mapping import NestMapping
from mapper.solver.front import Front
from mapper.solver.method import Effort, Method
from mapper.solver.proof import Claim, Proof
from mapper.workloads.catalogue import CATALOGUE
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.network.network import Dims, InputFile
from mapper.workloads.recurrence.recurrence import Recurrence
from mapper.workloads.source import DOCUMENT_SUFFIXES, load_recurrence


class WorkloadKind(Kind[Any, Any, Any]):
    """Hands everything on to the kind of ``networks``, of ``nests`` or of ``recurrences``, as value, problem or mapping
    tell."""

    name: ClassVar[str] = "pe_allocation"
    objectives: ClassVar[tuple[Objective, ...]] = (THROUGHPUT, LATENCY, PES)

    def __init__(self, networks: AnyKind, nests: AnyKind, recurrences: AnyKind) -> None:
        self.networks, self.nests, self.recurrences = networks, nests, recurrences
        # What is said of the kind as a whole is what is said of its networks.
        self.options = networks.options  # type: ignore[misc]
        self.default_model = networks.default_model  # type: ignore[misc]
        self.leaves_out = networks.leaves_out  # type: ignore[misc]

    def _of(self, one: Any) -> AnyKind:
        if isinstance(one, Recurrence | RecurrenceProblem):
            return self.recurrences
        return self.nests if isinstance(one, LoopNest | NestProblem | NestMapping) else self.networks

    def peak(self, machine: Any) -> int:
        return self.networks.peak(machine)

    def in_a_line(self, problem: Any, part: Part) -> str | None:
        return self._of(problem).in_a_line(problem, part)

    def macs(self, text: str, batch: int | None, dims: Dims) -> int:
        return self.networks.macs(text, batch, dims)

    def model_of(self, value: Any) -> str | None:
        return self._of(value).model_of(value)

    def objectives_of(self, value: Any) -> tuple[Objective, ...]:
        return self._of(value).objectives_of(value)

    def read(self, text: str, batch: int | None, dims: Dims) -> Workload[Any]:
        if not names_nest(text):
            return self.networks.read(text, batch, dims)
        return (self.nests if load_recurrence(text, batch) is None else self.recurrences).read(
            text, batch, dims
        )

    def left_out(self, value: Any, machine: Any) -> tuple[dict[str, Any], ...]:
        return self._of(value).left_out(value, machine)

    def pose(
        self, value: Any, machine: Any, objective: Objective, options: Options
    ) -> tuple[ProblemPart[Any, Any], ...]:
        return self._of(value).pose(value, machine, objective, options)

    def methods(self) -> dict[str, Method[Any, Any]]:
        known: dict[str, Method[Any, Any]] = {}
        for kind in (self.recurrences, self.nests, self.networks):
            known = {**kind.methods(), **{n: one for n, one in known.items() if n not in kind.methods()}}
        return known

    def methods_of(self, value: Any) -> dict[str, Method[Any, Any]]:
        return self._of(value).methods()

    def front(self, problem: Any, effort: Effort) -> Front[Any]:
        return self._of(problem).front(problem, effort)

    def front_axes(self) -> FrontAxes:
        return self.networks.front_axes()

    def criteria(self, problem: Any, mapping: Any) -> tuple[int, ...]:
        return self._of(problem).criteria(problem, mapping)

    def prove(self, problem: Any, claim: Claim[Any], effort: Effort) -> Proof:
        return self._of(problem).prove(problem, claim, effort)

    def restated(self, problem: Any) -> Mapping[str, Any] | None:
        return self._of(problem).restated(problem)

    def why_infeasible(self, problem: Any) -> str | None:
        return self._of(problem).why_infeasible(problem)

    def verify(self, problem: Any, mapping: Any) -> ShownVerdict:
        return self._of(problem).verify(problem, mapping)

    def read_mapping(self, fields: Mapping[str, Any], problem: Any, source: str) -> Any:
        return self._of(problem).read_mapping(fields, problem, source)

    def shown(self, problem: Any, mapping: Any) -> JsonValue:
        return self._of(problem).shown(problem, mapping)

    def pieces(self, shown: JsonValue) -> Any:
        return self._of(shown).pieces(shown)

    def with_pieces(self, mapping: Any, pieces: Any) -> Any:
        return self._of(mapping).with_pieces(mapping, pieces)

    def layer_times(self, problem: Any, part: Part) -> dict[str, float]:
        return self._of(problem).layer_times(problem, part)

    def describe(self, problem: Any, part: Part) -> list[str]:
        return self._of(problem).describe(problem, part)

    def total(self, costs: list[dict[str, Any]]) -> dict[str, Any]:
        return self.networks.total(costs)

    def structure(self, value: Any) -> dict[str, Any]:
        return self._of(value).structure(value)

    def read_structure(self, structure: Mapping[str, Any], name: str, source: str) -> Any:
        others = {"nest": self.nests, "recurrence": self.recurrences}
        chosen = next((kind for key, kind in others.items() if key in structure), self.networks)
        return chosen.read_structure(structure, name, source)

    def located(self, value: Any, inputs: tuple[InputFile, ...]) -> Any:
        return self._of(value).located(value, inputs)

    def formulation(self, problem: Any) -> Formulation:
        return self._of(problem).formulation(problem)

    def remarks(self, problem: Any, formulation: Formulation) -> list[str]:
        return self._of(problem).remarks(problem, formulation)

    def proof_lines(self, proof: Mapping[str, Any], reason: str) -> list[str]:
        return self.networks.proof_lines(proof, reason)

    def proof_picture(self, proof: Mapping[str, Any], reason: str) -> list[Element]:
        return self.networks.proof_picture(proof, reason)

    def words(self, problem: Any, part: Part) -> ProofWords:
        return self._of(problem).words(problem, part)

    def picture(self, problem: Any, mapping: Any, part: Part, prefix: str, most: int) -> list[Element]:
        return self._of(problem).picture(problem, mapping, part, prefix, most)

    def simulate(self, part: ProblemPart[Any, Any], mapping: Any, seed: int) -> dict[str, Any]:
        return self._of(part.problem).simulate(part, mapping, seed)

    def simulate_words(self, part: ProblemPart[Any, Any], mapping: Any, seed: int) -> dict[str, Any]:
        return self._of(part.problem).simulate_words(part, mapping, seed)

    def generate(self, part: ProblemPart[Any, Any], mapping: Any, seed: int) -> Mapping[str, str | bytes]:
        return self._of(part.problem).generate(part, mapping, seed)


def names_nest(text: str) -> bool:
    """Whether a workload's name leads to a document, which lists loop nests, and not to a network's graph."""
    for name in (text, text.rpartition("/")[0]):
        if name in CATALOGUE:
            return CATALOGUE[name].origin == "document"
    return "\0" not in text and any(
        Path(name).suffix.lower() in DOCUMENT_SUFFIXES for name in (text, text.rpartition("/")[0])
    )
