"""Solutions: parts with their costs and certificates, and the cost and certificate of the whole."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import metadata
from typing import Any

from mapper.api.problem import SOLUTION_SCHEMA, PosedProblem
from mapper.formulations.verdict import BrokenRule
from mapper.kind.cell import number, percent, proof
from mapper.kind.kind import AnyPart
from mapper.kind.part import Part
from mapper.kind.shown import page_in_frame
from mapper.models.plain import limited
from mapper.solver.certificate import WORST_FIRST, Certificate, Stop
from mapper.workloads.text.plain_text import plain

DISTRIBUTION = "mapper-engine"
SOLVERS = ("ortools", "numba", "numpy")


@dataclass(frozen=True, repr=False)
class Solution:
    """The answer to a posed problem. ``cost`` is None if a part has no mapping; ``reason``: why the parts together have
    none, where that is proven of no part alone."""

    posed: PosedProblem
    parts: tuple[Part, ...]
    cost: dict[str, Any] | None
    certificate: Certificate
    reason: str | None = None

    def __repr__(self) -> str:
        """The problem, the cost and what is proven, in a few lines."""
        costs = ", ".join(f"{key} {number(one)}" for key, one in (self.cost or {}).items() if one is not None)
        certificate = self.certificate
        gap = "" if certificate.gap is None else f", gap {percent(certificate.gap)}"
        parts = f"{len(self.parts)} part" + ("s" if len(self.parts) > 1 else "")
        said = f"{proof(certificate)}{gap}, by {certificate.method} in {certificate.seconds:.2f} s"
        return f"<Solution of {plain(str(self.posed))}\n {costs or 'no mapping'}\n {said}; {parts}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: the report's page."""
        return page_in_frame(self.to_json())

    def to_json(self) -> dict[str, Any]:
        return as_document(
            {
                "schema": SOLUTION_SCHEMA,
                "problem": self.posed.to_json(),
                "parts": [part.to_json() for part in self.shown],
                "skipped": list(self.skipped),
                "cost": self.cost,
                "certificate": self.certificate.to_json(),
                "versions": versions(),
            }
        )

    @cached_property
    def shown(self) -> tuple[Part, ...]:
        """The parts as documents and tables list them."""
        pairs = zip(self.posed.parts, self.parts, strict=True)
        # An answer that is there waits for no machine code.
        with limited(lambda: None):
            return tuple(one for posed, part in pairs for one in self._listed(posed, part))

    def _listed(self, posed: AnyPart, part: Part) -> tuple[Part, ...]:
        # One search that decides things listed apart has one history: it stands at the first of them.
        first, *others = self.posed.kind.spread(posed.problem, part)
        return (replace(first, history=part.history), *others)

    @property
    def macs(self) -> int | None:
        """Multiply-accumulates of all parts, None where the kind does not count them."""
        counts = [self.posed.kind.work(part.problem) for part in self.posed.parts]
        known = [count for count in counts if count is not None]
        return sum(known) if len(known) == len(counts) else None

    @property
    def utilisation(self) -> float | None:
        """Multiply-accumulates over those that the machine could do in the time; None where either is unknown."""
        return self.used(self.macs, self.cost)

    def used(self, macs: int | None, cost: Mapping[str, Any] | None) -> float | None:
        """The same for a part, of its ``macs`` and ``cost``."""
        cycles = (cost or {}).get("cycles")
        return (
            macs / (self.posed.kind.peak(self.posed.machine) * cycles)
            if macs is not None and cycles
            else None
        )

    @property
    def skipped(self) -> tuple[dict[str, Any], ...]:
        """Operators that are not mapped."""
        posed = self.posed
        return posed.kind.shares(posed.read.skipped, posed.parts[0].problem, self.cost)

    @property
    def host_share(self) -> float:
        """The share of the time that operators take which are not mapped, as far as it is part of the cost."""
        return math.fsum(entry["share_of_time"] or 0.0 for entry in self.skipped)

    @property
    def exit_code(self) -> int:
        """0: mapped; 1: proven to have no answer, or rejected by the referee; 3: no answer in time."""
        if self.certificate.found:
            return 0 if self.certificate.verified else 1
        proven_away = any(not part.certificate.found and part.certificate.proven for part in self.parts)
        return 1 if proven_away else 3


def assemble(posed: PosedProblem, parts: Sequence[Part]) -> Solution:
    """The solution that ``parts`` make up."""
    costs = [part.cost for part in parts if part.cost is not None]
    complete = len(costs) == len(parts)
    cost = posed.kind.total(costs) if complete else None
    certificate = joint_certificate([part.certificate for part in parts])
    if posed.shares_limit and cost is not None:
        certificate = _within(posed, cost["cycles"], certificate)
    return Solution(posed, tuple(parts), cost, certificate)


def _within(posed: PosedProblem, cycles: int, certificate: Certificate) -> Certificate:
    """The referee's word on the limit on latency that parts share: none of them breaks it by itself."""
    most = posed.kind.limit_of(posed.parts[0].problem)
    if most is None or cycles <= most:
        return certificate
    broken = BrokenRule("latency limit", "cycles of all layers", cycles - most)
    return replace(
        certificate, verified=False, proven=False, bound=None, broken=(*certificate.broken, broken)
    )


def joint_certificate(certificates: Sequence[Certificate]) -> Certificate:
    """The certificate of independent parts: sums of values, bounds and seconds, the worst of the rest."""
    found = all(certificate.found for certificate in certificates)
    methods = list(dict.fromkeys(certificate.method for certificate in certificates))
    evaluations = [c.evaluations for c in certificates if c.evaluations is not None]
    return Certificate(
        stop=next(stop for stop in WORST_FIRST if any(c.stop == stop for c in certificates)),
        found=found,
        value=_sum([certificate.value for certificate in certificates]),
        bound=_sum([certificate.bound for certificate in certificates]),
        proven=all(certificate.proven for certificate in certificates),
        certified=all(certificate.certified for certificate in certificates),
        method=" ".join(methods),
        restrictions=tuple(dict.fromkeys(r for c in certificates for r in c.restrictions)),
        verified=all(certificate.verified for certificate in certificates),
        broken=tuple(rule for certificate in certificates for rule in certificate.broken),
        seconds=math.fsum(certificate.seconds for certificate in certificates),
        cpu_seconds=math.fsum(certificate.cpu_seconds for certificate in certificates),
        evaluations=sum(evaluations) if evaluations else None,
        seed=certificates[0].seed,
        workers=certificates[0].workers,
    )


def repeated(part: Part, name: str, source: str, merged: tuple[tuple[str, str], ...]) -> Part:
    """The same answer for another layer that is the same problem; it took no time."""
    certificate = replace(part.certificate, seconds=0.0, cpu_seconds=0.0)
    return replace(
        part, name=name, source=source, same_as=part.name, merged=merged, certificate=certificate, history=()
    )


def unanswered(
    part: AnyPart,
    method: str,
    stop: Stop = "interrupted",
    seed: int | None = None,
    workers: int | None = None,
) -> Part:
    """A part without an answer, as it appears in the document, for instance while it is still being solved."""
    certificate = Certificate(stop, False, None, None, False, method, seed=seed, workers=workers)
    return Part(part.name, part.source, None, None, None, None, certificate, part.merged)


def versions() -> dict[str, str]:
    """Versions of mapper and of the solvers that it uses."""
    found = {"mapper": metadata.version(DISTRIBUTION)}
    return found | {name: metadata.version(name) for name in SOLVERS}


def as_document(fields: dict[str, Any]) -> dict[str, Any]:
    """``fields`` with null for numbers that JSON cannot represent, and with keys as JSON requires them."""
    return {str(key): _json_value(entry) for key, entry in fields.items()}


def _json_value(value: Any) -> Any:
    if isinstance(value, dict):
        return as_document(value)
    if isinstance(value, list | tuple):
        return [_json_value(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _sum(values: list[int | float | None]) -> int | float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
