"""Where a statement holds: iterations between bounds on single loops and on differences of two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Corner = Mapping[str, int | Numbers]


@dataclass(frozen=True)
class Limit:
    """``loop`` less ``other`` is at most ``most``; the empty name stands for 0."""

    loop: str
    other: str
    most: int

    def __str__(self) -> str:
        if not self.loop:
            return f"{self.other} >= {-self.most}"
        if not self.other:
            return f"{self.loop} <= {self.most}"
        shift = "" if not self.most else f" {'+' if self.most > 0 else '-'} {abs(self.most)}"
        return f"{self.loop} <= {self.other}{shift}"


@dataclass(frozen=True)
class Region:
    """The iterations of a box (loops with their trip counts) that keep all ``limits``.

    Such a region has a greatest iteration, which is greatest along every loop at once.
    """

    bounds: tuple[tuple[str, int], ...]
    limits: tuple[Limit, ...] = ()

    @cached_property
    def sides(self) -> dict[str, tuple[int, int]]:
        """The least and the largest value that limits on single loops leave to each loop."""
        found = {loop: (0, bound - 1) for loop, bound in self.bounds}
        for limit in self.limits:
            if not limit.other:
                low, high = found[limit.loop]
                found[limit.loop] = low, min(high, limit.most)
            elif not limit.loop:
                low, high = found[limit.other]
                found[limit.other] = max(low, -limit.most), high
        return found

    @cached_property
    def slanted(self) -> tuple[Limit, ...]:
        """Limits on differences of two loops."""
        return tuple(limit for limit in self.limits if limit.loop and limit.other)

    def greatest(self, low: Corner, high: Corner) -> tuple[dict[str, Numbers], NDArray[np.bool_]]:
        """The greatest iteration within boxes from ``low`` to ``high`` (numbers, or arrays of one shape for many
        boxes), and which boxes hold one at all."""
        least = {loop: np.maximum(low[loop], side[0]) for loop, side in self.sides.items()}
        found = {loop: np.asarray(np.minimum(high[loop], side[1])) for loop, side in self.sides.items()}
        for _ in self.bounds:
            for limit in self.slanted:
                found[limit.loop] = np.minimum(found[limit.loop], found[limit.other] + limit.most)
        there = np.ones(np.broadcast_shapes(*(value.shape for value in found.values())), np.bool_)
        for loop, value in found.items():
            there = there & (value >= least[loop])
        return found, there

    def last(self) -> dict[str, int] | None:
        """The greatest iteration of all, None if there is none."""
        if self._contradicts():
            return None
        found, there = self.greatest(dict.fromkeys(self.sides, 0), {loop: n - 1 for loop, n in self.bounds})
        return {loop: int(value) for loop, value in found.items()} if bool(there) else None

    def holds(self, at: Mapping[str, int | Numbers]) -> NDArray[np.bool_]:
        """Whether iterations keep the limits."""
        kept = np.ones(np.broadcast_shapes(*(np.shape(value) for value in at.values())), np.bool_)
        for limit in self.limits:
            difference = (at[limit.loop] if limit.loop else 0) - (at[limit.other] if limit.other else 0)
            kept = kept & (difference <= limit.most)
        return kept

    def _contradicts(self) -> bool:
        """Whether differences go round in a circle below zero, so that relaxing them would never end."""
        loops = [loop for loop, _ in self.bounds]
        most = {(one, other): 0 if one == other else None for one in loops for other in loops}
        for limit in self.slanted:
            pair = limit.loop, limit.other
            before = most[pair]
            most[pair] = limit.most if before is None else min(before, limit.most)
        for middle in loops:
            for one in loops:
                for other in loops:
                    first, second = most[one, middle], most[middle, other]
                    if first is not None and second is not None:
                        before = most[one, other]
                        most[one, other] = first + second if before is None else min(before, first + second)
        return any((most[loop, loop] or 0) < 0 for loop in loops)


def hull(regions: Sequence[Region]) -> dict[str, tuple[int, int]]:
    """Per loop the least and the largest value that one of the regions leaves it."""
    return {
        loop: (min(low for low, _ in pairs), max(high for _, high in pairs))
        for loop, pairs in _sides(regions)
    }


def _sides(regions: Sequence[Region]) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    for loop in regions[0].sides:
        yield loop, [region.sides[loop] for region in regions]
