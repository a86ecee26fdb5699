"""An answer to a PBQP instance: one choice per vertex."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class PbqpAssignment:
    """``choice[u]``: the choice of vertex u, counted from 0."""

    choice: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        return {"choice": {str(vertex): choice for vertex, choice in enumerate(self.choice)}}
