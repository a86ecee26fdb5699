"""What the compiled searches over pairs of tiles have in common."""

from __future__ import annotations

from typing import Any, NamedTuple

from mapper.models.compiled import compiled
from mapper.solver.tiling.exact.kernel_table import Array
from mapper.solver.tiling.stream.bound_kernel import Room


class Tiles(NamedTuple):
    """A pair of an array tile and a scratch-pad tile that it divides: the trip counts of the two ordered levels,
    ``inner`` and ``outer`` [loops], and bounds of energy and cycles of what lies above the scratch-pad tile."""

    array: int
    spm: int
    inner: Array
    outer: Array
    outer_energy: float
    outer_cycles: float


class Held(NamedTuple):
    """The best mapping so far; see `incumbent_kernel`."""

    incumbent: Array
    best: Array
    ties: Array


class Scratch(NamedTuple):
    """Room for one mapping: reuse factors, numbers of tiles [2] (RF, scratch-pad) and rereads per operand; tiles and
    orders [5]; ``room`` for what follows in streams."""

    spm_reuse: Array
    dram_reuse: Array
    tiles: Array
    rereads: Array
    mapping: Array
    room: Room


def _reuse(masks: Array, pattern: int, counts: Array, reuse: Array) -> None:
    """Reuse factors of the operands under one order: the product of the trip counts of the loops in its mask."""
    for k in range(len(reuse)):
        reuse[k] = 1
        for j in range(len(counts)):
            if masks[pattern, k] >> j & 1:
                reuse[k] *= counts[j]


reuse: Any = compiled(_reuse)
