"""A control core without time: what transfers and vector instructions a piece of code issues, with its registers."""

from __future__ import annotations

from collections.abc import Sequence

from mapper.codegen.trace_partition.register import Piece
from mapper.models.trace_partition.isa.instruction import DELAY_SLOTS, Instruction, Operation

Issued = tuple[Instruction, int, int, int, int]
"""An instruction, and what its registers a to d hold."""
_BRANCHES = (Operation.BNE, Operation.BLT)
_MOST = 1_000_000


def issued(pieces: Sequence[Piece]) -> list[Issued]:
    """The instructions other than those of the core itself, in the order of their issue."""
    code = [instruction for piece in pieces for instruction in piece.instructions]
    registers = [0] * 32
    found: list[Issued] = []
    place, pending, target = 0, -1, 0
    for _ in range(_MOST):
        if place >= len(code):
            return found
        i = code[place]
        a, b, c, d = (registers[field] for field in (i.a, i.b, i.c, i.d))
        following = place + 1
        match i.operation:
            case Operation.MOVI:
                low = a & 0xFFFF | i.immediate << 16 if i.high else i.immediate
                registers[i.a] = low
            case Operation.ADDI:
                registers[i.a] = (b + i.immediate) % (1 << 32)
            case Operation.ADD:
                registers[i.a] = (b + c) % (1 << 32)
            case Operation.BNE | Operation.BLT:
                assert pending < 0, "a branch in a delay slot"
                if a != b if i.operation is Operation.BNE else a < b:
                    pending, target = DELAY_SLOTS + 1, place + i.immediate
            case _:
                found.append((i, a, b, c, d))
        registers[0] = 0
        if pending > 0:
            pending -= 1
            if pending == 0:
                following, pending = target, -1
        place = following
    raise AssertionError("the code does not end")
