"""A simulated modulo schedule beside what the model says of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mapper.arch.cgra import CgraMachine
from mapper.models.modulo_schedule.activity import Activity, run_activity
from mapper.models.modulo_schedule.configuration.assembly import assemble
from mapper.models.modulo_schedule.cost import evaluate
from mapper.models.modulo_schedule.energy import energy_pj, milliseconds
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.sim.modulo_schedule.simulation import Run, simulate
from mapper.sim.modulo_schedule.symbol import reference_trace
from mapper.workloads.document import InputError
from mapper.workloads.graph.entry import entered
from mapper.workloads.graph.kernel import Kernel
from mapper.workloads.graph.kernel_execution import Memory, execute
from mapper.workloads.graph.opcode import ARITY
from mapper.workloads.reference.kernel import seeded_memory, within

SYMBOLIC_REPETITIONS = 4
"""Iterations beyond the stages and the longest distance that symbols are followed for: by then all words are
active together, and what they read has been overwritten several times."""
SMALL = (7, 1)
"""Bounds of the integers in memory, one tried after another."""
MOST_ISSUES = 200_000
"""Issued words that one report runs at the most; a longer loop is run for its first iterations."""


@dataclass(frozen=True)
class Simulated:
    """A loop that was run for its first ``iterations``, and what is said of it."""

    run: Run
    iterations: int
    said: dict[str, Any]

    def activity(self, trips: int) -> Activity:
        """What all ``trips`` do; those not run do as the last one did."""
        return self.run.activity + self.run.last.times(trips - self.iterations)


def report(kernel: Kernel, machine: CgraMachine, schedule: ModuloSchedule, seed: int = 0) -> dict[str, Any]:
    """What ``mapper simulate`` says of one loop: what ``simulated`` does, and ``cost_simulated``, which is of the whole
    loop: iterations not run take II cycles each and do what the last one did, and ``cycles`` and what follows from them
    are None without a trip count. ``activity``: what was counted.

    Raises: InputError as ``simulated``.
    """
    found = simulated(kernel, machine, schedule, seed)
    whole = kernel.trip_count
    activity = None if whole is None else found.activity(whole)
    cycles = None if activity is None else activity.cycles
    cost = {
        "ii": schedule.ii,
        "stages": schedule.stages,
        "cycles": cycles,
        "latency_ms": milliseconds(machine, cycles),
        "energy_pj": energy_pj(machine, activity, cycles),
    }
    shown = None if activity is None else activity.to_json()
    return {**found.said, "cost_simulated": cost, "activity": shown}


def simulated(kernel: Kernel, machine: CgraMachine, schedule: ModuloSchedule, seed: int = 0) -> Simulated:
    """A loop, run.

    Every kernel runs on symbols, which shows each operand of the wrong operation or iteration; one whose
    opcodes, arrays and trip count are known also runs on seeded numbers, whose memory is compared bit by bit.
    ``max_error``: the largest difference of words, None if one of them is not finite. ``agrees``: no
    violation, and as many cycles and actions as the model counts for the iterations run. ``iterations`` are those
    run, the first of a loop that is longer than can be simulated; ``cycles`` are theirs.

    Raises: InputError if the schedule cannot be assembled, or an access lies outside its array.
    """
    configuration = assemble(kernel, machine, schedule)
    reach = max((edge.distance for edge in kernel.graph.edges), default=0)
    short = configuration.stages + reach + SYMBOLIC_REPETITIONS
    symbolic = simulate(configuration, machine, {}, short, "symbols")
    same_symbols = symbolic.trace == reference_trace(kernel.graph, short)
    run, iterations, error, same_numbers = symbolic, short, 0.0, True
    numeric, notes = _has_numbers(kernel), list[str]()
    if numeric:
        trips = kernel.trip_count or kernel.assumed_trips or 0
        iterations = min(trips, max(short, MOST_ISSUES // max(1, len(configuration.words))))
        memory, expected, notes = _seeded(replace(kernel, trip_count=iterations), seed)
        run = simulate(assemble(entered(kernel, memory), machine, schedule), machine, memory, iterations)
        error = largest_error(expected, run.memory)
        same_numbers = all(words.tobytes() == run.memory[name].tobytes() for name, words in expected.items())
    model = evaluate(kernel, machine, schedule)
    counts = run.activity == run_activity(configuration, machine, iterations)
    violations = tuple(dict.fromkeys((*symbolic.violations, *run.violations)))
    return Simulated(
        run,
        iterations,
        {
            "outputs_equal": same_symbols and same_numbers,
            "max_error": error if math.isfinite(error) else None,
            "agrees": not violations and counts and run.cycles == iterations * schedule.ii + model.fill,
            "cycles": run.cycles,
            "iterations": iterations,
            "drain_cycles": run.drain_cycles,
            "values": "numbers and symbols" if numeric else "symbols",
            "violations": [violation.to_json() for violation in violations],
            **({"notes": notes} if notes else {}),
        },
    )


def _seeded(kernel: Kernel, seed: int) -> tuple[Memory, Memory, list[str]]:
    """Seeded memory, what the loop makes of it, and what is to be said of it: integers are small where, as indices,
    they would lead out of the arrays.

    Raises: InputError if an access lies outside its array even so.
    """
    memory = seeded_memory(kernel, seed)
    try:
        return memory, execute(kernel, memory), []
    except InputError as error:
        for most in SMALL:
            fewer = {name: within(words, most) for name, words in memory.items()}
            with suppress(InputError):
                said = f"integers in memory are from 0 to {most}, as others lead out of the arrays"
                return fewer, execute(kernel, fewer), [said]
        raise error from None


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
