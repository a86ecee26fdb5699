"""Cycles of the systolic array, counted without running it [Meng2021, sec. 3.2 and Eq. 9].

A *pass* is one tile of the product: P1 x P2 results in NS, one stationary block in WS and IS. Passes follow each other
every ``length`` cycles, so that a layer takes passes * length, which is Eq. 9, and once what it takes to fill and drain
the array. The paper calls that I_SA, proportional to max(P1, P2); here it is what the array of ``systolic_kernel``
needs, with wires widened as Section 3.2 says (``lanes``):

- NS: the last PE begins P1-1 + P2-1 cycles after the first; its result goes up P1 rows to the edge where inputs enter,
  one a cycle. Upward, since downward results of a column would meet in every row in the same cycle.
- WS, IS: min(length, P1) cycles to preload the first block, P1-1 + P2-1 from the first PE to the last, one to
  accumulate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from mapper.models.algorithm_selection.choice import Dataflow
from mapper.models.algorithm_selection.control.sequence import ConvolutionStep
from mapper.models.algorithm_selection.gemm_call import GemmCall


def passes(call: GemmCall, dataflow: Dataflow, array: tuple[int, int]) -> tuple[int, int]:
    """Passes of a product and the cycles of each (Eq. 9 without I_SA)."""
    rows, columns = array
    over = {"NS": (call.a, call.c, call.b), "WS": (call.b, call.c, call.a), "IS": (call.b, call.a, call.c)}
    first, second, length = over[dataflow]
    return -(-first // rows) * -(-second // columns), length


def lanes(row: int, length: int, rows: int) -> int:
    """Words a cycle that the wires along a column carry at ``row``: as many as the rows beyond it make, or take, per
    cycle of a pass (the paper's j / L_pass)."""
    return -(-(rows - row) // length)


def wait(row: int, length: int) -> int:
    """Cycles that a result of NS waits in its PE before it goes up. Without it, results of an even pass length would
    leave in every second cycle only, and wires would have to be twice as wide."""
    return 0 if length % 2 else row // (length // 2) % 2


def fill_and_drain(dataflow: Dataflow, length: int, array: tuple[int, int]) -> int:
    """I_SA of one layer whose passes have ``length`` cycles."""
    rows, columns = array
    if dataflow == "NS":
        return max(2 * row + wait(row, length) for row in range(max(rows - 2, 0), rows)) + columns
    return min(length, rows) + rows + columns - 1


def array_cycles(calls: Sequence[GemmCall], dataflow: Dataflow, array: tuple[int, int]) -> int:
    """Cycles of products that follow one another without a stall, filled and drained once.

    Raises: ValueError if passes of different lengths follow one another: those of one layer never do.
    """
    counted = [passes(call, dataflow, array) for call in calls]
    lengths = {length for _, length in counted}
    if len(lengths) != 1:
        raise ValueError(f"passes of {sorted(lengths)} cycles in one run")
    (length,) = lengths
    return sum(count for count, _ in counted) * length + fill_and_drain(dataflow, length, array)


def step_cycles(step: ConvolutionStep, array: tuple[int, int]) -> tuple[int, int]:
    """Cycles of a layer: those of Eq. 9 for the products it makes, and the I_SA that it pays once."""
    products = 0
    for call in step.calls:
        count, length = passes(call, step.dataflow, array)
        products += count * length
    once = fill_and_drain(step.dataflow, passes(step.calls[0], step.dataflow, array)[1], array)
    return products * step.shape.batch, once


def narrow_stall(step: ConvolutionStep, array: tuple[int, int]) -> int:
    """Cycles a layer would wait for blocks if preloading brought one word a column and cycle: Eq. 9 and "stall-free"
    need wider wires wherever a pass is shorter than the array is high, which the paper says of results only."""
    if step.dataflow == "NS":
        return 0
    counted = [passes(call, step.dataflow, array) for call in step.calls]
    return step.shape.batch * sum(count * max(0, array[0] - length) for count, length in counted)


def utilisation(
    products: Sequence[tuple[int, int, int]], dataflow: Dataflow, array: tuple[int, int]
) -> float:
    """Effective PE utilisation (Eq. 14) of products (a, b, c), without filling and draining."""
    work = taken = 0
    for a, b, c in products:
        count, length = passes(GemmCall(a, b, c, 0, 0, 0, 0, 0, 0, False), dataflow, array)
        work, taken = work + a * b * c, taken + count * length
    return work / (taken * math.prod(array))
