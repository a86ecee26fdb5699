"""Transfers between the external memory and the buffers in machine code (docs/snowflake/machine.md: LD, TMOV)."""

from __future__ import annotations

from typing import Any

import numpy as np

from mapper.models.compiled import compiled
from mapper.sim.trace_partition.functional.vector import (
    ALL_UNITS,
    BEYOND_BUF,
    BEYOND_MEMORY,
    BEYOND_WBUF,
    DEAL,
    FILL,
    TO_WBUF,
    UNITS_SHIFT,
)


def _copy(into: Any, words: Any) -> None:
    for i in range(len(into)):
        into[i] = words[i]


copy = compiled(_copy)


def _load(
    flags: int, local: int, first: int, shape: int, pitches: int, buf: Any, wbuf: Any, memory: Any
) -> int:
    """LD into Buf or WBuf, and fill; ``first`` is counted from the program's base (a fill's value as it is)."""
    count, words, pitch, stride = shape >> 16, shape & 0xFFFF, pitches >> 16, pitches & 0xFFFF
    target, units = flags & 3, flags >> UNITS_SHIFT & 7
    if count == 0 or words == 0:
        return 0
    turns = 1
    if target == TO_WBUF:
        turns = 16 if units == DEAL else 4
    elif units == DEAL:
        turns = 4
    end = local + (count - 1) // turns * pitch + words
    if target == TO_WBUF and end > wbuf.shape[2]:
        return BEYOND_WBUF
    if target != TO_WBUF and end > buf.shape[1]:
        return BEYOND_BUF
    if target != FILL and (first < 0 or first + (count - 1) * stride + words > len(memory)):
        return BEYOND_MEMORY
    for piece in range(count):
        to = local + piece // turns * pitch
        if target == FILL:
            for unit in range(4):
                if units in (ALL_UNITS, unit):
                    buf[unit, to : to + words] = np.int16(first & 0xFFFF)
            continue
        source = memory[first + piece * stride : first + piece * stride + words]
        for unit in range(4):
            if target == TO_WBUF:
                if units in (ALL_UNITS, unit) or (units == DEAL and piece % 16 // 4 == unit):
                    copy(wbuf[unit, piece % 4, to : to + words], source)
            elif units in (ALL_UNITS, unit) or (units == DEAL and piece % 4 == unit):
                copy(buf[unit, to : to + words], source)
    return 0


load = compiled(_load)


def _store(flags: int, first: int, local: int, shape: int, pitches: int, buf: Any, memory: Any) -> int:
    """TMOV; ``first`` is counted from the program's base."""
    count, words, stride, pitch = shape >> 16, shape & 0xFFFF, pitches >> 16, pitches & 0xFFFF
    if count == 0 or words == 0:
        return 0
    if local + (count - 1) * pitch + words > buf.shape[1]:
        return BEYOND_BUF
    if first < 0 or first + (count - 1) * stride + words > len(memory):
        return BEYOND_MEMORY
    unit = flags >> UNITS_SHIFT & 3
    for piece in range(count):
        at, to = local + piece * pitch, first + piece * stride
        copy(memory[to : to + words], buf[unit, at : at + words])
    return 0


store = compiled(_store)
