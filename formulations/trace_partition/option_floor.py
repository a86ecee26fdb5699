"""Lower bounds of what every tile of a family costs and takes, for all tiles at once: an option that these rule out
need not be costed.

Counted is what any run of the plan's steps does (docs/snowflake-machine.md): lines that the vector unit reads and
writes, or the instructions that it takes, words that cross the external memory's port, and between two steps the
longer of computing one and loading the next. Left out are what alignment adds, fills, and waits within a step.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from mapper.arch.snowflake import BLOCK, INSTRUCTION_BYTES, LANES, UNITS, VMACS, WORD_BYTES
from mapper.formulations.trace_partition.axis_floor import axis_floor
from mapper.formulations.trace_partition.option import Family
from mapper.formulations.trace_partition.problem import MOST_STEPS, PartitionProblem
from mapper.models.trace_partition.share import Share, share_of
from mapper.models.trace_partition.trace_layer import TraceLayer

Integers = npt.NDArray[np.int64]
KEPT = 2
"""Tiles of an operand that its two buffers hold, so that they are not loaded again."""
LOAD_ISSUE, STORE_ISSUE = 2, 1
"""Instructions of the least load (itself, the wait for it) and store of a step, which no vector instruction hides."""
PAUSE = 2
"""Cycles from a wait for the vector unit to its next instruction, beside what is issued in between."""


@dataclass(frozen=True)
class Floor:
    """At least so many ``cycles`` of the accelerator, ``dram_bytes``, and words read and written in its buffers; and
    whether the tile may fit these."""

    cycles: Integers
    dram_bytes: Integers
    buffer_words: Integers
    fits: npt.NDArray[np.bool_]


def family_floor(problem: PartitionProblem, layer: TraceLayer, family: Family) -> Floor:
    """The bounds of every tile of ``family``: arrays over rows, columns, summed channels and output channels."""
    machine, configuration = problem.machine, problem.configuration
    sharing = configuration.sharing
    shares = [share_of(layer, family.largest, sharing, cluster) for cluster in range(sharing)]
    parts = [_Counted(problem, layer, family, share) for share in shares if not share.empty]
    cycles = np.maximum.reduce([np.broadcast_to(part.cycles, family.shape) for part in parts])
    images = configuration.clusters // sharing
    moved = images * np.add.reduce([np.broadcast_to(part.dram_bytes, family.shape) for part in parts])
    used = images * np.add.reduce([np.broadcast_to(part.buffer_words, family.shape) for part in parts])
    fits = np.ones(family.shape, dtype=np.bool_)
    for part in parts:
        fits &= (part.unit_words <= machine.unit_words) & (part.vmac_words <= machine.vmac_words)
        fits &= part.steps <= MOST_STEPS
    # Clusters take turns at the memory: one may have it all, but all their bytes cross it one after another.
    numerator, denominator = machine.cycles_per_byte
    cycles = np.maximum(cycles, moved * numerator // denominator)
    return Floor(cycles, moved, used, fits)


class _Counted:
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

    # --- one unit's channels -----------------------------------------------------------------------------------

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

    # --- time of the vector unit --------------------------------------------------------------------------------

    @cached_property
    def _runs(self) -> bool:
        """Whether a row of the window is one trace."""
        return self.convolution and (self.layer.dilation[1] == 1 or self.layer.kernel[1] == 1)

    def _across(self, of: Any) -> int:
        """What a row of the window of so many columns takes, summed over the output columns."""
        return sum(often * of(width) for width, often in self.columns.widths)

    def _across_tile(self, of: Any) -> Any:
        """The same over the output columns of a tile, at the most."""
        return self.columns.most * of(self.layer.kernel[1])

    def _block(self, size: Any) -> Any:
        """Blocks that the vector unit works on one after another: of 4 filters, or of 64."""
        return -(-self._filters(size) // (VMACS if self.family.mode == "coop" else BLOCK))

    def _lines(self, size: Any) -> Any:
        return -(-self._filters(size) // LANES)

    def _wide_lines(self, size: Any) -> Any:
        return -(-2 * self._filters(size) // LANES)

    def _computed(self, down: Any, points: Any, across: Any, over_ins: Any, outs: Any, moves: Any) -> Any:
        """Cycles for ``down`` rows of windows with ``points`` outputs. ``across``, ``over_ins`` and ``outs`` sum over
        columns, summed channels and output channels; ``moves``: how often an output is begun, from partial sums, from a
        residual, and how often the vector unit has to wait for its result to be written."""
        tiles, partial, residual, writes = moves
        traces = down * across(lambda width: 1 if self._runs else width)
        issued = outs(self._block) * (2 * traces - points) * tiles
        if not self.convolution:
            taps = down * across(lambda width: width)
            return np.maximum(issued, outs(self._lines) * (taps + points * writes))
        if self.family.mode == "coop":
            lines = over_ins(lambda size: across(lambda width: self._read(width, size)))
            return np.maximum(
                issued, outs(self._block) * (down * lines + points * (tiles + partial + residual))
            )
        initial = outs(self._wide_lines) * partial + outs(self._lines) * residual
        taps = down * across(lambda width: width) * over_ins(lambda size: size)
        return np.maximum(issued, outs(self._block) * taps + points * initial)

    def _read(self, width: int, channels: Any) -> Any:
        """Lines of maps in a row of the window."""
        if self._runs:
            return -(-width * channels // LANES)
        return width * -(-channels // LANES)

    @cached_property
    def _vector(self) -> Any:
        points, residual = self.rows.work * self.layer.columns, self.layer.residual is not None
        # Where a step follows another without a pause the last results of the one are written beside the other.
        writes = np.where(self._pauses < self.steps, 0, self.ins)
        moves = self.ins, self.ins - 1, int(residual), writes
        computed = self._computed(
            self.rows.taps, points, self._across, self._over_ins, self._over_outs, moves
        )
        return self.share.groups * computed

    @cached_property
    def _longest_step(self) -> Any:
        """As much as one step counts in ``_in_line``, at the most."""
        points, down = self.rows.most * self.columns.most, self.rows.most * self.layer.kernel[0]
        several, residual = self.ins > 1, self.layer.residual is not None
        computed = self._computed(
            down,
            points,
            self._across_tile,
            lambda of: of(self.ci),
            lambda of: of(self._first_out),
            (1, several, np.where(several, 0, residual), 1),
        )
        return computed + self._pause + LOAD_ISSUE + STORE_ISSUE

    # --- words at the external memory ---------------------------------------------------------------------------

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
        return words + instructions * (INSTRUCTION_BYTES // WORD_BYTES)

    @property
    def dram_bytes(self) -> Any:
        return self._words * WORD_BYTES

    # --- steps one after another ----------------------------------------------------------------------------------

    @cached_property
    def _pauses(self) -> Any:
        """Steps behind which the vector unit is awaited: those that store, and those before a step that loads."""
        return np.maximum(self._loading_steps - 2, self._stores)

    @property
    def _pause(self) -> int:
        """Cycles of such a wait: for the last results, and until the vector unit works again."""
        return PAUSE + self.problem.machine.timing.vector_latency

    @cached_property
    def _in_line(self) -> Any:
        """All steps' computation one after another, with what is issued between them."""
        issued = LOAD_ISSUE * np.maximum(self._loading_steps - 2, 0) + STORE_ISSUE * self._stores
        return self._vector + np.maximum(self._pauses, 0) * self._pause + issued

    def _time(self, words: Any) -> Any:
        numerator, denominator = self.problem.machine.cycles_per_byte
        return words * WORD_BYTES * numerator // denominator

    @cached_property
    def _first_maps(self) -> Any:
        """Words of the maps of the first tile of rows and columns, all summed channels."""
        channels = self.layer.group_inputs if self.convolution else self._first_out
        return self.rows.first * self.columns.first * channels * (not self.family.input_resident)

    @cached_property
    def _bursts(self) -> Any:
        """Words that come together in few steps, a new tile of what is stationary, and in how many steps at the most.
        Such a load has the time of the step before its own, unless that step has one too."""
        none = np.zeros(self.family.shape, dtype=np.int64)
        if not self.convolution:
            return none, none
        maps, weights, _, _ = self._moved
        _, first_weights = self._weight_words
        stays, groups, first_maps = self.family.input_resident, self.share.groups, self._first_maps
        if self.family.order == "maps_stationary":
            again = np.where(self.outs * self.ins > KEPT, (groups * self.spatial - 1) * first_weights, 0)
            loaded = (maps - first_maps) * (not stays) + again
            often, apart = groups * self.spatial - 1, self.outs > 1
        else:
            again = np.where(self.spatial * self.ins > KEPT, (groups * self.outs - 1) * first_maps, 0)
            loaded = weights - first_weights + again
            often, apart = groups * self.outs - 1, self.spatial > 1
        few = (self.ins <= KEPT) & apart
        return np.where(few, loaded, none), np.where(few, often * self.ins, none)

    @property
    def cycles(self) -> Any:
        """Cycles of the cluster."""
        # Nothing is awaited where a maximum pool finds its maps in Buf.
        latency = self.problem.machine.timing.memory_latency
        latency *= not (self.layer.work == "max" and self.family.input_resident)
        first = self.rows.first * self.columns.first * (self.ci if self.convolution else self._first_out)
        first = first * (not self.family.input_resident)
        if self.convolution:
            own = self._filters if self.family.mode == "coop" else self._lines
            first = first + self._units * own(self._first_out) * self._filter_words(self.ci)
        loaded, often = self._bursts
        waiting = np.maximum(0, self._time(loaded) - often * (self._longest_step + LOAD_ISSUE))
        last = self.rows.last * self.columns.last * (self.share.channels - (self.outs - 1) * self.co)
        last = last * (not self.family.output_resident)
        in_line = self._time(first) + latency + self._in_line + waiting + self._time(last)
        return np.maximum(in_line, self._time(self._words))

    @property
    def buffer_words(self) -> Any:
        """Words that the vector unit reads and writes in all units' buffers, and those that cross the port."""
        points = self.rows.work * self.layer.columns
        taps = self.rows.taps * self._across(lambda width: width)
        if self.layer.work == "convolution":
            readers = VMACS if self.family.mode == "coop" else BLOCK
            read = self._over_outs(self._block) * taps * self.layer.group_inputs * (1 + readers)
        else:
            read = self._over_outs(self._filters) * taps * (2 if self.layer.work == "lane" else 1)
        written = self._over_outs(self._filters) * points
        maps, weights, _, _ = self._moved
        crossing = maps * (not self.family.input_resident) + weights
        crossing = crossing + self._results * (not self.family.output_resident)
        return UNITS * self.share.groups * (read + written) + crossing

    # --- buffers ------------------------------------------------------------------------------------------------

    @property
    def unit_words(self) -> Any:
        """Words of a unit's Buf that are needed, without rounding to lines."""
        groups, size = self.share.groups, np.minimum(self.co, self.share.channels)
        channels = self._channels(size)
        maps = self.rows.held * self.columns.held * (self.ci if self.convolution else channels)
        tiles = groups * self.spatial * (self.ins if self.convolution else self.outs)
        points = self.rows.most * self.columns.most
        copies = np.minimum(groups * self.spatial * self.outs, KEPT)
        words = maps * np.minimum(tiles, KEPT) + points * channels * copies
        if self.layer.residual is not None:
            words = words + points * channels * copies
        if self.layer.mfm:
            words = words + points * self._filters(size)
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
