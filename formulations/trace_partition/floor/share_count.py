"""The tiles, words and loads of one cluster's part of a layer, for every tile of a family at once: arrays over its
sizes of rows, columns, summed channels and output channels; or for boxes of tiles, in intervals."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from mapper.arch.snowflake import BLOCK, INSTRUCTION_BYTES, LANES, TABLE_WORDS, UNITS, VMACS, WORD_BYTES
from mapper.formulations.trace_partition.floor.axis_floor import axis_floor
from mapper.formulations.trace_partition.floor.box import Boxes
from mapper.formulations.trace_partition.floor.span import spanned
from mapper.formulations.trace_partition.problem import PartitionProblem
from mapper.formulations.trace_partition.program.option import Family
from mapper.models.trace_partition.lowering.layer import TraceLayer
from mapper.models.trace_partition.tile.share import Share

Integers = npt.NDArray[np.int64]
KEPT = 2
"""Tiles of an operand that its two buffers hold, so that they are not loaded again."""
LOAD_ISSUE, STORE_ISSUE = 2, 1
"""Instructions of the least load (itself, the wait for it) and store of a step, which no vector instruction hides."""


class ShareCount:
    """The numbers of one cluster's part of a layer, as arrays over the sizes of tiles.

    With ``boxes``, arrays over boxes of sizes that cut every dimension into the same number of tiles: these numbers of
    tiles, and what follows from them alone, are numbers, all else intervals.
    """

    def __init__(
        self,
        problem: PartitionProblem,
        layer: TraceLayer,
        family: Family,
        share: Share,
        boxes: Boxes | None = None,
    ) -> None:
        self.problem, self.layer, self.family, self.share, self.boxes = problem, layer, family, share, boxes
        self.by_rows = family.unit_split == "rows"
        self.convolution = layer.work == "convolution"
        self.factor = 2 if layer.mfm else 1
        whole = family.input_resident
        rows = share.first_row, share.rows
        down = axis_floor(layer, 0, whole, rows, family.rows, self.by_rows)
        across = axis_floor(layer, 1, whole, (0, layer.columns), family.columns, False)
        # Whether windows lie on padding alone: tiles of such bring no maps.
        self.empties = across.live_once < layer.columns or bool((down.live != down.work).any())
        if boxes is not None:
            down, across = down.spanned(boxes.rows), across.spanned(boxes.columns)
        self.rows, self.columns = down.along(0), across.along(1)
        self._ins: Integers = np.array(family.in_channels, dtype=np.int64)
        self._outs: Integers = np.array(family.out_channels, dtype=np.int64)
        self.ci, self.co = self._along(self._ins, 2), self._along(self._outs, 3)
        self.ins = self._counted(-(-layer.group_inputs // self._ins), 2)
        self.outs = self._counted(-(-share.channels // self._outs), 3)
        self.spatial = self.rows.count * self.columns.count
        self.shape = family.shape if boxes is None else boxes.shape
        self.steps = share.groups * self.spatial * self.ins * self.outs

    def _along(self, values: Integers, dimension: int) -> Any:
        """What depends on the size in one dimension, along it."""
        if self.boxes is None:
            shape = [1, 1, 1, 1]
            shape[dimension] = -1
            return values.reshape(shape)
        return spanned(values, self.boxes.starts[dimension]).along(dimension)

    def _counted(self, tiles: Integers, dimension: int) -> Integers:
        """Numbers of tiles along a dimension: one for all sizes of a box."""
        shape = [1, 1, 1, 1]
        shape[dimension] = -1
        kept: Integers = tiles if self.boxes is None else tiles[self.boxes.starts[dimension]]
        return kept.reshape(shape)

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
        whole, left = self.share.channels // self._outs, self.share.channels % self._outs
        return self._along(whole * of(self._outs) + of(left), 3)

    def _over_ins(self, of: Any) -> Any:
        """The same over the tiles of summed channels."""
        inputs = self.layer.group_inputs
        return self._along(inputs // self._ins * of(self._ins) + of(inputs % self._ins), 2)

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
            zero = np.zeros_like(self.outs)
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
                np.zeros_like(self.outs),
                self.spatial * self.outs * (not self.empties),
                np.zeros_like(self.outs),
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
            groups * self.spatial * self.ins * maps_again * (not self.empties),
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
        """Words that the first step loads: maps, weights, biases, and the residual if it finishes an output."""
        maps = self.rows.first * self.columns.first * (self.ci if self.convolution else self._first_out)
        words = maps * (not self.family.input_resident)
        if self.layer.work != "max":
            words = words + self.factor * self._first_out
        if self.layer.residual is not None:
            outputs = self.rows.first_outputs * self.columns.first_outputs * self._first_out
            words = words + np.where(self.ins > 1, 0, outputs)
        return words + self._tile_weights(self._first_out, self.ci) if self.convolution else words

    @property
    def loaded_words(self) -> Any:
        """Words that all steps load."""
        maps, weights, _, _ = self._moved
        words = maps * (not self.family.input_resident) + weights
        if self.layer.work != "max":
            words = words + self.factor * self.share.channels * self.share.groups
        return words if self.layer.residual is None else words + self._results

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
        results = points * channels * copies
        if self.family.output_resident:  # It is held once, and whole.
            every = (
                self.rows.most * self.share.channels * groups if self.by_rows else self.share.rows * channels
            )
            results = every * self.layer.columns
        words = maps * np.minimum(tiles, KEPT) + results
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
            return np.zeros_like(self.outs)
        size = np.minimum(self.co, self.share.channels)
        tiles = np.minimum(self.share.groups * self.outs * self.ins, KEPT)
        return self._block(size) * self._filter_words(self.ci) * tiles
