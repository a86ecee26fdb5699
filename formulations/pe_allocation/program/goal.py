"""What one program makes least, and what the programs before it left: objectives and their ties in turn."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

Goal = Literal["interval", "cycles", "pes", "units"]
GOALS: dict[str, tuple[Goal, ...]] = {
    "throughput": ("interval", "cycles", "pes"),
    "latency": ("cycles", "interval", "pes"),
    "pes": ("pes", "interval", "cycles"),
}
"""What is least by objective, in the house's order of ties."""


@dataclass(frozen=True)
class Limits:
    """The most of every quantity: PEs, cycles between frames, cycles of latency, units (None: no limit)."""

    pes: int
    interval: int | None = None
    cycles: int | None = None
    units: int | None = None

    def at_most(self, goal: Goal, value: int) -> Limits:
        """These limits, and ``value`` for ``goal``."""
        now: int | None = getattr(self, goal)
        least = value if now is None else min(now, value)
        return replace(self, **{goal: least})
