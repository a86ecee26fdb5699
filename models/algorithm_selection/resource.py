"""How large an overlay is: DSP slices, block memories, UltraRAMs and LUTs.

The generated overlay's are counted from what it is built for: the array's sides, the lanes of its movers, which are the
banks of its buffers, and the words that the buffers hold. Memories are those of Xilinx's UltraScale+: a block memory
holds 1024 words of 36 bits, 2048 of 18 or 4096 of 9, an UltraRAM 4096 words of 72. Without engines they are estimates
near [Meng2021, Table 3].
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from mapper.arch.overlay import Engines, OverlayMachine

ACROSS = {36: 1024, 18: 2048, 9: 4096}
"""Words of a block memory by width in bits."""
REGISTERS = 64 * 36
"""Bits that registers of LUTs hold without a memory."""
LANE_DSPS, OTHER_DSPS = 5, 11
"""A requantiser's 33 x 32 bits and its slope; addresses, a product for each port of five buffers, and of patches."""
PE_LUTS, LANE_LUTS, WIRE_LUTS, OTHER_LUTS = {False: 88, True: 96}, {False: 3330, True: 3730}, 310, 9000
"""What Yosys makes of the Verilog (`bench/algorithm_selection/synthesis.py`), without F(4,3) and with it, for which
sums have 36 bits instead of 32; two small LUTs in one where they fit, and those of memories: a PE's multiplexers, its
adder being the DSP slice's; rotations, transforms, requantiser and pool of a lane, of 128; what a lane has for a second
wire of blocks (rotations of the input and kernel buffer, entry and shift registers); layout units, controller and the
array's counters."""
CONTROL_LINES, CALLS, POOL_LINE = 4096, 2048, 512
"""Lines of control memory (256 bits), of the table of calls (288), and pixels of a pooling unit's line (48)."""


@dataclass(frozen=True)
class OverlaySize:
    """DSP slices, block memories of 36 kbit, UltraRAMs and LUTs."""

    dsps: int
    brams: int
    urams: int
    luts: int

    def to_json(self) -> dict[str, int]:
        return {"dsp": self.dsps, "bram36": self.brams, "uram": self.urams, "lut": self.luts}


def overlay_size(array: tuple[int, int], machine: OverlayMachine) -> OverlaySize:
    """The size of an overlay: as generated where engines are counted; else an estimate from its PEs and its banks (P1
    of inputs, P2 of kernels, two groups of outputs)."""
    pes = math.prod(array)
    if machine.engines is not None:
        lanes = lanes_of(max(array))
        brams, urams = _memories(lanes, machine.engines, _sum_bits(machine), _urams(machine))
        luts = generated_luts(pes, lanes, machine.winograd.f_4_3, machine.engines.block_wires)
        return OverlaySize(_slices(array, machine), brams, urams, luts)
    rule, banks = machine.resource, sum(array) + 2 * max(array)
    return OverlaySize(_slices(array, machine), banks * rule.brams_per_bank, 0, pes * rule.luts_per_pe)


def generated_luts(pes: int, lanes: int, large: bool, wires: int) -> int:
    """LUTs of a generated overlay, with F(4,3) if ``large``, and so many ``wires`` for blocks."""
    return pes * PE_LUTS[large] + lanes * (LANE_LUTS[large] + (wires - 1) * WIRE_LUTS) + OTHER_LUTS


def slices(rows: NDArray[np.int64], columns: NDArray[np.int64], machine: OverlayMachine) -> NDArray[np.int64]:
    """DSP slices of arrays of ``rows[s]`` x ``columns[s]``."""
    shapes = zip(rows.tolist(), columns.tolist(), strict=True)
    return np.array([_slices(shape, machine) for shape in shapes], np.int64)


def lanes_of(side: int) -> int:
    """Banks of a buffer and lanes of a mover: the power of two from 2 on that holds the array's longer side."""
    return 1 << max(1, (side - 1).bit_length())


@lru_cache(maxsize=1 << 8)
def most_lanes(machine: OverlayMachine) -> int:
    """The longest side that an array may have: DRAM reads and writes a word a lane at once, of as many lanes as the
    power of two that holds a side, and their buffers fit the board. No limit where no engines are counted."""
    if machine.engines is None:
        return machine.pes
    lanes, most = 2, lanes_of(machine.pes)
    if machine.bandwidth_gb_s is not None:
        per_cycle = machine.units_per_cycle // machine.units_per_word
        most = min(most, 1 << max(1, (per_cycle // 2).bit_length() - 1))
    while 2 * lanes <= most and _holds(2 * lanes, machine):
        lanes *= 2
    return lanes if _holds(lanes, machine) else 0


def most_banks(machine: OverlayMachine) -> int:
    """The most banks that a buffer may have; the least where no array has room."""
    return max(2, most_lanes(machine))


def widest(rows: int, machine: OverlayMachine, pes: int, dsps: int | None = None) -> int:
    """The most columns beside so many rows of an array of at most ``pes`` PEs, and ``dsps`` DSP slices if given; 0 if
    there is none. All fewer columns have room, too, and more rows leave no more."""
    rule, columns = machine.resource, pes // rows
    if machine.engines is not None:
        return _widest_generated(rows, machine, columns, dsps)
    if dsps is not None:
        columns = min(columns, (dsps - rule.other_dsps) // rule.dsps_per_pe // rows)
    if rule.limits_shapes:
        room = rule.brams // rule.brams_per_bank
        columns = min(columns, (room - rows) // 3 if room >= 4 * rows else min(rows, room - 3 * rows))
    return max(0, columns)


def fits(array: tuple[int, int], machine: OverlayMachine) -> bool:
    """Whether the machine can have an array of this shape."""
    return array[1] <= widest(array[0], machine, machine.pes)


def _widest_generated(rows: int, machine: OverlayMachine, columns: int, dsps: int | None) -> int:
    assert machine.engines is not None
    board, lanes, most, large = machine.board, lanes_of(rows), 0, machine.winograd.f_4_3
    while lanes <= most_lanes(machine):
        room = min(columns, lanes)
        if board is not None:
            left = board.lut - generated_luts(0, lanes, large, machine.engines.block_wires)
            room = min(room, left // PE_LUTS[large] // rows)
        slices = [one for one in (dsps, None if board is None else board.dsp) if one is not None]
        most = max(most, min([room, *((one - OTHER_DSPS - lanes * LANE_DSPS) // rows for one in slices)]))
        lanes *= 2
    return most


def _holds(lanes: int, machine: OverlayMachine) -> bool:
    """Whether the board has the memories of so many banks."""
    assert machine.engines is not None
    if machine.board is None:
        return True
    brams, urams = _memories(lanes, machine.engines, _sum_bits(machine), machine.board.uram)
    return brams <= machine.board.bram36 and urams <= machine.board.uram


def _slices(array: tuple[int, int], machine: OverlayMachine) -> int:
    rule, pes = machine.resource, math.prod(array)
    if machine.engines is not None:
        return pes + lanes_of(max(array)) * LANE_DSPS + OTHER_DSPS
    return pes * rule.dsps_per_pe + rule.other_dsps


def _urams(machine: OverlayMachine) -> int:
    return 0 if machine.board is None else machine.board.uram


def _sum_bits(machine: OverlayMachine) -> int:
    """Bits of sums: more where there are tiles of F(4, 3)."""
    return 36 if machine.winograd.f_4_3 else 32


def _memories(lanes: int, engines: Engines, bits: int, most: int) -> tuple[int, int]:
    """Block memories and UltraRAMs, at most so many of the latter: the largest memories, as far as there are."""
    room = engines.buffers
    memories = [(lanes, POOL_LINE, 48), (1, CONTROL_LINES, 256), (1, CALLS, 288)]
    if room is not None:
        for words in (room.input, room.kernel):  # A bank that gives two words a cycle is two memories.
            wires = engines.block_wires
            memories.append((wires * lanes, 2 * half_depth(words, lanes, wires) // wires, 16))
        memories += [(2 * lanes, room.result // lanes, bits), (lanes, room.tensor // lanes, 16)]
    blocks = used = 0
    for count, depth, width in sorted(memories, key=lambda one: -one[0] * _blocks(*one[1:])):
        large, own = count * -(-depth // 4096) * -(-width // 72), count * _blocks(depth, width)
        # An UltraRAM that is hardly filled is better left to others.
        if own > large and used + large <= most:
            used += large
        else:
            blocks += own
    return -(-blocks // 2), used


def half_depth(words: int, lanes: int, wires: int) -> int:
    """Words of a bank in one half of a buffer: an even number where a bank gives a word to each of two wires."""
    return max(1, words // (2 * lanes * wires)) * wires


def _blocks(depth: int, width: int) -> int:
    """Halves of block memories (18 kbit) of a memory of so many words; none if registers of LUTs hold it."""
    if depth * width <= REGISTERS:
        return 0
    return min(-(-width // bits) * -(-2 * depth // words) for bits, words in ACROSS.items())
