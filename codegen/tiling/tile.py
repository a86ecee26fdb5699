"""The buffers of a mapped nest: which operands share one, and where tiles lie in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mapper.models.tiling.mapping import TilingMapping
from mapper.workloads.document import InputError
from mapper.workloads.nest.loop_nest import LoopNest, Operand
from mapper.workloads.nest.tensor import Tensor, bounds_of, tensors


@dataclass(frozen=True)
class Buffered:
    """One operand: its tensor, the name of its buffers, and the first index each of them holds (per
    dimension, in the first tile). Accesses of a written tensor share buffers, so that what one iteration
    writes the next one reads."""

    operand: Operand
    tensor: Tensor
    name: str
    spm_low: tuple[int, ...]
    spm_shape: tuple[int, ...]
    rf_low: tuple[int, ...]
    rf_shape: tuple[int, ...]
    shared: bool

    @property
    def word(self) -> str:
        """C type of a word: tensors that are only read hold small integers."""
        return "int64_t" if self.tensor.written else "int32_t"


@dataclass(frozen=True)
class Tiles:
    """The tiles of a mapping: trip counts per level, sizes of one step of each level's digit."""

    nest: LoopNest
    dram: dict[str, int]
    spm: dict[str, int]
    rf: dict[str, int]
    pes: dict[str, int]
    array_tile: dict[str, int]
    spm_tile: dict[str, int]
    dram_loops: tuple[str, ...]
    spm_loops: tuple[str, ...]
    rf_loops: tuple[str, ...]
    pe_loops: tuple[str, ...]
    buffers: tuple[Buffered, ...]

    @property
    def written(self) -> int:
        return next(k for k, operand in enumerate(self.nest.operands) if operand.writes)


def tiles_of(nest: LoopNest, mapping: TilingMapping) -> Tiles:
    """The tiles of ``mapping``; loops that run once are left out of its lists.

    Raises: InputError if factors do not multiply to the bounds, or if buffers could not be kept coherent.
    """
    counts = {level: mapping.trip_counts(level) for level in ("dram", "spm", "rf", "spatial")}
    array = {loop: counts["rf"][loop] * counts["spatial"][loop] for loop in nest.loops}
    spm = {loop: array[loop] * counts["spm"][loop] for loop in nest.loops}
    for loop, bound in nest.bounds:
        if spm[loop] * counts["dram"][loop] != bound:
            raise InputError("mapping", f"tiling.{loop}", f"factors must multiply to the bound {bound}")
    return Tiles(
        nest,
        counts["dram"],
        counts["spm"],
        counts["rf"],
        counts["spatial"],
        array,
        spm,
        tuple(loop for loop in mapping.dram_order if counts["dram"][loop] > 1),
        tuple(loop for loop in mapping.spm_order if counts["spm"][loop] > 1),
        tuple(loop for loop in nest.loops if counts["rf"][loop] > 1),
        tuple(loop for loop in nest.loops if counts["spatial"][loop] > 1),
        _buffers(nest, counts["rf"], spm),
    )


def _buffers(nest: LoopNest, rf: Mapping[str, int], spm: Mapping[str, int]) -> tuple[Buffered, ...]:
    by_position: dict[int, Buffered] = {}
    for tensor in tensors(nest):
        for position in tensor.operands:
            group = tensor.operands if tensor.written else (position,)
            members = [nest.operands[member] for member in group]
            name = next((member.name for member in members if member.writes), nest.operands[position].name)
            by_position[position] = Buffered(
                nest.operands[position],
                tensor,
                name,
                *_hull(members, spm),
                *_hull(members, rf),
                shared=len(members) > 1,
            )
    return tuple(by_position[position] for position in range(len(nest.operands)))


def _hull(members: list[Operand], counts: Mapping[str, int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """First index and size, per dimension, of what all of ``members`` touch in their first tiles."""
    ranges = [
        [bounds_of(dimension, counts) for dimension in along]
        for along in zip(*(operand.index for operand in members), strict=True)
    ]
    low = tuple(min(least for least, _ in along) for along in ranges)
    return low, tuple(
        max(most for _, most in along) - first + 1 for along, first in zip(ranges, low, strict=True)
    )
