"""The contents of scratch-pad and register files while a mapping runs: tiles are copied, never looked up.

The result is computed from buffer contents alone, so a tile that is kept too long, dropped too early or
not written back gives wrong numbers. Accesses of one written tensor share a buffer, as in
``A[i][j] = A[i-1][j] + B[j]``: what one iteration writes the next one finds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mapper.models.tiling.mapping import TilingMapping
from mapper.sim.tiling.footprint import Shape
from mapper.sim.tiling.statement import Statement, number_type
from mapper.sim.tiling.stream import Following
from mapper.sim.tiling.walk import Level, Walk
from mapper.sim.tiling.window import Array, Window
from mapper.workloads.nest.loop_nest import LoopNest, Operand
from mapper.workloads.nest.tensor import bounds_of, tensors


@dataclass
class Traffic:
    """Copies of one operand's tiles that were made: brought in, brought in with values, written out."""

    rf_visits: int = 0
    rf_loads: int = 0
    rf_follows: int = 0
    """Of the loads, those that brought a part of a tile, the rest being there."""
    rf_stores: int = 0
    spm_visits: int = 0
    spm_loads: int = 0
    spm_stores: int = 0


@dataclass(frozen=True)
class Buffer:
    """One tile's words and, for a written tensor, whether each has received a result before."""

    low: tuple[int, ...]
    words: Array
    computed: Array


@dataclass
class _Copies:
    """One operand: its tensor and buffers, where its tiles lie in them, and which of them it has now."""

    operand: Operand
    dram: Buffer
    spm: Buffer
    in_dram: Window
    in_spm: Window
    whole: Window
    """The present scratch-pad tile within its buffer."""
    rf_box: Array
    rf_touched: Array
    spm_pass: int = -1
    rf_pass: int = -1


class Dataflow:
    """One run of a mapping over real tensors (integers, by tensor name; changed in place)."""

    def __init__(
        self,
        nest: LoopNest,
        mapping: TilingMapping,
        shape: Shape,
        walk: Walk,
        data: Mapping[str, Array],
        following: Sequence[Following | None],
    ) -> None:
        self._walk, self._following = walk, following
        self.traffic = tuple(Traffic() for _ in nest.operands)
        self._copies: dict[int, _Copies] = {}
        kind = number_type(nest)
        for tensor in tensors(nest):
            flags = np.zeros(tensor.shape if tensor.written else (), bool)
            dram = Buffer(tensor.low, data[tensor.name], flags)
            groups = [tensor.operands] if tensor.written else [(position,) for position in tensor.operands]
            for group in groups:
                members = [nest.operands[k] for k in group]
                spm, rf = (
                    _buffer(members, counts, kind, tensor.written) for counts in (shape.spm, shape.array)
                )
                for k, operand in zip(group, members, strict=True):
                    in_rf = Window(nest, operand, shape.array, rf.low, rf.words.shape)
                    self._copies[k] = _Copies(
                        operand,
                        dram,
                        spm,
                        Window(nest, operand, shape.spm, tensor.low, tensor.shape, walk.dram),
                        Window(nest, operand, shape.array, spm.low, spm.words.shape, walk.spm),
                        Window(nest, operand, shape.spm, spm.low, spm.words.shape),
                        in_rf.box(rf.words),
                        in_rf.touched(rf.words),
                    )
        views = [self._copies[k].rf_touched for k in range(len(nest.operands))]
        self._statement = Statement(nest, views, shape.rf, shape.array)
        self._written = next(k for k, operand in enumerate(nest.operands) if operand.writes)
        # The written operand leaves first, so that other accesses of its tensor find the result.
        self._turn = sorted(range(len(nest.operands)), key=lambda k: k != self._written)

    def run(self) -> None:
        """All passes, in the mapping's order; at the end the result is in its tensor."""
        dram, spm = self._walk.dram, self._walk.spm
        outer, inner = moves(dram, self._turn), moves(spm, self._turn)
        wraps = [bool(spm.tiles[k][0] != spm.tiles[k][-1]) for k in range(len(self._copies))]
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
        copies, traffic = self._copies[k], self.traffic[k]
        copies.spm_pass, copies.rf_pass = s, -1
        traffic.spm_visits += 1
        if copies.operand.access == "write":
            return
        if copies.operand.is_updated:
            computed = copies.in_dram.touched(copies.dram.computed, s)
            if copies.operand.zero_initialised and not computed.any():
                copies.whole.touched(copies.spm.words)[...] = 0
                copies.whole.touched(copies.spm.computed)[...] = False
                return
            copies.whole.box(copies.spm.computed)[...] = copies.in_dram.box(copies.dram.computed, s)
        traffic.spm_loads += 1
        copies.whole.box(copies.spm.words)[...] = copies.in_dram.box(copies.dram.words, s)

    def bring_to_rf(self, k: int, t: int) -> None:
        """Operand ``k``'s tile of register-file pass ``t`` into the PEs, after its last one has left."""
        copies, traffic = self._copies[k], self.traffic[k]
        if k == self._written and copies.rf_pass >= 0:
            self._leave_rf()
        copies.rf_pass = t
        traffic.rf_visits += 1
        if copies.operand.access == "write":
            return
        may_be_zero = copies.operand.is_updated and copies.operand.zero_initialised
        if may_be_zero and not copies.in_spm.touched(copies.spm.computed, t).any():
            copies.rf_touched[...] = 0
            return
        traffic.rf_loads += 1
        follows = self._following[k]
        if follows is not None and follows.flags[t]:
            traffic.rf_follows += 1
            follows.bring(copies.rf_box, copies.in_spm.box(copies.spm.words, t))
            return
        copies.rf_box[...] = copies.in_spm.box(copies.spm.words, t)

    def _leave_rf(self) -> None:
        copies = self._copies[self._written]
        if copies.rf_pass >= 0:
            self.traffic[self._written].rf_stores += 1
            copies.in_spm.touched(copies.spm.words, copies.rf_pass)[...] = copies.rf_touched
            copies.in_spm.touched(copies.spm.computed, copies.rf_pass)[...] = True
            copies.rf_pass = -1

    def _leave_spm(self) -> None:
        copies = self._copies[self._written]
        self.traffic[self._written].spm_stores += 1
        tile = copies.whole.touched(copies.spm.words)
        copies.in_dram.touched(copies.dram.words, copies.spm_pass)[...] = tile
        copies.in_dram.touched(copies.dram.computed, copies.spm_pass)[...] = True


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


def moves(level: Level, turn: Sequence[int]) -> list[tuple[int, ...]]:
    """The operands whose tile changes, for every pass, in the order in which they move."""
    arrives = {k: level.arrives(k) for k in turn}
    pattern = np.zeros(level.passes, np.int64)
    for k, flags in arrives.items():
        pattern |= flags.astype(np.int64) << k
    named = {int(mask): tuple(k for k in turn if int(mask) >> k & 1) for mask in np.unique(pattern)}
    return [named[mask] for mask in pattern.tolist()]
