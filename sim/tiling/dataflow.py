"""The contents of scratch-pad and register files while a mapping runs: tiles are copied, never looked up.

The result is computed from buffer contents alone, so a tile that is kept too long, dropped too early or
not written back gives wrong numbers. Accesses of one written tensor share a buffer, as in
``A[i][j] = A[i-1][j] + B[j]``: what one iteration writes the next one finds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mapper.models.tiling.mapping import TilingMapping
from mapper.sim.tiling.footprint import Shape
from mapper.sim.tiling.statement import Array, Statement, number_type, view
from mapper.sim.tiling.walk import Level, Walk
from mapper.workloads.nest import LoopNest, Operand
from mapper.workloads.tensor import Tensor, bounds_of, tensors

Slices = tuple[slice, ...]


@dataclass
class Traffic:
    """Copies of one operand's tiles that were made: brought in, brought in with values, written out."""

    rf_visits: int = 0
    rf_loads: int = 0
    rf_stores: int = 0
    spm_visits: int = 0
    spm_loads: int = 0
    spm_stores: int = 0


@dataclass
class Buffer:
    """One tile's words and, for a written tensor, whether each has received a result before."""

    low: tuple[int, ...]
    words: Array
    computed: Array


@dataclass
class _Copy:
    """Where one operand's tiles lie: in its buffers and in the tensor."""

    operand: Operand
    tensor: Tensor
    dram: Buffer
    spm: Buffer
    rf: Buffer
    touched: Array
    box_in_rf: Slices
    touched_in_spm: dict[int, tuple[Array, Array]] = field(default_factory=dict)
    source_in_spm: dict[int, Slices] = field(default_factory=dict)
    spm_pass: int = -1
    rf_tile: int = -1


class Dataflow:
    """One run of a mapping over real tensors (integers, by tensor name; changed in place)."""

    def __init__(
        self, nest: LoopNest, mapping: TilingMapping, shape: Shape, walk: Walk, data: Mapping[str, Array]
    ) -> None:
        self._nest, self._shape, self._walk = nest, shape, walk
        kind = number_type(nest)
        self.traffic = tuple(Traffic() for _ in nest.operands)
        self._copies: dict[int, _Copy] = {}
        for tensor in tensors(nest):
            dram = Buffer(
                tensor.low, data[tensor.name], np.zeros(tensor.shape if tensor.written else (), bool)
            )
            groups = [tensor.operands] if tensor.written else [(position,) for position in tensor.operands]
            for group in groups:
                members = [nest.operands[k] for k in group]
                spm, rf = (
                    _buffer(members, counts, kind, tensor.written) for counts in (shape.spm, shape.array)
                )
                for k, operand in zip(group, members, strict=True):
                    zero = tuple(-low for low in rf.low)
                    touched = view(rf.words, nest, operand, shape.array, zero)
                    box = _region(operand, shape.array, (0,) * len(zero), rf.low)
                    self._copies[k] = _Copy(operand, tensor, dram, spm, rf, touched, box)
        self._statement = Statement(
            nest, [self._copies[k].touched for k in range(len(nest.operands))], shape.rf, shape.array
        )
        self._written = next(k for k, operand in enumerate(nest.operands) if operand.writes)
        # The written operand leaves first, so that other accesses of its tensor find the result.
        self._turn = sorted(range(len(nest.operands)), key=lambda k: k != self._written)

    def run(self) -> None:
        """All passes, in the mapping's order; at the end the result is in its tensor."""
        dram, spm = self._walk.dram, self._walk.spm
        outer, inner = moves(dram, self._turn), moves(spm, self._turn)
        wraps = [bool(spm.tiles[k][0] != spm.tiles[k][-1]) for k in range(len(self._nest.operands))]
        for s in range(dram.passes):
            arriving = outer[s]
            if self._written in arriving and s > 0:
                self._leave_rf()
                self._leave_spm()
            for k in arriving:
                self.bring_to_spm(k, s)
            for k in self._turn:
                if k in arriving or wraps[k]:
                    self.bring_to_rf(k, 0)
            self._statement.run()
            for t in range(1, spm.passes):
                for k in inner[t]:
                    self.bring_to_rf(k, t)
                self._statement.run()
        self._leave_rf()
        self._leave_spm()

    def bring_to_spm(self, k: int, s: int) -> None:
        """Operand ``k``'s tile of pass ``s`` into the scratch-pad; cleared if it has no result yet."""
        copy, traffic = self._copies[k], self.traffic[k]
        copy.spm_pass, copy.rf_tile = s, -1
        traffic.spm_visits += 1
        if copy.operand.access == "write":
            return
        dram, spm = copy.dram, copy.spm
        shift = self._shift(copy.operand, self._walk.dram, s, self._shape.spm)
        if copy.operand.is_updated:
            _, computed = self._in_dram(copy, shift)
            if copy.operand.zero_initialised and not computed.any():
                zero = tuple(-low for low in spm.low)
                view(spm.words, self._nest, copy.operand, self._shape.spm, zero)[...] = 0
                view(spm.computed, self._nest, copy.operand, self._shape.spm, zero)[...] = False
                return
        traffic.spm_loads += 1
        source = _region(copy.operand, self._shape.spm, shift, dram.low)
        target = _region(copy.operand, self._shape.spm, (0,) * len(shift), spm.low)
        spm.words[target] = dram.words[source]
        if copy.operand.is_updated:
            spm.computed[target] = dram.computed[source]

    def bring_to_rf(self, k: int, t: int) -> None:
        """Operand ``k``'s tile of register-file pass ``t`` into the PEs, after its last one has left."""
        copy, traffic = self._copies[k], self.traffic[k]
        if k == self._written and copy.rf_tile >= 0:
            self._leave_rf()
        copy.rf_tile = t
        traffic.rf_visits += 1
        if copy.operand.access == "write":
            return
        if copy.operand.is_updated and copy.operand.zero_initialised and not self._in_spm(copy)[1].any():
            copy.touched[...] = 0
            return
        traffic.rf_loads += 1
        tile = int(self._walk.spm.tiles[k][t])
        source = copy.source_in_spm.get(tile)
        if source is None:
            shift = self._shift(copy.operand, self._walk.spm, t, self._shape.array)
            source = copy.source_in_spm[tile] = _region(copy.operand, self._shape.array, shift, copy.spm.low)
        copy.rf.words[copy.box_in_rf] = copy.spm.words[source]

    def _leave_rf(self) -> None:
        copy = self._copies[self._written]
        if copy.rf_tile >= 0:
            self.traffic[self._written].rf_stores += 1
            words, computed = self._in_spm(copy)
            words[...] = copy.touched
            computed[...] = True
            copy.rf_tile = -1

    def _leave_spm(self) -> None:
        copy = self._copies[self._written]
        self.traffic[self._written].spm_stores += 1
        shift = self._shift(copy.operand, self._walk.dram, copy.spm_pass, self._shape.spm)
        words, computed = self._in_dram(copy, shift)
        zero = tuple(-low for low in copy.spm.low)
        words[...] = view(copy.spm.words, self._nest, copy.operand, self._shape.spm, zero)
        computed[...] = True

    def _in_spm(self, copy: _Copy) -> tuple[Array, Array]:
        """The words of the written operand's present register-file tile, as they lie in the scratch-pad."""
        tile = int(self._walk.spm.tiles[self._written][copy.rf_tile])
        if tile not in copy.touched_in_spm:
            shift = self._shift(copy.operand, self._walk.spm, copy.rf_tile, self._shape.array)
            zero = tuple(place - low for place, low in zip(shift, copy.spm.low, strict=True))
            words, computed = (
                view(array, self._nest, copy.operand, self._shape.array, zero)
                for array in (copy.spm.words, copy.spm.computed)
            )
            copy.touched_in_spm[tile] = words, computed
        return copy.touched_in_spm[tile]

    def _in_dram(self, copy: _Copy, shift: Sequence[int]) -> tuple[Array, Array]:
        zero = tuple(place - low for place, low in zip(shift, copy.dram.low, strict=True))
        words, computed = (
            view(array, self._nest, copy.operand, self._shape.spm, zero)
            for array in (copy.dram.words, copy.dram.computed)
        )
        return words, computed

    def _shift(self, operand: Operand, level: Level, number: int, tile: Mapping[str, int]) -> tuple[int, ...]:
        """How far the tile of pass ``number`` lies from the first one, per dimension."""
        return tuple(
            sum(
                factor * tile[loop] * int(level.digits[loop][number])
                for loop, factor in dimension.coefficients
            )
            for dimension in operand.index
        )


def _buffer(members: Sequence[Operand], counts: Mapping[str, int], kind: Any, written: bool) -> Buffer:
    """A buffer for the first tiles of accesses that share it."""
    ranges = [
        [bounds_of(dimension, counts) for dimension in along]
        for along in zip(*(operand.index for operand in members), strict=True)
    ]
    low = tuple(min(least for least, _ in along) for along in ranges)
    shape = tuple(
        max(most for _, most in along) - least + 1 for along, least in zip(ranges, low, strict=True)
    )
    return Buffer(low, np.zeros(shape, kind), np.zeros(shape if written else (), bool))


def _region(operand: Operand, counts: Mapping[str, int], shift: Sequence[int], low: Sequence[int]) -> Slices:
    """The box that an operand's tile takes of an array whose first word is ``low``."""
    region = []
    for dimension, place, first in zip(operand.index, shift, low, strict=True):
        least, most = bounds_of(dimension, counts)
        region.append(slice(place + least - first, place + most - first + 1))
    return tuple(region)


def moves(level: Level, turn: Sequence[int]) -> list[tuple[int, ...]]:
    """The operands whose tile changes, for every pass, in the order in which they move."""
    arrives = {k: level.arrives(k) for k in turn}
    pattern = np.zeros(level.passes, np.int64)
    for k, flags in arrives.items():
        pattern |= flags.astype(np.int64) << k
    named = {int(mask): tuple(k for k in turn if int(mask) >> k & 1) for mask in np.unique(pattern)}
    return [named[mask] for mask in pattern.tolist()]
