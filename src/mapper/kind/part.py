"""The values that pass between a kind of problem and the API: workloads, options, posed problems, answered parts."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Generic, Protocol, TypeVar

from mapper.formulations.verdict import BrokenRule
from mapper.kind.cell import number, proof
from mapper.solver.certificate import Certificate
from mapper.solver.history import HistoryPoint
from mapper.workloads.c.reading import AS_WRITTEN, SourceReading
from mapper.workloads.network.network import InputFile
from mapper.workloads.text.plain_text import plain

Value = TypeVar("Value", covariant=True)
Problem = TypeVar("Problem", covariant=True)


@dataclass(frozen=True)
class Workload(Generic[Value]):
    """A workload as its kind reads it: the value, the files it came from, images at once (None where there
    is no such thing), and the operators that are not mapped, as they stand in the document."""

    value: Value
    inputs: tuple[InputFile, ...]
    batch: int | None = None
    skipped: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True)
class Options:
    """Options that change the problem; None where unset. ``batch``: images at once; ``fix`` pins decisions, as text;
    ``min_throughput`` in images/s, ``max_buffer`` in bytes, ``max_latency`` in ms, ``max_pes`` are limits; ``model``:
    by which rules costs count; ``dim`` gives open dimensions of a file their sizes; ``source`` says how C and LLVM IR
    are read. Each kind takes those that its page names."""

    batch: int | None = None
    fix: Mapping[str, str] = field(default_factory=dict)
    min_throughput: float | None = None
    max_pes: int | None = None
    max_buffer: int | None = None
    max_latency: float | None = None
    model: str | None = None
    dim: Mapping[str, int] = field(default_factory=dict)
    source: SourceReading = AS_WRITTEN

    def to_json(self) -> dict[str, Any]:
        """The options as documents hold them; a limit on latency, sizes of open dimensions, and how C is read, only if
        they are given."""
        fields = {**asdict(self), "fix": dict(self.fix) or None}
        sized, limit, read = fields.pop("dim"), fields.pop("max_latency"), self.source.to_json()
        del fields["source"]
        fields |= ({"dim": dict(sized)} if sized else {}) | ({"source": read} if read else {})
        return fields | ({} if limit is None else {"max_latency": limit})

    def pinned(self, fix: Mapping[str, Any] | None) -> Options:
        """These options with decisions pinned in addition, as ``--fix`` does; several values of one are a sequence."""
        texts = {
            key: ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
            for key, value in (fix or {}).items()
        }
        return replace(self, fix={**self.fix, **texts})

    def given(self) -> frozenset[str]:
        return frozenset(name for name, value in self.to_json().items() if value is not None)


class JsonValue(Protocol):
    """A mapping value: solution documents hold what ``to_json`` returns."""

    def to_json(self) -> dict[str, Any]: ...


@dataclass(frozen=True)
class ProblemPart(Generic[Value, Problem]):
    """One part of a posed problem: its name in the document, where it came from, and the problem itself.
    Parts of equal ``key`` are one problem. ``workload``: the value that it was made of, as simulators and code
    generators may need more than the problem says."""

    name: str
    source: str
    problem: Problem
    key: Hashable
    workload: Value
    merged: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class ShownVerdict:
    """A mapping after the referee: rules it breaks, its cost and breakdown (None if it has no cost), and
    the objective's value."""

    broken: tuple[BrokenRule, ...]
    cost: dict[str, Any] | None
    breakdown: dict[str, Any] | None
    value: int | float | None


@dataclass(frozen=True, repr=False)
class Part:
    """One part of a solution. ``started``: where its search began, if an earlier one had left something; ``before``:
    what a method found that went before in the same run."""

    name: str
    source: str
    same_as: str | None
    mapping: JsonValue | None
    cost: dict[str, Any] | None
    breakdown: dict[str, Any] | None
    certificate: Certificate
    merged: tuple[tuple[str, str], ...] = field(default=())
    history: tuple[HistoryPoint, ...] = field(default=())
    started: HistoryPoint | None = None
    before: Part | None = None

    def __repr__(self) -> str:
        """The part in a line: of all that it holds, its costs and what is proven."""
        costs = ", ".join(f"{key} {number(one)}" for key, one in (self.cost or {}).items() if one is not None)
        repeats = "" if self.same_as is None else f" = {plain(self.same_as)}"
        return f"<Part {plain(self.name)}{repeats}: {costs or 'no mapping'}; {proof(self.certificate)}>"

    def to_json(self) -> dict[str, Any]:
        document: dict[str, Any] = {
            "name": self.name,
            "source": self.source,
            "same_as": self.same_as,
            "mapping": None if self.mapping is None else self.mapping.to_json(),
            "cost": self.cost,
            "breakdown": self.breakdown,
            "certificate": self.certificate.to_json(),
        }
        if self.merged:
            document["merged"] = [{"name": name, "op": op} for name, op in self.merged]
        if self.history:
            document["history"] = [point.to_json() for point in self.history]
        return document


@dataclass(frozen=True)
class FrontAxes:
    """The keys of the cost that a plot of a front has along and up, in colour, and as the size of its points, the first
    three with what they are called."""

    along: tuple[str, str]
    up: tuple[str, str]
    colour: tuple[str, str]
    size: str
