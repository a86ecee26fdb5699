"""A partition: how each layer is cut into tiles, in which order and mode they run, and what stays in Buf."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Mode = Literal["coop", "indp"]
Order = Literal["maps_stationary", "weights_stationary"]
Split = Literal["rows", "out_channels"]


@dataclass(frozen=True)
class Tile:
    """What one cluster computes in a step: output rows and columns, input channels that are summed (of one group; 1 in
    layers channel by channel), and output channels (after MFM; of one group). Units share rows or output channels."""

    rows: int
    columns: int
    in_channels: int
    out_channels: int

    def to_json(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "columns": self.columns,
            "in_channels": self.in_channels,
            "out_channels": self.out_channels,
        }


@dataclass(frozen=True)
class LayerMapping:
    """One layer's decisions (DESIGN: mode, tile, order, resident, cluster_split) and how units share a tile."""

    mode: Mode
    tile: Tile
    order: Order
    unit_split: Split
    cluster_split: Split | None = None
    input_resident: bool = False
    output_resident: bool = False

    def to_json(self) -> dict[str, Any]:
        """The decisions as documents hold them, without the steps, which follow from them."""
        return {
            "mode": self.mode,
            "tile": self.tile.to_json(),
            "order": self.order,
            "unit_split": self.unit_split,
            "resident": {"input": self.input_resident, "output": self.output_resident},
            "cluster_split": self.cluster_split,
        }


@dataclass(frozen=True)
class StepEntry:
    """A step as documents name it: what is done, with which tile of which operand, in which of its two buffers."""

    step: Literal["load", "compute", "store"]
    operand: str
    tile: tuple[int, ...]
    buffer: int

    def to_json(self) -> dict[str, Any]:
        return {"step": self.step, "operand": self.operand, "tile": list(self.tile), "buffer": self.buffer}


@dataclass(frozen=True)
class Partition:
    """The decisions of every layer on the accelerator, in order. ``steps``: those that a document says as well,
    layer by layer (None: none), for the referee; they follow from the decisions. ``floors``: by objective, cycles and
    bytes how far each layer's other decisions with the same residency were searched: those of less are no better than
    its own (empty: they were not)."""

    layers: tuple[LayerMapping, ...]
    steps: tuple[tuple[StepEntry, ...] | None, ...] = field(default=(), compare=False, repr=False)
    floors: tuple[tuple[int, int, int], ...] = field(default=(), compare=False, repr=False)
