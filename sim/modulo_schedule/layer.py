"""A mapped layer's loops, simulated, beside what the model says of the layer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from mapper.formulations.modulo_schedule.network.problem import LayerProblem
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.models.modulo_schedule.network.cost import (
    evaluate_layer,
    live_ins,
    load_activity,
    moved_activity,
    outside_cycles,
    start_activity,
)
from mapper.models.modulo_schedule.network.mapping import LayerMapping, LoopMapping, kernel_of
from mapper.models.modulo_schedule.network.nest import Nest
from mapper.sim.modulo_schedule.report import SYMBOLIC_REPETITIONS, Simulated, simulated
from mapper.workloads.graph.kernel import Kernel

MOST_WORDS = 1 << 20
"""Words of memory that the iterations run of one loop may reach over."""
MOST_ISSUES = 20_000
"""Issued words that one of a layer's many loops runs at the most."""


def report_layer(problem: LayerProblem, mapping: LayerMapping, seed: int = 0) -> dict[str, Any]:
    """What ``mapper simulate`` says of a layer.

    Every loop is run cycle by cycle once, as its outer loops start it first, on seeded numbers; live-ins are the
    numbers of its kernel. Loops of the same operations and schedule are run once, long ones for their first
    iterations, whose number ``loops`` says; all that are left out take II cycles each. ``agrees``: no violation,
    and as many cycles and actions as the model counts; what runs in VLIW mode is taken from the model.

    Raises: InputError if the layer has no such algorithm, the machine does not say what VLIW mode costs, or a
    schedule cannot be assembled.
    """
    algorithm, machine = problem.choice(mapping.algorithm), problem.machine
    model = evaluate_layer(algorithm, problem.layer.op, machine, mapping)
    known: dict[tuple[Kernel, ModuloSchedule], Simulated] = {}
    copy, unmapped = outside_cycles(algorithm, problem.layer.op, machine)
    done = moved_activity(algorithm.copied_words, copy) + moved_activity(algorithm.elements, unmapped)
    array = set_up = load = 0
    loops = []
    for loop in mapping.loops:
        nest = algorithm.nests[loop.nest]
        kernel, runs = kernel_of(nest, loop.box, loop.pointer_uses), loop.box.runs(nest)
        shown = beginning(kernel, nest, loop)
        if (shown, loop.schedule) not in known:
            known[shown, loop.schedule] = simulated(shown, machine, loop.schedule, seed)
        found = known[shown, loop.schedule]
        once = found.activity(loop.box.trip_count(nest))
        started = start_activity(machine, live_ins(kernel))
        loaded = load_activity(machine, loop.schedule.ii)
        array, set_up = array + runs * once.cycles, set_up + runs * started.cycles
        load += loaded.cycles
        done += (once + started).times(runs) + loaded
        keys = ("outputs_equal", "max_error", "agrees", "iterations", "violations")
        said = {key: found.said[key] for key in keys}
        loops.append({"nest": nest.name, "runs": runs, "cycles": once.cycles, **said})
    simulation = replace(
        model, kernel=array, fill=0, set_up=set_up, load=load, copy=copy, unmapped=unmapped, activity=done
    )
    errors = [loop["max_error"] for loop in loops]
    same = simulation.cycles == model.cycles and model.activity in (None, done)
    return {
        "outputs_equal": all(loop["outputs_equal"] for loop in loops),
        "max_error": None if None in errors else max(errors, default=0.0),
        "cost_simulated": simulation.cost_json(),
        "agrees": all(loop["agrees"] for loop in loops) and same,
        "cycles": simulation.cycles,
        "activity": done.to_json(),
        "loops": loops,
    }


def beginning(kernel: Kernel, nest: Nest, loop: LoopMapping) -> Kernel:
    """The loop for as many iterations as can be run, without what does not change the run: where its text comes
    from, and the words that later iterations would reach."""
    graph = kernel.graph
    reach = max((edge.distance for edge in graph.edges), default=0)
    least = loop.schedule.stages + reach + SYMBOLIC_REPETITIONS
    words = len(graph.operations) + len(loop.schedule.moves)
    place = nest.names.index(loop.box.innermost)
    unroll = loop.box.unroll[place]
    step = max(access.stride(loop.box.innermost) for access in (nest.output, *nest.inputs)) * unroll
    most = min(MOST_ISSUES // words, MOST_WORDS // max(1, step))
    trips = min(loop.box.trip_count(nest), max(least, most))
    count = tuple(trips * unroll if at == place else one for at, one in enumerate(loop.box.count))
    short = kernel_of(nest, replace(loop.box, count=count), loop.pointer_uses)
    return replace(kernel, trip_count=trips, arrays=short.arrays, text="", notes=())
