"""The partitioning problem: a network's layers, a machine, who works together, what is to be least, what is pinned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from mapper.arch.snowflake import SnowflakeMachine
from mapper.models.trace_partition.configuration import Configuration
from mapper.models.trace_partition.host_cost import host_energy, host_total
from mapper.models.trace_partition.lowering.layer import TraceNetwork
from mapper.models.trace_partition.mapping import LayerMapping, Mode, Order, Split
from mapper.models.trace_partition.partition_cost import Cost, PartitionCost

Objective = Literal["latency", "traffic", "energy"]
OBJECTIVES: tuple[Objective, ...] = ("latency", "traffic", "energy")
MOST_STEPS = 1 << 14
"""Steps that a layer may have: the code of each stands in memory by itself, and all of them are listed."""


@dataclass(frozen=True)
class Pin:
    """Decisions of one layer that are given (None: free)."""

    mode: Mode | None = None
    order: Order | None = None
    unit_split: Split | None = None
    cluster_split: Split | None = None
    rows: int | None = None
    columns: int | None = None
    in_channels: int | None = None
    out_channels: int | None = None
    input_resident: bool | None = None
    output_resident: bool | None = None

    def broken(self, mapping: LayerMapping) -> tuple[str, ...]:
        """The pinned decisions that ``mapping`` takes otherwise."""
        taken = {
            "mode": mapping.mode,
            "order": mapping.order,
            "unit_split": mapping.unit_split,
            "cluster_split": mapping.cluster_split,
            "rows": mapping.tile.rows,
            "columns": mapping.tile.columns,
            "in_channels": mapping.tile.in_channels,
            "out_channels": mapping.tile.out_channels,
            "input_resident": mapping.input_resident,
            "output_resident": mapping.output_resident,
        }
        return tuple(name for name, value in taken.items() if getattr(self, name) not in (None, value))


FREE = Pin()


@dataclass(frozen=True)
class PartitionProblem:
    """Least cycles (``latency``), bytes to and from external memory (``traffic``) or picojoules (``energy``) of one
    run of the network, with what the host runs of it. ``pins``: by layer name."""

    network: TraceNetwork
    machine: SnowflakeMachine
    configuration: Configuration
    objective: Objective = "latency"
    pins: Mapping[str, Pin] = field(default_factory=dict)

    def value(self, cost: Cost | PartitionCost) -> int | float:
        """The objective's value of what a layer or the network costs."""
        if self.objective == "latency":
            return cost.cycles
        return cost.dram_bytes if self.objective == "traffic" else cost.energy_pj

    @property
    def host_part(self) -> int:
        """What the host adds to every partition's value, energies in parts of a pJ: its own, and what the clusters take
        that wait for it. What it reads and writes does not cross the accelerator's port."""
        given = self.network, self.machine, self.configuration
        cycles = host_total(*given)
        if self.objective == "latency":
            return cycles
        *_, waiting = self.machine.energy_pj.whole
        spent = host_energy(*given) + waiting * cycles * self.configuration.clusters
        return 0 if self.objective == "traffic" else spent

    def pin(self, layer: str) -> Pin:
        """What is given of the layer called ``layer``."""
        return self.pins.get(layer, FREE)
