"""A cluster's share of a layer cut into tiles: how many, how large, and where they lie in Buf."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from mapper.arch.snowflake import LANES, TABLE_WORDS
from mapper.models.trace_partition.lowering.layer import TraceLayer
from mapper.models.trace_partition.mapping import LayerMapping
from mapper.models.trace_partition.tile.geometry import Axis, AxisTiling, axis_of, axis_tiling
from mapper.models.trace_partition.tile.share import Share, share_of, unit_channels
from mapper.models.trace_partition.tile.weight_tile import WeightTile, weight_tile


@dataclass(frozen=True)
class LayerTiling:
    """Tiles of rows, columns, output channels (``outs``) and summed input channels (``ins``) of every group."""

    layer: TraceLayer
    mapping: LayerMapping
    share: Share
    row_axis: Axis
    column_axis: Axis
    rows: AxisTiling
    columns: AxisTiling
    outs: int
    ins: int

    @property
    def counts(self) -> tuple[int, int, int, int, int]:
        """Groups, tiles of rows, of columns, of output and of input channels."""
        return self.share.groups, len(self.rows.starts), len(self.columns.starts), self.outs, self.ins

    @property
    def steps(self) -> int:
        if self.share.empty:
            return 0
        groups, rows, columns, outs, ins = self.counts
        return groups * rows * columns * outs * ins

    @property
    def by_channel(self) -> bool:
        """Whether outputs depend on the input channel of the same number only."""
        return self.layer.work != "convolution"

    @property
    def shares_rows(self) -> bool:
        return self.mapping.unit_split == "rows"

    @property
    def maps_tiles(self) -> int:
        """Different tiles of the input."""
        groups, rows, columns, outs, ins = self.counts
        return groups * rows * columns * (outs if self.by_channel else ins)

    @property
    def weight_tiles(self) -> int:
        return self.share.groups * self.outs * self.ins

    @property
    def out_tiles(self) -> int:
        groups, rows, columns, outs, _ = self.counts
        return groups * rows * columns * outs

    def out_channels(self, out: int) -> int:
        """Output channels of tile ``out``."""
        size = self.mapping.tile.out_channels
        return min(size, self.share.channels - out * size)

    def in_channels(self, number: int) -> int:
        """Summed input channels of tile ``number``."""
        size = self.mapping.tile.in_channels
        return min(size, self.layer.group_inputs - number * size)

    def unit_channels(self, out: int) -> int:
        """Output channels that each unit computes of tile ``out``."""
        return unit_channels(self.mapping, self.out_channels(out))

    def unit_filters(self, out: int) -> int:
        """Filters of each unit: with MFM the first halves of its channels, then the second halves."""
        return self.unit_channels(out) * (2 if self.layer.mfm else 1)

    def valid_channels(self, out: int, unit: int) -> tuple[int, int]:
        """First channel (within the tile) and number of channels that a unit computes and that exist."""
        if self.shares_rows:
            return 0, self.out_channels(out)
        size = self.unit_channels(out)
        first = min(unit * size, self.out_channels(out))
        return first, min(size, self.out_channels(out) - first)

    def maps_channels(self, out: int, number: int) -> int:
        """Channels of a pixel of the maps in Buf."""
        return self.unit_channels(out) if self.by_channel else self.in_channels(number)

    def weights(self, out: int, number: int) -> WeightTile:
        """The weights of tile ``out`` of the output and ``number`` of the input channels."""
        return self._weights[out == self.outs - 1][number == self.ins - 1]

    @cached_property
    def _weights(self) -> tuple[tuple[WeightTile, WeightTile], tuple[WeightTile, WeightTile]]:
        """Of tiles before the last of the output, and of the last: each before the last of the input, and the last."""

        def tiles(out: int) -> tuple[WeightTile, WeightTile]:
            filters = self.unit_filters(out)
            first, last = (
                weight_tile(self.layer, self.mapping, self.in_channels(number), filters)
                for number in (0, self.ins - 1)
            )
            return first, last

        return tiles(0), tiles(self.outs - 1)

    @property
    def padding_misfit(self) -> str | None:
        """Why some windows have no result, or None: a maximum needs a position inside the map."""
        kept = (part for tiling in (self.rows, self.columns) for tile in tiling.tiles for part in tile.ranges)
        if self.layer.work == "max" and any(part.begin >= part.end for part in kept):
            return "a maximum is taken over padding alone"
        return None

    @cached_property
    def point_words(self) -> int:
        """Most points (rows times columns) that a unit computes in a step."""
        rows = max((tile.unit_outputs for tile in self.rows.tiles), default=0)
        return rows * max((tile.outputs for tile in self.columns.tiles), default=0)

    @cached_property
    def resident_output(self) -> tuple[int, int, int]:
        """Rows, columns and channels that each unit holds of an output that stays in Buf."""
        rows = (
            max((tile.unit_outputs for tile in self.rows.tiles), default=0)
            if self.shares_rows
            else self.share.rows
        )
        channels = self.share.channels * self.share.groups if self.shares_rows else self.unit_channels(0)
        return rows, self.layer.columns, channels

    @cached_property
    def resident_input(self) -> tuple[int, int, int]:
        """Rows, columns and channels that each unit holds of an input that stayed in Buf: for pointwise work the
        pixels of its outputs, else all of the map."""
        view = self.layer.input
        if self.shares_rows:
            return self.rows.held, view.width, view.channels
        return view.height, view.width, self.unit_channels(0)


def layer_tiling(layer: TraceLayer, mapping: LayerMapping, sharing: int, cluster: int) -> LayerTiling:
    """The tiles of cluster number ``cluster`` of ``sharing``."""
    share = share_of(layer, mapping, sharing, cluster)
    tile, whole = mapping.tile, mapping.input_resident
    row_axis, column_axis = axis_of(layer, 0, whole), axis_of(layer, 1, whole)
    shared = mapping.unit_split == "rows"
    return LayerTiling(
        layer,
        mapping,
        share,
        row_axis,
        column_axis,
        axis_tiling(row_axis, share.first_row, share.rows, tile.rows, shared),
        axis_tiling(column_axis, 0, layer.columns, tile.columns, False),
        -(-share.channels // tile.out_channels),
        -(-layer.group_inputs // tile.in_channels),
    )


def lined(words: int) -> int:
    """``words`` rounded up to whole lines of 16."""
    return -(-words // LANES) * LANES


@dataclass(frozen=True)
class BufLayout:
    """First words in Buf: of each buffer of maps, output, residual and bias; of the partial sums, MFM's filters and the
    look-up table."""

    maps: tuple[int, ...]
    out: tuple[int, ...]
    residual: tuple[int, ...]
    bias: tuple[int, ...]
    partial: int
    temporary: int
    table: int
    words: int


def buf_layout(
    tiling: LayerTiling, machine_words: int, input_at: int | None, output_at: int | None
) -> BufLayout:
    """Where everything lies. Maps that stay lie at ``input_at`` and ``output_at`` (None: at 0, and at the end of
    ``machine_words``), the rest after those that begin at 0. ``words``: all that a unit needs."""
    layer, mapping = tiling.layer, tiling.mapping
    channels, filters = tiling.unit_channels(0), tiling.unit_filters(0)
    points = tiling.point_words
    low, fixed = 0, 0
    input_words = lined(_product(tiling.resident_input)) if mapping.input_resident else 0
    output_words = lined(_product(tiling.resident_output)) if mapping.output_resident else 0
    if mapping.input_resident and input_at is None:
        input_at = 0 if output_at != 0 else machine_words - input_words
    if mapping.output_resident and output_at is None:
        output_at = 0 if input_at != 0 and mapping.input_resident else machine_words - output_words
    for at, words in ((input_at, input_words), (output_at, output_words)):
        fixed += words
        if at == 0:
            low = max(low, words)
    place = low

    def region(words: int, tiles: int) -> tuple[int, ...]:
        nonlocal place
        starts = tuple(place + lined(words) * number for number in range(min(tiles, 2)))
        place += lined(words) * len(starts)
        return starts

    held = tiling.rows.held * tiling.columns.held * tiling.maps_channels(0, 0)
    maps = (input_at or 0,) if mapping.input_resident else region(held, tiling.maps_tiles)
    out = (output_at or 0,) if mapping.output_resident else region(points * channels, tiling.out_tiles)
    residual = region(points * channels, tiling.out_tiles if layer.residual is not None else 0)
    partial = region(2 * points * filters, 1 if tiling.ins > 1 else 0)
    bias = region(filters, tiling.share.groups * tiling.outs if layer.work != "max" else 0)
    temporary = region(points * filters, 1 if layer.mfm else 0)
    table = region(TABLE_WORDS, 0 if layer.table is None else 1)
    return BufLayout(
        maps,
        out,
        residual,
        bias,
        partial[0] if partial else 0,
        temporary[0] if temporary else 0,
        table[0] if table else 0,
        place - low + fixed,
    )


def _product(sizes: tuple[int, int, int]) -> int:
    return sizes[0] * sizes[1] * sizes[2]


def resident_misfit(tiling: LayerTiling) -> str | None:
    """Why this layer cannot take its input from Buf or leave its output there as its mapping says, or None."""
    layer, mapping = tiling.layer, tiling.mapping
    groups, rows, _, outs, _ = tiling.counts
    if (mapping.input_resident or mapping.output_resident) and mapping.cluster_split not in (
        None,
        mapping.unit_split,
    ):
        return "maps stay in Buf where clusters share a layer as units do only"
    if mapping.input_resident:
        if tiling.maps_tiles > 1:
            return "an input that stays in Buf is one tile"
        if layer.upsample != (1, 1):
            return "an input that stays in Buf cannot be spread"
        if tiling.shares_rows and (layer.kernel, layer.stride, layer.pads) != (
            (1, 1),
            (1, 1),
            ((0, 0), (0, 0)),
        ):
            return "units that share rows keep the input of pointwise layers only"
        if not tiling.shares_rows and not tiling.by_channel:
            return "units that share output channels keep the input of layers channel by channel only"
    if mapping.output_resident and tiling.shares_rows and rows > 1:
        return "an output that stays in Buf with rows shared is one tile of rows"
    if mapping.output_resident and not tiling.shares_rows and groups * outs > 1:
        return "an output that stays in Buf with channels shared is one tile of output channels"
    return None
