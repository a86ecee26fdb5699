"""What a mapping onto a memory hierarchy is: for each level the tensors kept and the loops in time and in space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Axis = Literal["x", "y"]


@dataclass(frozen=True)
class TemporalLoop:
    """A loop in time: its name and trips; ``last`` are those of the last, smaller pass (None: all are equal)."""

    loop: str
    trips: int
    last: int | None = None

    def to_json(self) -> list[Any]:
        return [self.loop, self.trips, *(() if self.last is None else (self.last,))]


@dataclass(frozen=True)
class SpatialLoop:
    """A loop in space: its name, the instances it takes and the axis of the fan-out; ``last`` as in time."""

    loop: str
    trips: int
    axis: Axis
    last: int | None = None

    def to_json(self) -> list[Any]:
        return [self.loop, self.trips, self.axis, *(() if self.last is None else (self.last,))]


@dataclass(frozen=True)
class LevelMapping:
    """One level: tensors it keeps, loops in time, and loops in space below it, outer to inner."""

    level: str
    keep: tuple[str, ...]
    temporal: tuple[TemporalLoop, ...] = ()
    spatial: tuple[SpatialLoop, ...] = ()

    @property
    def loops(self) -> tuple[TemporalLoop | SpatialLoop, ...]:
        """All loops, those in time first."""
        return (*self.temporal, *self.spatial)

    def to_json(self) -> dict[str, Any]:
        return {
            "level": self.level,
            "keep": list(self.keep),
            "temporal": [loop.to_json() for loop in self.temporal],
            "spatial": [loop.to_json() for loop in self.spatial],
        }


@dataclass(frozen=True)
class HierarchyMapping:
    """Levels outer to inner, and bounds that loops were padded to."""

    levels: tuple[LevelMapping, ...]
    padded: tuple[tuple[str, int], ...] = ()

    def trips(self, loop: str) -> int:
        """The product of all trip counts of a loop."""
        product = 1
        for level in self.levels:
            for one in level.loops:
                if one.loop == loop:
                    product *= one.trips
        return product

    @property
    def is_perfect(self) -> bool:
        """Whether every pass of every loop has the same trip count."""
        return all(one.last in (None, one.trips) for level in self.levels for one in level.loops)

    def to_json(self) -> dict[str, Any]:
        document: dict[str, Any] = {"levels": [level.to_json() for level in self.levels]}
        return document | ({"padded": dict(self.padded)} if self.padded else {})
