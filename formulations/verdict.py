"""What a referee says about a mapping."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class BrokenRule:
    """One rule of the problem that a mapping breaks: where, and by how much (in the unit of the rule)."""

    rule: str
    place: str
    size: float

    def to_json(self) -> dict[str, Any]:
        return {"rule": self.rule, "place": self.place, "size": self.size}
