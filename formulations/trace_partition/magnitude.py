"""How large the numbers of a problem can get, and that tables of 64 bits hold them.

Times of the memory are counted in parts of a cycle. Bounds are taken of all tiles at once, also of those that make too
many steps to be listed; the values for those are never used and may be anything. Energies are not included:
they are whole numbers of any size.
"""

from __future__ import annotations

from mapper.arch.snowflake import WORD_BYTES
from mapper.formulations.trace_partition.problem import MOST_STEPS, PartitionProblem
from mapper.models.trace_partition.lowering.layer import TraceLayer
from mapper.workloads.document import InputError

LARGEST = 1 << 62
"""Beyond what is counted: sums of two such numbers leave 64 bits."""
SLOW = 64
"""No plan issues or computes more cycles for a product."""
STEP = 1 << 12
"""No step has more instructions, aligned words or cycles besides its latencies and its products."""


ADDRESSED = 1 << 32
"""Bytes that registers of 32 bits address: no machine has a larger memory."""


def products(layer: TraceLayer) -> int:
    """Products of the layer, those with padding and with the words between those that a window reads among them: none
    brings more than a word of each operand."""
    spans = [(size - 1) * apart + 1 for size, apart in zip(layer.kernel, layer.dilation, strict=True)]
    return layer.rows * layer.columns * layer.filters * layer.group_inputs * spans[0] * spans[1]


def largest_number(problem: PartitionProblem, layer: TraceLayer) -> int:
    """No table holds a larger number of any mapping of the layer that can be listed: parts of a cycle for all that
    crosses the memory and all that is computed, latencies of all steps."""
    machine, clusters = problem.machine, problem.configuration.clusters
    numerator, denominator = machine.cycles_per_byte
    work = products(layer)
    views = (*layer.read, layer.output)
    words = 4 * work + sum(view.height * view.width * view.pitch for view in views)
    waits = machine.timing.memory_latency + machine.timing.vector_latency + STEP
    moved = clusters * 2 * (words + MOST_STEPS * STEP) * numerator
    computed = clusters * (SLOW * work + MOST_STEPS * waits)
    return moved + computed * min(denominator, 1 << 20)


def refuse_large(problem: PartitionProblem) -> None:
    """Raises: InputError if a layer's numbers could pass ``LARGEST``, or a tensor has more than addresses reach."""
    for name, words in problem.network.tensors:
        if words * WORD_BYTES > ADDRESSED:
            remedy = f"has {words * WORD_BYTES:,} bytes, and addresses reach {ADDRESSED:,}; lower its sizes"
            raise InputError(problem.network.name[:60], f"tensor {name[:60]!r}", remedy)
    for layer in problem.network.traced:
        number = largest_number(problem, layer)
        if number > LARGEST:
            remedy = (
                f"may come to {number:.0e} parts of a cycle on {problem.machine.name}, and up to {LARGEST:.0e} are "
                "counted; lower its sizes, or take rounder clock_mhz and bandwidth_gb_s or shorter latencies"
            )
            raise InputError(layer.name[:60], layer.op[:60], remedy)
