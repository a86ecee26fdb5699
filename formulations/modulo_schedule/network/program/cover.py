"""The best unroll factors of a nest with their remainder loops, over all vectors or the paper's pruned ones.

A vector splits a box into a main box, whose counts the factors divide, and one remainder box per loop, which are
split again on their own ([Bae2018, sec. V-C2, Fig. 5]; what remains of a loop starts at UF * floor(iter / UF)). The
cost of a box depends on its counts alone, so that dynamic programming over counts is exact: it weighs every
vector of every box that can arise, as Algorithm 1 does, which saves the best factor of one level only as printed
and is read as saving the whole vector.
"""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from mapper.formulations.modulo_schedule.network.problem import MOST_UNROLL
from mapper.models.modulo_schedule.network.cost import load_cycles, set_up_cycles
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
    """Covers of one nest with one innermost loop. ``each``: cycles that no vector undercuts for an iteration of the
    nest; with it most vectors are ruled out by their main box, before what it leaves over is looked at."""

    def __init__(self, nest: Nest, innermost: str, weigh: Weigh, each: Fraction = Fraction(0)) -> None:
        self.nest, self.innermost, self.weigh, self.each = nest, innermost, weigh, each
        self.summed = tuple(nest.names.index(name) for name in nest.accumulated)
        self._best: dict[Sizes, tuple[int, Sizes]] = {}

    def ranked(self, most: int) -> tuple[Cover, ...]:
        """The best ``most`` covers by different factors of the whole nest's main box, the best first."""
        whole = tuple(extent for _, extent in self.nest.loops)
        return tuple(
            Cover(cycles, self._boxes(whole, factors)) for cycles, factors in self._first(whole, most)
        )

    def least(self) -> int | None:
        """The least cycles of any cover, None if no vector is allowed."""
        whole = tuple(extent for _, extent in self.nest.loops)
        return next((cycles for cycles, _ in self._first(whole, 1)), None)

    def weighed(self) -> list[tuple[int, Sizes]]:
        """Every allowed vector of the whole nest with the cycles of the best cover that begins with it."""
        whole = tuple(extent for _, extent in self.nest.loops)
        return [(self._with_rest(whole, *one), one[2]) for one in self._mains(whole)]

    def _first(self, counts: Sizes, most: int) -> list[tuple[int, Sizes]]:
        """The best ``most`` vectors of a box, each with the cycles of the best cover that begins with it."""
        each, per = self.each.as_integer_ratio()
        whole = math.prod(counts)
        mains = ((one[0] + (whole - math.prod(one[1])) * each // per, one) for one in self._mains(counts))
        found: list[tuple[int, Sizes]] = []
        for least, one in sorted(mains):
            if len(found) == most and least > found[-1][0]:
                break
            insort(found, (self._with_rest(counts, *one), one[2]))
            del found[most:]
        return found

    def _mains(self, counts: Sizes) -> Iterator[tuple[int, Sizes, Sizes]]:
        """Every allowed vector of a box: cycles of its main box, iterations of that, and the factors."""
        for factors in product(*_factors(self.nest, counts)):
            main = tuple(count // factor * factor for count, factor in zip(counts, factors, strict=True))
            if self._keeps_sums(counts, main, factors):
                cycles = self.weigh(main, factors)
                if cycles is not None:
                    yield cycles, main, factors

    def _with_rest(self, counts: Sizes, cycles: int, main: Sizes, factors: Sizes) -> int:
        return cycles + sum(self._least(rest)[0] for _, rest in _remainders(counts, main))

    def _least(self, counts: Sizes) -> tuple[int, Sizes]:
        if counts not in self._best:
            (self._best[counts],) = self._first(counts, 1)
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


def _factors(nest: Nest, counts: Sizes) -> list[range]:
    """The unroll factors of each loop of a box."""
    return [
        range(1, 2 if name in nest.rolled else min(MOST_UNROLL, count) + 1)
        for name, count in zip(nest.names, counts, strict=True)
    ]


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
        self._inner = nest.names.index(innermost)
        self._known: dict[Sizes, tuple[Counts, int]] = {}

    def body(self, factors: Sizes) -> tuple[Counts, int]:
        """What the body of these factors holds, and its MII."""
        if factors not in self._known:
            unroll = dict(zip(self.nest.names, factors, strict=True))
            counted = counts(self.nest, unroll, self.innermost, self.estimator.machine)
            self._known[factors] = counted, self.estimator.least_interval(counted)
        return self._known[factors]

    def each(self, above: int = 0, most: float = math.inf) -> Fraction:
        """Cycles that no vector undercuts for an iteration of the nest if its II is ``above`` its MII or more, and its
        body has ``most`` operations or is not unrolled."""
        found = []
        for factors in product(*_factors(self.nest, tuple(extent for _, extent in self.nest.loops))):
            counted, interval = self.body(factors)
            if counted.operations <= most or max(factors) == 1:
                found.append(Fraction(interval + above, math.prod(factors)))
        return self.nest.repeats * min(found)

    def least_cycles(self, main: Sizes, factors: Sizes, above: int = 0) -> int:
        """Cycles that no schedule of a box can go below whose II is ``above`` its MII or more, loading and set-up
        included.

        Of n iterations the last issues n - 1 intervals after the first, and its last operation the longest path
        later; and n * II is below n * II + (SC - 1) * II.
        """
        counted, interval = self.body(factors)
        interval += above
        trips = main[self._inner] // factors[self._inner]
        runs = self.nest.repeats * math.prod(main) // math.prod(factors) // trips
        once = max(trips * interval, (trips - 1) * interval + counted.depth + 1)
        started = runs * (once + set_up_cycles(self.estimator.machine, counted.live_ins))
        return started + load_cycles(self.estimator.machine, interval)
