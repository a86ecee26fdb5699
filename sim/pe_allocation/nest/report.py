"""A simulated loop nest beside what the model says of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from mapper.formulations.pe_allocation.nest.problem import NestProblem
from mapper.models.pe_allocation.nest.cost import evaluate
from mapper.models.pe_allocation.nest.mapping import NestMapping
from mapper.sim.pe_allocation.nest.simulation import simulate_nest
from mapper.sim.tiling.reference import initial_tensors, reference_output
from mapper.workloads.document import InputError

MOST_ITERATIONS = 1 << 28


def report_nest(problem: NestProblem, mapping: NestMapping, seed: int = 0) -> dict[str, Any]:
    """What ``mapper simulate`` says of a nest: seeded integers from -8 to 7, every iteration executed.

    ``agrees``: outputs equal numpy's, nothing went wrong, and the run has as many cycles and PEs as the model says.

    Raises: InputError if the nest is too large to be executed.
    """
    nest, machine = problem.nest, problem.machine
    if nest.iterations > MOST_ITERATIONS:
        remedy = f"{nest.iterations:,} iterations are too many to execute; lower the bounds below 2^28 in all"
        raise InputError(nest.name, "loops", remedy)
    cost = evaluate(nest, problem.grid, mapping)
    data = initial_tensors(nest, seed)
    run = simulate_nest(nest, machine, mapping, data)
    expected = reference_output(nest, data).reshape(-1)
    error = int(np.abs(run.output - expected).max())
    simulated = {
        **cost.cost_json(),
        "pes": run.pes,
        "cycles": run.cycles,
        "latency_ms": run.cycles * 1000 / machine.clock_hz,
    }
    same = simulated == cost.cost_json() and run.iterations == nest.iterations
    return {
        "outputs_equal": error == 0,
        "max_error": error,
        "cost_simulated": simulated,
        "agrees": error == 0 and same and not run.violations,
        "iterations": run.iterations,
        "violations": [violation.to_json() for violation in run.violations],
    }
