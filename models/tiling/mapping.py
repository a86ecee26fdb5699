"""A tiling: four factors per loop and the orders of the outer two levels [Dave2019, sec. 4.1]."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

LEVELS = ("dram", "spm", "rf", "spatial")
ORDERED_LEVELS = ("dram", "spm")
AXES = ("rows", "columns")


@dataclass(frozen=True)
class TilingMapping:
    """Trip counts of every loop at ``dram``, ``spm``, ``rf`` and ``spatial``, in the nest's loop order, and
    the loop orders (outer to inner) in which tiles are brought to the scratch-pad and to the PEs. ``padded``: loops
    that run over their end, with the bounds that their factors multiply to. ``axes``: of every loop the factors along
    the rows and along the columns of the array, whose product is its spatial factor; empty where the machine does not
    tell its axes apart."""

    loops: tuple[str, ...]
    factors: tuple[tuple[int, int, int, int], ...]
    dram_order: tuple[str, ...]
    spm_order: tuple[str, ...]
    padded: tuple[tuple[str, int], ...] = field(default=(), kw_only=True)
    axes: tuple[tuple[int, int], ...] = field(default=(), kw_only=True)

    def over(self, bounds: Mapping[str, int]) -> TilingMapping:
        """The same mapping of loops with these ``bounds``: what its factors multiply to beyond them is padding."""
        sizes = zip(self.loops, map(math.prod, self.factors), strict=True)
        return replace(self, padded=tuple((loop, size) for loop, size in sizes if size != bounds[loop]))

    def trip_counts(self, *levels: str) -> dict[str, int]:
        """Product of a loop's factors over ``levels``: effective_TC of [Dave2019, sec. 4.3.1]."""
        counts = {}
        for loop, factors in zip(self.loops, self.factors, strict=True):
            count = 1
            for level in levels:
                count *= factors[LEVELS.index(level)]
            counts[loop] = count
        return counts

    def order(self, level: str) -> tuple[str, ...]:
        return self.dram_order if level == "dram" else self.spm_order

    def along(self, axis: str) -> dict[str, int]:
        """The loops along an axis of the array, with their factors there."""
        place = AXES.index(axis)
        return {loop: row[place] for loop, row in zip(self.loops, self.axes, strict=False) if row[place] > 1}

    def to_json(self) -> dict[str, Any]:
        axes = {"axes": {axis: self.along(axis) for axis in AXES}} if self.axes else {}
        fields: dict[str, Any] = {
            "tiling": {
                loop: dict(zip(LEVELS, factors, strict=True))
                for loop, factors in zip(self.loops, self.factors, strict=True)
            },
            "order": {"dram": list(self.dram_order), "spm": list(self.spm_order)},
            **axes,
        }
        return {**fields, "padded": dict(self.padded)} if self.padded else fields
