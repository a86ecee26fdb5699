"""What loop nests and recurrences on a TCPA have in common as problems: an array, limits, pins, and what is best."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from mapper.arch.tcpa import TcpaMachine
from mapper.formulations.objective import LATENCY, Objective
from mapper.models.pe_allocation.nest.cost import NestCost
from mapper.models.pe_allocation.nest.grid import Grid
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.recurrence.recurrence import Recurrence


@dataclass(frozen=True)
class NestPins:
    """Decisions that are given: sizes of tiles by loop, the order of the loops in a tile (None: free), and the loops on
    rows and columns (absent: free; None: a single row or column)."""

    tile: dict[str, int] = field(default_factory=dict)
    order: tuple[str, ...] | None = None
    axes: dict[str, str | None] = field(default_factory=dict)


class TiledProblem(ABC):
    """Map an iteration space to ``machine`` for the fewest cycles, on at most ``max_pes`` PEs (0: the machine's) and
    with at most ``max_bytes`` of buffers (None: the machine's)."""

    machine: TcpaMachine
    max_pes: int
    max_bytes: int | None
    pins: NestPins

    @property
    @abstractmethod
    def iterated(self) -> LoopNest | Recurrence:
        """What is mapped: its loops are those of the space."""

    @cached_property
    def grid(self) -> Grid:
        return Grid(self.machine)

    @property
    def most_pes(self) -> int:
        return self.machine.pes_within(self.max_pes)

    @property
    def most_bytes(self) -> int | None:
        return self.machine.bytes_within(self.max_bytes)

    @property
    def goal(self) -> Objective:
        return LATENCY

    def value(self, cost: NestCost) -> int:
        return cost.cycles

    def rank(self, cost: NestCost) -> tuple[int, int]:
        """What is least for the best mapping: cycles, then PEs."""
        return cost.cycles, cost.pes

    def axes(self) -> Iterator[tuple[str | None, str | None]]:
        """Every choice of loops for rows and columns that the pins allow."""
        free: tuple[str | None, ...] = (None, *self.iterated.loops)
        pinned = self.pins.axes
        for rows in (pinned["rows"],) if "rows" in pinned else free:
            for columns in (pinned["columns"],) if "columns" in pinned else free:
                if rows is None or rows != columns:
                    yield rows, columns
