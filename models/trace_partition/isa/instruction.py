"""Snowflake's 13 instructions (docs/snowflake/machine.md): the values, and their 32 bits."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Operation(IntEnum):
    """Operation codes, bits 31 to 28."""

    HALT = 0
    MOVI = 1
    ADD = 2
    ADDI = 3
    BNE = 4
    BLT = 5
    WAIT = 6
    SYNC = 7
    LD = 8
    TMOV = 9
    VMOV = 10
    MAC = 11
    MAX = 12


class Queue(IntEnum):
    """What WAIT waits for."""

    LOAD = 0
    STORE = 1
    VECTOR = 2
    CODE = 3


class Target(IntEnum):
    """Where LD puts words (flags 1-0)."""

    BUF = 0
    WBUF = 1
    CODE = 2
    FILL = 3


class MacMode(IntEnum):
    """How MAC pairs maps and weights (flags 1-0)."""

    COOP = 0
    INDP = 1
    LANE = 2


class Start(IntEnum):
    """What MAC starts from (flags 3-2)."""

    CONTINUE = 0
    BIAS = 1
    INITIAL = 2
    ZERO = 3


class Move(IntEnum):
    """What VMOV sets (flags 1-0)."""

    BIAS = 0
    ADD = 1
    PARTIAL = 2
    CLIP = 3


ALL_UNITS = 4
"""Units field (flags 4-2) of LD: every unit gets every piece; MOST below are single units."""
DEAL = 5
"""Units field of LD: pieces are dealt out."""
UNITS_SHIFT = 2
START_SHIFT = 2
COOP_MOVE = 1 << 2
TABLE_MOVE = Move.CLIP | COOP_MOVE
"""VMOV that fills the look-up tables: flags 2-0."""
MAX_START = 1
MAX_TABLE = 1 << 1
"""MAX of words that go through the table first."""
WRITE = 1 << 4
WIDE = 1 << 5
RELU = 1 << 6
CLIP = 1 << 7
DELAY_SLOTS = 2
IMMEDIATE_BITS = 18
REACH = 1 << IMMEDIATE_BITS - 1
"""ADDI adds less than this."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction: register numbers a to d, flags, and the immediate (signed, except MOVI's 16 bits; ``high`` is
    MOVI's bit 16). Fields that the operation does not have are 0."""

    operation: Operation
    a: int = 0
    b: int = 0
    c: int = 0
    d: int = 0
    flags: int = 0
    immediate: int = 0
    high: bool = False
