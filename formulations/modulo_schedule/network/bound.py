"""A bound on a layer's cycles by argument alone: what every cover must execute, on all PEs that can.

Unrolling shares loads and indices. Arithmetic it only puts side by side, and every word of an output is stored once at
the least. So whatever the boxes are, their intervals times their iterations are no fewer than the nest's operations
over the PEs that execute them (ResMII, [Bae2018], section V-C, summed over all iterations).
"""

from __future__ import annotations

import math

from mapper.formulations.modulo_schedule.network.problem import LayerProblem
from mapper.models.modulo_schedule.network.algorithm import Algorithm
from mapper.models.modulo_schedule.network.baseline import baselines
from mapper.models.modulo_schedule.network.cost import LiveIns, outside_cycles
from mapper.models.modulo_schedule.network.estimate import FLOAT_OPERATIONS, Counts, Estimator
from mapper.models.modulo_schedule.network.nest import Nest


def ideal_cycles(problem: LayerProblem) -> int:
    """Least cycles of any mapping of the layer, the baselines among them.

    Raises: InputError if the machine does not say what VLIW mode costs, or no PE executes an operation.
    """
    estimator = Estimator(problem.machine)
    choices = (*problem.choices, *baselines(problem.layer, problem.machine))
    return min(_ideal(choice, problem, estimator) for choice in choices)


def _ideal(choice: Algorithm, problem: LayerProblem, estimator: Estimator) -> int:
    inside = sum(nest.repeats * estimator.least_interval(least_counts(nest)) for nest in choice.nests)
    return inside + sum(outside_cycles(choice, problem.layer.op, problem.machine))


def least_counts(nest: Nest) -> Counts:
    """The least that all iterations of any cover of the nest contain together, as if they were one body."""
    words = math.prod(extent for name, extent in nest.loops if name not in nest.accumulated)
    points = math.prod(extent for _, extent in nest.loops)
    return Counts(
        loads=words if nest.accumulated and not nest.in_register else 0,
        stores=words * len(nest.output.taps),
        pointers=0,
        others=tuple((opcode, points * each) for opcode, each in _each(nest).items()),
        live_ins=LiveIns(0, 0),
        depth=0,
        recurrence=0,
    )


def _each(nest: Nest) -> dict[str, int]:
    """How often one copy of the body computes each of its operations."""
    if nest.transform is not None:
        return nest.transform.opcodes
    times = len(nest.inputs[-1].taps) if nest.operation == "dot" else 1
    if nest.window is not None:
        times = nest.window[0] * nest.window[1]
    elif nest.operation in ("max", "sum"):
        # A word that takes up only what one copy brings starts from the first of it.
        times = len(nest.inputs[0].taps) - (0 if nest.accumulated else 1)
    return dict.fromkeys(FLOAT_OPERATIONS[nest.operation], times)
