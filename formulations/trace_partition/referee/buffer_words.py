"""What a mapping of one layer takes of the buffers, counted independently for the referee [Chang2018, secs. 2 and 4].

It shares no code with the plans of steps: regions are counted from the windows that a tile's outputs read.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from mapper.arch.snowflake import BLOCK, LANES, TABLE_WORDS, UNITS, VMACS
from mapper.models.trace_partition.lowering.layer import TraceLayer
from mapper.models.trace_partition.mapping import LayerMapping

BUFFERS = 2
"""An operand with several tiles has two buffers, so that one is filled while the other is in use."""


@dataclass(frozen=True)
class Portion:
    """A cluster's part of a layer: output rows and output channels (of all groups, numbered through)."""

    rows: range
    channels: range


@dataclass(frozen=True)
class Cut:
    """A portion cut into tiles: how many in rows, columns, output and summed input channels, of how many groups."""

    rows: int
    columns: int
    outs: int
    ins: int
    groups: int

    @property
    def steps(self) -> int:
        return self.rows * self.columns * self.outs * self.ins * self.groups

    def maps(self, layer: TraceLayer) -> int:
        """Different tiles of the input: of layers channel by channel they change with the output channels."""
        along = self.ins if layer.work == "convolution" else self.outs
        return self.rows * self.columns * along * self.groups


@dataclass(frozen=True)
class Line:
    """One dimension of a layer's windows: positions of the (spread) map, the window's positions, how far apart these
    and the windows are, and how many positions lie before the map."""

    size: int
    kernel: int
    stride: int
    dilation: int
    pad: int
    skips: bool

    def span(self, outputs: int) -> int:
        """Positions from the first that ``outputs`` neighbouring windows read to the last, padding included; single
        positions apart by a stride are brought without what lies between."""
        return outputs if self.skips else (outputs - 1) * self.stride + (self.kernel - 1) * self.dilation + 1

    def inside(self, first: int, end: int) -> int:
        """Of those of the windows ``first`` to ``end`` (exclusive), how many lie in the map."""
        if self.skips:
            read = range(first * self.stride - self.pad, end * self.stride - self.pad, self.stride)
            return sum(0 <= position < self.size for position in read)
        begin = first * self.stride - self.pad
        return max(0, min(self.size, begin + self.span(end - first)) - max(0, begin))


def portion(layer: TraceLayer, mapping: LayerMapping, sharing: int, cluster: int) -> Portion:
    """The part of ``cluster`` of ``sharing``: equal contiguous ranges of rows or output channels, whole groups where
    there are several; the last ones may have less or nothing."""
    rows, channels = range(layer.rows), range(layer.output.channels)
    if mapping.cluster_split == "rows":
        return Portion(_share(rows, sharing, cluster, 1), channels)
    if mapping.cluster_split == "out_channels":
        grouped = layer.work == "convolution" and layer.groups > 1
        return Portion(rows, _share(channels, sharing, cluster, layer.group_outputs if grouped else 1))
    return Portion(rows, channels)


def _share(whole: range, parts: int, which: int, grain: int) -> range:
    each = -(-len(whole) // (parts * grain)) * grain
    return whole[which * each : (which + 1) * each]


def tiles(layer: TraceLayer, mapping: LayerMapping, part: Portion) -> Cut:
    """Into how many tiles ``part`` is cut."""
    tile, groups = mapping.tile, 1
    channels = len(part.channels)
    if layer.work == "convolution" and layer.groups > 1:
        groups, channels = channels // layer.group_outputs, layer.group_outputs
    return Cut(
        -(-len(part.rows) // tile.rows),
        -(-layer.columns // tile.columns),
        -(-channels // tile.out_channels),
        -(-layer.group_inputs // tile.in_channels),
        groups,
    )


def channels_of_unit(layer: TraceLayer, mapping: LayerMapping, part: Portion) -> int:
    """Output channels that a unit computes of a whole tile."""
    channels = min(mapping.tile.out_channels, len(part.channels), layer.group_outputs)
    if mapping.unit_split == "rows":
        return channels
    grain = VMACS if mapping.mode == "coop" else 1
    return -(-channels // (UNITS * grain)) * grain


def rows_of_unit(mapping: LayerMapping, part: Portion) -> int:
    """Output rows that a unit computes of a whole tile."""
    rows = min(mapping.tile.rows, len(part.rows))
    return -(-rows // UNITS) if mapping.unit_split == "rows" else rows


def line(layer: TraceLayer, which: int, whole: bool) -> Line:
    """Rows (0) or columns (1); ``whole``: the map stayed in Buf with all its positions."""
    kernel, stride = layer.kernel[which], layer.stride[which]
    skips = kernel == 1 and stride > 1 and layer.upsample[which] == 1 and not whole
    return Line(layer.spread[which], kernel, stride, layer.dilation[which], layer.pads[which][0], skips)


def unit_words(layer: TraceLayer, mapping: LayerMapping, sharing: int, cluster: int) -> int:
    """Words of each unit's Buf: regions of whole lines for maps, results, residual, partial sums, biases and MFM."""
    part = portion(layer, mapping, sharing, cluster)
    if not part.rows or not part.channels:
        return 0
    cut, channels = tiles(layer, mapping, part), channels_of_unit(layer, mapping, part)
    points = rows_of_unit(mapping, part) * min(mapping.tile.columns, layer.columns)
    filters = 2 * channels if layer.mfm else channels
    stored = cut.rows * cut.columns * cut.outs * cut.groups
    if mapping.output_resident:
        words = _lines(held_output(layer, mapping, part))
    else:
        words = _lines(points * channels) * min(stored, BUFFERS)
    if mapping.input_resident:
        words += _lines(held_input(layer, mapping, part))
    else:
        words += _lines(_maps(layer, mapping, part, channels)) * min(cut.maps(layer), BUFFERS)
    if layer.residual is not None:
        words += _lines(points * channels) * min(stored, BUFFERS)
    if cut.ins > 1:
        words += _lines(2 * points * filters)
    if layer.table is not None:
        words += _lines(TABLE_WORDS)
    if layer.work != "max":
        words += _lines(filters) * min(cut.outs * cut.groups, BUFFERS)
    return words + (_lines(points * filters) if layer.mfm else 0)


def held_output(layer: TraceLayer, mapping: LayerMapping, part: Portion) -> int:
    """Words of a unit for an output that stays: its rows with all channels of the cluster, or its channels."""
    if mapping.unit_split == "rows":
        return -(-len(part.rows) // UNITS) * layer.columns * len(part.channels)
    return len(part.rows) * layer.columns * channels_of_unit(layer, mapping, part)


def held_input(layer: TraceLayer, mapping: LayerMapping, part: Portion) -> int:
    """Words of a unit for an input that stayed: the rows that it reads with all channels, or its channels' maps."""
    view = layer.input
    if mapping.unit_split == "rows":
        return line(layer, 0, True).span(rows_of_unit(mapping, part)) * view.width * view.channels
    return view.height * view.width * channels_of_unit(layer, mapping, part)


def vmac_words(layer: TraceLayer, mapping: LayerMapping, sharing: int, cluster: int) -> int:
    """Words of each vMAC's WBuf: the filters of a tile that fall to it, once or twice."""
    part = portion(layer, mapping, sharing, cluster)
    if layer.work == "max" or not part.rows or not part.channels:
        return 0
    cut, filters = (
        tiles(layer, mapping, part),
        channels_of_unit(layer, mapping, part) * (2 if layer.mfm else 1),
    )
    inputs = min(mapping.tile.in_channels, layer.group_inputs)
    height, width = layer.kernel
    if layer.work == "convolution" and mapping.mode == "coop":
        # A row of the window is one trace, unless its positions lie apart in Buf.
        traces, length = (
            (height, width * inputs) if layer.dilation[1] == 1 or width == 1 else (height * width, inputs)
        )
        words = -(-filters // VMACS) * traces * _lines(length)
    else:
        words = -(-filters // BLOCK) * LANES * height * width * inputs * _window_kinds(layer)
    return words * min(cut.outs * cut.ins * cut.groups, BUFFERS)


def _maps(layer: TraceLayer, mapping: LayerMapping, part: Portion, channels: int) -> int:
    down, across = line(layer, 0, False), line(layer, 1, False)
    if mapping.unit_split == "rows":
        rows = down.span(rows_of_unit(mapping, part))
    else:
        rows = widest(down, part.rows.start, part.rows.stop, mapping.tile.rows)
    columns = widest(across, 0, layer.columns, mapping.tile.columns)
    depth = min(mapping.tile.in_channels, layer.group_inputs) if layer.work == "convolution" else channels
    return rows * columns * depth


@lru_cache(maxsize=1 << 10)
def widest(of: Line, first: int, end: int, size: int) -> int:
    """Positions inside the map that the tile with the most of them reads."""
    return max(of.inside(start, min(start + size, end)) for start in range(first, end, size))


def edge_windows(layer: TraceLayer, which: int) -> int:
    """Differently clipped windows along rows (0) or columns (1)."""
    size, kernel, stride = layer.spread[which], layer.kernel[which], layer.stride[which]
    outputs, pad, apart = (layer.rows, layer.columns)[which], layer.pads[which][0], layer.dilation[which]
    return len(
        {
            tuple(tap for tap in range(kernel) if 0 <= output * stride - pad + tap * apart < size)
            for output in range(outputs)
        }
    )


def _window_kinds(layer: TraceLayer) -> int:
    """Windows that need weights of their own: averages over what lies in the map, clipped by its edges."""
    return edge_windows(layer, 0) * edge_windows(layer, 1) if layer.average == "inside" else 1


def _lines(words: int) -> int:
    return -(-words // LANES) * LANES
