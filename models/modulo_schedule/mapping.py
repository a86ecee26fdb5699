"""A modulo schedule: where and when operations issue, and how values travel [Bae2018, sec. V-C]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Pe = tuple[int, int]
Via = Literal["move", "register", "output"]


@dataclass(frozen=True)
class Placement:
    """One operation: its PE and the cycle in which it issues for iteration 0."""

    pe: Pe
    time: int


@dataclass(frozen=True)
class Hop:
    """A place that holds a value from ``time`` on: the output register of ``pe`` (``output``: written by the
    producer; ``move``: by a move issued in the cycle before, and also register ``register`` if that is set),
    or register ``register`` of the producer's PE (``register``)."""

    pe: Pe
    time: int
    via: Via
    register: int | None = None


@dataclass(frozen=True)
class Route:
    """How edge ``edge`` (a position in the graph) reaches its reader, hop by hop; empty where the edge only
    orders. The consumer reads the last hop at its own time plus distance times II."""

    edge: int
    hops: tuple[Hop, ...]


@dataclass(frozen=True)
class ModuloSchedule:
    """A schedule of a graph at initiation interval ``ii``; placements in the order of the operations."""

    ii: int
    placements: tuple[Placement, ...]
    routes: tuple[Route, ...]

    @property
    def moves(self) -> frozenset[tuple[Pe, int]]:
        """Every move as its PE and the cycle in which it issues."""
        return frozenset(
            (hop.pe, hop.time - 1) for route in self.routes for hop in route.hops if hop.via == "move"
        )

    @property
    def stages(self) -> int:
        """Stage count: stages of II cycles that the issue times of one iteration span."""
        issued = [placement.time for placement in self.placements] + [time for _, time in self.moves]
        first = min(issued) // self.ii
        return max(issued) // self.ii - first + 1

    def to_json(self, names: tuple[str, ...], edges: tuple[tuple[int, int, int], ...]) -> dict[str, Any]:
        """The document of a schedule; ``edges``: source, destination and distance by position."""
        return {
            "ii": self.ii,
            "stages": self.stages,
            "schedule": {
                name: {"pe": list(placement.pe), "time": placement.time}
                for name, placement in zip(names, self.placements, strict=True)
            },
            "routes": [
                {
                    "edge": route.edge,
                    "from": names[edges[route.edge][0]],
                    "to": names[edges[route.edge][1]],
                    "distance": edges[route.edge][2],
                    "hops": [
                        {"pe": list(hop.pe), "time": hop.time, "via": hop.via, "register": hop.register}
                        for hop in route.hops
                    ],
                }
                for route in self.routes
            ],
        }
