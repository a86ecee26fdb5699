"""Tuning a layer: every algorithm and innermost loop, the best unroll factors by estimate, real schedules of those.

The bound is a proof over the same space: no cover of a nest by boxes takes fewer cycles than the least sum of what
each box takes at its MII, with the cycles along its longest path and its set-up. A search that is cut, or that does not
look at all covers, has the bound by argument instead. The value is what the chosen schedules really take.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf

from mapper.arch.cgra import CgraMachine
from mapper.formulations.modulo_schedule.network.bound import ideal_cycles
from mapper.formulations.modulo_schedule.network.problem import LayerProblem
from mapper.formulations.modulo_schedule.network.program.cover import (
    BoxWeight,
    Cover,
    CoverSearch,
    Sizes,
    iterations,
)
from mapper.models.modulo_schedule.network.algorithm import Algorithm, baseline
from mapper.models.modulo_schedule.network.cost import evaluate_layer, live_ins, outside_cycles, set_up_cycles
from mapper.models.modulo_schedule.network.estimate import Estimator, estimated_cycles
from mapper.models.modulo_schedule.network.mapping import LayerMapping, LoopMapping, kernel_of
from mapper.models.modulo_schedule.network.nest import Box, Nest
from mapper.solver.certificate import Stop
from mapper.solver.method import Effort, Progress
from mapper.solver.modulo_schedule.network.heuristic.loop_schedule import loop_schedule
from mapper.solver.outcome import Outcome

POINTER_USES = (4, 2)
"""Accesses that share a pointer, in the order in which they are tried until one reaches MII: a pointer that
serves many must be handed on by moves, one that serves few takes slots of its own."""
LARGEST_BODY, LARGEST_SHARE = 64, 5
"""Operations of the largest kernel that is scheduled: so many, or so many for every PE where that is more. What an II
one above MII costs shrinks with the body, and on many PEs small bodies have a small MII."""
EXPECTED_ABOVE = 1


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


class NestTuning:
    """One nest on one machine."""

    def __init__(self, nest: Nest, position: int, machine: CgraMachine, estimator: Estimator) -> None:
        self.nest, self.position, self.machine = nest, position, machine
        self.weight = {innermost: BoxWeight(nest, innermost, estimator) for innermost in nest.names}
        self.largest = max(LARGEST_BODY, LARGEST_SHARE * len(machine.all_pes))

    def bound(self, innermost: str) -> int:
        """Least cycles of any cover with this innermost loop."""
        least = CoverSearch(self.nest, innermost, self.weight[innermost].least_cycles).least()
        assert least is not None
        return least

    def candidates(self, innermost: str, most: int) -> tuple[Cover, ...]:
        """The best covers whose bodies can be scheduled, by what they take at an II one above MII: schedules that
        fill every slot are the exception, and small bodies suffer most from it."""
        weight = self.weight[innermost]

        def weigh(main: Sizes, factors: Sizes) -> int | None:
            fits = max(factors) == 1 or weight.body(factors)[0].operations <= self.largest
            return weight.least_cycles(main, factors, EXPECTED_ABOVE) if fits else None

        return CoverSearch(self.nest, innermost, weigh).ranked(most)

    def as_written(self, innermost: str) -> Cover:
        """The nest in one box, not unrolled."""
        whole, once = tuple(extent for _, extent in self.nest.loops), (1,) * len(self.nest.loops)
        cycles = self.weight[innermost].least_cycles(whole, once)
        return Cover(cycles, (Box((0,) * len(whole), whole, once, innermost),))

    def estimated(self, innermost: str) -> tuple[Cover, ...]:
        """The cover that Algorithm 1 chooses, by MII * iterations alone, with its pruning."""

        def weigh(main: Sizes, factors: Sizes) -> int | None:
            if not self._is_kept(factors, innermost):
                return None
            return estimated_cycles(
                self._interval(factors, innermost), self.nest.repeats * iterations(main, factors)
            )

        return CoverSearch(self.nest, innermost, weigh).ranked(1)

    def schedule(self, cover: Cover, effort: Effort, limit: float = inf) -> Tried | None:
        """Schedule every box of ``cover``, the main one first; None if one gets no schedule, or if it is seen on
        the way that they take ``limit`` cycles or more together."""
        loops: list[LoopMapping] = []
        estimate, expected = 0, self._least(cover)
        if expected >= limit:
            return None
        for box in cover.boxes:
            loop = self._loop(box, effort)
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

    def _loop(self, box: Box, effort: Effort) -> LoopMapping | None:
        best: LoopMapping | None = None
        for uses in POINTER_USES:
            kernel = kernel_of(self.nest, box, uses)
            found = loop_schedule(kernel, self.machine, effort)
            if found.mapping is None:
                continue
            if best is None or _time(
                found.mapping.ii, found.mapping.stages, box.trip_count(self.nest)
            ) < _time(best.schedule.ii, best.schedule.stages, box.trip_count(self.nest)):
                best = LoopMapping(self.position, box, uses, found.mapping)
            if found.mapping.ii == self._interval(box.unroll, box.innermost):
                break
        return best

    def _cycles(self, loops: list[LoopMapping]) -> int:
        total = 0
        for loop in loops:
            trips = loop.box.trip_count(self.nest)
            given = live_ins(kernel_of(self.nest, loop.box, loop.pointer_uses))
            once = _time(loop.schedule.ii, loop.schedule.stages, trips) + set_up_cycles(self.machine, given)
            total += loop.box.runs(self.nest) * once
        return total

    def _is_kept(self, factors: Sizes, innermost: str) -> bool:
        if max(factors) == 1:
            return True
        counted, interval = self.weight[innermost].body(factors)
        return counted.operations <= self.largest and interval <= 2 * self._interval(
            (1,) * len(factors), innermost
        )

    def _interval(self, factors: Sizes, innermost: str) -> int:
        return self.weight[innermost].body(factors)[1]


def _time(ii: int, stages: int, trips: int) -> int:
    return (trips + stages - 1) * ii


def exhaustive(
    problem: LayerProblem, effort: Effort, most: int = 4, last_resort: bool = True
) -> Outcome[LayerMapping]:
    """The best of all algorithms: for every nest and innermost loop the best ``most`` covers are scheduled. Where time
    is limited and no mapping known Algorithm 1 comes first, so that what is cut is no worse. With a mapping known
    no cover is scheduled to the end that makes a layer of more cycles, and without a limit of time as many more covers
    are weighed as searches came before. As a ``last_resort`` nests are scheduled as they are written, even when the
    time is over.

    Raises: InputError if the machine does not say what VLIW mode costs, or no PE executes an operation.
    """
    estimator = Estimator(problem.machine)
    found: list[tuple[int, LayerMapping]] = []
    bounds: list[int] = []
    ideal, evaluations = ideal_cycles(problem), 0
    seen: dict[tuple[int, Nest], tuple[int, list[Tried]]] = {}
    start, limit = effort.known(problem), inf
    if start is not None:
        found.append((int(start.value), start.mapping))
        limit = start.value
        # Against the clock more covers would only be listed.
        most *= 1 if effort.deadline is not None else 1 + start.searches
    elif effort.deadline is not None:
        quick = algorithm_1(problem, effort)
        if quick.mapping is not None and quick.value is not None:
            found.append((int(quick.value), quick.mapping))
            evaluations += quick.evaluations or 0
    for algorithm in problem.space:
        if found and effort.stopped() is not None:
            break
        outside = sum(outside_cycles(algorithm, problem.layer.op, problem.machine))
        bound, taken, loops, complete = outside, outside, list[LoopMapping](), True
        for position, nest in enumerate(algorithm.nests):
            least, tried = seen.get((position, nest), (0, list[Tried]()))
            if not tried:
                tuning = NestTuning(nest, position, problem.machine, estimator)
                if effort.stopped() is None:
                    least = min(tuning.bound(innermost) for innermost in nest.innermost())
                if complete:
                    tried = tuned(tuning, effort, most, limit - taken + 1, last_resort)
                    evaluations += len(tried)
                seen[position, nest] = least, tried
            bound += least
            if not complete:
                continue
            if not tried:
                complete = False
                continue
            best = min(tried, key=lambda one: (one.cycles, one.unroll))
            loops += best.loops
            taken += best.cycles
        if complete:
            mapping = LayerMapping(algorithm.name, tuple(loops))
            cost = evaluate_layer(algorithm, problem.layer.op, problem.machine, mapping)
            found.append((cost.cycles, mapping))
            bounds.append(bound)
            effort.report(Progress(min(found, key=lambda one: one[0])[0], ideal, evaluations))
        elif effort.stopped() is None:
            bounds.append(bound)
        else:
            break
    stop = effort.stopped()
    if not found:
        return Outcome.unknown(stop or "heuristic", evaluations=evaluations)
    value, mapping = min(found, key=lambda one: one[0])
    return _outcome(mapping, value, min(bounds) if stop is None else ideal, stop, evaluations)


def _outcome(
    mapping: LayerMapping, value: int, bound: int, stop: Stop | None, evaluations: int
) -> Outcome[LayerMapping]:
    proven = value == bound
    ended: Stop = "complete" if proven else stop or "heuristic"
    return Outcome.ended(mapping, value, bound, ended, proven=proven, evaluations=evaluations)


def tuned(
    tuning: NestTuning, effort: Effort, most: int, limit: float = inf, last_resort: bool = True
) -> list[Tried]:
    """The best ``most`` covers over all innermost loops, scheduled, but for those that are seen to take no fewer
    cycles than another, or than ``limit``; without a limit, as a ``last_resort``, the nest as it is written if none
    of them can be."""
    nest = tuning.nest
    covers: list[Cover] = []
    for innermost in nest.innermost():
        if effort.stopped() is None:
            covers += tuning.candidates(innermost, most)
    covers.sort(key=lambda cover: cover.cycles)
    tried: list[Tried] = []
    for cover in covers[:most]:
        best = min((one.cycles for one in tried), default=limit)
        if effort.stopped() is not None:
            break
        one = tuning.schedule(cover, effort, best)
        if one is not None:
            tried.append(one)
    if not tried and limit == inf and last_resort:
        # A body that is not unrolled is scheduled in no time: a layer without an answer would void the network's.
        one = tuning.schedule(tuning.as_written(next(nest.innermost())), replace(effort, deadline=None))
        tried += [] if one is None else [one]
    return tried


def algorithm_1(problem: LayerProblem, effort: Effort) -> Outcome[LayerMapping]:
    """The paper's tuner: the algorithm by its rule; of the nest as written and with its longest loop innermost the
    one with the lower estimate; the factors of Algorithm 1, pruned by MII; one schedule of those.

    Raises: InputError as ``exhaustive``.
    """
    algorithm = problem.choices[0]

    def chosen(tuning: NestTuning) -> list[Cover]:
        covers = [cover for name in variants(tuning) for cover in tuning.estimated(name)]
        return sorted(covers, key=lambda cover: cover.cycles)[:1]

    return single(problem, algorithm, chosen, effort)


def unoptimised(problem: LayerProblem, effort: Effort) -> Outcome[LayerMapping]:
    """The paper's baseline: matrix products in the order of Fig. 3(a), no loop unrolled, moved or merged, and no
    activation inlined, which then runs in VLIW mode.

    Raises: InputError as ``exhaustive``.
    """
    return single(problem, baseline(problem.layer, problem.machine), written, effort)


def written(tuning: NestTuning) -> list[Cover]:
    """The nest in its own order, not unrolled."""
    return [tuning.as_written(tuning.nest.names[-1])]


def variants(tuning: NestTuning) -> tuple[str, ...]:
    """The paper's two variants of a nest: as written, and its longest loop innermost where that is legal [Bae2018,
    sec. V-B2]."""
    legal = tuple(tuning.nest.innermost())
    return tuple(dict.fromkeys((legal[0], max(legal, key=lambda name: tuning.nest.extents[name]))))


def single(
    problem: LayerProblem, algorithm: Algorithm, chosen: Callable[[NestTuning], list[Cover]], effort: Effort
) -> Outcome[LayerMapping]:
    """``algorithm`` with, for every nest, the first of the ``chosen`` covers that gets a schedule.

    Raises: InputError as ``exhaustive``.
    """
    estimator = Estimator(problem.machine)
    loops: list[LoopMapping] = []
    for position, nest in enumerate(algorithm.nests):
        tuning = NestTuning(nest, position, problem.machine, estimator)
        tried = next((one for cover in chosen(tuning) if (one := tuning.schedule(cover, effort))), None)
        if tried is None:
            return Outcome.unknown(effort.stopped() or "heuristic")
        loops += tried.loops
    mapping = LayerMapping(algorithm.name, tuple(loops))
    cycles = evaluate_layer(algorithm, problem.layer.op, problem.machine, mapping).cycles
    return _outcome(mapping, cycles, ideal_cycles(problem), effort.stopped(), len(loops))
