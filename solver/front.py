"""Trade-offs: the answers of which none is better than another in everything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from mapper.solver.outcome import Outcome

M = TypeVar("M")


@dataclass(frozen=True)
class Front(Generic[M]):
    """Points of a Pareto front, each with what is proven of it: ``proven`` says that no mapping is as good in
    everything and better in something. ``complete``: there are no other points."""

    points: tuple[Outcome[M], ...]
    complete: bool
