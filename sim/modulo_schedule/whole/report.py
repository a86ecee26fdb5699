"""A whole kernel that was run, beside the system's compiler and what the model says of it."""

from __future__ import annotations

import math
from typing import Any

from mapper.formulations.modulo_schedule.whole.problem import WholeProblem
from mapper.models.modulo_schedule.activity import ACCESSES, Activity
from mapper.models.modulo_schedule.energy import energy_pj, milliseconds
from mapper.models.modulo_schedule.whole.cost import evaluate_whole
from mapper.models.modulo_schedule.whole.mapping import WholeMapping
from mapper.sim.modulo_schedule.report import largest_error
from mapper.sim.modulo_schedule.whole.array import RunningArray
from mapper.sim.modulo_schedule.whole.compiled import run_compiled
from mapper.workloads.document import InputError
from mapper.workloads.graph.kernel_execution import Memory
from mapper.workloads.reference.kernel import seeded_arrays, within
from mapper.workloads.whole.execution import Execution

MOST_OPERATIONS = 20_000_000
"""Of all loops in all iterations, that are simulated."""
SMALL = (None, 7, 1)
"""The largest integer in memory, one try after another: others may lead out of the arrays."""


def report_whole(problem: WholeProblem, mapping: WholeMapping, seed: int = 0) -> dict[str, Any]:
    """What ``mapper simulate`` says of a whole kernel on seeded memory: whether all arrays that are given to the
    function, or are global, hold the words that the compiled function leaves there, and, as all others, those of its
    graphs; and whether cycles and actions are the model's.

    Raises: InputError if an access leaves its array whatever the memory holds, a loop never ends, or it is too long.
    """
    problem = problem.choice(mapping.nest)
    _check_length(problem)
    memory, graphs, most = _on_graphs(problem, seed)
    array = RunningArray(problem, mapping)
    execution = Execution(problem.whole, memory, array.run)
    after = execution.run()
    compiled = run_compiled(problem.whole, memory)
    after |= execution.left(compiled or {})
    expected = graphs | (compiled or {})
    equal = all(words.tobytes() == after[name].tobytes() for name, words in expected.items())
    error = largest_error(expected, after)
    machine = problem.machine
    host = sum(count * machine.latency(opcode) for opcode, count in execution.operations.items())
    accesses = sum(execution.operations[opcode] for opcode in ACCESSES)
    activity = array.activity + Activity(host, memory_accesses=accesses, vliw_cycles=host)
    cycles = array.cycles + host
    model = evaluate_whole(problem.whole, machine, problem.tally, mapping.loops)
    counted = model.activity is None or model.activity == activity
    return {
        "outputs_equal": equal and all(array.same_symbols.values()),
        "max_error": error if math.isfinite(error) else None,
        "agrees": not array.violations and cycles == model.cycles and counted,
        "cycles": cycles,
        "reference": "graphs" if compiled is None else "the system's compiler",
        "values": "numbers and symbols",
        "violations": [violation.to_json() for violation in array.violations],
        "cost_simulated": {
            "ii": None,
            "stages": None,
            "cycles": cycles,
            "latency_ms": milliseconds(machine, cycles),
            "energy_pj": energy_pj(machine, activity, cycles),
        },
        "activity": activity.to_json(),
        "notes": _notes(compiled, array.folded, most),
    }


def _check_length(problem: WholeProblem) -> None:
    kernels = enumerate(problem.whole.kernels)
    count = sum(problem.tally.iterations(at) * len(one.graph.operations) for at, one in kernels)
    if count > MOST_OPERATIONS:
        remedy = f"runs {count:,} operations, more than {MOST_OPERATIONS:,}; solve it with smaller sizes"
        raise InputError(problem.whole.name, "", remedy)


def _on_graphs(problem: WholeProblem, seed: int) -> tuple[Memory, Memory, int | None]:
    """A seeded memory that the function stays inside of, what its graphs leave there, and how small integers are."""
    error: InputError | None = None
    for most in SMALL:
        memory = {
            name: words if most is None else within(words, most)
            for name, words in seeded_arrays(problem.whole.arrays, seed).items()
        }
        try:
            return memory, Execution(problem.whole, memory).run(), most
        except InputError as found:
            error = error or found
    assert error is not None
    raise error


def _notes(compiled: Memory | None, folded: int, most: int | None) -> list[str]:
    if compiled is None:
        notes = ["compared with its own graphs: no compiler takes the function, or it did not end well"]
    else:
        notes = [f"compared with the system's compiler (-ffp-contract=off): {', '.join(compiled)}"]
    if folded:
        notes.append(
            f"{folded} later starts ran as graphs, each as long as an earlier one of as many iterations"
        )
    if most is not None:
        notes.append(f"integers in memory are from 0 to {most}, as others lead out of the arrays")
    return notes
