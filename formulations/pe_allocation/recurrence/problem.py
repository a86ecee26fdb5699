"""A recurrence on a TCPA as a problem: tiles, a linear schedule, and what is pinned."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from mapper.arch.tcpa import TcpaMachine
from mapper.formulations.pe_allocation.nest.tiled_problem import NestPins, TiledProblem
from mapper.models.pe_allocation.recurrence.body import Body, body_of
from mapper.models.pe_allocation.recurrence.cost import bytes_of
from mapper.models.pe_allocation.recurrence.feed import feeds
from mapper.models.pe_allocation.recurrence.tiling import Axes
from mapper.models.pe_allocation.recurrence.traffic import busiest_link, fullest_border
from mapper.workloads.recurrence.recurrence import Recurrence


@dataclass(frozen=True)
class RecurrenceProblem(TiledProblem):
    """Map ``recurrence`` to ``machine`` for the fewest cycles, on at most ``max_pes`` PEs (0: the machine's) and with
    at most ``max_bytes`` of buffers (None: the machine's)."""

    recurrence: Recurrence
    machine: TcpaMachine
    max_pes: int = 0
    max_bytes: int | None = None
    pins: NestPins = field(default_factory=NestPins)

    @property
    def iterated(self) -> Recurrence:
        return self.recurrence

    @cached_property
    def body(self) -> Body:
        return body_of(self.recurrence, self.machine)

    @property
    def bytes_needed(self) -> int:
        """Bytes of all tensors that are not local, which every mapping has in the buffers."""
        return sum(bytes_of(self.body, self.grid).values())

    def generates(self, axes: Axes, tile: dict[str, int]) -> bool:
        """Whether there is an address generator for every stream of these tiles, and a buffer for every tensor."""
        most, held = self.machine.border.address_generators, self.machine.border.buffers
        if held is not None and fullest_border(self.body, self.grid, axes, tile) > held:
            return False
        return most is None or sum(feed.streams for feed in feeds(self.body, axes, tile)) <= most

    def carries(self, axes: Axes, tile: dict[str, int], interval: int) -> bool:
        """Whether links carry all words of these tiles at this interval."""
        most = self.machine.link_words
        return most is None or busiest_link(self.body, self.grid, axes, tile, interval) <= most

    def reach(self, loop: str) -> int:
        """Iterations that a value goes along ``loop`` at the most: a tile is no shorter, if there are several."""
        place = self.recurrence.loops.index(loop)
        return max((abs(one.distance[place]) for one in self.body.dependences), default=0)

    def sizes(self, axes: Axes, axis: int) -> range:
        """Sizes of the tiles along an axis, such that there are at least two (one, where the axis is pinned) and no
        more than rows or columns; 0 where no loop is laid out there."""
        loop = axes[axis]
        if loop is None:
            return range(1)
        bound = self.recurrence.trip_counts[loop]
        room = min((self.machine.rows, self.machine.columns)[axis], self.most_pes)
        pinned = self.pins.tile.get(loop)
        alone = ("rows", "columns")[axis] in self.pins.axes
        found = range(min(bound, max(-(-bound // room), self.reach(loop), 1)), bound + (1 if alone else 0))
        if pinned is None:
            return found
        return range(pinned, pinned + 1) if pinned in found else range(0)

    def keeps_tiles(self, axes: Axes) -> bool:
        """Whether loops that are not laid out may have a single tile."""
        counts = self.recurrence.trip_counts
        return all(loop in axes or size == counts[loop] for loop, size in self.pins.tile.items())
