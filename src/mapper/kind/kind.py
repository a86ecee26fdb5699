"""What the API needs to know of a kind of problem.

A kind is generic in three types of its own: the *value* that its workloads are read into, the *problem* that one part
poses, and the *mapping* that answers it. The API, which handles kinds that it does not know, says `AnyKind`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from mapper.formulations.objective import Objective
from mapper.kind.part import FrontAxes, JsonValue, Options, Part, ProblemPart, ShownVerdict, Workload
from mapper.solver.front import CoDesigned, Front
from mapper.solver.method import Effort, Method
from mapper.solver.proof import Claim, NotCertifiedError, Proof
from mapper.workloads.c.reading import SourceReading
from mapper.workloads.document import InputError, parse_document
from mapper.workloads.network.network import Dims, InputFile

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from mapper.formulations.formulation import Formulation
    from mapper.kind.words import ProofWords

LARGEST_SOLUTION_BYTES = 256 << 20
V = TypeVar("V")
P = TypeVar("P")
M = TypeVar("M")


class Kind(ABC, Generic[V, P, M]):
    """One kind of problem. ``objectives``: the first is the default; ``options``: those it understands;
    ``default_model``: what ``--model`` is where nobody says, None where there is no choice."""

    name: ClassVar[str]
    objectives: ClassVar[tuple[Objective, ...]]
    options: ClassVar[frozenset[str]]
    default_method: ClassVar[str] = "auto"
    default_model: ClassVar[str | None] = None
    closes_gaps: ClassVar[bool] = False
    """Whether the writer of proofs may find evidence for an optimum that a search has left open."""
    leaves_out: ClassVar[tuple[str, ...]]
    """What a network's latency here does not hold, for whoever compares it with that of another kind of machine."""
    at_once: ClassVar[frozenset[str]] = frozenset()
    """Quantities of a breakdown whose causes run at the same time, so that the largest is the part's."""

    @abstractmethod
    def peak(self, machine: Any) -> int:
        """Multiply-accumulates of a cycle at the most."""

    def macs(self, text: str, batch: int | None, dims: Dims) -> int:
        """Multiply-accumulates of the workload that ``text`` names, by which machines of several kinds are compared.

        Raises: InputError if it is not one that is compared so.
        """
        from mapper.workloads.source import load_layers

        return load_layers(text, batch, dims).macs

    def work(self, problem: P) -> int | None:
        """Multiply-accumulates of a part; None where they are not counted part by part."""
        return None

    def in_a_line(self, problem: P, part: Part) -> str | None:
        """The mapping of a part that has one in some tens of characters, for tables; None if it has no such form."""
        return None

    def model_of(self, value: V) -> str | None:
        """What ``--model`` is for a workload where nobody says, None where it has no choice."""
        return self.default_model

    @abstractmethod
    def read(self, text: str, batch: int | None, dims: Dims) -> Workload[V]:
        """The workload that ``text`` names.

        Raises: InputError if there is none, or if it does not fit this kind's machines.
        """

    def objectives_of(self, value: V) -> tuple[Objective, ...]:
        """The objectives that a workload can have, its default first."""
        return self.objectives

    def left_out(self, value: V, machine: Any) -> tuple[dict[str, Any], ...]:
        """Operators that this machine leaves to others, as they stand in the document, where that depends on it."""
        return ()

    def read_source(
        self, text: str, batch: int | None, dims: Dims, source: SourceReading, fix: Mapping[str, str]
    ) -> Workload[V]:
        """The same of a file of C or LLVM IR, which ``source`` says how to read.

        Raises: InputError as ``read``.
        """
        return self.read(text, batch, dims)

    def usual_fix(self, value: V, given: Mapping[str, str]) -> Mapping[str, str]:
        """Decisions that are pinned so where nobody says, as ``--fix`` would, beside those that are ``given``."""
        return {}

    @abstractmethod
    def pose(
        self, value: V, machine: Any, objective: Objective, options: Options
    ) -> tuple[ProblemPart[V, P], ...]:
        """The parts of the problem of a workload's value, in document order."""

    @abstractmethod
    def methods(self) -> dict[str, Method[P, M]]:
        """Every method of the kind by name, exact ones first."""

    def methods_of(self, value: V) -> dict[str, Method[P, M]]:
        """The methods that a workload can be solved by."""
        return self.methods()

    def front(self, problem: P, effort: Effort) -> Front[M]:
        """All trade-offs of a part.

        Raises: InputError if the kind has none.
        """
        raise InputError(
            "--pareto", "", f"problems of the kind {self.name} have no trade-offs to list; leave it out"
        )

    criteria_add: ClassVar[bool] = False
    """Whether there are two criteria, and those of several parts add up to those of the whole."""

    def limit_of(self, problem: P) -> int | None:
        """The cycles that a part, or all parts together, may take; None where there is no such limit."""
        return None

    def within(self, problem: P, cycles: int | None, objective: str | None) -> P:
        """``problem`` with this limit on its cycles, or none, and with this objective if one is given.

        Raises: InputError if the kind has no such limit.
        """
        raise InputError("--max-latency", "", f"a {self.name} problem has no such limit; leave it out")

    def front_axes(self) -> FrontAxes:
        """How a plot shows the points of a front.

        Raises: InputError if the kind has none.
        """
        raise InputError(
            "--pareto", "", f"problems of the kind {self.name} have no trade-offs to list; leave it out"
        )

    def criteria(self, problem: P, mapping: M) -> tuple[int, ...]:
        """What the points of a front are judged by, all of which least is best, by the model."""
        raise InputError(
            "--pareto", "", f"problems of the kind {self.name} have no trade-offs to list; leave it out"
        )

    def on_chip_bytes(self, machine: Any) -> int:
        """The bytes of a machine's memories on the chip, which a sweep trades for the objective.

        Raises: InputError if the kind does not.
        """
        raise InputError("--pareto", "", f"a sweep of the kind {self.name} has no trade-offs; leave it out")

    def co_designed(self, problems: Sequence[P]) -> CoDesigned[M]:
        """A part on many machines, for such a sweep.

        Raises: InputError as ``on_chip_bytes``.
        """
        raise InputError("--pareto", "", f"a sweep of the kind {self.name} has no trade-offs; leave it out")

    @property
    def proof_kind(self) -> str:
        """What proofs call the kind: ``checkers/check_KIND.py`` reads them."""
        return self.name

    def prove(self, problem: P, claim: Claim[M], effort: Effort) -> Proof:
        """The evidence for what is claimed of a part.

        Raises: NotCertifiedError with the reason if there is none.
        """
        raise NotCertifiedError(f"a {self.name} problem has no checker")

    def restated(self, problem: P) -> Mapping[str, Any] | None:
        """``problem`` as its proofs hold it; None where that takes a search."""
        return None

    def why_infeasible(self, problem: P) -> str | None:
        """Why a part that is proven to have no mapping has none, in a sentence; None where there is no more to say."""
        return None

    @abstractmethod
    def verify(self, problem: P, mapping: M) -> ShownVerdict:
        """The referee's verdict and the model's cost."""

    def alone(self, problem: P) -> str | None:
        """All that the answer to a part depends on besides machine, objective and options; None where that is the whole
        workload. A store keeps answers to such parts for all workloads that have them."""
        return None

    def slack(self, problem: P, value: int | float) -> float:
        """By how much floats near ``value`` may differ that stand for the same value of the objective, since sums are
        rounded in another order; integers compare exactly. 0 where equal values are equal floats."""
        return 0.0

    def mapping_document(self, data: bytes, source: str) -> dict[str, Any]:
        """The fields of a file with a mapping or a solution.

        Raises: InputError if it is no such file.
        """
        return parse_document(data, source, LARGEST_SOLUTION_BYTES)

    @abstractmethod
    def read_mapping(self, fields: Mapping[str, Any], problem: P, source: str) -> M:
        """A mapping from a document."""

    @abstractmethod
    def shown(self, problem: P, mapping: M) -> JsonValue:
        """The mapping as documents show it."""

    def pieces(self, shown: JsonValue) -> Any:
        """What a search has proven of a mapping's pieces that no document of the mapping says, as JSON, for the store;
        None if there is nothing of the kind."""
        return None

    def with_pieces(self, mapping: M, pieces: Any) -> M:
        """The mapping with what ``pieces`` said of it.

        Raises: KeyError, TypeError or ValueError if it does not fit the mapping.
        """
        return mapping

    def spread(self, problem: P, part: Part) -> tuple[Part, ...]:
        """A part as documents and tables show it: several where one solve decides things that are listed apart."""
        return (part,)

    def gather(self, problem: P, name: str, mappings: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The fields of a part's mapping from a document's (by the names that ``spread`` gives), None if it has
        none."""
        found: Mapping[str, Any] | None = mappings.get(name)
        return found

    def shares(
        self, skipped: tuple[dict[str, Any], ...], problem: P, cost: Mapping[str, Any] | None
    ) -> tuple[dict[str, Any], ...]:
        """What ``left_out`` lists once the cost is known."""
        return skipped

    def layer_times(self, problem: P, part: Part) -> dict[str, float]:
        """Milliseconds of each layer of a part."""
        spread = self.spread(problem, part)
        return {
            one.name: float(one.cost["latency_ms"]) for one in spread if one.cost and one.cost["latency_ms"]
        }

    @abstractmethod
    def describe(self, problem: P, part: Part) -> list[str]:
        """A part's mapping and what it costs, in a few lines for people."""

    def describe_all(self, answered: Sequence[tuple[P, Part]]) -> list[str]:
        """What there is to say of all parts of a network together, in a few lines for people."""
        return []

    @abstractmethod
    def total(self, costs: list[dict[str, Any]]) -> dict[str, Any]:
        """The cost of the whole from that of its parts."""

    @abstractmethod
    def structure(self, value: V) -> dict[str, Any]:
        """The workload's structure as it stands in the document."""

    @abstractmethod
    def read_structure(self, structure: Mapping[str, Any], name: str, source: str) -> V:
        """The workload's value that ``structure`` describes."""

    def located(self, value: V, inputs: tuple[InputFile, ...]) -> V:
        """A value that was read from a document, with the files from which the document says it came."""
        return value

    @abstractmethod
    def formulation(self, problem: P) -> Formulation:
        """The formulation of one part, built, for ``explain``: it is counted, which takes no search."""

    def model(self, problem: P) -> Formulation:
        """The formulation with all its numbers, for ``--export``, where those of its counts are not enough."""
        return self.formulation(problem)

    def compared(self, problem: P, mappings: Mapping[str, JsonValue]) -> list[str]:
        """What there is to say of one part solved by several methods (by name), beyond value and proof."""
        return []

    def source_remarks(self, text: str, value: V, machine: Any, source: SourceReading) -> list[str]:
        """What reading the file ``text``, which holds ``value``, did to the problem, a line each."""
        return []

    def remarks(self, problem: P, formulation: Formulation) -> list[str]:
        """What there is to say of one part beyond its ``formulation``, in lines of set text, for ``explain``."""
        return []

    def proof_is_told(self, status: str, reason: str) -> bool:
        """Whether a checker that says this of a proof has read its evidence to the end, so that it can be told."""
        return status == "certified"

    def proof_lines(self, proof: Mapping[str, Any], reason: str) -> list[str]:
        """A proof (``mapper.proof/1``) of which ``proof_is_told``, in sentences; ``reason`` is the checker's."""
        return []

    def proof_picture(self, proof: Mapping[str, Any], reason: str) -> list[Element]:
        """The same as pictures of a report page."""
        return []

    @abstractmethod
    def words(self, problem: P, part: Part) -> ProofWords:
        """What a proof about a part speaks of, and why its methods' proofs hold, for report pages."""

    def picture(self, problem: P, mapping: M, part: Part, prefix: str, most: int) -> list[Element]:
        """The part's mapping on a report page; identifiers begin with ``prefix``. Of what a page counts (elements of
        the class ``route``), ``most`` may be drawn."""
        return []

    @abstractmethod
    def simulate(self, part: ProblemPart[V, P], mapping: M, seed: int) -> dict[str, Any]:
        """Run one part: ``outputs_equal``, ``max_error``, ``cost_simulated``, ``agrees``, where there is something to
        say ``physical``, and ``notes`` for people; ``parts`` are the same of each part that ``spread`` shows, with
        ``name`` and ``cost_model``."""

    def simulate_program(
        self, part: ProblemPart[V, P], mapping: M, seed: int, program: Path
    ) -> dict[str, Any]:
        """As ``simulate``, with the program of a file in place of the one that the mapping becomes.

        Raises: InputError if the kind has no programs, or the file holds none.
        """
        raise InputError("--program", "", f"a {self.name} solution cannot run a program file; leave it out")

    def simulate_rtl(self, part: ProblemPart[V, P], mapping: M, seed: int) -> dict[str, Any]:
        """Run the generated hardware of one part: ``outputs_equal``, ``agrees``, and what else there is to say.

        Raises: InputError if the kind generates none, or it cannot be run.
        """
        raise InputError("--rtl", "", f"a {self.name} solution has no Verilog; leave it out")

    def simulate_words(self, part: ProblemPart[V, P], mapping: M, seed: int) -> dict[str, Any]:
        """As ``simulate``, with every PE executing its program word by word where ``simulate`` folds it.

        Raises: InputError if the kind has no such programs, or not for this mapping.
        """
        raise InputError("--words", "", f"a {self.name} solution has no words of PE programs; leave it out")

    @abstractmethod
    def generate(self, part: ProblemPart[V, P], mapping: M, seed: int) -> Mapping[str, str | bytes]:
        """Files (name to content) that one part becomes."""

    def generate_whole(
        self, value: V, answered: Sequence[tuple[P, M]], seed: int
    ) -> Mapping[str, str | bytes]:
        """Files (name to content) that a workload becomes as a whole, of all its parts with their mappings."""
        return {}


AnyKind = Kind[Any, Any, Any]
"""A kind of unknown types, as the API meets it."""
AnyPart = ProblemPart[Any, Any]
