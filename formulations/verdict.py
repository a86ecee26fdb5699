"""What a referee says about a mapping."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

C = TypeVar("C")


@dataclass(frozen=True)
class BrokenRule:
    """One rule of the problem that a mapping breaks: where, and by how much (in the unit of the rule)."""

    rule: str
    place: str
    size: float

    def to_json(self) -> dict[str, Any]:
        return {"rule": self.rule, "place": self.place, "size": self.size}


@dataclass(frozen=True)
class Verdict(Generic[C]):
    """The rules that a mapping breaks, and what it costs by the model; None where there is nothing to count with."""

    broken: tuple[BrokenRule, ...]
    cost: C | None

    @property
    def valid(self) -> bool:
        return not self.broken
