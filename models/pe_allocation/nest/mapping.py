"""A mapping of a loop nest: tiles, the order of loops within a tile, and when each tile starts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any


@dataclass(frozen=True)
class NestMapping:
    """Locally sequential, globally parallel: every tile of iterations runs on a PE of its own, one word after another.

    ``loops`` as the nest has them; ``tile``: iterations of each loop that a tile holds; ``order``: the loops within a
    tile, outer to inner; ``interval``: cycles from a word to the next; ``lanes``: iterations of the innermost loop that
    are a word; ``outer``: cycles by which a tile starts after the one before it along each loop; ``rows``, ``columns``:
    the loop whose tiles stand on the rows and on the columns of the array (None: a single row or column).
    """

    loops: tuple[str, ...]
    tile: tuple[int, ...]
    order: tuple[str, ...]
    interval: int
    lanes: int
    outer: tuple[int, ...]
    rows: str | None
    columns: str | None

    @cached_property
    def tile_of(self) -> dict[str, int]:
        """Iterations of a tile by loop."""
        return dict(zip(self.loops, self.tile, strict=True))

    @cached_property
    def outer_of(self) -> dict[str, int]:
        """Cycles from tile to tile by loop."""
        return dict(zip(self.loops, self.outer, strict=True))

    def words(self, loop: str, iterations: int) -> int:
        """Steps that the loop takes for so many of its iterations."""
        return -(-iterations // self.lanes) if loop == self.order[-1] else iterations

    @cached_property
    def inner_of(self) -> dict[str, int]:
        """Cycles from a step of each loop to its next, within a tile: the words of the loops inside it, times the
        interval. A step of the innermost loop is a word of ``lanes`` iterations."""
        found, cycles = {}, self.interval
        for loop in reversed(self.order):
            found[loop] = cycles
            cycles *= self.words(loop, self.tile_of[loop])
        return found

    def to_json(self) -> dict[str, Any]:
        return {
            "mode": "nest",
            "tile": dict(self.tile_of),
            "schedule": {
                "order": list(self.order),
                "interval": self.interval,
                "lanes": self.lanes,
                "inner": [self.inner_of[loop] for loop in self.loops],
                "outer": list(self.outer),
            },
            "placement": {"rows": self.rows, "columns": self.columns},
        }
