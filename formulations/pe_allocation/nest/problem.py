"""A loop nest on a TCPA as a problem: tiles, a linear schedule, and what is pinned."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from mapper.arch.tcpa import TcpaMachine
from mapper.formulations.pe_allocation.nest.tiled_problem import NestPins, TiledProblem
from mapper.models.pe_allocation.nest.traffic import busiest_of_nest, fullest_of_nest
from mapper.models.pe_allocation.nest.work import Work, work_of
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.nest.tensor import tensors

Layout = tuple[tuple[str | None, str | None], tuple[int, int], str, int]


@dataclass(frozen=True)
class NestProblem(TiledProblem):
    """Map ``nest`` to ``machine`` for the fewest cycles, on at most ``max_pes`` PEs (0: the machine's) and with at most
    ``max_bytes`` of buffers (None: the machine's)."""

    nest: LoopNest
    machine: TcpaMachine
    max_pes: int = 0
    max_bytes: int | None = None
    pins: NestPins = field(default_factory=NestPins)

    @property
    def iterated(self) -> LoopNest:
        return self.nest

    @cached_property
    def work(self) -> Work:
        return work_of(self.nest, self.machine)

    @property
    def bytes_needed(self) -> int:
        """Bytes of all tensors, which every mapping has in the buffers."""
        return sum(one.words for one in tensors(self.nest)) * self.machine.word_bytes

    def carries(
        self, axes: tuple[str | None, str | None], shape: tuple[int, int], inner: str, joined: int
    ) -> bool:
        """Whether links carry all words of a layout on so many rows and columns, of which so many iterations of the
        innermost loop are joined to a word, and border PEs have buffers for its tensors."""
        most, key = self.machine.link_words, (axes, shape, inner, joined)
        if not self._holds(axes, shape):
            return False
        if most is not None and key not in self._busiest:
            self._busiest[key] = busiest_of_nest(self.nest, self.grid, *key)
        return most is None or self._busiest[key] <= most

    def _holds(self, axes: tuple[str | None, str | None], shape: tuple[int, int]) -> bool:
        most, key = self.machine.border.buffers, (axes, shape)
        if most is not None and key not in self._fullest:
            self._fullest[key] = fullest_of_nest(self.nest, self.grid, *key)
        return most is None or self._fullest[key] <= most

    @cached_property
    def _fullest(self) -> dict[tuple[tuple[str | None, str | None], tuple[int, int]], int]:
        return {}

    @cached_property
    def _busiest(self) -> dict[Layout, int]:
        return {}

    def sizes(self, loop: str, most_tiles: int) -> range:
        """Tiles of a loop that has at most so many of them, the smallest first."""
        bound = self.nest.trip_counts[loop]
        least = -(-bound // most_tiles)
        pinned = self.pins.tile.get(loop)
        if pinned is None:
            return range(least, bound + 1)
        return range(pinned, pinned + 1) if least <= pinned <= bound else range(0)
