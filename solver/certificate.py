"""Certificates: why a search stopped, whether there is a mapping, what is proven, and how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from mapper.formulations.verdict import BrokenRule

Stop = Literal["complete", "time_limit", "interrupted", "heuristic", "given"]
Evidence = Literal["certified", "solver", "bounded", "none"]
WORST_FIRST: tuple[Stop, ...] = ("interrupted", "time_limit", "heuristic", "complete", "given")


@dataclass(frozen=True)
class Certificate:
    """What is known about one answer. ``value`` and ``bound`` are in the objective's unit; ``seconds`` are
    of the search alone. Not found and proven means proven infeasible. ``verified``: the referee accepted the mapping,
    which an answer without one cannot say of itself. ``certified``: a checker accepted a proof of what is claimed."""

    stop: Stop
    found: bool
    value: int | float | None
    bound: int | float | None
    proven: bool
    method: str
    restrictions: tuple[str, ...] = ()
    verified: bool = False
    broken: tuple[BrokenRule, ...] = ()
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    evaluations: int | None = None
    seed: int | None = None
    workers: int | None = None
    certified: bool = False

    @property
    def evidence(self) -> Evidence:
        """What stands for the claim: a proof that a checker accepted, the solver's word, a bound, or nothing."""
        if self.proven:
            return "certified" if self.certified else "solver"
        return "none" if self.bound is None else "bounded"

    @property
    def gap(self) -> float | None:
        """|value - bound| / |value|."""
        if self.value is None or self.bound is None:
            return None
        if self.value == self.bound:
            return 0.0
        return abs(self.value - self.bound) / abs(self.value) if self.value else None

    def to_json(self) -> dict[str, Any]:
        return {
            "stop": self.stop,
            "found": self.found,
            "value": self.value,
            "bound": self.bound,
            "gap": self.gap,
            "proven": self.proven,
            "evidence": self.evidence,
            "restrictions": list(self.restrictions),
            "method": self.method,
            "verified": self.verified,
            "broken": [rule.to_json() for rule in self.broken],
            "seconds": self.seconds,
            "cpu_seconds": self.cpu_seconds,
            "evaluations": self.evaluations,
            "seed": self.seed,
            "workers": self.workers,
        }


def certificate_from_json(fields: Mapping[str, Any]) -> Certificate:
    """The certificate that ``to_json`` wrote.

    Raises: KeyError, TypeError or ValueError if it is none.
    """
    stop, value, bound = fields["stop"], fields["value"], fields["bound"]
    if stop not in get_args(Stop) or not all(isinstance(one, int | float | None) for one in (value, bound)):
        raise ValueError("no certificate")
    return Certificate(
        stop=cast(Stop, stop),
        found=bool(fields["found"]),
        value=value,
        bound=bound,
        proven=bool(fields["proven"]),
        method=str(fields["method"]),
        restrictions=tuple(map(str, fields["restrictions"])),
        verified=bool(fields["verified"]),
        broken=(),
        seconds=float(fields["seconds"]),
        cpu_seconds=float(fields["cpu_seconds"]),
        evaluations=fields["evaluations"],
        seed=fields["seed"],
        workers=fields["workers"],
        certified=fields.get("evidence") == "certified",
    )
