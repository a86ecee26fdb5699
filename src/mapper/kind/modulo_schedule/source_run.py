"""A loop of LLVM IR, run without a machine: its graph beside what llvmlite's own JIT makes of the same loop."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from mapper.workloads.document import InputError
from mapper.workloads.graph.kernel_source import read_ir
from mapper.workloads.llvm.kernel import lowering_of

MOST_OPERATIONS = 2_000_000
"""Operations, over all iterations, that a graph is run for."""


def simulated_source(text: str, seed: int) -> dict[str, Any]:
    """What ``mapper simulate file.ll:function:N`` says: whether the loop's graph and the JIT leave the same words in
    seeded memory. There is no schedule, so no cost.

    Raises: InputError if the loop cannot be read, mapped or run.
    """
    from mapper.sim.modulo_schedule.against import agreement
    from mapper.sim.modulo_schedule.jit import run_jitted
    from mapper.workloads.llvm.alone import alone

    named = read_ir(text)
    lowering = lowering_of(named.data, named.path, named.function, named.number)
    module = alone(lowering)
    kernel = lowering.kernel(named.name)
    trips = kernel.trip_count or kernel.assumed_trips or 1
    if trips * len(kernel.graph.operations) > MOST_OPERATIONS:
        raise InputError(
            text[:200], "", f"runs {trips} iterations, too many to run as a graph; give a shorter loop"
        )
    found = agreement(kernel, partial(run_jitted, module), seed)
    if found.leaves is not None:
        raise InputError(
            text[:200], "", f"leaves its arrays on seeded data ({found.leaves}); make them larger"
        )
    notes = [f"compared with llvmlite's JIT over {found.iterations} iterations", *kernel.notes]
    if not found.iterations:
        notes[:1] = ["the compiled loop did not end, or was ended for what it touched"]
    if found.most is not None:
        notes.append(f"integers in memory are from 0 to {found.most}, as others lead out of the arrays")
    if found.middle:
        notes.append("pointers lead to the middles of larger arrays, as indices are negative, too")
    part = {
        "name": kernel.name,
        "outputs_equal": found.equal,
        "max_error": found.error if math.isfinite(found.error) else None,
        "agrees": found.equal,
        "cost_model": {},
        "cost_simulated": {},
        "iterations": found.iterations,
        "reference": "llvmlite's JIT of the same loop",
        "values": "numbers",
        "notes": notes,
    }
    return {
        "schema": "mapper.simulation/1",
        "outputs_equal": found.equal,
        "max_error": part["max_error"],
        "cost_model": None,
        "cost_simulated": None,
        "agrees": found.equal,
        "failed": not found.equal,
        "parts": [part],
        "data": {"seed": seed},
    }
