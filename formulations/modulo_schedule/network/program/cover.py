"""The best unroll factors of a nest with their remainder loops, over all vectors or the paper's pruned ones.

A vector splits a box into a main box, whose counts the factors divide, and one remainder box per loop, which are
split again on their own ([Bae2018, sec. V-C2, Fig. 5]; what remains of a loop starts at UF * floor(iter / UF)). The
cost of a box depends on its counts alone, so that dynamic programming over counts is exact: it weighs every
vector of every box that can arise, as Algorithm 1 does, which saves the best factor of one level only as printed
and is read as saving the whole vector.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

from mapper.formulations.modulo_schedule.network.problem import MOST_UNROLL
from mapper.models.modulo_schedule.network.cost import set_up_cycles
from mapper.models.modulo_schedule.network.estimate import Counts, Estimator, counts
from mapper.models.modulo_schedule.network.nest import Box, Nest, is_whole_row

Sizes = tuple[int, ...]
Weigh = Callable[[Sizes, Sizes], int | None]
"""Cycles of a main box of these counts at these factors; None if the vector is not allowed."""


@dataclass(frozen=True)
class Cover:
    """Boxes that cover a nest, and what the weights say they take in cycles."""

    cycles: int
    boxes: tuple[Box, ...]


class CoverSearch:
    """Covers of one nest with one innermost loop."""

    def __init__(self, nest: Nest, innermost: str, weigh: Weigh) -> None:
        self.nest, self.innermost, self.weigh = nest, innermost, weigh
        self.summed = tuple(nest.names.index(name) for name in nest.accumulated)
        self.vectors = 0
        self._best: dict[Sizes, tuple[int, Sizes]] = {}

    def ranked(self, most: int) -> tuple[Cover, ...]:
        """The best ``most`` covers by different factors of the whole nest's main box, the best first."""
        whole = tuple(extent for _, extent in self.nest.loops)
        found = sorted(self.weighed(whole))[:most]
        return tuple(Cover(cycles, self._boxes(whole, factors)) for cycles, factors in found)

    def least(self) -> int | None:
        """The least cycles of any cover, None if no vector is allowed."""
        whole = tuple(extent for _, extent in self.nest.loops)
        return min((cycles for cycles, _ in self.weighed(whole)), default=None)

    def weighed(self, counts: Sizes | None = None) -> list[tuple[int, Sizes]]:
        """Every allowed vector of a box (None: the whole nest) with the cycles of the best cover that begins with
        it."""
        counts = tuple(extent for _, extent in self.nest.loops) if counts is None else counts
        found = []
        for factors in product(*(range(1, min(MOST_UNROLL, count) + 1) for count in counts)):
            main = tuple(count // factor * factor for count, factor in zip(counts, factors, strict=True))
            if not self._keeps_sums(counts, main, factors):
                continue
            cycles = self.weigh(main, factors)
            self.vectors += 1
            if cycles is None:
                continue
            for _, rest in _remainders(counts, main):
                cycles += self._least(rest)[0]
            found.append((cycles, factors))
        return found

    def _least(self, counts: Sizes) -> tuple[int, Sizes]:
        if counts not in self._best:
            self._best[counts] = min(self.weighed(counts))
        return self._best[counts]

    def _keeps_sums(self, counts: Sizes, main: Sizes, factors: Sizes) -> bool:
        """Whether words still accumulate in the order of the loops, and merged rows stay whole: see the referee's
        rules."""
        if not is_whole_row(self.nest, main[-1], factors[-1]):
            return False
        for place, outer in enumerate(self.summed):
            inner = self.summed[place + 1 :]
            if factors[outer] > 1 and any(factors[axis] != counts[axis] for axis in inner):
                return False
            if any(main[axis] != counts[axis] for axis in inner):
                return False
        return True

    def _boxes(self, counts: Sizes, factors: Sizes, start: Sizes | None = None) -> tuple[Box, ...]:
        start = start or (0,) * len(counts)
        main = tuple(count // factor * factor for count, factor in zip(counts, factors, strict=True))
        boxes = [Box(start, main, factors, self.innermost)]
        # What remains of a loop that accumulates adds last, after the main part has added to every word.
        for axis, rest in sorted(_remainders(counts, main), key=lambda one: one[0] in self.summed):
            moved = tuple(one + (main[at] if at == axis else 0) for at, one in enumerate(start))
            boxes += self._boxes(rest, self._least(rest)[1], moved)
        return tuple(boxes)


def _remainders(counts: Sizes, main: Sizes) -> list[tuple[int, Sizes]]:
    """What the main box leaves, loop by loop: outer loops as in the main box, inner ones whole."""
    return [
        (axis, (*main[:axis], count - main[axis], *counts[axis + 1 :]))
        for axis, count in enumerate(counts)
        if main[axis] != count
    ]


def iterations(counts: Sizes, factors: Sizes) -> int:
    """Iterations of all loops of an unrolled box."""
    return math.prod(count // factor for count, factor in zip(counts, factors, strict=True))


class BoxWeight:
    """The least that boxes of a nest with one innermost loop take."""

    def __init__(self, nest: Nest, innermost: str, estimator: Estimator) -> None:
        self.nest, self.innermost, self.estimator = nest, innermost, estimator
        self._known: dict[Sizes, tuple[Counts, int]] = {}

    def body(self, factors: Sizes) -> tuple[Counts, int]:
        """What the body of these factors holds, and its MII."""
        if factors not in self._known:
            unroll = dict(zip(self.nest.names, factors, strict=True))
            counted = counts(self.nest, unroll, self.innermost, self.estimator.machine)
            self._known[factors] = counted, self.estimator.least_interval(counted)
        return self._known[factors]

    def least_cycles(self, main: Sizes, factors: Sizes, above: int = 0) -> int:
        """Cycles that no schedule of a box can go below whose II is ``above`` its MII or more, set-up included.

        Of n iterations the last issues n - 1 intervals after the first, and its last operation the longest path
        later; and n * II is below n * II + (SC - 1) * II.
        """
        counted, interval = self.body(factors)
        interval += above
        box = Box(main, main, factors, self.innermost)
        trips = box.trip_count(self.nest)
        once = max(trips * interval, (trips - 1) * interval + counted.depth + 1)
        return box.runs(self.nest) * (once + set_up_cycles(self.estimator.machine, counted.live_ins))
