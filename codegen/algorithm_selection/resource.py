"""What an overlay takes of an FPGA, counted from the parameters it is generated for.

Multipliers of 16 bits are a DSP slice each, a requantiser has five. Memories are counted as Xilinx's
UltraScale+ has them: a block memory holds 1024 words of 36 bits, 2048 of 18 or 4096 of 9, an UltraRAM 4096 words of 72.
The largest memories are UltraRAMs as far as the board has them. LUTs are those that
Yosys finds in a PE and in a lane.
"""

from __future__ import annotations

from dataclasses import dataclass

from mapper.codegen.algorithm_selection.program import Parameters
from mapper.models.algorithm_selection.resource import (
    LANE_DSPS,
    LANE_LUTS,
    OTHER_DSPS,
    OTHER_LUTS,
    PE_LUTS,
    WIRE_LUTS,
)

URAMS = 960
"""Of an Alveo U200."""
ACROSS = {36: 1024, 18: 2048, 9: 4096}
"""Words of a block memory by width in bits."""


@dataclass(frozen=True)
class Resources:
    """DSP slices, block memories of 36 kbit, UltraRAMs, and LUTs."""

    dsp: int
    bram36: int
    uram: int
    lut: int


def resources(sizes: Parameters, urams: int = URAMS) -> Resources:
    """The overlay's, with at most ``urams`` UltraRAMs."""
    lanes, pes = 1 << sizes.log_banks, sizes.p1 * sizes.p2
    memories = [
        (sizes.wires * lanes, sizes.input_depth // sizes.wires, 16),
        (sizes.wires * lanes, sizes.kernel_depth // sizes.wires, 16),
        (2 * lanes, sizes.result_depth, sizes.sum),
        (lanes, sizes.tensor_depth, 16),
        (1, sizes.control_lines, 256),
        (1, sizes.calls, 288),
        (lanes, sizes.pool_line, 16 * sizes.pool_window),
        (2 * lanes, sizes.scale_depth, 32),
    ]
    blocks = used = 0
    for count, depth, width in sorted(memories, key=lambda one: -one[0] * _blocks(*one[1:])):
        large = count * -(-depth // 4096) * -(-width // 72)
        own = count * _blocks(depth, width)
        # An UltraRAM that is hardly filled is better left to others.
        if own > large and used + large <= urams:
            used += large
        else:
            blocks += own
    dsps = pes + lanes * LANE_DSPS + OTHER_DSPS
    luts = pes * PE_LUTS + lanes * (LANE_LUTS + (sizes.wires - 1) * WIRE_LUTS) + OTHER_LUTS
    return Resources(dsps, -(-blocks // 2), used, luts)


def _blocks(depth: int, width: int) -> int:
    """Halves of block memories (18 kbit) of a memory of so many words; none if registers of LUTs hold it."""
    if depth * width <= 64 * 36:
        return 0
    return min(-(-width // bits) * -(-2 * depth // words) for bits, words in ACROSS.items())
