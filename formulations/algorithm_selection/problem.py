"""The problem of algorithm selection as a value [Meng2021, secs. 4 and 5]."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from mapper.arch.overlay import OverlayMachine
from mapper.models.algorithm_selection.choice import Algorithm, Dataflow
from mapper.models.algorithm_selection.cost import SelectionCost
from mapper.models.algorithm_selection.overlay.layer import DATAFLOWS
from mapper.models.algorithm_selection.overlay.network import OverlayNetwork
from mapper.models.algorithm_selection.resource import fits

Objective = Literal["latency", "edp", "dsps"]
OBJECTIVES: tuple[Objective, ...] = ("latency", "edp", "dsps")


@dataclass(frozen=True)
class Pin:
    """What a layer may be computed with; None where it is free."""

    algorithms: frozenset[Algorithm] | None = None
    dataflows: frozenset[Dataflow] | None = None
    parts: frozenset[int] | None = None


@dataclass(frozen=True)
class SelectionProblem:
    """Choose an array's shape, and algorithm and dataflow for every layer of ``network``: least latency, least energy
    times latency, or fewest DSP slices within ``longest_units``.

    ``longest_units``: an inference takes at most so long, in the machine's units; it goes with the objectives latency
    and dsps. ``max_pes``: at most so many PEs, never more than the machine has (0: as many). ``array``: the shape, if
    it is given. ``pins`` by layer name; ``stores``: given formats of tensors (labels) by name.
    """

    network: OverlayNetwork
    objective: Objective = "latency"
    longest_units: int | None = None
    max_pes: int = 0
    array: tuple[int, int] | None = None
    pins: Mapping[str, Pin] = field(default_factory=dict)
    stores: Mapping[str, str] = field(default_factory=dict)

    @property
    def machine(self) -> OverlayMachine:
        return self.network.machine

    @property
    def most_pes(self) -> int:
        """PEs that an array may have."""
        return min(self.max_pes or self.machine.pes, self.machine.pes)

    def algorithms(self, layer: int) -> tuple[Algorithm, ...]:
        """What a layer, by position, may be computed with; empty if pins leave nothing."""
        one = self.network.layers[layer]
        allowed = self.pins.get(one.name, Pin()).algorithms
        return tuple(name for name in one.algorithms(self.machine) if allowed is None or name in allowed)

    def dataflows(self, layer: int) -> tuple[Dataflow, ...]:
        """The dataflows that a layer, by position, may have."""
        allowed = self.pins.get(self.network.layers[layer].name, Pin()).dataflows
        return tuple(name for name in DATAFLOWS if allowed is None or name in allowed)

    def parts(self, layer: int, algorithm: Algorithm) -> tuple[int, ...]:
        """Numbers of parts that the kernels of a layer, by position, may come in under an algorithm."""
        one = self.network.layers[layer]
        allowed = self.pins.get(one.name, Pin()).parts
        return tuple(
            parts
            for parts in one.part_choices(algorithm, self.machine)
            if allowed is None or parts in allowed
        )

    def labels(self, store: int) -> tuple[str, ...]:
        """The formats that a stored tensor, by position, may have."""
        given = self.stores.get(self.network.stores[store].name)
        return tuple(label for label in self.network.labels[store] if given is None or label == given)

    def allows(self, array: tuple[int, int]) -> bool:
        """Whether an array may have this shape."""
        small = math.prod(array) <= self.most_pes and fits(array, self.machine)
        return small and self.array in (None, array)

    def value(self, cost: SelectionCost) -> int | float:
        """The objective: cycles, picojoules times cycles, or DSP slices."""
        if self.objective == "edp":
            return float(cost.edp)
        return cost.cycles if self.objective == "latency" else cost.size.dsps

    def rank(self, cost: SelectionCost) -> tuple[Fraction, int, int, int]:
        """What is least for the best selection: the objective, then latency, then PEs, then rows."""
        first = {"latency": Fraction(cost.units), "edp": cost.edp, "dsps": Fraction(cost.size.dsps)}
        return first[self.objective], cost.units, math.prod(cost.array), cost.array[0]


def longest_units(images_per_second: float, network: OverlayNetwork) -> int:
    """The longest that the images of one inference may take, in the machine's units, for a throughput."""
    machine = network.machine
    images = max(layer.images for layer in network.layers)
    per_second = Fraction(repr(float(images_per_second)))
    return math.floor(images * machine.units_per_cycle * machine.clock_hz / per_second)
