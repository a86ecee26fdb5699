"""Bounds that may grow: which sizes of loops are worth a search, and what each choice of them costs in any case.

A loop of bound B may run to any B' with B <= B' < 2B. Every B' is a problem of its own, with factors that divide it.
What its operations, the words of its tensors and the units that its factors can occupy cost at least decides whether it
is searched, in ascending order of that bound.

Of loops along which cost grows with every factor, most sizes need no search: a factor f of B' may be lowered to f - 1
if what is left, B' - B'/f, still covers B. It is 3 at least then, since half of what is below 2B covers nothing, so the
same loops go on running. So all factors of a size that is worth a search are smaller than B'/(B' - B). Loops are left
out of this argument that share a dimension of a tensor (tiles that slide may coincide for one size and not for
another), or move several, those of a nest whose sums have gaps, and those whose factors are given; so are all loops
where neighbours may hand words on, or cycles are rounded in floating point.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import lru_cache

from mapper.formulations.hierarchy.problem import Axis, HierarchyProblem
from mapper.solver.friendly_size import friendly_size
from mapper.solver.hierarchy.exact.arrangement import Keep
from mapper.solver.hierarchy.padding.bound import PaddingBound
from mapper.solver.hierarchy.padding.relaxed import Arrangements, Judge, arrangements
from mapper.solver.hierarchy.space import Space, prime_factors
from mapper.solver.method import Effort

SIZES_AT_ONCE = 32
"""Of a loop, for which arrangements are measured together."""
SHY = 1 - 1e-12
"""Bounds are taken a little too low, so that rounding does not lift them above what they bound."""


class Paddings:
    """The choices of sizes for the loops of a problem that may grow. ``cut``: the least bound of those that the last
    look passed over since they cost too much. ``left``: arrangements one of which must divide a choice, if known."""

    def __init__(self, problem: HierarchyProblem) -> None:
        self.problem = problem
        self.bound = PaddingBound(problem)
        # Those of few sizes first: they decide most.
        self.loops = sorted(problem.pins.free, key=lambda loop: (problem.bounds[loop], loop))
        self.covering = {loop for loop in self.loops if _grows(problem, loop)}
        slots = Space(problem).limits
        self.slots = {loop: sum(most > 1 for most in slots[loop]) for loop in self.loops}
        self.least = self.bound.of(problem.bounds, frozenset(self.loops))[0] * SHY
        self.cut = math.inf
        self.left: Arrangements | None = None

    def relax(self, judge: Judge, effort: Effort) -> None:
        """Look at the arrangements for all sizes at once."""
        value, cycles = self.bound.of(self.problem.bounds, frozenset(self.loops))
        cost_of_cycle = {"edp": value / cycles, "latency": 1.0, "energy": 0.0}[self.problem.objective]
        self.left = arrangements(self.problem, cost_of_cycle, judge, effort)
        if self.left is not None:
            self.least = max(self.least, self.left.least)

    def friendly(self) -> dict[str, int]:
        """For loops whose bound has a large prime factor the next one that has none."""
        sizes = {}
        for loop in self.loops:
            own = self.problem.bounds[loop]
            size = friendly_size(own)
            if size > own:
                sizes[loop] = size
        return sizes

    def between(
        self, least: float, most: float, judge: Judge
    ) -> Iterator[tuple[Mapping[str, int], list[Keep] | None]]:
        """The choices with a bound from ``least`` to below ``most``, but for the bounds as they are; with what levels
        must keep of them to be of interest, if known."""
        own = dict(self.problem.bounds)
        self.left = None if self.left is None else self.left.wanted(judge)
        for sizes, bound, dividing in self._chosen(own, 0, most, judge, self.left):
            if bound >= least and sizes != own:
                yield sizes, None if dividing is None else dividing.keeps()

    def _chosen(
        self, sizes: dict[str, int], place: int, most: float, judge: Judge, left: Arrangements | None
    ) -> Iterator[tuple[dict[str, int], float, Arrangements | None]]:
        """The choices that agree with ``sizes`` in the loops before ``place``, and that one of ``left`` divides."""
        if place == len(self.loops):
            yield sizes, max(-math.inf if left is None else left.least, self._bound(sizes, place)[0]), left
            return
        loop = self.loops[place]
        for several in self._useful(loop):
            grown = {**sizes, loop: several[0]}
            if not self._may_grow(grown, place, most, judge):
                return
            every: list[Arrangements | None] = [None] * len(several)
            if left is not None:
                left = left.at(grown).wanted(judge)
                if not len(left.row):
                    return
                every = [*left.dividing(loop, several, sizes)]
            for size, own in zip(several, every, strict=True):
                grown = {**sizes, loop: size}
                if not self._may_grow(grown, place, most, judge):
                    return
                dividing = None if own is None else own.wanted(judge)
                if dividing is not None and not len(dividing.row):
                    continue
                bound, cycles = self._bound(grown, place + 1)
                bound = bound if dividing is None else max(bound, dividing.least)
                if bound >= most:
                    self._pass_over(bound, most)
                elif judge.wants(bound, cycles):
                    yield from self._chosen(grown, place + 1, most, judge, dividing)

    def _useful(self, loop: str) -> Iterator[list[int]]:
        """The sizes of a loop that are worth a search, ascending, some at a time."""
        own = self.problem.bounds[loop]
        several = list[int]()
        for size in range(own, 2 * own):
            if self._is_useful(loop, own, size):
                several.append(size)
            if len(several) == SIZES_AT_ONCE:
                yield several
                several = []
        if several:
            yield several

    def _may_grow(self, sizes: Mapping[str, int], place: int, most: float, judge: Judge) -> bool:
        """Whether these sizes may be of interest, or larger ones of the loops from ``place`` on."""
        larger, cycles = self._bound(sizes, place)
        if larger < most and judge.wants(larger, cycles):
            return True
        self._pass_over(larger, most)
        return False

    def _pass_over(self, bound: float, most: float) -> None:
        if bound >= most:
            self.cut = min(self.cut, bound)

    def _bound(self, sizes: Mapping[str, int], place: int) -> tuple[float, float]:
        """What mappings cost at least if loops from ``place`` on may have any size from theirs on: in the objective,
        and in cycles."""
        bound, cycles = self.bound.of(sizes, frozenset(self.loops[place:]))
        return bound * SHY, cycles

    def _is_useful(self, loop: str, own: int, size: int) -> bool:
        """Whether some factors of a size cannot be lowered."""
        if size == own or loop not in self.covering:
            return True
        largest = -(-size // (size - own)) - 1
        if largest ** self.slots[loop] < size:
            return False
        return _largest_prime(size) <= largest


@lru_cache(maxsize=1 << 16)
def _largest_prime(number: int) -> int:
    return prime_factors(number)[-1]


def _grows(problem: HierarchyProblem, loop: str) -> bool:
    """Whether cost grows with every factor of a loop."""
    machine = problem.machine
    rates = [rate for level in machine.levels for rate in level.bandwidth.model_dump().values()]
    if machine.rules.link_transfers or (machine.rules.throttling == "floating" and any(rates)):
        return False
    axes: tuple[Axis, ...] = ("temporal", "x", "y")
    for place in range(len(machine.levels)):
        if any(problem.exact(place, axis, loop) not in (None, 1) for axis in axes):
            return False
    for operand in problem.nest.operands:
        rows = [dict(index.coefficients) for index in operand.index]
        running = [{one: factor for one, factor in row.items() if problem.bounds[one] > 1} for row in rows]
        own = [row for row in running if loop in row]
        if len(own) > 1 or any(len(row) > 1 for row in own):
            return False
        if operand.writes and not _is_plain(running):
            return False
    return True


def _is_plain(rows: list[dict[str, int]]) -> bool:
    """Whether each dimension is moved by a loop of its own, word by word."""
    loops = [loop for row in rows for loop in row]
    alone = all(len(row) < 2 and all(abs(factor) == 1 for factor in row.values()) for row in rows)
    return alone and len(set(loops)) == len(loops)
