"""The passes of a mapping and the tile that each operand has in each of them [Dave2019, sec. 4.2.1].

A tile is known by the digits of the loops its operand depends on. Whether it stays is seen by comparing one
pass with the next, not computed from trip counts as Algorithm 1 does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mapper.models.tiling.mapping import TilingMapping
from mapper.workloads.document import InputError
from mapper.workloads.nest.loop_nest import LoopNest

MOST_PASSES = 5_000_000
"""Passes over the PE array that are simulated at most; more would take many minutes."""

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Level:
    """The passes of one level in their order: digits of each loop per pass, and each operand's tile."""

    passes: int
    digits: dict[str, Numbers]
    tiles: tuple[Numbers, ...]

    def arrives(self, k: int) -> Flags:
        """Whether operand ``k`` has another tile than in the pass before; true of the first pass."""
        tiles = self.tiles[k]
        return np.concatenate(([True], tiles[1:] != tiles[:-1]))

    def runs(self, k: int) -> Numbers:
        """Length of each run of passes in which operand ``k`` keeps its tile."""
        starts = np.flatnonzero(self.arrives(k))
        return np.diff(np.append(starts, self.passes))

    def distinct(self, k: int) -> int:
        """Different tiles of operand ``k``."""
        return len(np.unique(self.tiles[k]))


@dataclass(frozen=True)
class Walk:
    """All passes: scratch-pad passes of the layer, and register-file passes of one scratch-pad pass."""

    dram: Level
    spm: Level

    def stays(self, k: int) -> bool:
        """Whether operand ``k`` is left in the PEs through whole scratch-pad passes and into the next."""
        return len(self.spm.runs(k)) == 1 and bool(np.any(self.dram.runs(k) > 1))


def walk(nest: LoopNest, mapping: TilingMapping) -> Walk:
    """The passes of ``mapping``.

    Raises: InputError if there are too many to simulate.
    """
    outer, inner = mapping.trip_counts("dram"), mapping.trip_counts("spm")
    total = math.prod(outer.values()) * math.prod(inner.values())
    if total > MOST_PASSES:
        remedy = f"{total} register-file passes, more than {MOST_PASSES}; give the PEs larger tiles"
        raise InputError("mapping", "tiling", remedy)
    return Walk(_level(nest, mapping.dram_order, outer), _level(nest, mapping.spm_order, inner))


def _level(nest: LoopNest, order: Sequence[str], counts: Mapping[str, int]) -> Level:
    passes = math.prod(counts.values())
    number = np.arange(passes, dtype=np.int64)
    digits: dict[str, Any] = {}
    for loop in reversed(order):
        number, digits[loop] = np.divmod(number, counts[loop])
    tiles = []
    for operand in nest.operands:
        tile = np.zeros(passes, np.int64)
        for loop in nest.loops:
            if loop in operand.loops:
                tile = tile * counts[loop] + digits[loop]
        tiles.append(tile)
    return Level(passes, digits, tuple(tiles))
