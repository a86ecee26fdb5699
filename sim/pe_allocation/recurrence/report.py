"""A simulated recurrence beside what the model says of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from mapper.formulations.pe_allocation.recurrence.problem import RecurrenceProblem
from mapper.models.pe_allocation.nest.mapping import NestMapping
from mapper.models.pe_allocation.recurrence.cost import evaluate
from mapper.sim.pe_allocation.recurrence.simulation import Array
from mapper.workloads.document import InputError
from mapper.workloads.recurrence.memory import first_values
from mapper.workloads.reference.recurrence import recurrence_results

MOST_ITERATIONS = 1 << 22


def report_recurrence(problem: RecurrenceProblem, mapping: NestMapping, seed: int = 0) -> dict[str, Any]:
    """What ``mapper simulate`` says of a recurrence: seeded integers from -8 to 7, every operation executed.

    ``agrees``: results equal numpy's, nothing went wrong, and the run has as many cycles and PEs as the model says.

    Raises: InputError if there are too many iterations to execute.
    """
    recurrence, machine = problem.recurrence, problem.machine
    if recurrence.iterations > MOST_ITERATIONS:
        remedy = f"{recurrence.iterations:,} iterations are too many to execute; lower the bounds below 2^22 in all"
        raise InputError(recurrence.name, "loops", remedy)
    cost = evaluate(problem.body, problem.grid, mapping)
    first = first_values(recurrence, seed)
    run = Array(problem.body, problem.grid, mapping, cost, first).work()
    expected = recurrence_results(recurrence, first)
    error = max(_difference(run.results[name], expected[name]) for name in recurrence.results)
    simulated = {
        **cost.cost_json(),
        "pes": run.pes,
        "cycles": run.cycles,
        "latency_ms": run.cycles * 1000 / machine.clock_hz,
    }
    return {
        "outputs_equal": error == 0,
        "max_error": error,
        "cost_simulated": simulated,
        "agrees": error == 0 and simulated == cost.cost_json() and not run.violations,
        "iterations": recurrence.iterations,
        "operations": run.operations,
        "registers": run.registers,
        "violations": [violation.to_json() for violation in run.violations],
    }


def _difference(
    ours: np.ndarray[Any, np.dtype[np.int64]], theirs: np.ndarray[Any, np.dtype[np.int64]]
) -> int:
    """The largest difference, of integers modulo 2^64."""
    with np.errstate(over="ignore"):
        return int(np.abs(ours - theirs).max(initial=0))
