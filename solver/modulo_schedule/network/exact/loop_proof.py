"""Tuned layers whose loops are treated exactly: CP-SAT improves or proves every II that is above MII.

The tuner's schedules are heuristic, and its bound takes every box at its MII. Here each loop of the mapping that the
tuner chose gets the complete program from MII upwards, so that its II is the least of its kernel; the answer says for
how many loops this is still open. The loops themselves remain the tuner's choice, so only its bound proves the layer.
"""

from __future__ import annotations

import time
from dataclasses import replace

from mapper.formulations.modulo_schedule.network.problem import LayerProblem
from mapper.models.modulo_schedule.bound import mii
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.models.modulo_schedule.network.cost import evaluate_layer
from mapper.models.modulo_schedule.network.mapping import LayerMapping, LoopMapping, kernel_of
from mapper.models.modulo_schedule.network.nest import Nest
from mapper.solver.method import Effort, Progress
from mapper.solver.modulo_schedule.network.heuristic.loop_schedule import decided_loop
from mapper.solver.modulo_schedule.network.heuristic.tuning import exhaustive
from mapper.solver.outcome import Outcome

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
    algorithm = problem.choice(tuned.mapping.algorithm)
    mapping, left_out = tuned.mapping, dict[str, None]()
    evaluations = tuned.evaluations or 0
    waiting = [place for place, loop in enumerate(mapping.loops) if _is_open(problem, algorithm.nests, loop)]
    for done, place in enumerate(waiting):
        if effort.stopped() is not None:
            break
        loop = mapping.loops[place]
        nest = algorithm.nests[loop.nest]
        better, found = _decided(problem, nest, loop, _share(effort, 1 / (len(waiting) - done)))
        left_out |= dict.fromkeys(found.restrictions)
        evaluations += found.evaluations or 0
        mapping = replace(mapping, loops=(*mapping.loops[:place], better, *mapping.loops[place + 1 :]))
        effort.report(Progress(_cycles(problem, mapping), tuned.bound, evaluations))
    unproven = sum(_is_open(problem, algorithm.nests, loop) for loop in mapping.loops)
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


def _share(effort: Effort, share: float) -> Effort:
    left = effort.seconds_left()
    return effort if left is None else replace(effort, deadline=time.monotonic() + share * left)


def _is_open(problem: LayerProblem, nests: tuple[Nest, ...], loop: LoopMapping) -> bool:
    """Whether a smaller II than the loop's is not excluded."""
    kernel = kernel_of(nests[loop.nest], loop.box, loop.pointer_uses)
    least = max(mii(kernel.graph, problem.machine).value, loop.least_ii or 0)
    return loop.schedule.ii > least


def _decided(
    problem: LayerProblem, nest: Nest, loop: LoopMapping, effort: Effort
) -> tuple[LoopMapping, Outcome[ModuloSchedule]]:
    """The loop with what is proven of its kernel, and with a schedule of a smaller II if that takes fewer cycles:
    with few iterations a longer one may not."""
    kernel = kernel_of(nest, loop.box, loop.pointer_uses)
    found = decided_loop(kernel, problem.machine, loop.schedule, effort)
    least = None if found.bound is None else int(found.bound)
    schedule, trips = loop.schedule, loop.box.trip_count(nest)
    if found.mapping is not None:
        schedule = min(schedule, found.mapping, key=lambda one: (trips + one.stages - 1) * one.ii)
    return replace(loop, schedule=schedule, least_ii=least), found


def _cycles(problem: LayerProblem, mapping: LayerMapping) -> int:
    algorithm = problem.choice(mapping.algorithm)
    return evaluate_layer(algorithm, problem.layer.op, problem.machine, mapping).cycles
