"""What goes wrong in a simulated array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

EARLY = "a pixel is read before it has arrived"
OVERFLOW = "a line buffer has no room for a pixel"
BUSY = "a layer is started while it still works on the frame before"
LATE = "a shared PE has not ended a position in its time"
STUCK = "layers wait for each other"
OCCUPIED = "a PE has the programs of two layers that do not share it"
UNLINKED = "a stream has no way over the links"
PROGRAM = "a PE's program does not do what it is for"
CROWDED = "a link is asked for more words a cycle than it carries"
FULL = "a border PE is given more buffers than it reaches"


@dataclass(frozen=True)
class Violation:
    """A rule that is broken between two layers (or in one): in which cycle first, how often, and by how much at the
    most, in pixels, words, cycles, frames, links or buffers."""

    rule: str
    place: str
    cycle: int
    times: int
    size: int

    def to_json(self) -> dict[str, Any]:
        return {
            "rule": self.rule,
            "place": self.place,
            "cycle": self.cycle,
            "times": self.times,
            "size": self.size,
        }
