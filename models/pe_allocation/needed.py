"""Bytes that the buffers of a configured array need, whichever model counts the cycles."""

from __future__ import annotations

from mapper.arch.tcpa import TcpaMachine
from mapper.models.pe_allocation.calculus import unthrottled
from mapper.models.pe_allocation.cost import AllocationCost
from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.stream.layer import StreamNetwork
from mapper.models.pe_allocation.stream.pipeline import drains
from mapper.models.pe_allocation.stream.timing import line_buffer_peaks, streamed


def needed_bytes(
    network: StreamNetwork, machine: TcpaMachine, allocation: Allocation, cost: AllocationCost
) -> int:
    """The bytes of ``cost``, and no less than the weights and the line buffers that ``configure`` gives layers that all
    work at once: raster order asks for more than the calculus counts [Heidorn2019, Eqs. 16 and 17]."""
    if allocation.mode != "layer-parallel":
        return cost.buffer_bytes
    made = unthrottled(network, allocation.pes, allocation.delta)
    z_out = tuple(cycles + idle for cycles, idle in zip(made, allocation.throttle, strict=True))
    timed = streamed(network, z_out, drains(network.layers, machine, cost.model))
    held = sum(line_buffer_peaks(network, timed))
    return max(cost.buffer_bytes, (cost.weight_words + held) * machine.word_bytes)
