"""One nest of a layer on one machine: what its covers take at the least, and are expected to take; their schedules."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import inf

from mapper.arch.cgra import CgraMachine
from mapper.formulations.modulo_schedule.network.program.cover import (
    BoxWeight,
    Cover,
    CoverSearch,
    Sizes,
    iterations,
)
from mapper.models.modulo_schedule.network.cost import (
    live_ins,
    load_cycles,
    most_contexts,
    set_up_cycles,
)
from mapper.models.modulo_schedule.network.estimate import Estimator, estimated_cycles
from mapper.models.modulo_schedule.network.mapping import LoopMapping, kernel_of
from mapper.models.modulo_schedule.network.nest import Box, Nest
from mapper.solver.method import Effort
from mapper.solver.modulo_schedule.network.heuristic.loop_schedule import loop_schedule

POINTER_USES = (8, 4, 2)
"""Accesses that share a pointer, in the order in which they are tried until one has a good II: a pointer that serves
many must be handed on by moves, one that serves few takes slots of its own."""
SMALL_BODY = 40
"""Operations of the largest kernel of a box that takes little of its layer's time."""
LARGEST_BODY, LARGEST_SHARE, PAPERS_SHARE = 64, 10, 5
"""Operations of the largest kernel that is scheduled: so many, or so many for every PE where that is more; Algorithm 1
has a share of its own. What an II one above MII costs shrinks with the body, and on many PEs small bodies have a small
MII."""
LONG = 8
"""MII from which a cycle more matters less than the time that another kernel takes."""
SLOTS, FEWEST_SLOTS = Fraction(17, 10), Fraction(3, 2)
"""Slots that an operation is expected to take with the moves of its operands, and fewer than it takes but for luck: by
what schedules have needed."""

BEYOND = 1 << 48
"""More cycles than any nest takes: what is counted in multiples of it goes before what is not."""
MOST_TUNINGS = 512

_known: dict[tuple[Nest, str], NestTuning] = {}
_estimators: dict[str, Estimator] = {}


@dataclass(frozen=True)
class Tried:
    """A cover of a nest that was scheduled: its estimate (MII * iterations) and its real cycles, the MII and II
    of its main box, and its loops."""

    innermost: str
    unroll: Sizes
    estimate: int
    cycles: int
    interval: int
    ii: int
    loops: tuple[LoopMapping, ...]

    def at(self, position: int) -> tuple[LoopMapping, ...]:
        """Its loops as those of a layer's nest at this position."""
        return tuple(replace(loop, nest=position) for loop in self.loops)


class NestTuning:
    """One nest on one machine."""

    def __init__(self, nest: Nest, machine: CgraMachine, estimator: Estimator) -> None:
        self.nest, self.machine = nest, machine
        self.weight = {innermost: BoxWeight(nest, innermost, estimator) for innermost in nest.names}
        self.largest = max(LARGEST_BODY, LARGEST_SHARE * len(machine.all_pes))
        self.papers_largest = max(LARGEST_BODY, PAPERS_SHARE * len(machine.all_pes))

    def bound(self, innermost: str) -> int:
        """Least cycles of any cover with this innermost loop."""
        weight = self.weight[innermost]
        least = CoverSearch(self.nest, innermost, weight.least_cycles, weight.each()).least()
        assert least is not None
        return least

    @cached_property
    def least(self) -> int:
        """Least cycles of any cover."""
        return min(map(self.bound, self.nest.innermost()))

    def candidates(self, innermost: str, most: int, light: int = 0) -> tuple[Cover, ...]:
        """The best covers whose bodies can be scheduled, by what they are expected to take; boxes of fewer than
        ``light`` cycles are not worth a large one."""
        weight = self.weight[innermost]

        def weigh(main: Sizes, factors: Sizes) -> int | None:
            counted, _ = weight.body(factors)
            largest = self.largest if weight.least_cycles(main, factors) >= light else SMALL_BODY
            if max(factors) > 1 and counted.operations > largest:
                return None
            return self._expected_cycles(main, factors, innermost)

        return CoverSearch(self.nest, innermost, weigh, weight.each()).ranked(most)

    def _expected_cycles(self, main: Sizes, factors: Sizes, innermost: str) -> int:
        """What a box is expected to take, starts and loading included."""
        counted, _ = self.weight[innermost].body(factors)
        place = self.nest.names.index(innermost)
        ii, trips = self._expected(factors, innermost), main[place] // factors[place]
        once = _time(ii, counted.depth // ii + 2, trips) + set_up_cycles(self.machine, counted.live_ins)
        started = self.nest.repeats * iterations(main, factors) // trips * once
        return started + load_cycles(self.machine, ii)

    def _expected(self, factors: Sizes, innermost: str) -> int:
        """The II that a schedule is expected to have: one above MII at the least, since those that fill every slot are
        the exception, and room for moves beside the operations."""
        counted, interval = self.weight[innermost].body(factors)
        return max(interval + 1, math.ceil(SLOTS * counted.operations / len(self.machine.all_pes)))

    def as_written(self, innermost: str) -> Cover:
        """The nest in one box, not unrolled."""
        whole, once = tuple(extent for _, extent in self.nest.loops), (1,) * len(self.nest.loops)
        cycles = self.weight[innermost].least_cycles(whole, once)
        return Cover(cycles, (Box((0,) * len(whole), whole, once, innermost),))

    def estimated(self, innermost: str) -> tuple[Cover, ...]:
        """The cover that Algorithm 1 chooses, by MII * iterations alone, with its pruning. Of those that are equal,
        which the paper does not rank, it is the one that is expected to take the fewest cycles."""

        def weigh(main: Sizes, factors: Sizes) -> int | None:
            if not self._is_kept(factors, innermost):
                return None
            work = self.nest.repeats * iterations(main, factors)
            estimate = estimated_cycles(self._interval(factors, innermost), work)
            return estimate * BEYOND + self._expected_cycles(main, factors, innermost)

        return CoverSearch(self.nest, innermost, weigh, self.weight[innermost].each() * BEYOND).ranked(1)

    def schedule(self, cover: Cover, effort: Effort, limit: float = inf, light: bool = False) -> Tried | None:
        """Schedule every box of ``cover``, the main one first; None if one gets no schedule, or if it is seen on
        the way that they take ``limit`` cycles or more together. ``light``: the first schedule of each will do."""
        loops: list[LoopMapping] = []
        estimate, expected = 0, self._least(cover)
        if expected >= limit:
            return None
        for box in cover.boxes:
            loop = self._loop(box, effort, light)
            if loop is None:
                return None
            loops.append(loop)
            expected += self._cycles([loop]) - self.weight[box.innermost].least_cycles(box.count, box.unroll)
            if expected >= limit:
                return None
            work = self.nest.repeats * iterations(box.count, box.unroll)
            estimate += estimated_cycles(self._interval(box.unroll, box.innermost), work)
        main = cover.boxes[0]
        interval = self._interval(main.unroll, main.innermost)
        cycles = self._cycles(loops)
        return Tried(
            main.innermost, main.unroll, estimate, cycles, interval, loops[0].schedule.ii, tuple(loops)
        )

    def _least(self, cover: Cover) -> int:
        return sum(self.weight[box.innermost].least_cycles(box.count, box.unroll) for box in cover.boxes)

    def _loop(self, box: Box, effort: Effort, light: bool) -> LoopMapping | None:
        best: LoopMapping | None = None
        for uses in POINTER_USES:
            kernel = kernel_of(self.nest, box, uses)
            enough = self._enough(box.unroll, box.innermost)
            found = loop_schedule(kernel, self.machine, effort, 0 if light else enough, light)
            if found.mapping is None or found.mapping.ii > most_contexts(self.machine):
                continue
            if best is None or _time(
                found.mapping.ii, found.mapping.stages, box.trip_count(self.nest)
            ) < _time(best.schedule.ii, best.schedule.stages, box.trip_count(self.nest)):
                best = LoopMapping(0, box, uses, found.mapping)
            if light or found.mapping.ii <= self._good(box.unroll, box.innermost):
                break
        return best

    def _cycles(self, loops: list[LoopMapping]) -> int:
        total = 0
        for loop in loops:
            trips = loop.box.trip_count(self.nest)
            given = live_ins(kernel_of(self.nest, loop.box, loop.pointer_uses))
            once = _time(loop.schedule.ii, loop.schedule.stages, trips) + set_up_cycles(self.machine, given)
            total += loop.box.runs(self.nest) * once + load_cycles(self.machine, loop.schedule.ii)
        return total

    def _good(self, factors: Sizes, innermost: str) -> int:
        """The II at which no further kernel is made: MII, or of a long one what is expected."""
        interval = self._interval(factors, innermost)
        return interval if interval < LONG else self._expected(factors, innermost)

    def _enough(self, factors: Sizes, innermost: str) -> int:
        """The II at which the search for a schedule ends: MII, or of a long one the least that is worth its time."""
        counted, interval = self.weight[innermost].body(factors)
        crowded = FEWEST_SLOTS * counted.operations // len(self.machine.all_pes)
        return interval if interval < LONG else max(interval + 1, int(crowded))

    def _is_kept(self, factors: Sizes, innermost: str) -> bool:
        if max(factors) == 1:
            return True
        counted, interval = self.weight[innermost].body(factors)
        return counted.operations <= self.papers_largest and interval <= 2 * self._interval(
            (1,) * len(factors), innermost
        )

    def _interval(self, factors: Sizes, innermost: str) -> int:
        return self.weight[innermost].body(factors)[1]


def nest_tuning(nest: Nest, machine: CgraMachine) -> NestTuning:
    """The tuning of a nest, which keeps what it has weighed from one round over a network's layers to the next."""
    document = machine.model_dump_json(by_alias=True)
    key = nest, document
    if key not in _known:
        if len(_known) >= MOST_TUNINGS:
            _known.clear()
        _known[key] = NestTuning(nest, machine, _estimators.setdefault(document, Estimator(machine)))
    return _known[key]


def _time(ii: int, stages: int, trips: int) -> int:
    return (trips + stages - 1) * ii
