"""Tiles that follow each other along a window: which they are, and which of their words come anew.

Nothing here is shared with ``mapper.models.tiling.stream``: passes are compared with each other, words are counted in
boxes that are laid over each other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mapper.arch.dataflow import DataflowMachine
from mapper.sim.tiling.footprint import Shape, box, networks
from mapper.sim.tiling.walk import Flags, Level
from mapper.sim.tiling.window import Array
from mapper.workloads.nest.loop_nest import LoopNest, Operand


@dataclass(frozen=True)
class Following:
    """An operand whose tiles follow each other in some passes of the scratch-pad (``flags``): the words that come anew
    (``fresh``, a flag for each word of the array's tile), how many words PEs receive, and cycles on the network."""

    flags: Flags
    fresh: Flags
    shift: tuple[int, ...]
    delivered_words: int
    noc_cycles: int

    @property
    def array_words(self) -> int:
        return int(np.count_nonzero(self.fresh))

    def bring(self, held: Array, tile: Array) -> None:
        """Turn the tile that PEs hold into the one that follows: what both have is shifted, the rest comes."""
        now, before = _shared(self.shift, held.shape)
        held[now] = held[before].copy()
        held[self.fresh] = tile[self.fresh]


def following(
    nest: LoopNest, machine: DataflowMachine, shape: Shape, spm: Level
) -> tuple[Following | None, ...]:
    """What follows what in one scratch-pad pass, per operand; None where every tile comes whole."""
    if not machine.streams:
        return (None,) * len(nest.operands)
    widths = [
        min(machine.noc.networks[network].width_words for network in used if network is not None)
        for used in networks(nest, machine)
    ]
    found = (
        _following(nest, operand, shape, spm, width)
        for operand, width in zip(nest.operands, widths, strict=True)
    )
    return tuple(found)


def waited_for(nest: LoopNest, machine: DataflowMachine) -> tuple[bool, ...]:
    """Whether PEs wait for tiles of each operand while they are brought."""
    if machine.rf.double_buffered:
        return (False,) * len(nest.operands)
    return tuple(not machine.streams or not (op.writes or _window(op)) for op in nest.operands)


def _window(operand: Operand) -> bool:
    return operand.access == "read" and max(len(dimension.coefficients) for dimension in operand.index) > 1


def _following(nest: LoopNest, operand: Operand, shape: Shape, spm: Level, width: int) -> Following | None:
    moved = [loop for loop in nest.loops if loop in operand.loops and spm.digits[loop].any()]
    if not _window(operand) or not moved:
        return None
    steps = {loop: np.diff(spm.digits[loop], prepend=spm.digits[loop][:1]) for loop in moved}
    for loop in moved:
        still: Any = np.all([steps[other] == 0 for other in moved if other != loop], axis=0)
        flags = (steps[loop] == 1) & still
        if not flags.any():
            continue
        along = [dimension for dimension in operand.index if loop in dict(dimension.coefficients)]
        if any(shape.pes[own] > 1 for dimension in along for own, _ in dimension.coefficients):
            return None
        shift = tuple(
            dict(dimension.coefficients).get(loop, 0) * shape.array[loop] for dimension in operand.index
        )
        of_pe, of_array = (_fresh(operand, counts, shift) for counts in (shape.rf, shape.array))
        if of_pe.all():
            return None
        delivered = int(np.count_nonzero(of_pe)) * math.prod(shape.pes.values())
        return Following(flags, of_array, shift, delivered, -(-int(np.count_nonzero(of_array)) // width))
    return None


def _fresh(operand: Operand, counts: Mapping[str, int], shift: tuple[int, ...]) -> Flags:
    """The words of a tile that the tile before it, which lies ``shift`` words before it, has not."""
    sizes = box(operand, counts)
    fresh = np.ones(sizes, np.bool_)
    fresh[_shared(shift, sizes)[0]] = False
    return fresh


def _shared(shift: Sequence[int], sizes: Sequence[int]) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """Where the words that two tiles share lie in the one that follows, and in the one before it."""
    now = tuple(
        slice(max(0, -step), max(0, size - max(0, step))) for step, size in zip(shift, sizes, strict=True)
    )
    before = tuple(slice(part.start + step, part.stop + step) for part, step in zip(now, shift, strict=True))
    return now, before
