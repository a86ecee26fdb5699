"""Products on the cycle-accurate array: what it computes, and in how many cycles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mapper.models.algorithm_selection.choice import Dataflow
from mapper.models.algorithm_selection.control.sequence import ConvolutionStep
from mapper.models.algorithm_selection.gemm_call import GemmCall
from mapper.sim.algorithm_selection.address import Integers
from mapper.sim.algorithm_selection.array.cycles import lanes, passes, wait
from mapper.sim.algorithm_selection.array.systolic_kernel import non_stationary, stationary
from mapper.sim.algorithm_selection.buffer import fill
from mapper.sim.algorithm_selection.convolution import assembled, operands


@dataclass(frozen=True)
class ArrayRun:
    """``products``: the result (a, c) of each call. ``widest``: the most words met on the wires along a column, by
    row. ``reads``: the most reads of one bank in one cycle, of the Input Buffer and of the Kernel Buffer. ``late``:
    how often a PE began a pass before its stationary word had come."""

    products: tuple[Integers, ...]
    cycles: int
    widest: tuple[int, ...]
    reads: tuple[int, int]
    late: int


def run(
    calls: Sequence[GemmCall],
    dataflow: Dataflow,
    array: tuple[int, int],
    matrix: Integers,
    weights: Integers,
    banks: int | None = None,
) -> ArrayRun:
    """Run products one after another on P1 x P2 PEs with ``banks`` banks a buffer (max(P1, P2) if not said);
    ``matrix`` and ``weights`` fill the Input and the Kernel Buffer. All calls have the same sizes."""
    count = banks or max(array)
    length = passes(calls[0], dataflow, array)[1]
    inputs, kernels = fill(matrix, count), fill(weights, count)
    blocks, kernel_blocks = -(-matrix.shape[1] // count), -(-weights.shape[1] // count)
    height = max(call.a for call in calls)
    results = np.zeros((height * len(calls), max(call.c for call in calls)), np.int64)
    order = np.array(
        [one for at, call in enumerate(calls) for one in _passes(call, dataflow, array, at * height)]
    )
    widest, late = np.zeros(array[0], np.int64), np.zeros(1, np.int64)
    reads = np.zeros(2, np.int64)
    if dataflow == "NS":
        waits = np.array([wait(row, length) for row in range(array[0])])
        cycles = non_stationary(
            inputs, blocks, kernels, kernel_blocks, order, length, *array, waits, results, widest, reads
        )
    else:
        first, second = ((inputs, blocks), (kernels, kernel_blocks))[:: 1 if dataflow == "WS" else -1]
        cycles = stationary(
            *first, *second, order, length, *array, dataflow == "IS", results, widest, reads, late
        )
        reads = reads[:: 1 if dataflow == "WS" else -1]
    products = tuple(results[at * height : at * height + call.a, : call.c] for at, call in enumerate(calls))
    found = (int(reads[0]), int(reads[1]))
    return ArrayRun(products, int(cycles), tuple(int(wide) for wide in widest), found, int(late[0]))


def convolve_on_array(
    step: ConvolutionStep, array: tuple[int, int], matrix: Integers, kernels: Integers
) -> tuple[Integers, ArrayRun]:
    """``convolution.convolve`` with every product on the cycle-accurate array, and how that ran."""
    done = run(step.calls, step.dataflow, array, *operands(step, matrix, kernels))
    return assembled(step, done.products), done


def wires(dataflow: Dataflow, length: int, array: tuple[int, int]) -> tuple[int, ...]:
    """Words a cycle that the wires along a column must carry, by row."""
    return tuple(lanes(row, length, array[0]) for row in range(array[0]))


def _passes(
    call: GemmCall, dataflow: Dataflow, array: tuple[int, int], result_row: int
) -> list[tuple[int, ...]]:
    """The passes of a call, as ``systolic_kernel`` reads them."""
    rows, columns = array
    found: list[tuple[int, ...]] = []
    over = {"NS": (call.a, call.c), "WS": (call.b, call.c), "IS": (call.b, call.a)}[dataflow]
    for second in range(0, over[1], columns):
        for first in range(0, over[0], rows):
            used = (min(rows, over[0] - first), min(columns, over[1] - second))
            moving = (call.input_row, call.input_column)
            stationary = (call.weight_row, call.weight_column)
            if dataflow == "NS":
                starts = (moving[0] + first, moving[1], stationary[0], stationary[1] + second)
                result = (result_row + first, second)
            elif dataflow == "WS":
                starts = (moving[0], moving[1] + first, stationary[0] + first, stationary[1] + second)
                result = (result_row, second)
            else:
                starts = (stationary[0] + first, stationary[1], moving[0] + second, moving[1] + first)
                result = (result_row + second, 0)
            found.append((*starts, *result, *used))
    return found
