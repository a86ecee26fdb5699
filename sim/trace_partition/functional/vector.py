"""Vector instructions and transfers of Snowflake in machine code (docs/snowflake/machine.md, "Instructions").

Buf is [unit][word], WBuf [unit][vMAC][word], accumulators, bias and initial values [unit][16 vMAC + lane]. Each
function answers 0, or why the machine stops (`FAULTS`). A sum in COOP mode stands in lane 0 of its vMAC: its lanes are
only seen added up, as no MAC goes on in another mode.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mapper.arch.snowflake import BLOCK as _BLOCK
from mapper.arch.snowflake import TABLE_SEGMENTS as _SEGMENTS
from mapper.models.compiled import compiled
from mapper.models.trace_partition.isa import instruction

BEYOND_BUF, BEYOND_WBUF, BEYOND_MEMORY, TOO_LONG, TOO_WIDE, OTHER_MODE, BRANCH_SLOT, BRANCH_BANK, NO_BANK = (
    range(1, 10)
)
FAULTS = {
    BEYOND_BUF: "goes beyond the end of Buf",
    BEYOND_WBUF: "goes beyond the end of WBuf",
    BEYOND_MEMORY: "goes beyond the program's memory",
    TOO_LONG: "has more words than there are accumulators for",
    TOO_WIDE: "has 4 results, but the extent is larger",
    OTHER_MODE: "goes on with sums of another mode",
    BRANCH_SLOT: "is a branch in a delay slot",
    BRANCH_BANK: "leads, or has a delay slot, beyond its bank",
    NO_BANK: "is the last of its bank, and the next has not been loaded",
}
BLOCK = _BLOCK
COOP, LANE = int(instruction.MacMode.COOP), int(instruction.MacMode.LANE)
START_SHIFT, UNITS_SHIFT = instruction.START_SHIFT, instruction.UNITS_SHIFT
FROM_BIAS, FROM_INITIAL, FROM_ZERO = (
    int(start) for start in (instruction.Start.BIAS, instruction.Start.INITIAL, instruction.Start.ZERO)
)
MOVE_BIAS, MOVE_PARTIAL, MOVE_CLIP = (
    int(move) for move in (instruction.Move.BIAS, instruction.Move.PARTIAL, instruction.Move.CLIP)
)
TO_BUF, TO_WBUF, FILL = (
    int(target) for target in (instruction.Target.BUF, instruction.Target.WBUF, instruction.Target.FILL)
)
COOP_MOVE, MAX_START, ALL_UNITS, DEAL = (
    instruction.COOP_MOVE,
    instruction.MAX_START,
    instruction.ALL_UNITS,
    instruction.DEAL,
)
MAX_TABLE, TABLE_MOVE = instruction.MAX_TABLE, int(instruction.TABLE_MOVE)
SEGMENTS, SEGMENT_BITS = _SEGMENTS, 8
WRITE, WIDE, RELU, CLIP = instruction.WRITE, instruction.WIDE, instruction.RELU, instruction.CLIP


def _dot(maps: Any, weights: Any) -> Any:
    """Sum of products modulo 2^32."""
    total = np.int32(0)
    for i in range(len(maps)):
        total = np.int32(total + np.int32(np.int32(maps[i]) * np.int32(weights[i])))
    return total


dot = compiled(_dot)


def _spread(maps: Any, weights: Any, total: Any) -> None:
    """To each lane of a vMAC the products of all words with the lane's weights; four words a turn, as the lanes' sums
    are then loaded and stored a quarter as often."""
    lanes = np.uint64(16)
    full = len(maps) // 4
    for turn in range(full):
        first = np.uint64(4 * turn)
        x0, x1 = np.int32(maps[first]), np.int32(maps[first + np.uint64(1)])
        x2, x3 = np.int32(maps[first + np.uint64(2)]), np.int32(maps[first + np.uint64(3)])
        at = np.uint64(64 * turn)
        for lane in range(lanes):
            products = np.int32(weights[at + lane]) * x0
            products += np.int32(weights[at + lane + lanes]) * x1
            products += np.int32(weights[at + lane + np.uint64(32)]) * x2
            products += np.int32(weights[at + lane + np.uint64(48)]) * x3
            total[lane] = np.int32(total[lane] + products)
    for word in range(4 * full, len(maps)):
        x, at = np.int32(maps[word]), np.uint64(16 * word)
        for lane in range(lanes):
            total[lane] = np.int32(total[lane] + np.int32(x * np.int32(weights[at + lane])))


spread = compiled(_spread)


def _activated(value: int, flags: int, low: int, high: int) -> Any:
    """A result as it is written: 0 if negative and ``R``, within the limits if ``K``."""
    if flags & RELU:
        value = max(value, 0)
    if flags & CLIP:
        value = min(max(value, low), high)
    return value


activated = compiled(_activated)


def _write(buf: Any, at: int, sums: Any, step: int, extent: int, flags: int, low: int, high: int) -> int:
    """Results of every unit into Buf, from every ``step``-th sum."""
    words = 2 * extent if flags & WIDE else extent
    if at + words > buf.shape[1]:
        return BEYOND_BUF
    for unit in range(buf.shape[0]):
        for i in range(extent):
            value = int(sums[unit, step * i])
            if flags & WIDE:
                buf[unit, at + 2 * i] = np.int16(value & 0xFFFF)
                buf[unit, at + 2 * i + 1] = np.int16(value >> 16)
            else:
                value = (value + 128) >> 8
                value = activated(min(max(value, -32768), 32767), flags, low, high)
                buf[unit, at + i] = np.int16(value)
    return 0


write = compiled(_write)


def _mac(
    flags: int,
    out: int,
    maps: int,
    weights: int,
    length: int,
    extent: int,
    last_mode: int,
    buf: Any,
    wbuf: Any,
    held: Any,
    low: int,
    high: int,
) -> int:
    """MAC; ``last_mode`` is that of the MAC before (-1: none). ``held``: accumulators, bias, initial values."""
    sums, bias, initial = held[0], held[1], held[2]
    mode, start = flags & 3, flags >> START_SHIFT & 3
    if mode == LANE and length > BLOCK:
        return TOO_LONG
    if length > 0:
        if maps + length > buf.shape[1]:
            return BEYOND_BUF
        if (
            weights + (length if mode == COOP else min(length, 16) if mode == LANE else 16 * length)
            > wbuf.shape[2]
        ):
            return BEYOND_WBUF
    if start == FROM_BIAS:
        sums[:] = bias
    elif start == FROM_INITIAL:
        sums[:] = initial
    elif start == FROM_ZERO:
        sums[:] = 0
    elif mode != last_mode and last_mode >= 0:
        return OTHER_MODE
    for unit in range(buf.shape[0]):
        words = buf[unit, maps : maps + length]
        for vmac in range(wbuf.shape[1]):
            first = 16 * vmac
            if mode == COOP:
                total = dot(words, wbuf[unit, vmac, weights : weights + length])
                for lane in range(16):
                    total = np.int32(total + sums[unit, first + lane])
                    sums[unit, first + lane] = 0
                sums[unit, first] = total
            elif mode == LANE:
                for lane in range(min(length - first, 16)):
                    product = np.int32(
                        np.int32(words[first + lane]) * np.int32(wbuf[unit, vmac, weights + lane])
                    )
                    sums[unit, first + lane] = np.int32(sums[unit, first + lane] + product)
            else:
                spread(
                    words, wbuf[unit, vmac, weights : weights + 16 * length], sums[unit, first : first + 16]
                )
    if flags & WRITE:
        if mode == COOP and extent > wbuf.shape[1]:
            return TOO_WIDE
        fault: int = write(buf, out, sums, 16 if mode == COOP else 1, extent, flags, low, high)
        return fault
    return 0


mac = compiled(_mac)


def _mapped(word: int, table: Any) -> Any:
    """A word through a unit's table: on the straight line between the two values that it lies between, beyond them all
    on a line of the first or the last slope."""
    shift = min(max(int(table[0]), 0), 16 - SEGMENT_BITS)
    at = (word >> shift) + SEGMENTS // 2
    if at < 0:
        value = int(table[3]) + ((word + (SEGMENTS // 2 << shift)) * int(table[1]) + 128 >> 8)
    elif at >= SEGMENTS:
        value = int(table[3 + SEGMENTS]) + ((word - (SEGMENTS // 2 << shift)) * int(table[2]) + 128 >> 8)
    else:
        part, rise = word - (at - SEGMENTS // 2 << shift), int(table[4 + at]) - int(table[3 + at])
        value = int(table[3 + at]) + (rise * part + (1 << shift >> 1) >> shift)
    return min(max(value, -32768), 32767)


mapped = compiled(_mapped)


def _fill_table(at: int, words: int, buf: Any, table: Any) -> int:
    """VMOV.TABLE: the first words of every unit's table."""
    if words > table.shape[1]:
        return TOO_LONG
    if at + words > buf.shape[1]:
        return BEYOND_BUF
    table[:, :words] = buf[:, at : at + words]
    return 0


fill_table = compiled(_fill_table)


def _maximum(
    flags: int, out: int, maps: int, length: int, buf: Any, largest: Any, table: Any, low: int, high: int
) -> int:
    """MAX."""
    if length > BLOCK:
        return TOO_LONG
    if length > 0 and maps + length > buf.shape[1]:
        return BEYOND_BUF
    if flags & WRITE and out + length > buf.shape[1]:
        return BEYOND_BUF
    for unit in range(buf.shape[0]):
        for i in range(length):
            word = buf[unit, maps + i]
            if flags & MAX_TABLE:
                word = np.int16(mapped(int(word), table[unit]))
            if flags & MAX_START or word > largest[unit, i]:
                largest[unit, i] = word
        if flags & WRITE:
            for i in range(length):
                buf[unit, out + i] = np.int16(activated(int(largest[unit, i]), flags, low, high))
    return 0


maximum = compiled(_maximum)


def _move(flags: int, at: int, words: int, buf: Any, held: Any) -> int:
    """VMOV, apart from the extent and the limits."""
    bias, initial = held[1], held[2]
    kind, spaced = flags & 3, flags & COOP_MOVE
    if words > (buf.shape[0] if spaced else BLOCK):
        return TOO_LONG
    if words > 0 and at + (2 * words if kind == MOVE_PARTIAL else words) > buf.shape[1]:
        return BEYOND_BUF
    for unit in range(buf.shape[0]):
        if kind == MOVE_BIAS:
            bias[unit, :] = 0
        if kind == MOVE_PARTIAL:
            initial[unit, :] = 0
        else:
            initial[unit, :] = bias[unit, :]
        for i in range(words):
            to = 16 * i if spaced else i
            if kind == MOVE_PARTIAL:
                low = np.int64(buf[unit, at + 2 * i]) & 0xFFFF
                initial[unit, to] = np.int32(np.int64(buf[unit, at + 2 * i + 1]) << 16 | low)
            else:
                value = np.int64(buf[unit, at + i]) << 8
                initial[unit, to] = np.int32(initial[unit, to] + value)
                if kind == MOVE_BIAS:
                    bias[unit, to] = np.int32(value)
    return 0


move = compiled(_move)
