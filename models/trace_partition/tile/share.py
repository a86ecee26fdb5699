"""The part of a layer that a cluster has, the number of its tiles, and the channels of a tile that a unit has."""

from __future__ import annotations

from dataclasses import dataclass

from mapper.arch.snowflake import UNITS, VMACS
from mapper.models.trace_partition.lowering.layer import TraceLayer
from mapper.models.trace_partition.mapping import LayerMapping
from mapper.models.trace_partition.tile.window import window_classes


@dataclass(frozen=True)
class Share:
    """A cluster's part of a layer: output rows from ``first_row``, groups from ``first_group``, and of each group's
    output channels (after MFM) those from ``first_channel``."""

    first_row: int
    rows: int
    first_group: int
    groups: int
    first_channel: int
    channels: int

    @property
    def empty(self) -> bool:
        return 0 in (self.rows, self.groups, self.channels)


def share_of(layer: TraceLayer, mapping: LayerMapping, sharing: int, cluster: int) -> Share:
    """The part of cluster number ``cluster`` of ``sharing``: contiguous rows, or output channels (whole groups in
    grouped layers), the earlier clusters having the larger parts; the last may be left without any."""
    groups, channels = (layer.groups if layer.work == "convolution" else 1), layer.group_outputs
    rows = (0, layer.rows)
    if mapping.cluster_split == "rows":
        return Share(*_part(layer.rows, sharing, cluster), 0, groups, 0, channels)
    if mapping.cluster_split == "out_channels" and groups > 1:
        return Share(*rows, *_part(groups, sharing, cluster), 0, channels)
    if mapping.cluster_split == "out_channels":
        return Share(*rows, 0, 1, *_part(channels, sharing, cluster))
    return Share(*rows, 0, groups, 0, channels)


def _part(size: int, parts: int, which: int) -> tuple[int, int]:
    largest = -(-size // parts)
    first = min(size, which * largest)
    return first, min(largest, size - first)


def unit_channels(mapping: LayerMapping, channels: int) -> int:
    """Output channels that each unit computes of a tile with ``channels``: all where units share rows, else a quarter,
    in COOP whole blocks of a channel for each vMAC."""
    if mapping.unit_split == "rows":
        return channels
    if mapping.mode == "coop":
        return -(-channels // (UNITS * VMACS)) * VMACS
    return -(-channels // UNITS)


def misfit(layer: TraceLayer, mapping: LayerMapping, sharing: int) -> str | None:
    """Why ``mapping`` does not fit ``layer``, or None: what no size of buffers would mend. Tiles may be larger than a
    cluster's share, which then is the tile."""
    tile, grouped = mapping.tile, layer.work == "convolution" and layer.groups > 1
    for name, value, most in (
        ("rows", tile.rows, layer.rows),
        ("columns", tile.columns, layer.columns),
        ("in_channels", tile.in_channels, layer.group_inputs),
        ("out_channels", tile.out_channels, layer.group_outputs),
    ):
        if not 1 <= value <= most:
            return f"tile.{name} is {value}, but must be from 1 to {most}"
    if layer.work != "convolution" and mapping.mode != "indp":
        return "layers channel by channel run in mode indp only"
    if (sharing > 1) != (mapping.cluster_split is not None):
        return f"cluster_split is {mapping.cluster_split}, with {sharing} clusters on the image"
    if grouped and mapping.cluster_split == "out_channels" and layer.groups % sharing:
        return f"{layer.groups} groups cannot be dealt evenly to {sharing} clusters"
    if layer.mfm and (grouped or layer.work != "convolution" or layer.residual is not None):
        return "MFM follows convolutions of one group without residual only"
    if mapping.unit_split != "rows" and layer.gate is not None:
        return "units share the rows of a layer with a gate, whose numbers lie one channel after another"
    if mapping.unit_split == "rows" and layer.average == "inside" and len(window_classes(layer).rows) > 1:
        return "units that share rows cannot average rows at the edge over fewer positions"
    return None
