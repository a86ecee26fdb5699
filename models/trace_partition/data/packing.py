"""Weights and biases of a layer in the order in which a cluster's loads read them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mapper.arch.snowflake import BLOCK, LANES, UNITS, VMACS, SnowflakeMachine
from mapper.models.trace_partition.data.quantisation import LayerData
from mapper.models.trace_partition.lowering.layer import TraceLayer
from mapper.models.trace_partition.mapping import LayerMapping
from mapper.models.trace_partition.tile.layer_tiling import LayerTiling, layer_tiling
from mapper.models.trace_partition.tile.weight_tile import WeightTile

Words = npt.NDArray[np.int16]


def packed(
    layer: TraceLayer,
    mapping: LayerMapping,
    machine: SnowflakeMachine,
    data: LayerData,
    sharing: int = 1,
    cluster: int = 0,
) -> tuple[Words, Words]:
    """The words of ``weights:<layer>`` and of ``bias:<layer>`` for one cluster: ``plan.weight_words`` and
    ``plan.bias_words`` long, tiles in the order of group, output channels, input channels. Both are equal for all
    clusters that have steps unless they share output channels."""
    tiling = layer_tiling(layer, mapping, sharing, cluster)
    empty = np.zeros(0, dtype=np.int16)
    weights, biases = [empty], [empty]
    if layer.work != "max" and not tiling.share.empty:
        for group in range(tiling.share.groups):
            for out in range(tiling.outs):
                filters = _filters(tiling, group, out)
                biases.append(_chosen(data.bias, filters, 0).reshape(-1))
                for number in range(tiling.ins if layer.gate is None else 0):
                    weights.append(_tile(tiling, data.kernel, filters, out, number))
    return np.concatenate(weights or [empty]), np.concatenate(biases)


def _filters(tiling: LayerTiling, group: int, out: int) -> npt.NDArray[np.int64]:
    """The layer's filter that each filter of each unit is, -1 for none: [unit][filter]; one row where units share
    rows."""
    share, layer = tiling.share, tiling.layer
    size = tiling.unit_channels(out)
    within = np.arange(size * (1 if tiling.shares_rows else UNITS), dtype=np.int64)
    first = (share.first_group + group) * layer.group_outputs + share.first_channel
    first += out * tiling.mapping.tile.out_channels
    found = np.where(within < tiling.out_channels(out), within + first, -1).reshape(-1, size)
    if layer.mfm:
        second = np.where(found < 0, -1, found + layer.output.channels)
        return np.concatenate([found, second], axis=1)
    return found


def _chosen(values: Words, which: npt.NDArray[np.int64], axis: int) -> Words:
    """``values`` at the indices ``which`` of ``axis``, 0 where there is none, as int16."""
    missing = (which < 0).reshape((1,) * axis + which.shape + (1,) * (values.ndim - axis - 1))
    return np.where(missing, 0, np.take(values, np.maximum(which, 0), axis=axis)).astype(np.int16)


def _tile(tiling: LayerTiling, kernel: Words, filters: npt.NDArray[np.int64], out: int, number: int) -> Words:
    """A tile's weights as its transfers read them."""
    tile = tiling.weights(out, number)
    units = len(filters)
    blocks = -(-tile.filters // tile.block)
    spare = np.full((units, blocks * tile.block - tile.filters), -1, dtype=np.int64)
    which = np.concatenate([filters, spare], axis=1)
    if tile.mode == "lane":
        # [class][row][column][unit][filter] to [unit][block][vMAC][class, row, column, lane].
        taken = _chosen(kernel, which, 3).reshape(-1, units, blocks, VMACS, LANES)
        words = taken.transpose(1, 2, 3, 0, 4)
    else:
        first = number * tiling.mapping.tile.in_channels
        taken = _chosen(kernel[..., first : first + tile.channels], which, 0)
        words = _cooperating(tile, taken) if tile.mode == "coop" else _independent(taken)
    return _in_pieces(tile, np.ascontiguousarray(words).reshape(units, blocks, VMACS, tile.words))


def _cooperating(tile: WeightTile, taken: Words) -> Words:
    """[unit][filter][row][column][channel] with every trace beginning at a multiple of 16 words."""
    units, filters, _, width, channels = taken.shape
    traces = taken.reshape(units, filters, -1, channels * (width if tile.runs else 1))
    spare = tile.trace_pitch - traces.shape[3]
    return np.pad(traces, ((0, 0), (0, 0), (0, 0), (0, spare)))


def _independent(taken: Words) -> Words:
    """[unit][block][vMAC][row, column, channel][lane]."""
    units, filters = taken.shape[:2]
    return taken.reshape(units, filters // BLOCK, VMACS, LANES, -1).transpose(0, 1, 2, 4, 3)


def _in_pieces(tile: WeightTile, words: Words) -> Words:
    """[unit][block][vMAC][word] in the order of the tile in memory: for each part [block][chunk][unit][vMAC][word]."""
    found, begin = [], 0
    for part in tile.parts:
        for block in range(begin, begin + part.blocks):
            for first, count in tile.chunks():
                found.append(words[:, block, : part.vmacs, first : first + count].reshape(-1))
        begin += part.blocks
    return np.concatenate(found)
