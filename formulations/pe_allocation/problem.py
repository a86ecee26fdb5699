"""The allocation problem as a value: how many PEs each layer gets, and which rules it must keep [Heidorn2019]."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from mapper.arch.tcpa import TcpaMachine
from mapper.formulations.objective import LATENCY, PES, THROUGHPUT
from mapper.formulations.objective import Objective as Goal
from mapper.models.pe_allocation.cost import AllocationCost, Model
from mapper.models.pe_allocation.mapping import Mode
from mapper.models.pe_allocation.stream.layer import StreamLayer, StreamNetwork
from mapper.models.pe_allocation.stream.pipeline import drains

Objective = Literal["throughput", "latency", "pes"]
OBJECTIVES: tuple[Objective, ...] = ("throughput", "latency", "pes")
GOALS = {goal.name: goal for goal in (THROUGHPUT, LATENCY, PES)}


@dataclass(frozen=True)
class Pin:
    """Decisions of one layer that are given: PEs, units, idle cycles; None where free."""

    pes: int | None = None
    delta: int | None = None
    throttle: int | None = None


@dataclass(frozen=True)
class AllocationProblem:
    """Allocate PEs of ``machine`` to the layers of ``network``: most throughput, least latency, or fewest PEs.

    ``longest_interval``: cycles between frames at most (floor(f/T) for a throughput T); ``max_pes``: at most so
    many PEs, never more than the machine has; ``max_bytes``: of all buffers. ``sharing``: light layers may take turns
    on one PE; ``free_delta``: a layer may use fewer units than a PE has; else it uses all of its kind. ``pins`` by
    layer name; ``segments``: the mixed mode's runs, if given (positions of their first layers).
    """

    network: StreamNetwork
    machine: TcpaMachine
    objective: Objective = "throughput"
    model: Model = "calculus"
    mode: Mode = "layer-parallel"
    longest_interval: int | None = None
    max_pes: int = 0
    max_bytes: int | None = None
    sharing: bool = False
    free_delta: bool = False
    pins: dict[str, Pin] = field(default_factory=dict)
    segments: tuple[int, ...] | None = None

    def interval_limit(self, default: int) -> int:
        """``longest_interval`` (which is 0 where more than a frame a cycle is asked for), ``default`` where it is
        unset."""
        return default if self.longest_interval is None else self.longest_interval

    def pin(self, layer: StreamLayer) -> Pin:
        """What is given for ``layer``."""
        return self.pins.get(layer.name, Pin())

    def units(self, layer: StreamLayer) -> int:
        """The functional units that a PE has for ``layer``."""
        found: int = getattr(self.machine.functional_units, layer.operation)
        return found

    @cached_property
    def drains(self) -> tuple[int, ...]:
        """Of every layer the cycles from a position's time until its pixels are there; 0 by the paper's models."""
        return drains(self.network.layers, self.machine, self.model)

    @property
    def most_pes(self) -> int:
        """PEs that an allocation may use: the smaller of the machine's and ``max_pes`` (0: the machine's)."""
        return self.machine.pes_within(self.max_pes)

    @property
    def most_bytes(self) -> int | None:
        """Bytes of buffers that an allocation may use: the smaller of the machine's and ``max_bytes``."""
        return self.machine.bytes_within(self.max_bytes)

    @property
    def goal(self) -> Goal:
        """The objective as a value, with its unit and sense."""
        return GOALS[self.objective]

    def value(self, cost: AllocationCost) -> int | float:
        """The objective: frames per second (most is best), cycles, or PEs (least is best)."""
        if self.goal == THROUGHPUT:
            return float(cost.throughput)
        return cost.cycles if self.goal == LATENCY else cost.pes

    def rank(self, cost: AllocationCost) -> tuple[int, int, int]:
        """What is least for the best allocation: the objective, then its ties in the house's order (throughput,
        cycles, PEs)."""
        if self.goal == THROUGHPUT:
            return cost.interval, cost.cycles, cost.pes
        if self.goal == LATENCY:
            return cost.cycles, cost.interval, cost.pes
        return cost.pes, cost.interval, cost.cycles
