"""Snowflake's instructions as 32 bits and back (docs/snowflake/machine.md, "Instructions")."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mapper.arch.snowflake import BANK_INSTRUCTIONS
from mapper.models.trace_partition.isa.instruction import (
    CLIP,
    COOP_MOVE,
    DEAL,
    IMMEDIATE_BITS,
    MAX_START,
    MAX_TABLE,
    RELU,
    UNITS_SHIFT,
    WIDE,
    WRITE,
    Instruction,
    MacMode,
    Operation,
    Target,
)
from mapper.workloads.document import InputError

OPERATION_SHIFT = 28
A_SHIFT, B_SHIFT, C_SHIFT, D_SHIFT = 23, 18, 13, 8
HIGH = 1 << 16
_A, _B, _C, _D = (31 << shift for shift in (A_SHIFT, B_SHIFT, C_SHIFT, D_SHIFT))
_IMMEDIATE = (1 << IMMEDIATE_BITS) - 1
_COUNT = _IMMEDIATE >> 1  # immediates that are numbers of things are not negative
_UNITS = 7 << UNITS_SHIFT
_FLAGS = 0xFF

BITS: dict[Operation, int] = {
    Operation.HALT: _COUNT,
    Operation.MOVI: _A | HIGH | 0xFFFF,
    Operation.ADD: _A | _B | _C,
    Operation.ADDI: _A | _B | _IMMEDIATE,
    Operation.BNE: _A | _B | _IMMEDIATE,
    Operation.BLT: _A | _B | _IMMEDIATE,
    Operation.WAIT: 3 << A_SHIFT | _COUNT,
    Operation.SYNC: 0,
    Operation.LD: _A | _B | _C | _D | _UNITS | 3,
    Operation.TMOV: _A | _B | _C | _D | 3 << UNITS_SHIFT,
    Operation.VMOV: _B | _C | COOP_MOVE | 3,
    Operation.MAC: _A | _B | _C | _D | CLIP | RELU | WIDE | WRITE | 15,
    Operation.MAX: _A | _B | _C | CLIP | RELU | WRITE | MAX_TABLE | MAX_START,
}
"""The bits below the operation that an instruction has; the others are 0."""
CODE_LOAD_BITS = _B | 3
"""Those of LD.I, which names one register and no units."""
_IMMEDIATES = {
    Operation.HALT,
    Operation.ADDI,
    Operation.BNE,
    Operation.BLT,
    Operation.WAIT,
}
_FLAGGED = {Operation.LD, Operation.TMOV, Operation.VMOV, Operation.MAC, Operation.MAX}


def fault(word: int) -> str | None:
    """Why 32 bits are no instruction; None if they are one."""
    code, rest = word >> OPERATION_SHIFT, word & (1 << OPERATION_SHIFT) - 1
    if code >= len(Operation):
        return f"there is no operation {code}"
    operation = Operation(code)
    bits, flags, units = BITS[operation], word & _FLAGS, (word & _UNITS) >> UNITS_SHIFT
    if operation is Operation.LD and flags & 3 == Target.CODE:
        bits = CODE_LOAD_BITS
    if rest & ~bits:
        return f"{operation.name} has no bit {(rest & ~bits).bit_length() - 1}"
    if operation is Operation.LD and (units > DEAL or (flags & 3 == Target.FILL and units == DEAL)):
        return f"LD.{'BWIF'[flags & 3]} has no units {units}"
    if operation is Operation.MAC and flags & 3 not in tuple(MacMode):
        return "MAC has no mode 3"
    return None


def first_fault(words: npt.NDArray[np.uint32]) -> int | None:
    """Place of the first of many words that is no instruction; None if all are instructions."""
    code, rest = words >> np.uint32(OPERATION_SHIFT), words & np.uint32((1 << OPERATION_SHIFT) - 1)
    bits = np.zeros(16, np.uint32)
    for operation, mask in BITS.items():
        bits[operation] = mask
    kind, units = words & np.uint32(3), (words & np.uint32(_UNITS)) >> np.uint32(UNITS_SHIFT)
    load = code == Operation.LD
    had = np.where(load & (kind == Target.CODE), np.uint32(CODE_LOAD_BITS), bits[code])
    wrong = (code >= len(Operation)) | (rest & ~had != 0)
    wrong |= load & ((units > DEAL) | ((kind == Target.FILL) & (units == DEAL)))
    wrong |= (code == Operation.MAC) & (kind == 3)
    return int(np.argmax(wrong)) if wrong.any() else None


def place_name(place: int) -> str:
    """A place in a cluster's code, in words."""
    return f"instruction {place} (bank {place // BANK_INSTRUCTIONS}, place {place % BANK_INSTRUCTIONS})"


def encode(instruction: Instruction) -> int:
    """The 32 bits of an instruction.

    Raises: ValueError if a field is out of its range or one that the operation does not have.
    """
    i, operation = instruction, instruction.operation
    for name, value in (("a", i.a), ("b", i.b), ("c", i.c), ("d", i.d)):
        if not 0 <= value < 32:
            raise ValueError(f"{operation.name}: {name} is {value}; registers are 0 to 31")
    if not 0 <= i.flags <= _FLAGS:
        raise ValueError(f"{operation.name}: flags {i.flags} do not fit 8 bits")
    limit = 1 << IMMEDIATE_BITS - 1
    least, beyond = (0, 1 << 16) if operation is Operation.MOVI else (-limit, limit)
    if operation in (Operation.HALT, Operation.WAIT):
        least = 0
    if not least <= i.immediate < beyond:
        raise ValueError(f"{operation.name}: {i.immediate} is not within {least} to {beyond - 1}")
    word = operation << OPERATION_SHIFT | i.a << A_SHIFT | i.b << B_SHIFT | i.c << C_SHIFT | i.d << D_SHIFT
    word |= i.flags | i.immediate & _IMMEDIATE | (HIGH if i.high else 0)
    wrong = fault(word)
    if wrong is not None or decode(word, "", 0) != instruction:
        raise ValueError(f"{instruction}: {wrong or 'has a field that its operation lacks'}")
    return word


def decode(word: int, source: str, place: int) -> Instruction:
    """The instruction of 32 bits that stand at ``place`` (counted from the first of its code) of ``source``.

    Raises: InputError naming source and place if they are none.
    """
    wrong = fault(word) if 0 <= word < 1 << 32 else "not 32 bits"
    if wrong is not None:
        remedy = f"{word & 0xFFFFFFFF:#010x} is not an instruction ({wrong}); compile the network again"
        raise InputError(source, place_name(place), remedy)
    operation = Operation(word >> OPERATION_SHIFT)
    bits = BITS[operation]
    a, b, c, d = (
        word >> shift & 31 if bits & 31 << shift and not (operation in _IMMEDIATES and shift < B_SHIFT) else 0
        for shift in (A_SHIFT, B_SHIFT, C_SHIFT, D_SHIFT)
    )
    if operation is Operation.MOVI:
        return Instruction(operation, a, immediate=word & 0xFFFF, high=bool(word & HIGH))
    if operation in _IMMEDIATES:
        value = word & _IMMEDIATE
        return Instruction(
            operation, a, b, immediate=value - ((value >> IMMEDIATE_BITS - 1) << IMMEDIATE_BITS)
        )
    return Instruction(operation, a, b, c, d, flags=word & _FLAGS if operation in _FLAGGED else 0)
