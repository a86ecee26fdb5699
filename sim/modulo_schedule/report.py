"""A simulated modulo schedule beside what the model says of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mapper.arch.cgra import CgraMachine
from mapper.models.modulo_schedule.configuration.assembly import assemble
from mapper.models.modulo_schedule.cost import evaluate
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.sim.modulo_schedule.simulation import Run, simulate
from mapper.sim.modulo_schedule.symbol import reference_trace
from mapper.workloads.graph.entry import entered
from mapper.workloads.graph.kernel import Kernel
from mapper.workloads.graph.kernel_execution import execute
from mapper.workloads.graph.opcode import ARITY
from mapper.workloads.reference.kernel import seeded_memory

SYMBOLIC_REPETITIONS = 4
"""Iterations beyond the stages and the longest distance that symbols are followed for: by then all words are
active together, and what they read has been overwritten several times."""
MOST_ISSUES = 200_000
"""Issued words that one report runs at the most; a longer loop is run for its first iterations."""


def report(kernel: Kernel, machine: CgraMachine, schedule: ModuloSchedule, seed: int = 0) -> dict[str, Any]:
    """What ``mapper simulate`` says of one loop.

    Every kernel runs on symbols, which shows each operand of the wrong operation or iteration; one whose
    opcodes, arrays and trip count are known also runs on seeded numbers, whose memory is compared bit by bit.
    ``max_error``: the largest difference of words, None if one of them is not finite. ``agrees``: no
    violation, and as many cycles as the model counts for the iterations run. ``iterations`` are those run,
    the first of a loop that is longer than can be simulated; ``cycles`` are theirs. ``cost_simulated`` is of
    the whole loop: the cycles of the iterations not run are II each, and its ``cycles`` and what follows from
    them are None without a trip count.

    Raises: InputError if the schedule cannot be assembled, or an access lies outside its array.
    """
    configuration = assemble(kernel, machine, schedule)
    reach = max((edge.distance for edge in kernel.graph.edges), default=0)
    short = configuration.stages + reach + SYMBOLIC_REPETITIONS
    symbolic = simulate(configuration, machine, {}, short, "symbols")
    same_symbols = symbolic.trace == reference_trace(kernel.graph, short)
    run, iterations, error, same_numbers = symbolic, short, 0.0, True
    numeric = _has_numbers(kernel)
    if numeric:
        trips = kernel.trip_count or kernel.assumed_trips or 0
        iterations = min(trips, max(short, MOST_ISSUES // max(1, len(configuration.words))))
        memory = seeded_memory(kernel, seed)
        expected = execute(replace(kernel, trip_count=iterations), memory)
        run = simulate(assemble(entered(kernel, memory), machine, schedule), machine, memory, iterations)
        error = largest_error(expected, run.memory)
        same_numbers = all(words.tobytes() == run.memory[name].tobytes() for name, words in expected.items())
    model = evaluate(kernel, machine, schedule)
    violations = tuple(dict.fromkeys((*symbolic.violations, *run.violations)))
    return {
        "outputs_equal": same_symbols and same_numbers,
        "max_error": error if math.isfinite(error) else None,
        "cost_simulated": _cost(kernel, machine, configuration.ii, configuration.stages, run, iterations),
        "agrees": not violations and run.cycles == iterations * schedule.ii + model.fill,
        "cycles": run.cycles,
        "iterations": iterations,
        "drain_cycles": run.drain_cycles,
        "values": "numbers and symbols" if numeric else "symbols",
        "violations": [violation.to_json() for violation in violations],
    }


def _has_numbers(kernel: Kernel) -> bool:
    """Whether all operations have a numeric meaning, operands and array, and a trip count is known, or assumed."""
    arrays = {array.name for array in kernel.arrays}
    for operation, incoming in zip(kernel.graph.operations, kernel.graph.incoming, strict=True):
        carried = [kernel.graph.edges[at].operand for at in incoming]
        positions = [*dict(operation.immediates), *(operand for operand in carried if operand is not None)]
        least, most = ARITY.get(operation.opcode, (0, -1))
        if sorted(positions) != list(range(len(positions))) or not least <= len(positions) <= most:
            return False
        if (operation.opcode in ("load", "store")) != (operation.array is not None):
            return False
        if operation.array is not None and operation.array not in arrays:
            return False
    return bool(kernel.trip_count or kernel.assumed_trips)


def largest_error(expected: Mapping[str, NDArray[Any]], found: Mapping[str, NDArray[Any]]) -> float:
    """The largest difference of two memories' words; infinite where only one of them is a finite number."""
    worst = 0.0
    for name, words in expected.items():
        if words.tobytes() == found[name].tobytes() or not len(words):
            continue
        with np.errstate(all="ignore"):
            difference = np.abs(words.astype(np.float64) - found[name].astype(np.float64))
        equal = (words == found[name]) | (np.isnan(words) & np.isnan(found[name]))
        difference[equal] = 0.0
        worst = max(worst, float(np.max(np.where(np.isnan(difference), math.inf, difference))))
    return worst


def _cost(
    kernel: Kernel, machine: CgraMachine, ii: int, stages: int, run: Run, iterations: int
) -> dict[str, Any]:
    """The measured part of the cost keys."""
    whole = kernel.trip_count
    cycles = None if whole is None else run.cycles + (whole - iterations) * ii
    milliseconds = None
    if cycles is not None and machine.clock_mhz is not None:
        milliseconds = cycles / (machine.clock_mhz * 1e3)
    energy = None
    if milliseconds is not None and machine.power_w is not None:
        energy = machine.power_w * milliseconds * 1e9
    return {
        "ii": ii,
        "stages": stages,
        "cycles": cycles,
        "latency_ms": milliseconds,
        "energy_pj": energy,
    }
