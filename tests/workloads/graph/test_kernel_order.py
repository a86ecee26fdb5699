"""The edges of a kernel are enough: whatever order of all iterations they allow leaves the same memory."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from mapper.workloads.c.kernel import kernel_from_c
from mapper.workloads.graph.dataflow_graph import Number
from mapper.workloads.graph.entry import entered
from mapper.workloads.graph.kernel import Kernel
from mapper.workloads.graph.kernel_execution import execute
from mapper.workloads.graph.kernel_source import kernel_names, load_kernel
from mapper.workloads.graph.opcode import evaluate
from mapper.workloads.reference.kernel import seeded_memory

MEETING = """void f(int a[40], int b[40], int c[40]) { int s = 1; for (int i = 0; i < 12; i++) {
    a[i + 2] = b[i] + s; if (a[2 * i] > 0) { b[15 - i] = a[i]; c[b[i] & 15] += a[5]; }
    s += c[i]; c[3] = s; a[i] = c[(s + i) & 15]; } }"""


def shuffled(kernel: Kernel, memory: dict[str, npt.NDArray[Any]], seed: int) -> dict[str, npt.NDArray[Any]]:
    """Runs the operations of all iterations one by one, in a random order that honours every edge and the order
    of the iterations of each single operation."""
    kernel = entered(kernel, memory)
    graph, trips, draw = kernel.graph, kernel.trip_count or 0, random.Random(seed)
    after = {name: words.copy() for name, words in memory.items()}
    done: dict[tuple[int, int], Number] = {}
    following = [0] * len(graph.operations)
    held = 0
    while any(count < trips for count in following):
        ready = [
            at
            for at, count in enumerate(following)
            if count < trips
            and all(
                count < edge.distance or (edge.source, count - edge.distance) in done
                for edge in (graph.edges[position] for position in graph.incoming[at])
            )
        ]
        # Keeping one operation back while all others run ahead finds a missing edge sooner than taking turns.
        held = draw.randrange(len(graph.operations)) if len(done) % 60 == 0 else held
        at = draw.choice([one for one in ready if one != held] or ready)
        iteration, operation = following[at], graph.operations[at]
        given = dict(operation.immediates)
        for edge in (graph.edges[position] for position in graph.incoming[at]):
            if edge.operand is not None:
                early = iteration < edge.distance
                given[edge.operand] = (
                    edge.initial[iteration] if early else done[edge.source, iteration - edge.distance]
                )
        values = [given[operand] for operand in range(len(given))]
        done[at, iteration] = 0
        if operation.array is None:
            done[at, iteration] = evaluate(operation.opcode, tuple(values))
        elif operation.opcode == "load":
            if len(values) == 1 or values[1]:
                done[at, iteration] = after[operation.array][int(values[0]) + operation.offset].item()
        elif len(values) == 2 or values[2]:
            after[operation.array][int(values[0]) + operation.offset] = values[1]
        following[at] += 1
    return after


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", [*(name for name, _ in kernel_names()), "meeting"])
def test_any_order_that_the_edges_allow_leaves_the_same_memory(name: str, seed: int) -> None:
    kernel = kernel_from_c(MEETING, "m.c", name) if name == "meeting" else load_kernel(name)[0]
    memory = seeded_memory(kernel, seed)
    wanted, found = execute(kernel, memory), shuffled(kernel, memory, seed)
    assert all(np.array_equal(wanted[array], found[array]) for array in wanted)
