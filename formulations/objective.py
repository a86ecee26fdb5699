"""Objectives as values: what is to be least, or most."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Number = int | float


@dataclass(frozen=True)
class Objective:
    """``name`` as the command line and documents say it, the ``unit`` of its values, and whether the ``least`` or the
    ``most`` of it is sought."""

    name: str
    unit: str
    sense: Literal["least", "most"] = "least"

    @property
    def most(self) -> bool:
        """Whether more is better."""
        return self.sense == "most"

    def better(self, one: Number, other: Number) -> bool:
        """Whether the value ``one`` is better than the value ``other``."""
        return one > other if self.most else one < other

    def best(self, values: Iterable[Number]) -> Number | None:
        """The best of some values, None of none."""
        return (max if self.most else min)(values, default=None)

    def tightest(self, bounds: Iterable[Number]) -> Number | None:
        """The one of some bounds that says most, None of none."""
        return (min if self.most else max)(bounds, default=None)

    def __str__(self) -> str:
        return self.name


EDP = Objective("edp", "pJ cycles")
ENERGY = Objective("energy", "pJ")
LATENCY = Objective("latency", "cycles")
II = Objective("ii", "cycles")
THROUGHPUT = Objective("throughput", "frames/s", "most")
PES = Objective("pes", "PEs")
DSPS = Objective("dsps", "DSPs")
TRAFFIC = Objective("traffic", "bytes")
VALUE = Objective("value", "cost")
"""What a PBQP instance counts in is its own business."""
