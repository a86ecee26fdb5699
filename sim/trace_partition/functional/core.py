"""The control core of a cluster in machine code: instructions one after another, until something outside is needed."""

from __future__ import annotations

from typing import Any

from mapper.arch.snowflake import BANK_INSTRUCTIONS as _BANK
from mapper.models.compiled import compiled
from mapper.models.trace_partition.isa import instruction
from mapper.sim.trace_partition.functional.transfer import load, store
from mapper.sim.trace_partition.functional.vector import (
    BRANCH_BANK,
    BRANCH_SLOT,
    COOP,
    FILL,
    MOVE_BIAS,
    MOVE_CLIP,
    NO_BANK,
    TABLE_MOVE,
    fill_table,
    mac,
    maximum,
    move,
)

HALTED, HOST, SYNCHRONISED, CODE_LOAD, PAUSED = 0, -1, -2, -3, -4
"""Why the core stops, beside the faults (above 0): finished, a host operation, SYNC, LD.I, fuel spent."""
PLACE, HERE, BANK, LOADED, SLOTS, TARGET, EXTENT, MODE, FUEL, LOW, HIGH = range(11)
"""Scalars of a cluster: next place, place of the instruction that was run last, banks left behind, whether the other
bank is loaded, delay slots to come, where they lead, extent, mode of the last MAC, lines of 16 words that may still
be moved or multiplied (an instruction counts one more, a vector instruction four), and the limits of results."""
SCALARS = 11
VECTOR_WORK = 4
BANK_PLACES = _BANK
HALT, MOVI, ADD, ADDI, BNE, BLT, SYNC, LD, TMOV, VMOV, MAC, MAX = (
    int(operation) for operation in instruction.Operation if operation is not instruction.Operation.WAIT
)
TO_CODE = int(instruction.Target.CODE)
IMMEDIATE_BITS = instruction.IMMEDIATE_BITS
DELAY_SLOTS = instruction.DELAY_SLOTS


def _lines(shape: int) -> int:
    return (shape >> 16) * ((shape & 0xFFFF) // 16 + 1)


lines = compiled(_lines)


def _run(
    code: Any, base: int, registers: Any, scalars: Any, buf: Any, wbuf: Any, held: Any, largest: Any, table: Any,
    memory: Any, counts: Any,
) -> int:  # fmt: skip
    """Run a cluster; the answer is why it stopped. ``code`` (two banks) and ``registers`` hold numbers
    below 2^32,
    ``counts`` how often each operation was run."""
    while True:
        if scalars[FUEL] < 0:
            return PAUSED
        if scalars[PLACE] == BANK_PLACES:
            if scalars[LOADED] == 0:
                return NO_BANK
            scalars[BANK] += 1
            scalars[LOADED] = 0
            scalars[PLACE] = 0
        place, slots = scalars[PLACE], scalars[SLOTS]
        word = code[scalars[BANK] & 1, place]
        scalars[HERE], scalars[PLACE] = place, place + 1
        if slots > 0:
            scalars[SLOTS] = slots - 1
            if slots == 1:
                scalars[PLACE] = scalars[TARGET]
        operation, flags = word >> 28, word & 0xFF
        a, b = word >> 23 & 31, word >> 18 & 31
        ra, rb, rc, rd = registers[a], registers[b], registers[word >> 13 & 31], registers[word >> 8 & 31]
        immediate = word & (1 << IMMEDIATE_BITS) - 1
        immediate -= immediate >> IMMEDIATE_BITS - 1 << IMMEDIATE_BITS
        counts[operation] += 1
        scalars[FUEL] -= VECTOR_WORK if operation in (VMOV, MAC, MAX) else 1
        fault = 0
        if operation == MAC:
            mode = flags & 3
            scalars[FUEL] -= rd // 16 if mode == COOP else rd
            extent, last = scalars[EXTENT], scalars[MODE]
            low, high = scalars[LOW], scalars[HIGH]
            fault = mac(flags, ra, rb, rc, rd, extent, last, buf, wbuf, held, low, high)
            scalars[MODE] = mode
        elif operation == MAX:
            fault = maximum(flags, ra, rb, rc, buf, largest, table, scalars[LOW], scalars[HIGH])
        elif operation == VMOV and flags & TABLE_MOVE == TABLE_MOVE:
            fault = fill_table(rb, rc, buf, table)
        elif operation == VMOV and flags & 3 == MOVE_CLIP:
            scalars[LOW], scalars[HIGH] = (rb & 0xFFFF ^ 0x8000) - 0x8000, (rc & 0xFFFF ^ 0x8000) - 0x8000
        elif operation == VMOV:
            fault = move(flags, rb, rc, buf, held)
            if flags & 3 == MOVE_BIAS:
                scalars[EXTENT] = rc
        elif operation == ADDI:
            registers[a] = rb + immediate & 0xFFFFFFFF
            registers[0] = 0
        elif operation == ADD:
            registers[a] = rb + rc & 0xFFFFFFFF
            registers[0] = 0
        elif operation == MOVI:
            half = word & 0xFFFF
            registers[a] = (ra & 0xFFFF) | half << 16 if word >> 16 & 1 else half
            registers[0] = 0
        elif operation in (BNE, BLT):
            if slots > 0:
                return BRANCH_SLOT
            to = place + immediate
            if place + DELAY_SLOTS >= BANK_PLACES or to < 0 or to >= BANK_PLACES:
                return BRANCH_BANK
            taken = ra != rb if operation == BNE else ra < rb
            scalars[SLOTS], scalars[TARGET] = DELAY_SLOTS, to if taken else place + DELAY_SLOTS + 1
        elif operation == LD:
            if flags & 3 == TO_CODE:
                return CODE_LOAD
            scalars[FUEL] -= lines(rc)
            fault = load(flags, ra, rb if flags & 3 == FILL else rb - base, rc, rd, buf, wbuf, memory)
        elif operation == TMOV:
            scalars[FUEL] -= lines(rc)
            fault = store(flags, ra - base, rb, rc, rd, buf, memory)
        elif operation == SYNC:
            return SYNCHRONISED
        elif operation == HALT:
            return HALTED if immediate == 0 else HOST
        if fault != 0:
            return fault


run = compiled(_run)
