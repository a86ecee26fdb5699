"""Transfers of a step: tiles of maps, weights, biases and residuals into the buffers, and results out of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mapper.arch.snowflake import BLOCK, LANES, TABLE_WORDS, UNITS, VMACS
from mapper.models.trace_partition.lowering.layer import TensorView
from mapper.models.trace_partition.steps.step import Transfer, Units
from mapper.models.trace_partition.steps.transfer_nest import Dimension, nest_transfers
from mapper.models.trace_partition.tile.geometry import Axis, Piece
from mapper.models.trace_partition.tile.layer_tiling import LayerTiling
from mapper.models.trace_partition.tile.weight_tile import FIELD

LEAST = -(1 << 15)
"""What never is a maximum: padding of maximum pools."""


@dataclass(frozen=True)
class Place:
    """Indices of a step's tiles: group (of the cluster's), rows, columns, output channels, input channels."""

    group: int
    row: int
    column: int
    out: int
    number: int


def maps_transfers(tiling: LayerTiling, place: Place, local: int) -> tuple[Transfer, ...]:
    """Brings a tile of the input to word ``local``, as [row][column][channel]; beyond the edges, and between the
    positions of a spread map, words are filled."""
    layer, share, tile = tiling.layer, tiling.share, tiling.mapping.tile
    rows, columns = tiling.rows, tiling.columns
    row_tile, column_tile = rows.tiles[rows.kinds[place.row]], columns.tiles[columns.kinds[place.column]]
    channels = tiling.maps_channels(place.out, place.number)
    across, origin = column_tile.pieces[0], columns.origins[place.column]
    parts: list[tuple[Units, int, Piece, int, int]] = []
    if tiling.by_channel:
        first = share.first_channel + place.out * tile.out_channels
    else:
        first = (share.first_group + place.group) * layer.group_inputs + place.number * tile.in_channels
    if tiling.shares_rows:
        for unit, piece in enumerate(row_tile.pieces):
            begin = rows.origins[place.row] + unit * row_tile.unit_outputs * tiling.row_axis.stride
            parts.append((unit, begin, piece, first, channels))
    elif tiling.by_channel:
        for unit in range(UNITS):
            skipped, valid = tiling.valid_channels(place.out, unit)
            parts.append((unit, rows.origins[place.row], row_tile.pieces[0], first + skipped, valid))
    else:
        parts.append(("all", rows.origins[place.row], row_tile.pieces[0], first, channels))

    view, down = layer.input, tiling.row_axis
    pitch = column_tile.size * channels
    found: list[Transfer] = []
    for units, begin, piece, channel, valid in parts:
        found += _fills(tiling, units, piece, pitch, local)
        row = _memory_place(down, begin + piece.held)
        column = _memory_place(tiling.column_axis, origin + across.held)
        memory = view.offset + (row * view.width + column) * view.pitch + channel
        dimensions = (
            Dimension(piece.count, down.up * pitch, down.step * view.width * view.pitch),
            Dimension(across.count, tiling.column_axis.up * channels, tiling.column_axis.step * view.pitch),
        )
        to = local + piece.held * pitch + across.held * channels
        found += nest_transfers("buf", units, to, view.tensor, memory, dimensions, valid)
    return tuple(found)


def _memory_place(axis: Axis, position: int) -> int:
    return axis.first + position // axis.up * axis.step


def _fills(tiling: LayerTiling, units: Units, piece: Piece, pitch: int, local: int) -> Iterator[Transfer]:
    value = LEAST if tiling.layer.work == "max" else 0
    beyond = ((0, piece.before), (piece.after, piece.trailing))
    for first, count in ((0, piece.needed),) if max(tiling.layer.upsample) > 1 else beyond:
        rows = (Dimension(count, pitch, pitch),)
        yield from nest_transfers("fill", units, local + first * pitch, "", 0, rows, pitch, value)


def output_transfers(tiling: LayerTiling, place: Place, view: TensorView, local: int) -> tuple[Transfer, ...]:
    """Moves the outputs of a tile between word ``local`` of each unit, [row][column][channel], and ``view``: what
    counts of the results, or the residual that is added to them."""
    share, tile = tiling.share, tiling.mapping.tile
    rows, columns = tiling.rows, tiling.columns
    row_tile = rows.tiles[rows.kinds[place.row]]
    width = columns.tiles[columns.kinds[place.column]].outputs
    pitch = tiling.unit_channels(place.out)
    first = (share.first_group + place.group) * tiling.layer.group_outputs
    first += share.first_channel + place.out * tile.out_channels
    found: list[Transfer] = []
    for unit in range(UNITS):
        row, count = rows.starts[place.row], row_tile.outputs
        if tiling.shares_rows:
            row, count = row + unit * row_tile.unit_outputs, row_tile.pieces[unit].outputs
        skipped, valid = tiling.valid_channels(place.out, unit)
        memory = (
            view.offset + (row * view.width + columns.starts[place.column]) * view.pitch + first + skipped
        )
        dimensions = (
            Dimension(count, width * pitch, view.width * view.pitch),
            Dimension(width, pitch, view.pitch),
        )
        found += nest_transfers("buf", unit, local, view.tensor, memory, dimensions, valid)
    return tuple(found)


def weights_place(tiling: LayerTiling, group: int, out: int, number: int) -> int:
    """First word of a tile in the cluster's packing: by group, output channels, input channels."""
    last = tiling.ins - 1

    def row_words(out: int) -> int:
        return last * tiling.weights(out, 0).memory_words + tiling.weights(out, last).memory_words

    ends = tiling.outs - 1
    whole = ends * row_words(0) + row_words(ends)
    return group * whole + out * row_words(0) + number * tiling.weights(out, 0).memory_words


def bias_place(tiling: LayerTiling, group: int, out: int) -> int:
    """First word of a tile's biases in the cluster's packing: [unit][filter], one unit for all that share rows."""
    units = 1 if tiling.shares_rows else UNITS
    ends = tiling.outs - 1
    whole = units * (ends * tiling.unit_filters(0) + tiling.unit_filters(ends))
    return group * whole + out * units * tiling.unit_filters(0)


def bias_transfers(tiling: LayerTiling, place: Place, local: int) -> tuple[Transfer, ...]:
    """Brings a tile's biases to word ``local`` of every unit."""
    tensor, memory = f"bias:{tiling.layer.name}", bias_place(tiling, place.group, place.out)
    filters = tiling.unit_filters(place.out)
    if tiling.shares_rows:
        return tuple(nest_transfers("buf", "all", local, tensor, memory, (), filters))
    if filters <= FIELD:
        return (Transfer("buf", "deal", local, tensor, memory, UNITS, filters, 0, filters),)
    return tuple(
        transfer
        for unit in range(UNITS)
        for transfer in nest_transfers("buf", unit, local, tensor, memory + unit * filters, (), filters)
    )


def table_transfers(tiling: LayerTiling, local: int) -> tuple[Transfer, ...]:
    """Brings the layer's look-up table to word ``local`` of every unit."""
    return tuple(nest_transfers("buf", "all", local, f"table:{tiling.layer.name}", 0, (), TABLE_WORDS))


def weights_transfers(tiling: LayerTiling, place: Place, local: int) -> tuple[Transfer, ...]:
    """Brings a tile's weights to word ``local`` of WBuf."""
    if tiling.layer.gate is not None:
        return _gate_transfers(tiling, place, tiling.layer.gate, local)
    memory = weights_place(tiling, place.group, place.out, place.number)
    return tiling.weights(place.out, place.number).transfers(f"weights:{tiling.layer.name}", memory, local)


def _gate_transfers(tiling: LayerTiling, place: Place, gate: TensorView, local: int) -> tuple[Transfer, ...]:
    """A line of channels for each vMAC; of the last line, which other words may follow, no more than its channels,
    whose place is reached by bringing as much of the lines before it again."""
    memory = gate.offset + tiling.share.first_channel + place.out * tiling.mapping.tile.out_channels
    blocks, left = divmod(tiling.out_channels(place.out), BLOCK)
    found = []
    if blocks:
        found.append(Transfer("wbuf", "all", local, gate.tensor, memory, VMACS * blocks, LANES, LANES, LANES))
    lines, rest = divmod(left, LANES)
    at = local + blocks * LANES, gate.tensor, memory + blocks * BLOCK
    if lines:
        found.append(Transfer("wbuf", "all", *at, lines, LANES, 0, LANES))
    if rest:
        found.append(Transfer("wbuf", "all", *at, lines + 1, rest, 0, LANES))
    return tuple(found)
