"""The tiles, words and loads of one cluster's part of a layer, for every tile of a family at once: arrays over its
sizes of rows, columns, summed channels and output channels."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from mapper.arch.snowflake import BLOCK, INSTRUCTION_BYTES, LANES, TABLE_WORDS, UNITS, VMACS, WORD_BYTES
from mapper.formulations.trace_partition.problem import PartitionProblem
from mapper.formulations.trace_partition.program.axis_floor import axis_floor
from mapper.formulations.trace_partition.program.option import Family
from mapper.models.trace_partition.lowering.layer import TraceLayer
from mapper.models.trace_partition.tile.share import Share

Integers = npt.NDArray[np.int64]
KEPT = 2
"""Tiles of an operand that its two buffers hold, so that they are not loaded again."""
LOAD_ISSUE, STORE_ISSUE = 2, 1
"""Instructions of the least load (itself, the wait for it) and store of a step, which no vector instruction hides."""


class ShareCount:
    """The numbers of one cluster's part of a layer, as arrays over the sizes of tiles."""

    def __init__(self, problem: PartitionProblem, layer: TraceLayer, family: Family, share: Share) -> None:
        self.problem, self.layer, self.family, self.share = problem, layer, family, share
        self.by_rows = family.unit_split == "rows"
        self.convolution = layer.work == "convolution"
        self.factor = 2 if layer.mfm else 1
        whole = family.input_resident
        rows = share.first_row, share.rows
        self.rows = axis_floor(layer, 0, whole, rows, family.rows, self.by_rows).along(0)
        self.columns = axis_floor(layer, 1, whole, (0, layer.columns), family.columns, False).along(1)
        self.ci: Integers = np.array(family.in_channels, dtype=np.int64).reshape(1, 1, -1, 1)
        self.co: Integers = np.array(family.out_channels, dtype=np.int64).reshape(1, 1, 1, -1)
        self.ins, self.outs = -(-layer.group_inputs // self.ci), -(-share.channels // self.co)
        self.spatial = self.rows.count * self.columns.count
        self.steps = share.groups * self.spatial * self.ins * self.outs

    def _channels(self, size: Any) -> Any:
        """Output channels of each unit for a tile of ``size``."""
        if self.by_rows:
            return size
        if self.family.mode == "coop":
            return -(-size // (UNITS * VMACS)) * VMACS
        return -(-size // UNITS)

    def _filters(self, size: Any) -> Any:
        return self.factor * self._channels(size)

    @property
    def _units(self) -> int:
        """Units that have weights of their own."""
        return 1 if self.by_rows else UNITS

    def _over_outs(self, of: Any) -> Any:
        """What a tile of so many output channels takes, summed over all tiles of them."""
        whole, left = self.share.channels // self.co, self.share.channels % self.co
        return whole * of(self.co) + of(left)

    def _over_ins(self, of: Any) -> Integers:
        """The same over the tiles of summed channels."""
        inputs = self.layer.group_inputs
        sums = [inputs // size * of(size) + of(inputs % size) for size in self.family.in_channels]
        return np.array(sums, dtype=np.int64).reshape(1, 1, -1, 1)

    @cached_property
    def _runs(self) -> bool:
        """Whether a row of the window is one trace."""
        return self.convolution and (self.layer.dilation[1] == 1 or self.layer.kernel[1] == 1)

    def _block(self, size: Any) -> Any:
        """Blocks that the vector unit works on one after another: of 4 filters, or of 64."""
        return -(-self._filters(size) // (VMACS if self.family.mode == "coop" else BLOCK))

    def _lines(self, size: Any) -> Any:
        return -(-self._filters(size) // LANES)

    @cached_property
    def _weight_words(self) -> tuple[Any, Any]:
        """Words in memory of all weights, and of those of the first tile of output channels; of one group."""
        if not self.convolution:
            zero = np.zeros_like(self.co)
            return zero, zero
        ins = self._over_ins(self._filter_words)
        if self.family.mode == "coop":
            return self._over_outs(self._filters) * self._units * ins, self._filters(
                self._first_out
            ) * self._units * ins
        return self._over_outs(self._lines) * self._units * ins, self._lines(
            self._first_out
        ) * self._units * ins

    @property
    def _first_out(self) -> Any:
        return np.minimum(self.co, self.share.channels)

    def _filter_words(self, channels: Any) -> Any:
        """Words of a filter (coop), or of 16, in a WBuf."""
        high, wide = self.layer.kernel
        if self.family.mode != "coop":
            return LANES * high * wide * channels
        if self._runs:
            return high * -(-wide * channels // LANES) * LANES
        return high * wide * -(-channels // LANES) * LANES

    @cached_property
    def _moved(self) -> tuple[Any, Any, Any, Any]:
        """Words of maps and of weights that are loaded, and how many loads these are at least."""
        share, groups, once = self.share, self.share.groups, self.rows.inputs * self.columns.inputs
        if not self.convolution:
            return (
                once * share.channels,
                np.zeros_like(self.co),
                self.spatial * self.outs,
                np.zeros_like(self.co),
            )
        weights, _ = self._weight_words
        if self.family.order == "maps_stationary":
            maps_again = np.where(self.ins <= KEPT, 1, self.outs)
            weights_again = np.where(self.outs * self.ins <= KEPT, 1, self.spatial)
        else:
            maps_again = np.where(self.spatial * self.ins <= KEPT, 1, self.outs)
            weights_again = np.where(self.ins <= KEPT, 1, self.spatial)
        return (
            groups * once * self.layer.group_inputs * maps_again,
            groups * weights * weights_again,
            groups * self.spatial * self.ins * maps_again,
            groups * self.outs * self.ins * weights_again,
        )

    @cached_property
    def _results(self) -> int:
        return self.share.rows * self.layer.columns * self.share.channels * self.share.groups

    @cached_property
    def _loading_steps(self) -> Any:
        _, _, maps, weights = self._moved
        return np.maximum(maps * (not self.family.input_resident), weights)

    @cached_property
    def _stores(self) -> Any:
        return self.share.groups * self.spatial * self.outs * (not self.family.output_resident)

    @cached_property
    def _words(self) -> Any:
        """Words that cross the port, instructions among them."""
        maps, weights, _, _ = self._moved
        instructions = self.steps + LOAD_ISSUE * self._loading_steps + STORE_ISSUE * self._stores
        words = maps * (not self.family.input_resident) + weights
        words = words + self._results * (not self.family.output_resident)
        if self.layer.residual is not None:
            words = words + self._results
        if self.layer.table is not None:
            words = words + TABLE_WORDS
        return words + instructions * (INSTRUCTION_BYTES // WORD_BYTES)

    @property
    def dram_bytes(self) -> Any:
        return self._words * WORD_BYTES

    @cached_property
    def _first_maps(self) -> Any:
        """Words of the maps of the first tile of rows and columns, all summed channels."""
        channels = self.layer.group_inputs if self.convolution else self._first_out
        return self.rows.first * self.columns.first * channels * (not self.family.input_resident)

    def _tile_weights(self, outs: Any, ins: Any) -> Any:
        """Words of the weights of a tile of so many output and summed channels."""
        own = self._filters if self.family.mode == "coop" else self._lines
        return self._units * own(outs) * self._filter_words(ins)

    @cached_property
    def first_words(self) -> Any:
        """Words of maps and weights that the first step loads."""
        maps = self.rows.first * self.columns.first * (self.ci if self.convolution else self._first_out)
        maps = maps * (not self.family.input_resident)
        return maps + self._tile_weights(self._first_out, self.ci) if self.convolution else maps

    @cached_property
    def second_words(self) -> Any:
        """Words of maps and weights that the second step loads, 0 if there is none."""
        across, down, loaded = self.columns, self.rows, not self.family.input_resident
        corner = np.where(across.count > 1, down.first * across.second, down.second * across.first) * loaded
        next_out = np.maximum(0, np.minimum(self.co, self.share.channels - self.co))
        if not self.convolution:
            next_channels = down.first * across.first * next_out * loaded
            return np.where(self.outs > 1, next_channels, corner * self._first_out)
        next_in = np.maximum(0, np.minimum(self.ci, self.layer.group_inputs - self.ci))
        summed = down.first * across.first * next_in * loaded + self._tile_weights(self._first_out, next_in)
        next_group = self.first_words * (self.share.groups > 1)
        position, channel = corner * self.ci, self._tile_weights(next_out, self.ci)
        if self.family.order == "maps_stationary":
            other = np.where(self.outs > 1, channel, np.where(self.spatial > 1, position, next_group))
        else:
            other = np.where(self.spatial > 1, position, np.where(self.outs > 1, channel, next_group))
        return np.where(self.ins > 1, summed, other)

    @property
    def unit_words(self) -> Any:
        """Words of a unit's Buf that are needed, without rounding to lines."""
        groups, size = self.share.groups, np.minimum(self.co, self.share.channels)
        channels = self._channels(size)
        maps = self.rows.held * self.columns.held * (self.ci if self.convolution else channels)
        tiles = groups * self.spatial * (self.ins if self.convolution else self.outs)
        points = self.rows.most * self.columns.most
        copies = np.minimum(groups * self.spatial * self.outs, KEPT)
        # An output that stays is held once, and whole: no less than a tile of it.
        results = copies if not self.family.output_resident else 1
        words = maps * np.minimum(tiles, KEPT) + points * channels * results
        if self.layer.residual is not None:
            words = words + points * channels * copies
        if self.layer.mfm:
            words = words + points * self._filters(size)
        if self.layer.table is not None:
            words = words + TABLE_WORDS
        if self.layer.work != "max":
            words = words + self._filters(size) * np.minimum(groups * self.outs, KEPT)
        return words + np.where(self.ins > 1, 2 * points * self._filters(size), 0)

    @property
    def vmac_words(self) -> Any:
        """Words of a vMAC's WBuf that are needed."""
        if not self.convolution:
            return np.zeros_like(self.co)
        size = np.minimum(self.co, self.share.channels)
        tiles = np.minimum(self.share.groups * self.outs * self.ins, KEPT)
        return self._block(size) * self._filter_words(self.ci) * tiles
