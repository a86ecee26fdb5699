"""Tuned layers whose loops are given to CP-SAT, which improves IIs above MII, and proves them where it is asked to.

The tuner's schedules are heuristic, and its bound takes every box at its MII. Here loops of the mapping that the tuner
chose get the program in windows alone (`tuned_and_tightened`), or the complete program as well from MII upwards, so
that their II is the least of their kernel (`tuned_and_decided`); the answer says for how many loops this is still
open. The loops themselves remain the tuner's choice, so only its bound proves the layer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from mapper.arch.cgra import CgraMachine
from mapper.formulations.modulo_schedule.network.problem import LayerProblem
from mapper.models.modulo_schedule.bound import mii
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.models.modulo_schedule.network.cost import layer_cycles
from mapper.models.modulo_schedule.network.mapping import LayerMapping, LoopMapping, kernel_of
from mapper.models.modulo_schedule.network.nest import Nest
from mapper.solver.method import Effort, Progress
from mapper.solver.modulo_schedule.network.heuristic.loop_schedule import decided_loop, tightened_loop
from mapper.solver.modulo_schedule.network.heuristic.tuning import LIGHT, exhaustive
from mapper.solver.outcome import Outcome
from mapper.workloads.graph.kernel import Kernel

LoopSearch = Callable[[Kernel, CgraMachine, ModuloSchedule, Effort], Outcome[ModuloSchedule]]
"""What a kernel with a schedule is given to."""
TUNING_SHARE = 0.5
"""Of the time limit, if there is one; what tuning leaves is shared evenly by the loops that are open."""


def tuned_and_decided(problem: LayerProblem, effort: Effort) -> Outcome[LayerMapping]:
    """The tuner's mapping with every loop decided, as far as the time limit allows; without one every loop is searched
    until it is decided, unless its program is too large to be built.

    Raises: InputError as the tuner.
    """
    tuned = exhaustive(problem, _share(effort, TUNING_SHARE))
    if tuned.mapping is None:
        return tuned
    nests = problem.choice(tuned.mapping.algorithm).nests
    waiting = [place for place, loop in enumerate(tuned.mapping.loops) if _is_open(problem, nests, loop)]
    mapping, left_out, evaluations = _searched(problem, tuned, waiting, decided_loop, effort)
    unproven = sum(_is_open(problem, nests, loop) for loop in mapping.loops)
    if unproven:
        left_out[f"the initiation intervals of {unproven} of {len(mapping.loops)} loops are not proven"] = (
            None
        )
    value = _cycles(problem, mapping)
    proven = value == tuned.bound
    # Tuning that used up its share ends the method's search too soon, even if the loops leave time.
    stop = "complete" if proven else effort.stopped() or tuned.stop
    return Outcome.ended(
        mapping,
        value,
        tuned.bound,
        stop,
        proven=proven,
        restrictions=tuple(left_out),
        evaluations=evaluations,
    )


def tuned_and_tightened(
    problem: LayerProblem, tuned: Outcome[LayerMapping], effort: Effort
) -> Outcome[LayerMapping]:
    """What the tuner has, with a smaller II for those loops that matter to the layer and for which little work of
    CP-SAT finds one."""
    if tuned.mapping is None or tuned.proven:
        return tuned
    nests, loops = problem.choice(tuned.mapping.algorithm).nests, tuned.mapping.loops
    least = _cycles(problem, tuned.mapping) // LIGHT
    waiting = [
        place
        for place, loop in enumerate(loops)
        if _is_open(problem, nests, loop) and _running(nests[loop.nest], loop) > least
    ]
    mapping, _, evaluations = _searched(problem, tuned, waiting, tightened_loop, effort)
    value = _cycles(problem, mapping)
    proven = value == tuned.bound
    stop = "complete" if proven else effort.stopped() or tuned.stop
    return Outcome.ended(mapping, value, tuned.bound, stop, proven=proven, evaluations=evaluations)


def _searched(
    problem: LayerProblem,
    tuned: Outcome[LayerMapping],
    waiting: Sequence[int],
    search: LoopSearch,
    effort: Effort,
) -> tuple[LayerMapping, dict[str, None], int]:
    """The tuner's mapping with what ``search`` makes of the loops at some places, each with an even share of the time
    that is left; what was left out of these searches; and the number of schedules that were tried in all."""
    assert tuned.mapping is not None
    mapping, left_out = tuned.mapping, dict[str, None]()
    nests = problem.choice(mapping.algorithm).nests
    evaluations = tuned.evaluations or 0
    for done, place in enumerate(waiting):
        if effort.stopped() is not None:
            break
        loop = mapping.loops[place]
        share = _share(effort, 1 / (len(waiting) - done))
        better, found = _bettered(problem, nests[loop.nest], loop, search, share)
        left_out |= dict.fromkeys(found.restrictions)
        evaluations += found.evaluations or 0
        mapping = replace(mapping, loops=(*mapping.loops[:place], better, *mapping.loops[place + 1 :]))
        effort.report(Progress(_cycles(problem, mapping), tuned.bound, evaluations))
    return mapping, left_out, evaluations


def _share(effort: Effort, share: float) -> Effort:
    left = effort.seconds_left()
    return effort if left is None else replace(effort, deadline=time.monotonic() + share * left)


def _is_open(problem: LayerProblem, nests: tuple[Nest, ...], loop: LoopMapping) -> bool:
    """Whether a smaller II than the loop's is not excluded."""
    kernel = kernel_of(nests[loop.nest], loop.box, loop.pointer_uses)
    least = max(mii(kernel.graph, problem.machine).value, loop.least_ii or 0)
    return loop.schedule.ii > least


def _bettered(
    problem: LayerProblem, nest: Nest, loop: LoopMapping, search: LoopSearch, effort: Effort
) -> tuple[LoopMapping, Outcome[ModuloSchedule]]:
    """The loop with what is proven of its kernel, and with a schedule of a smaller II if that takes fewer cycles:
    with few iterations a longer one may not."""
    kernel = kernel_of(nest, loop.box, loop.pointer_uses)
    found = search(kernel, problem.machine, loop.schedule, effort)
    least = loop.least_ii if found.bound is None else int(found.bound)
    schedule = loop.schedule
    if found.mapping is not None:
        schedule = min(schedule, found.mapping, key=lambda one: _once(nest, loop, one))
    return replace(loop, schedule=schedule, least_ii=least), found


def _once(nest: Nest, loop: LoopMapping, schedule: ModuloSchedule) -> int:
    """Cycles of one start of a loop."""
    return (loop.box.trip_count(nest) + schedule.stages - 1) * schedule.ii


def _running(nest: Nest, loop: LoopMapping) -> int:
    """Cycles of all starts of a loop."""
    return loop.box.runs(nest) * _once(nest, loop, loop.schedule)


def _cycles(problem: LayerProblem, mapping: LayerMapping) -> int:
    algorithm = problem.choice(mapping.algorithm)
    return sum(layer_cycles(algorithm, problem.layer.op, problem.machine, mapping))
