"""A simulated allocation beside what the model says of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.models.pe_allocation.configuration.configuration import configure
from mapper.models.pe_allocation.configuration.program import Configuration, LayerProgram
from mapper.models.pe_allocation.cost import AllocationCost, evaluate
from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.number.plan import word_bits
from mapper.models.pe_allocation.number.unknown import UnknownNumbersError
from mapper.sim.pe_allocation.data import seeded
from mapper.sim.pe_allocation.line_buffer import Windows
from mapper.sim.pe_allocation.link_load import busiest
from mapper.sim.pe_allocation.own.numbers import TOLERANCE as NUMBER_TOLERANCE
from mapper.sim.pe_allocation.own.numbers import Given, OwnNumbers, own_numbers
from mapper.sim.pe_allocation.reference import reference
from mapper.sim.pe_allocation.simulation import Run, simulate
from mapper.sim.pe_allocation.violation import OCCUPIED, UNLINKED
from mapper.sim.pe_allocation.whole_layer import compared
from mapper.sim.pe_allocation.word.report import programmed, refuse_what_does_not_fit

FRAMES = 3
"""Frames that are streamed; the interval is that between the last two."""
TOLERANCE = 0.05
"""By how much of the simulated value latency, throughput and buffers of the calculus may be off and still agree."""
MANY_POSITIONS = 150_000
"""Positions of one frame from which on two frames have to do."""


def report(
    problem: AllocationProblem,
    allocation: Allocation,
    seed: int = 0,
    given: Given | None = None,
    words: bool = False,
) -> dict[str, Any]:
    """What ``mapper simulate`` says of an allocation: seeded frames stream through the array, with the weights of
    ``given`` beside onnxruntime, or with whole numbers where there are none or nothing here computes the network.

    ``agrees``: outputs equal those of the reference, nothing went wrong, and in steady mode (``--model streaming``) and
    layer by layer start times, latency, interval and buffer peaks are the model's to the cycle and word. The calculus
    lets a layer start after F = min(K^2, S^2) pixels; here it waits for the last pixel of its window. Where latency,
    throughput or buffers are off by more than ``TOLERANCE`` for that, ``agrees`` is False; the difference is reported
    under ``physical``, layer by layer, and ``failed`` is False all the same.

    With ``words`` the PEs execute their programs word by word, and the same is asked of them.

    Raises: InputError as ``configure``, and as ``words_of_all``.
    """
    configuration = configure(problem.network, problem.machine, allocation, problem.model)
    cost = evaluate(problem.network, problem.machine, allocation, problem.model)
    frames = _frames(configuration, cost)
    own, reason = _own(problem, given, frames, seed)
    if own is not None:
        configuration = own.plan.configured(configuration)
    data = seeded(configuration, frames, seed) if own is None else own.data
    pe = problem.machine.processing_element
    made = programmed(configuration, data, pe) if words else None
    if made is None:
        refuse_what_does_not_fit(configuration, data, pe)
        run = simulate(configuration, problem.machine, data, frames)
    else:
        run = simulate(configuration, problem.machine, data, frames, made.words)
    expected = reference(configuration, data)
    error = max(int(np.abs(maps - expected[at]).max()) for at, maps in run.outputs.items())
    simulated = _cost(problem, configuration, run)
    exact = configuration.steady or allocation.mode == "layer-by-layer"
    same = not exact or _as_modelled(cost, run)
    if configuration.steady:
        same = same and simulated == cost.cost_json()
    algorithms = compared(problem.network, configuration, data, expected)
    nests = algorithms is None or (algorithms["outputs_equal"] and algorithms["cycles_equal"])
    sound = error == 0 and not run.violations and nests
    return {
        "outputs_equal": error == 0,
        "max_error": error,
        "cost_simulated": simulated,
        "agrees": sound and same and (exact or _is_close(cost.cost_json(), simulated)),
        "failed": not (sound and same),
        "frames": frames,
        "violations": [violation.to_json() for violation in run.violations],
        "physical": _physical(problem, configuration, cost, run, simulated),
        "algorithms": algorithms,
        "onnxruntime": {"compared": False, "reason": reason} if own is None else _beside(own, run),
        "data": {"weights": given.origin if own is not None and given is not None else "whole numbers"},
        **({} if made is None else {"words": made.to_json()}),
    }


def _own(
    problem: AllocationProblem, given: Given | None, frames: int, seed: int
) -> tuple[OwnNumbers | None, str]:
    """The network's own numbers, or why there are none."""
    if given is None:
        return None, "the network's file is not there"
    try:
        bits = word_bits(problem.machine.word_bytes)
        return own_numbers(given, problem.network, bits, frames, seed), ""
    except UnknownNumbersError as error:
        return None, str(error)


def _beside(own: OwnNumbers, run: Run) -> dict[str, Any]:
    """How far every layer and output is from onnxruntime's, beside the largest number in it."""
    layers, outputs = own.deviations(run.made)
    return {
        "compared": True,
        "within": all(one.relative_mean <= NUMBER_TOLERANCE for one in (*layers, *outputs)),
        "tolerance": NUMBER_TOLERANCE,
        "bits": own.plan.bits,
        "layers": {one.name: one.to_json() for one in layers},
        "outputs": {one.name: one.to_json() for one in outputs},
    }


def _frames(configuration: Configuration, cost: AllocationCost) -> int:
    """Frames that show the steady state and, where a layer is more than a frame behind another, all that lie
    between."""
    positions = sum(layer.positions for layer in configuration.layers)
    frames_behind = 0
    if configuration.steady:
        for layer, timing in zip(configuration.layers, cost.timed, strict=True):
            for source in layer.sources:
                if source.feed is not None:
                    since = timing.start + timing.latency - cost.timed[source.feed].start
                    frames_behind = max(frames_behind, since // cost.interval)
    return max(FRAMES if positions <= MANY_POSITIONS else 2, frames_behind + 1)


def _is_close(model: dict[str, Any], simulated: dict[str, Any]) -> bool:
    """Whether the model's latency, throughput and buffers are within the tolerance."""
    return all(
        abs(model[key] - simulated[key]) <= TOLERANCE * simulated[key]
        for key in ("cycles", "throughput_fps", "buffer_bytes")
    )


def _latency(run: Run) -> int:
    return max(ends[0] for ends in run.ends) - min(starts[0] for starts in run.starts)


def _interval(run: Run) -> int:
    return max(ends[-1] for ends in run.ends) - max(ends[-2] for ends in run.ends)


def _as_modelled(cost: AllocationCost, run: Run) -> bool:
    """Whether every frame of every layer began and ended when the model says."""
    return all(
        starts[frame] == timing.start + frame * cost.interval
        and ends[frame] == timing.end + frame * cost.interval
        for starts, ends, timing in zip(run.starts, run.ends, cost.timed, strict=True)
        for frame in range(len(starts))
    )


def _cost(problem: AllocationProblem, configuration: Configuration, run: Run) -> dict[str, Any]:
    """The cost keys, counted in the configuration and measured in the run."""
    cycles, clock = _latency(run), problem.machine.clock_hz
    words = max(_words(configuration, run, number) for number in _runs(configuration))
    return {
        "pes": max(_pes(configuration, number) for number in _runs(configuration)),
        "throughput_fps": clock / _interval(run),
        "cycles": cycles,
        "latency_ms": cycles * 1000 / clock,
        "buffer_bytes": words * problem.machine.word_bytes,
    }


def _runs(configuration: Configuration) -> range:
    return range(1 + max(layer.run for layer in configuration.layers))


def _pes(configuration: Configuration, number: int) -> int:
    """PEs at work in a run; one that layers share counts once."""
    at_work = [at for at, layer in enumerate(configuration.layers) if layer.run == number]
    first = {at: group[0] for group in configuration.shared for at in group}
    return sum(len(configuration.layers[at].pes) for at in at_work if first.get(at, at) == at)


def _words(configuration: Configuration, run: Run, number: int) -> int:
    """Words in the buffers while a run works: its weights, the most that its line buffers held, and maps that are kept
    on the chip; layer by layer the maps that it reads and makes."""
    alone, words = configuration.mode == "layer-by-layer", 0
    for layer, peaks in zip(configuration.layers, run.peaks, strict=True):
        if layer.run != number:
            continue
        words += layer.weight_words
        for source, peak in zip(layer.sources, peaks, strict=True):
            words += peak if alone or not source.whole else 0
        if alone:
            frame = sum(source.maps for source in layer.sources if source.feed is None)
            words += frame * layer.size[0] * layer.size[1] + layer.maps * layer.positions
    return words + sum(
        layer.maps * layer.positions
        for at, layer in enumerate(configuration.layers)
        if at in configuration.stored and layer.run <= number <= _last_reader(configuration, at)
    )


def _last_reader(configuration: Configuration, at: int) -> int:
    return max(
        (layer.run for layer in configuration.layers for source in layer.sources if source.feed == at),
        default=-1,
    )


def _physical(
    problem: AllocationProblem,
    configuration: Configuration,
    cost: AllocationCost,
    run: Run,
    measured: dict[str, Any],
) -> dict[str, Any]:
    """Measured values beside the model's; ``limit``: bytes that the buffers may have, None without one;
    ``links``: the most words a cycle on a link and the most buffers at a border PE, None without a placement."""
    layers = {}
    for at, (layer, timing) in enumerate(zip(configuration.layers, cost.timed, strict=True)):
        start = run.starts[at][0]
        layers[layer.name] = {
            "start": {"model": timing.start, "measured": start, "later_by": start - timing.start},
            "latency": {"model": timing.latency, "measured": run.ends[at][0] - start},
            "first_window_pixels": {
                "calculus": problem.network.layers[at].new_pixels,
                "needed": _first_window(layer),
            },
            "buffer_words": {"calculus": layer.calculus_words, "measured": sum(run.peaks[at])},
        }
    return {
        "timing": "start times of the model" if configuration.steady else "as soon as pixels are there",
        "latency": {"model": cost.cycles, "measured": _latency(run)},
        "interval": {"model": cost.interval, "measured": _interval(run)},
        "buffer_bytes": {
            "model": cost.buffer_bytes,
            "measured": measured["buffer_bytes"],
            "limit": problem.most_bytes,
        },
        "links": busiest(configuration, problem.machine) if _is_linked(run) else None,
        "layers": layers,
    }


def _is_linked(run: Run) -> bool:
    """Whether every stream has a way and every PE one program, so that loads can be counted."""
    return not any(violation.rule in (OCCUPIED, UNLINKED) for violation in run.violations)


def _first_window(layer: LayerProgram) -> int:
    """Pixels, in raster order, up to the last of the first window."""
    source = layer.sources[0]
    return max(1, Windows(layer, source, layer.size[0] * layer.size[1]).last[0] + 1)
