"""Compute objects of a step: windows of equal shape as nested loops of traces [Chang2018, sec. 4]."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from mapper.arch.snowflake import BLOCK
from mapper.models.trace_partition.steps.movement import Place
from mapper.models.trace_partition.steps.step import ComputeObject, Loop, Trace
from mapper.models.trace_partition.tile.geometry import Range
from mapper.models.trace_partition.tile.layer_tiling import LayerTiling
from mapper.models.trace_partition.tile.window import window_classes


@dataclass(frozen=True)
class Addresses:
    """First words of a step's operands in Buf (``weights``: in WBuf). ``out_pitches``: words of the output from row
    to row and from column to column."""

    maps: int
    weights: int
    out: int
    out_pitches: tuple[int, int]
    bias: int
    residual: int
    partial: int
    temporary: int
    table: int


def compute_objects(tiling: LayerTiling, place: Place, at: Addresses) -> Iterator[ComputeObject]:
    """What a unit computes in a step; units differ in their data only."""
    rows, columns = tiling.rows, tiling.columns
    row_tile, column_tile = rows.tiles[rows.kinds[place.row]], columns.tiles[columns.kinds[place.column]]
    windows = [(down, across) for down in row_tile.ranges for across in column_tile.ranges]
    last = place.number == tiling.ins - 1
    if tiling.layer.work == "max":
        for first, blocks, extent in _blocks(tiling.unit_channels(place.out), BLOCK):
            for down, across in windows:
                yield _maximum(tiling, place, at, down, across, first, blocks, extent)
    else:
        yield from _summed(tiling, place, at, windows)
    if tiling.layer.table is not None and last:
        yield from _mapped(tiling, place, at)


def _summed(
    tiling: LayerTiling, place: Place, at: Addresses, windows: list[tuple[Range, Range]]
) -> Iterator[ComputeObject]:
    for first, blocks, extent in _blocks(tiling.unit_filters(place.out), tiling.weights(place.out, 0).block):
        for down, across in windows:
            yield _products(tiling, place, at, down, across, first, blocks, extent)
    if tiling.layer.mfm and place.number == tiling.ins - 1:
        yield from _halves(tiling, place, at)


def _blocks(channels: int, size: int) -> Iterator[tuple[int, int, int]]:
    """First channel, number of blocks, and channels of each: the whole ones, then what is left."""
    whole, left = divmod(channels, size)
    if whole:
        yield 0, whole, size
    if left:
        yield whole * size, 1, left


@dataclass(frozen=True)
class _Maps:
    """How a tile's maps lie: pitches of rows, columns; where a window begins; whether one block's maps lie after the
    other's."""

    row_pitch: int
    column_pitch: int
    first: int


def _maps(tiling: LayerTiling, place: Place, at: Addresses, down: Range, across: Range) -> _Maps:
    channels = tiling.maps_channels(place.out, place.number)
    width = tiling.columns.tiles[tiling.columns.kinds[place.column]].size
    row, column = down.held, across.held
    if tiling.mapping.input_resident:
        _, width, channels = tiling.resident_input
        if not tiling.shares_rows:
            row, column = row + tiling.rows.origins[place.row], column + tiling.columns.origins[place.column]
    return _Maps(width * channels, channels, at.maps + row * width * channels + column * channels)


def _maximum(
    tiling: LayerTiling,
    place: Place,
    at: Addresses,
    down: Range,
    across: Range,
    first: int,
    blocks: int,
    extent: int,
) -> ComputeObject:
    maps, layer = _maps(tiling, place, at, down, across), tiling.layer
    pitches = (maps.row_pitch * layer.dilation[0], maps.column_pitch * layer.dilation[1])
    traces = tuple(
        Trace(row * pitches[0] + column * pitches[1], 0, extent)
        for row in range(down.end - down.begin)
        for column in range(across.end - across.begin)
    )
    row, column = at.out_pitches
    return ComputeObject(
        operation="max",
        mode="indp",
        maps=maps.first + first,
        weights=0,
        out=at.out + down.first * row + across.first * column + first,
        bias=None,
        initial=None,
        initial_wide=False,
        extent=extent,
        blocks=Loop(blocks, maps=extent, out=extent),
        rows=Loop(down.count, maps=tiling.row_axis.stride * maps.row_pitch, out=row),
        columns=Loop(across.count, maps=tiling.column_axis.stride * maps.column_pitch, out=column),
        traces=traces or (Trace(0, 0, 0),),
        relu=layer.relu,
        clip=layer.clip,
    )


def _products(
    tiling: LayerTiling,
    place: Place,
    at: Addresses,
    down: Range,
    across: Range,
    first: int,
    blocks: int,
    extent: int,
) -> ComputeObject:
    maps, layer = _maps(tiling, place, at, down, across), tiling.layer
    weights, lane = tiling.weights(place.out, place.number), layer.work == "lane"
    last, filters = place.number == tiling.ins - 1, tiling.unit_filters(place.out)
    width = tiling.columns.tiles[tiling.columns.kinds[place.column]].outputs
    dense = (width * filters, filters)
    out, pitches = (at.out, at.out_pitches) if not layer.mfm else (at.temporary, dense)
    factor = 1
    if not last:
        out, pitches, factor = at.partial, dense, 2
    initial, initial_factor = None, 0
    if place.number > 0:
        initial, initial_factor = at.partial, 2
    elif layer.residual is not None:
        initial, initial_factor = at.residual, 1
    point = down.first * dense[0] + across.first * dense[1] + first
    mode: Literal["coop", "indp", "lane"] = "lane" if lane else tiling.mapping.mode
    return ComputeObject(
        operation="mac",
        mode=mode,
        maps=maps.first + (first if lane else 0),
        weights=at.weights + first // weights.block * weights.words,
        out=out + factor * (down.first * pitches[0] + across.first * pitches[1] + first),
        bias=at.bias + first,
        initial=None if initial is None else initial + initial_factor * point,
        initial_wide=place.number > 0,
        extent=extent,
        blocks=Loop(
            blocks,
            maps=extent if lane else 0,
            weights=weights.words,
            out=factor * extent,
            bias=extent,
            initial=initial_factor * extent,
        ),
        rows=Loop(
            down.count,
            maps=tiling.row_axis.stride * maps.row_pitch,
            out=factor * pitches[0],
            initial=initial_factor * dense[0],
        ),
        columns=Loop(
            across.count,
            maps=tiling.column_axis.stride * maps.column_pitch,
            out=factor * pitches[1],
            initial=initial_factor * dense[1],
        ),
        traces=weights.traces(
            (down.begin, down.end),
            (across.begin, across.end),
            (maps.row_pitch * layer.dilation[0], maps.column_pitch * layer.dilation[1]),
            extent if lane else weights.channels,
            _window(tiling, down, across),
        ),
        wide=not last,
        relu=layer.relu and last and not layer.mfm,
        clip=layer.clip if last and not layer.mfm else None,
    )


def _window(tiling: LayerTiling, down: Range, across: Range) -> int:
    """The class of the windows' weights: averages over what lies inside the map have one for each clipped window."""
    if tiling.layer.average != "inside":
        return 0
    classes = window_classes(tiling.layer)
    row = 0 if tiling.shares_rows else classes.rows.index((down.begin, down.end))
    return row * len(classes.columns) + classes.columns.index((across.begin, across.end))


def _halves(tiling: LayerTiling, place: Place, at: Addresses) -> Iterator[ComputeObject]:
    """MFM: the larger of each channel's two filters."""
    channels = tiling.unit_channels(place.out)
    width = tiling.columns.tiles[tiling.columns.kinds[place.column]].outputs
    row, column = at.out_pitches
    for first, blocks, extent in _blocks(channels, BLOCK):
        yield ComputeObject(
            operation="max",
            mode="indp",
            maps=at.temporary + first,
            weights=0,
            out=at.out + first,
            bias=None,
            initial=None,
            initial_wide=False,
            extent=extent,
            blocks=Loop(blocks, maps=extent, out=extent),
            rows=Loop(
                tiling.rows.tiles[tiling.rows.kinds[place.row]].unit_outputs,
                maps=width * 2 * channels,
                out=row,
            ),
            columns=Loop(width, maps=2 * channels, out=column),
            traces=(Trace(0, 0, extent), Trace(channels, 0, extent)),
            relu=tiling.layer.relu,
            clip=tiling.layer.clip,
        )


def _mapped(tiling: LayerTiling, place: Place, at: Addresses) -> Iterator[ComputeObject]:
    """The results through the look-up table, where they lie: pixels one after another as one run of words."""
    row, column = at.out_pitches
    length, columns = (
        tiling.unit_channels(place.out),
        tiling.columns.tiles[tiling.columns.kinds[place.column]].outputs,
    )
    rows = tiling.rows.tiles[tiling.rows.kinds[place.row]].unit_outputs
    if column == length:
        length, columns = length * columns, 1
    if columns == 1 and row == length:
        length, rows = length * rows, 1
    bias: int | None = at.table
    for first, blocks, extent in _blocks(length, BLOCK):
        for block in range(1 if columns == 1 else blocks):
            start = at.out + first + block * BLOCK
            along = (
                Loop(blocks, maps=BLOCK, out=BLOCK)
                if columns == 1
                else Loop(columns, maps=column, out=column)
            )
            yield ComputeObject(
                operation="table",
                mode="indp",
                maps=start,
                weights=0,
                out=start,
                bias=bias,
                initial=None,
                initial_wide=False,
                extent=extent,
                blocks=Loop(),
                rows=Loop(rows, maps=row, out=row),
                columns=along,
                traces=(Trace(0, 0, extent),),
            )
            bias = None
