"""Lower bounds of single tiles by running their steps, relaxed: closer than `option_floor`, and dearer."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from mapper.arch.snowflake import INSTRUCTION_BYTES, LANES
from mapper.formulations.trace_partition.floor import step_run as table
from mapper.formulations.trace_partition.floor.box import shares_of
from mapper.formulations.trace_partition.floor.span import Integers
from mapper.formulations.trace_partition.problem import PartitionProblem
from mapper.formulations.trace_partition.program.option import Family, Sizes
from mapper.models.trace_partition.lowering.layer import TensorView, TraceLayer
from mapper.models.trace_partition.tile.geometry import AxisTile, axis_of, axis_tiling
from mapper.models.trace_partition.tile.share import Share
from mapper.models.trace_partition.tile.window import window_classes
from mapper.models.trace_partition.timing.share_cost import byte_fraction

Axis = tuple[Integers, Integers, Integers]
"""The first tile of each size and one more; tiles; ranges."""


def step_floors(
    problem: PartitionProblem, layer: TraceLayer, family: Family, places: Integers
) -> tuple[Integers, Integers]:
    """Cycles and bytes [T] that the tiles at ``places`` [4, T] among the family's sizes take at least."""
    configuration = problem.configuration
    tiles = np.array(places.T, dtype=np.int64, order="C")
    tiles[:, 2] = np.array(family.in_channels, dtype=np.int64)[tiles[:, 2]]
    tiles[:, 3] = np.array(family.out_channels, dtype=np.int64)[tiles[:, 3]]
    cycles = np.zeros(len(tiles), dtype=np.int64)
    moved = np.zeros(len(tiles), dtype=np.int64)
    for share in shares_of(layer, family, configuration.sharing):
        whole, shared = family.input_resident, family.unit_split == "rows"
        rows = _axis(layer, 0, whole, (share.first_row, share.rows), family.rows, shared)
        columns = _axis(layer, 1, whole, (0, layer.columns), family.columns, False)
        found = np.zeros((len(tiles), 2), dtype=np.int64)
        given = _given(problem, layer, family, share)
        table.step_run(given, tiles, rows[0], rows[1], columns[0], columns[1], columns[2], found)
        cycles = np.maximum(cycles, found[:, 0])
        moved += found[:, 1]
    return cycles, moved * (configuration.clusters // configuration.sharing)


def _given(problem: PartitionProblem, layer: TraceLayer, family: Family, share: Share) -> Integers:
    machine, timing = problem.machine, problem.machine.timing
    byte, scale = byte_fraction(machine)
    convolution, factor = layer.work == "convolution", 2 if layer.mfm else 1
    runs = convolution and (layer.dilation[1] == 1 or layer.kernel[1] == 1)
    high, wide = layer.kernel
    filters = 0
    if layer.work == "lane" and layer.gate is None:
        filters = LANES * high * wide * window_classes(layer).count
    small = machine.unit_words < table.FIELD
    given = np.zeros(table.CONSTANTS, dtype=np.int64)
    given[: table.WEIGHTS_STAY] = (
        share.groups,
        family.unit_split == "rows",
        share.channels,
        layer.group_inputs,
        convolution,
        convolution and family.mode == "coop",
        runs,
        layer.work != "max",
        factor,
        high * (1 if runs else wide),
    )
    given[table.WEIGHTS_STAY : table.BYTE] = (
        family.order == "weights_stationary",
        family.input_resident,
        family.output_resident,
        layer.residual is not None,
        filters,
        high,
        wide,
    )
    given[table.BYTE : table.TABLE] = (
        byte,
        scale,
        timing.memory_latency,
        timing.vector_latency,
        INSTRUCTION_BYTES * byte,
    )
    given[table.TABLE] = 0 if layer.table is None else timing.table_words
    given[table.ACROSS], given[table.PITCH] = layer.columns, layer.output.pitch
    given[table.EVEN_WEIGHTS :] = (
        layer.gate is None,
        small and layer.upsample == (1, 1) and _is_even(layer.input),
        small and layer.residual is not None and _is_even(layer.residual),
        small and _is_even(layer.output),
    )
    return given


def _is_even(view: TensorView) -> bool:
    """Whether the distances of rows and columns of a map fit the fields of a transfer, whatever the stride."""
    return view.width * view.pitch * max(1, view.height) < table.FIELD


@lru_cache(maxsize=64)
def _axis(
    layer: TraceLayer, which: int, whole: bool, part: tuple[int, int], sizes: Sizes, shared: bool
) -> Axis:
    axis, (start, outputs) = axis_of(layer, which, whole), part
    firsts = [0]
    tiles: list[tuple[int, ...]] = []
    ranges: list[tuple[int, int]] = []
    for size in sizes:
        tiling = axis_tiling(axis, start, outputs, size, shared)
        rows = []
        for tile in tiling.tiles:
            rows.append((*_counted(tile, axis.up), len(ranges)))
            ranges += [(one.count, max(0, one.end - one.begin)) for one in tile.ranges]
        tiles += [rows[kind] for kind in tiling.kinds]
        firsts.append(len(tiles))
    return (
        np.array(firsts, dtype=np.int64),
        np.array(tiles, dtype=np.int64).reshape(-1, table.AXIS),
        np.array(ranges, dtype=np.int64).reshape(-1, 2),
    )


def _counted(tile: AxisTile, up: int) -> tuple[int, ...]:
    widths = [max(0, one.end - one.begin) for one in tile.ranges]
    return (
        sum(piece.count for piece in tile.pieces),
        tile.unit_outputs,
        tile.outputs,
        sum(one.count * width for one, width in zip(tile.ranges, widths, strict=True)),
        len(tile.ranges),
        sum(widths),
        sum(piece.count > 0 for piece in tile.pieces),
        sum(piece.outputs > 0 for piece in tile.pieces),
        sum(one.count for one in tile.ranges if one.count > 1),
        sum(one.count for one, width in zip(tile.ranges, widths, strict=True) if width),
        sum(width > 0 for width in widths),
        sum(piece.count > 0 and piece.before == 0 for piece in tile.pieces) if up == 1 else 0,
    )
