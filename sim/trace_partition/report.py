"""A simulated program beside the reference and beside what the model says of its partition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from mapper.formulations.trace_partition.problem import PartitionProblem
from mapper.models.trace_partition.cost import evaluate
from mapper.models.trace_partition.data.fixed_point import ONE, Words, words
from mapper.models.trace_partition.data.quantisation import LayerData
from mapper.models.trace_partition.isa.program import HostCall, Program
from mapper.models.trace_partition.lowering.layer import HostLayer, TensorView, TraceNetwork
from mapper.models.trace_partition.mapping import Partition
from mapper.models.trace_partition.partition_cost import Cost
from mapper.sim.trace_partition.cycle.report import CycleReport, LayerCycles
from mapper.sim.trace_partition.cycle.simulation import simulate_cycles
from mapper.sim.trace_partition.functional.simulation import Execution, run
from mapper.sim.trace_partition.functional.tensor_map import tensor_map
from mapper.sim.trace_partition.host import run_call
from mapper.sim.trace_partition.reference import reference
from mapper.workloads.document import InputError

TOLERANCE = 0.05
"""By so much of the simulated cycles the model may be off, in each layer and in all."""
SHORT = 100
"""Of a shorter layer's cycles the model may be off by as many as of one with so many."""
Images = Mapping[tuple[int, str], Words]


def report(
    problem: PartitionProblem,
    partition: Partition,
    program: Program,
    data: Mapping[str, LayerData],
    seed: int = 0,
) -> dict[str, Any]:
    """What ``mapper simulate`` says of ``program``, to which ``partition`` has been compiled with ``data``: seeded
    images go through the functional simulator, whose every output in memory is compared with the reference bit by
    bit, and the cycle simulator runs it beside the model.

    ``agrees``: all words are equal, no hazard was found, and in every layer and in all the model's cycles, without the
    host's, are within 5 % of the simulated ones (5 cycles in layers that take less than 100). Where clusters have an
    image each, that is looked at as if they began each layer together; ``cost_simulated`` lets them drift, which hides
    loads of one behind the other's products (``drift``: the fraction by which that shortens the whole).
    ``max_error``: the largest difference of numbers of Q8.8. Costs are those of one accelerator for its images, as the
    model's.

    Raises: InputError if the program does what the machine cannot, or does not belong to this network.
    """
    images = seeded_images(program, seed)
    errors = output_errors(problem, partition, program, data, images)
    cycles = stepped = simulate_cycles(program, problem.machine)
    configuration = problem.configuration
    if configuration.sharing < configuration.clusters:
        stepped = simulate_cycles(program, problem.machine, in_step=True)
    model = evaluate(problem.network, problem.machine, configuration, partition)
    layers = {
        layer.name: _compared(cost, stepped.layer(layer.name), errors[layer.name])
        for layer, cost in zip(problem.network.traced, model.layers, strict=True)
    }
    known = [error for error in errors.values() if error is not None]
    error = max(known, default=0)
    within = all(one["agrees"] for one in layers.values())
    total = _difference(model.accelerator_cycles, stepped.cycles)
    drift = -_difference(cycles.cycles, stepped.cycles)
    return {
        "outputs_equal": error == 0,
        "max_error": error / ONE,
        "cost_simulated": _cost(model.total, cycles).cost_json(),
        "agrees": error == 0
        and not cycles.hazards_found
        and within
        and _within(model.accelerator_cycles, stepped.cycles),
        "drift": drift,
        "hazards": [str(hazard) for hazard in cycles.hazards],
        "hazards_found": cycles.hazards_found,
        "instructions": {
            "executed": cycles.instructions,
            "in_memory": sum(len(cluster.code) for cluster in program.clusters),
            "operations": cycles.operations,
        },
        "notes": _notes(errors, cycles, layers, total, drift),
        "layers": layers,
    }


def seeded_images(program: Program, seed: int) -> dict[tuple[int, str], Words]:
    """Images of normally distributed numbers, another for each input."""
    random = np.random.default_rng(seed)
    return {
        (image, name): words(random.normal(0, 1, (view.height, view.width, view.channels)))
        for image, inputs in enumerate(program.inputs)
        for name, view in inputs
    }


def output_errors(
    problem: PartitionProblem,
    partition: Partition,
    program: Program,
    data: Mapping[str, LayerData],
    images: Images,
) -> dict[str, int | None]:
    """By layer, those of the host too, the largest difference of a word of its output from the reference's, over all
    images; None where the output never leaves the buffers.

    Raises: InputError as ``run`` and ``reference`` do.
    """
    trace = problem.network
    calls = _calls(program, trace)
    done = run(program, problem.machine, images, run_call)
    kept = {
        layer.name
        for layer, mapping in zip(trace.traced, partition.layers, strict=True)
        if mapping.output_resident
    }
    errors: dict[str, int | None] = {layer.name: None for layer in trace.layers}
    for image in range(len(program.inputs)):
        given = {name: words for (number, name), words in images.items() if number == image}
        wanted = reference(trace, data, calls, given)
        for layer in trace.layers:
            if isinstance(layer, HostLayer) or layer.name not in kept:
                found = _found(done, layer.output, image, len(program.inputs)).astype(np.int64)
                off = int(np.abs(found - tensor_map(layer.output, wanted)).max(initial=0))
                errors[layer.name] = max(off, errors[layer.name] or 0)
    return errors


def _calls(program: Program, trace: TraceNetwork) -> tuple[HostCall, ...]:
    """What the host does for one image, on tensors as ``trace`` names them."""
    images, many = len(program.inputs), len(trace.hosted)
    calls = program.calls[:many]
    if images > 1:
        calls = tuple(
            replace(call, inputs=tuple(map(_plain, call.inputs)), output=_plain(call.output))
            for call in calls
        )
    asked = [(call.name, call.op, call.inputs, call.output) for call in calls]
    wanted = [(layer.name, layer.op, layer.inputs, layer.output) for layer in trace.hosted]
    if asked != wanted or len(program.calls) != many * images:
        raise InputError(program.name, "host operations", f"are not those of {trace.name}; compile it again")
    return calls


def _plain(view: TensorView) -> TensorView:
    """The view without the number of the image."""
    return replace(view, tensor=view.tensor.partition("/")[2])


def _found(done: Execution, view: TensorView, image: int, images: int) -> Words:
    name = view.tensor if images == 1 else f"{image}/{view.tensor}"
    return tensor_map(replace(view, tensor=name), done.memory)


def _difference(model: int, simulated: int) -> float:
    """As a fraction of what was simulated."""
    return (model - simulated) / simulated if simulated else 0.0


def _within(model: int, simulated: int) -> bool:
    return abs(model - simulated) <= TOLERANCE * max(simulated, SHORT)


def _compared(cost: Cost, cycles: LayerCycles, error: int | None) -> dict[str, Any]:
    """A layer: cycles of the model and of the simulator with their causes, bytes, and what its output is."""
    return {
        "agrees": _within(cost.cycles, cycles.cycles),
        "outputs": "in Buf" if error is None else "equal" if error == 0 else "different",
        "max_error": (error or 0) / ONE,
        "cycles_model": cost.cycles,
        "cycles_simulated": cycles.cycles,
        "difference": _difference(cost.cycles, cycles.cycles),
        "causes_model": cost.causes,
        "dram_bytes_model": cost.dram_bytes,
        "dram_bytes_simulated": cycles.dram_bytes,
        **cycles.to_json(),
    }


def _cost(model: Cost, cycles: CycleReport) -> Cost:
    """The simulated cost, by the model's own formulas; the host takes what the model says."""
    moved = {
        "loads": sum(one.buf_bytes + one.wbuf_bytes for layer in cycles.layers for one in layer.clusters),
        "stores": sum(one.stored_bytes for layer in cycles.layers for one in layer.clusters),
        "instructions": sum(one.code_bytes for layer in cycles.layers for one in layer.clusters),
    }
    words = sum(one.words for layer in cycles.layers for one in layer.clusters)
    waited = cycles.cycles + model.causes["host"]
    return replace(model, cycles=waited, causes={}, bytes=moved, buffer_words=words)


def _notes(
    errors: Mapping[str, int | None],
    cycles: CycleReport,
    layers: Mapping[str, Any],
    total: float,
    drift: float,
) -> list[str]:
    """What people should know, a line each."""
    checked = [error for error in errors.values() if error is not None]
    notes = [
        f"outputs of {sum(error == 0 for error in checked)} of {len(checked)} layers equal the reference's bit by bit"
    ]
    kept = len(errors) - len(checked)
    if kept:
        notes.append(f"{kept} more stay in Buf; the layers that read them show that they are right")
    wrong = [name for name, error in errors.items() if error]
    if wrong:
        notes.append(f"wrong from {wrong[0]} on")
    if cycles.hazards_found:
        notes.append(f"{cycles.hazards_found} hazards; the first: {cycles.hazards[0]}")
    if layers:
        worst = max(layers, key=lambda name: abs(layers[name]["difference"]))
        notes.append(
            f"the model's cycles are off by {total:+.2%} of the simulated ones, by layer at most "
            f"{layers[worst]['difference']:+.2%} ({worst}); tolerance {TOLERANCE:.0%}, or "
            f"{SHORT * TOLERANCE:.0f} cycles"
        )
    if drift:
        notes.append(
            "clusters have an image each: compared as if they began each layer together; as they drift, the whole "
            f"takes {drift:.2%} less"
        )
    notes.append(
        "the simulator counts instructions as whole banks, without the first, which is there when it begins"
    )
    return notes
