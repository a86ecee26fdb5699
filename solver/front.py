"""Trade-offs: the answers of which none is better than another in everything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from mapper.solver.method import Effort
from mapper.solver.outcome import Outcome

M = TypeVar("M")


@dataclass(frozen=True)
class Front(Generic[M]):
    """Points of a Pareto front, each with what is proven of it: ``proven`` says that no mapping is as good in
    everything and better in something. ``complete``: there are no other points."""

    points: tuple[Outcome[M], ...]
    complete: bool


class CoDesigned(Protocol[M]):
    """One problem on many machines, by their places, where what is found on one serves the others."""

    def least(self, place: int, effort: Effort) -> float:
        """What no mapping on the machine lies below, as far as it is known before it is searched."""
        ...

    def best(self, place: int, below: float, effort: Effort) -> Outcome[M]:
        """The best mapping on the machine that lies below a value; without one and proven: there is none."""
        ...
