"""Lower bounds of what every tile of a family costs and takes, for all tiles at once: an option that these rule out
need not be costed.

Counted are products, rows, columns and channels that any plan of docs/snowflake-machine.md has to compute, load and
store; left out are the alignment of addresses, the issue of instructions, and the order of transfers. What is loaded
once more for two tiles that may both stay in their buffers is not counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mapper.arch.snowflake import BLOCK, LANES, UNITS, VMACS, WORD_BYTES
from mapper.formulations.trace_partition.option import Family, Share
from mapper.formulations.trace_partition.problem import PartitionProblem
from mapper.models.trace_partition.trace_layer import TraceLayer

Integers = npt.NDArray[np.int64]
KEPT = 2
"""Tiles of an operand that its two buffers hold."""


@dataclass(frozen=True)
class Floor:
    """At least so many ``cycles`` of the accelerator and ``dram_bytes``; and whether the tile may fit the buffers."""

    cycles: Integers
    dram_bytes: Integers
    fits: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class _Axis:
    """Tiles of one dimension, per size: how many, of how many inputs in all (halo again for every tile and unit), in
    the first and in the widest one, outputs of the last, and of the units in all and at the most."""

    count: Integers
    inputs: Integers
    first: Integers
    widest: Integers
    last: Integers
    work: Integers
    most: Integers


@dataclass(frozen=True)
class _Window:
    """One direction of a layer's window."""

    extent: int
    outputs: int
    kernel: int
    stride: int
    dilation: int
    upsample: int
    pad: int

    @classmethod
    def of(cls, layer: TraceLayer, axis: int) -> _Window:
        view, out = layer.input, (layer.rows, layer.columns)
        return cls(
            (view.height, view.width)[axis],
            out[axis],
            layer.kernel[axis],
            layer.stride[axis],
            layer.dilation[axis],
            layer.upsample[axis],
            layer.pads[axis][0],
        )

    def taps(self) -> Integers:
        """Positions of the window at every output that lie on an input."""
        at = np.arange(self.outputs)[:, None] * self.stride - self.pad
        at = at + np.arange(self.kernel)[None, :] * self.dilation
        spread = (self.extent - 1) * self.upsample + 1
        hit = (at >= 0) & (at < spread) & (at % self.upsample == 0)
        return np.asarray(hit.sum(axis=1), dtype=np.int64)

    def inputs(self, first: int, last: int) -> int:
        """Inputs that the outputs from ``first`` to before ``last`` read, at least."""
        if last <= first:
            return 0
        low = max(0, first * self.stride - self.pad)
        high = (last - 1) * self.stride - self.pad + (self.kernel - 1) * self.dilation
        high = min(high, (self.extent - 1) * self.upsample)
        covered = high // self.upsample - -(-low // self.upsample) + 1
        return max(0, min(covered, (last - first) * self.kernel))


def family_floor(problem: PartitionProblem, layer: TraceLayer, family: Family) -> Floor:
    """The bounds of every tile of ``family``: arrays over rows, columns, summed channels and output channels."""
    machine, sharing = problem.machine, problem.configuration.sharing
    fullest = _Counted(problem, layer, family, family.share)
    numerator, denominator = machine.cycles_per_byte
    numerator *= problem.configuration.contending

    def moved(words: Any) -> Any:
        return words * WORD_BYTES * numerator // denominator

    latency = machine.timing.memory_latency
    computed = fullest.vector + fullest.steps * machine.timing.vector_latency
    in_line = moved(fullest.first_load) + latency + computed + moved(fullest.last_store)
    cycles = np.maximum(in_line, moved(fullest.words) + latency)
    words = fullest.words
    if sharing > 1:
        others = _Counted(problem, layer, family, _emptiest(layer, family, sharing))
        words = words + (sharing - 1) * others.words
    images = problem.configuration.contending // sharing
    fits = (fullest.unit_words <= machine.unit_words) & (fullest.vmac_words <= machine.vmac_words)
    shape = family.shape
    return Floor(
        np.broadcast_to(cycles, shape),
        np.broadcast_to(words * WORD_BYTES * images, shape),
        np.broadcast_to(fits, shape),
    )


def _emptiest(layer: TraceLayer, family: Family, sharing: int) -> Share:
    """No more than any cluster's part."""
    share = family.share
    if family.cluster_split == "rows":
        return Share(max(0, layer.rows - (sharing - 1) * share.rows), share.channels, share.groups)
    if share.groups == 1:
        left = layer.group_outputs - (sharing - 1) * share.channels
        return Share(share.rows, max(0, left), 1)
    return share


class _Counted:
    """The numbers of one cluster's part of a layer, as arrays over the sizes of tiles."""

    def __init__(self, problem: PartitionProblem, layer: TraceLayer, family: Family, share: Share) -> None:
        self.layer, self.family, self.share = layer, family, share
        self.by_rows = family.unit_split == "rows"
        self.factor = 2 if layer.mfm else 1
        rows = _axis(_Window.of(layer, 0), share.rows, family.rows, UNITS if self.by_rows else 1)
        columns = _axis(_Window.of(layer, 1), layer.columns, family.columns, 1)
        self.rows, self.columns = _along(rows, 0), _along(columns, 1)
        self.ci: Integers = np.array(family.in_channels).reshape(1, 1, -1, 1)
        self.in_tiles = -(-layer.group_inputs // self.ci)
        self.co: Integers = np.array(family.out_channels).reshape(1, 1, 1, -1)
        self.out_tiles = -(-share.channels // self.co)
        self.spatial = self.rows.count * self.columns.count
        self.convolution = layer.work == "convolution"
        self.kernel = layer.kernel[0] * layer.kernel[1]
        self.steps = share.groups * self.spatial * self.in_tiles * self.out_tiles
        self._count_vector()
        self._count_words()
        self._count_buffers()

    def _per_unit(self, channels: Any) -> Any:
        """Output channels of the fullest unit, for a tile of so many."""
        if self.by_rows:
            return channels
        most = -(-channels // UNITS)
        return -(-most // VMACS) * VMACS if self.family.mode == "coop" else most

    def _over_out_tiles(self, of: Any) -> Any:
        """The sum over all tiles of output channels of what a tile of so many takes."""
        whole = self.share.channels // self.co
        return whole * of(self.co) + of(self.share.channels - whole * self.co)

    def _count_vector(self) -> None:
        """Cycles of the vector unit: products, moves, and results that find no free cycle at the port."""
        layer, family = self.layer, self.family
        taps = _Window.of(layer, 1).taps()
        height = _Window.of(layer, 0).taps()[: self.share.rows]
        if self.by_rows and layer.upsample[0] == 1:
            rows_of_taps: Any = self.rows.work * layer.kernel[0]
        elif self.by_rows:
            rows_of_taps = self.rows.work * (layer.kernel[0] // layer.upsample[0])
        else:
            # A cluster's rows are some of the layer's: no fewer taps than its poorest rows have.
            rows_of_taps = int(np.sort(_Window.of(layer, 0).taps())[: len(height)].sum())
        points = self.rows.work * layer.columns
        residual = layer.residual is not None
        if not self.convolution:
            lines = self._over_out_tiles(lambda size: -(-self._per_unit(size) // LANES))
            self.vector = lines * (rows_of_taps * int(taps.sum()) + points)
            return
        if family.mode == "coop":
            blocks = self._over_out_tiles(lambda size: -(-self.factor * self._per_unit(size) // VMACS))
            sums = self._over_in_tiles(lambda size: -(-(taps * size) // LANES))
            self.vector = blocks * (rows_of_taps * sums + points * (2 * self.in_tiles - 1 + residual))
        else:
            blocks = self._over_out_tiles(lambda size: -(-self.factor * self._per_unit(size) // BLOCK))
            lines = self._over_out_tiles(lambda size: -(-self.factor * self._per_unit(size) // LANES))
            sums = int(taps.sum()) * layer.group_inputs
            self.vector = blocks * rows_of_taps * sums
            self.vector = self.vector + lines * points * (2 * (self.in_tiles - 1) + residual)
        self.vector = self.vector * self.share.groups

    def _over_in_tiles(self, of: Any) -> Integers:
        """For every size of a tile of summed channels: the sum over its tiles and the output columns."""
        inputs = self.layer.group_inputs
        sums = [
            inputs // size * int(of(size).sum()) + int(of(inputs % size).sum())
            for size in self.family.in_channels
        ]
        return np.array(sums, dtype=np.int64).reshape(1, 1, -1, 1)

    def _count_words(self) -> None:
        """Words to and from external memory."""
        layer, share, family = self.layer, self.share, self.family
        spatial, ins, outs = self.spatial, self.in_tiles, self.out_tiles
        once = self.rows.inputs * self.columns.inputs
        stationary = family.order == "maps_stationary"
        ones = np.ones_like(outs)
        if self.convolution:
            kept = ins <= KEPT if stationary else spatial * ins <= KEPT
            maps = share.groups * once * layer.group_inputs * np.where(kept, ones, outs)
            held = outs * ins <= KEPT if stationary else ins <= KEPT
            weights = share.groups * share.channels * self.factor * self.kernel * layer.group_inputs
            self.words = maps * (not family.input_resident) + weights * np.where(held, 1, spatial)
        else:
            self.words = once * share.channels * (not family.input_resident)
        results = share.rows * layer.columns * share.channels * share.groups
        self.words = self.words + results * (not family.output_resident)
        if layer.residual is not None:
            self.words = self.words + results
        first_maps = self.rows.first * self.columns.first * (self.ci if self.convolution else self.co)
        first_weights = self.co * self.factor * self.kernel * self.ci if self.convolution else 0 * self.co
        self.first_load = first_maps * (not family.input_resident) + first_weights
        last_channels = share.channels - (self.out_tiles - 1) * self.co
        self.last_store = self.rows.last * self.columns.last * last_channels * (not family.output_resident)

    def _count_buffers(self) -> None:
        """Words of a unit's Buf and of a vMAC's WBuf."""
        layer, share = self.layer, self.share
        spatial, ins, outs, groups = self.spatial, self.in_tiles, self.out_tiles, share.groups
        channels = self._per_unit(np.minimum(self.co, share.channels))
        maps = self.rows.widest * self.columns.widest * (self.ci if self.convolution else channels)
        maps_tiles = groups * spatial * (ins if self.convolution else outs)
        results = self.rows.most * self.columns.most * channels
        result_tiles = groups * spatial * outs
        words = maps * np.where(maps_tiles > 1, 2, 1)
        copies = np.where(result_tiles > 1, 2, 1)
        words = words + results * copies * (2 if layer.residual is not None else 1)
        words = words + np.where(ins > 1, 2 * self.factor * results, 0)
        self.unit_words = words
        self.vmac_words: Any = np.zeros_like(outs)
        if self.convolution:
            filters = self.factor * channels
            each = -(-filters // VMACS) if self.family.mode == "coop" else -(-filters // BLOCK) * LANES
            self.vmac_words = each * self.kernel * self.ci * np.where(groups * outs * ins > 1, 2, 1)


def _axis(window: _Window, share: int, sizes: tuple[int, ...], units: int) -> _Axis:
    """One dimension cut into tiles of every one of ``sizes``, each shared by ``units``."""
    found = []
    for size in sizes:
        count = -(-share // size)
        inputs = first = widest = work = most = last = 0
        for at in range(count):
            begin, end = at * size, min(share, (at + 1) * size)
            each = -(-(end - begin) // units)
            parts = [window.inputs(low, min(low + each, end)) for low in range(begin, end, each)]
            inputs += sum(parts)
            first = first or sum(parts)
            widest = max(widest, *parts)
            work += each
            most = max(most, each)
            last = end - begin
        found.append((count, inputs, first, widest, last, work, most))
    columns = np.array(found, dtype=np.int64).reshape(len(sizes), 7).T
    return _Axis(*columns)


def _along(axis: _Axis, dimension: int) -> _Axis:
    shape = [1, 1, 1, 1]
    shape[dimension] = -1
    return _Axis(*(column.reshape(shape) for column in vars(axis).values()))
