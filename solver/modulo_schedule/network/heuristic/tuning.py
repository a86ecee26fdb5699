"""Tuning a layer: every algorithm and innermost loop, the best unroll factors by estimate, real schedules of those.

The bound is a proof over the same space: no cover of a nest by boxes takes fewer cycles than the least sum of what
each box takes at its MII, with the cycles along its longest path and its set-up. A search that is cut, or that does not
look at all covers, has the bound by argument instead. The value is what the chosen schedules really take.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf

from mapper.formulations.modulo_schedule.network.bound import ideal_cycles
from mapper.formulations.modulo_schedule.network.problem import LayerProblem
from mapper.formulations.modulo_schedule.network.program.cover import Cover
from mapper.models.modulo_schedule.network.algorithm import Algorithm
from mapper.models.modulo_schedule.network.baseline import baselines
from mapper.models.modulo_schedule.network.cost import layer_cycles, outside_cycles
from mapper.models.modulo_schedule.network.mapping import LayerMapping, LoopMapping
from mapper.models.modulo_schedule.network.nest import Nest
from mapper.solver.certificate import Stop
from mapper.solver.method import Effort, Progress
from mapper.solver.modulo_schedule.network.heuristic.nest_tuning import NestTuning, Tried, nest_tuning
from mapper.solver.outcome import Outcome

WORTH, LIGHT = 1000, 20
"""What part of the layer's bound a further cover of a nest must be able to save, and a box must take that gets a large
body."""

COVERS = 4
"""Covers of a nest and innermost loop that are scheduled."""


@dataclass(frozen=True)
class Plan:
    """An algorithm with the tuning of its nests, the cycles outside of them, and the least of all of it."""

    algorithm: Algorithm
    tunings: tuple[NestTuning, ...]
    outside: int
    bound: int


def exhaustive(
    problem: LayerProblem, effort: Effort, most: int = COVERS, last_resort: bool = True, light: bool = False
) -> Outcome[LayerMapping]:
    """The best of all algorithms: for every nest and innermost loop the best ``most`` covers are scheduled. Where time
    is limited and no mapping known Algorithm 1 comes first, so that what is cut is no worse. With a mapping known no
    cover is scheduled to the end that makes a layer of more cycles, and without a limit of time as many more covers are
    weighed as searches came before. As a ``last_resort`` nests are scheduled as they are written, even when the time is
    over.

    Raises: InputError if the machine does not say what VLIW mode costs, or no PE executes an operation.
    """
    found: list[tuple[int, LayerMapping]] = []
    ideal, evaluations = ideal_cycles(problem), 0
    start = effort.known(problem)
    if start is not None:
        found.append((int(start.value), start.mapping))
        if effort.deadline is None:
            most *= 1 + start.searches
    elif effort.deadline is not None:
        quick = algorithm_1(problem, effort)
        if quick.mapping is not None and quick.value is not None:
            found.append((int(quick.value), quick.mapping))
            evaluations += quick.evaluations or 0
    plans, complete = planned(problem, effort, urgent=not found)
    bound = min(plan.bound for plan in plans) if complete else ideal
    tried: dict[Nest, list[Tried]] = {}

    def tell() -> None:
        effort.report(Progress(min((value for value, _ in found), default=None), bound, evaluations))

    tell()
    for plan in sorted(plans, key=lambda one: one.bound):
        limit = min((value for value, _ in found), default=inf)
        if found and (effort.stopped() is not None or plan.bound >= limit):
            break
        taken, loops = plan.outside, list[LoopMapping]()
        for position, tuning in enumerate(plan.tunings):
            key = tuning.nest
            if not tried.get(key):
                tried[key] = tuned(tuning, effort, most, limit - taken + 1, last_resort, bound, light)
                evaluations += len(tried[key])
                tell()
            if not tried[key]:
                break
            best = min(tried[key], key=lambda one: (one.cycles, one.unroll))
            loops += best.at(position)
            taken += best.cycles
        else:
            mapping = LayerMapping(plan.algorithm.name, tuple(loops))
            cycles = sum(layer_cycles(plan.algorithm, problem.layer.op, problem.machine, mapping))
            found.append((cycles, mapping))
            tell()
    stop = effort.stopped()
    if not found:
        return Outcome.unknown(stop or "heuristic", evaluations=evaluations)
    value, mapping = min(found, key=lambda one: one[0])
    return _outcome(mapping, value, bound, stop, evaluations)


def planned(problem: LayerProblem, effort: Effort, urgent: bool) -> tuple[list[Plan], bool]:
    """Plans of all algorithms, and whether time was left for each; if ``urgent`` there is one even then."""
    plans: list[Plan] = []
    for algorithm in problem.space:
        if effort.stopped() is not None and not (urgent and not plans):
            return plans, False
        outside = sum(outside_cycles(algorithm, problem.layer.op, problem.machine))
        tunings = tuple(nest_tuning(nest, problem.machine) for nest in algorithm.nests)
        inside = sum(tuning.least for tuning in tunings) if effort.stopped() is None else 0
        plans.append(Plan(algorithm, tunings, outside, outside + inside))
    return plans, effort.stopped() is None


def _outcome(
    mapping: LayerMapping, value: int, bound: int, stop: Stop | None, evaluations: int
) -> Outcome[LayerMapping]:
    proven = value == bound
    ended: Stop = "complete" if proven else stop or "heuristic"
    return Outcome.ended(mapping, value, bound, ended, proven=proven, evaluations=evaluations)


def tuned(
    tuning: NestTuning,
    effort: Effort,
    most: int,
    limit: float = inf,
    last_resort: bool = True,
    layer: int = 0,
    light: bool = False,
) -> list[Tried]:
    """The best ``most`` covers over all innermost loops, scheduled, but for those that are seen to save little of the
    cycles that another takes, or to take no fewer than ``limit``; without a limit, as a ``last_resort``, the nest as it
    is written if none of them can be. ``layer``: the least that the whole layer takes. ``light``: as in
    ``exhaustive``."""
    nest = tuning.nest
    covers: list[Cover] = []
    for innermost in nest.innermost():
        if effort.stopped() is None:
            covers += tuning.candidates(innermost, most, layer // LIGHT)
    covers.sort(key=lambda cover: cover.cycles)
    # A single sum meets its MII as it is written, which the ranking does not expect of any body.
    plain = [tuning.as_written(nest.names[-1])] if nest.in_register else []
    tried: list[Tried] = []
    for cover in (*covers[:most], *plain):
        best = min((one.cycles - layer // WORTH for one in tried), default=limit)
        if effort.stopped() is not None:
            break
        one = tuning.schedule(cover, effort, best, light)
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
    """The baseline: matrix products in the order of Fig. 3(a), no loop unrolled, moved or merged, and no activation
    inlined, which then runs in VLIW mode. Sums stay in registers.

    Raises: InputError as ``exhaustive``.
    """
    return single(problem, _plain(problem, 0), written, effort)


def sums_in_memory(problem: LayerProblem, effort: Effort) -> Outcome[LayerMapping]:
    """The baseline as Fig. 3(a) is written: each iteration loads the sum, adds to it and stores it.

    Raises: InputError as ``exhaustive``.
    """
    return single(problem, _plain(problem, 1), written, effort)


def _plain(problem: LayerProblem, place: int) -> Algorithm:
    """A baseline, or what is pinned instead."""
    return problem.choices[0] if problem.pinned else baselines(problem.layer, problem.machine)[place]


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
    loops: list[LoopMapping] = []
    for position, nest in enumerate(algorithm.nests):
        tuning = nest_tuning(nest, problem.machine)
        tried = next((one for cover in chosen(tuning) if (one := tuning.schedule(cover, effort))), None)
        if tried is None:
            return Outcome.unknown(effort.stopped() or "heuristic")
        loops += tried.at(position)
    mapping = LayerMapping(algorithm.name, tuple(loops))
    cycles = sum(layer_cycles(algorithm, problem.layer.op, problem.machine, mapping))
    return _outcome(mapping, cycles, ideal_cycles(problem), effort.stopped(), len(loops))
