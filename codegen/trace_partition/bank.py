"""Instructions in banks of 512 [Chang2018, sec. 4]: no loop crosses a bank, and each bank loads the next. What a
bank has left where the next loop does not fit is jumped over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from mapper.arch.snowflake import BANK_INSTRUCTIONS
from mapper.codegen.trace_partition.register import CODE_REGISTER, NOP, Piece
from mapper.models.trace_partition.isa.encoding import encode
from mapper.models.trace_partition.isa.instruction import DELAY_SLOTS, Instruction, Operation, Queue, Target
from mapper.models.trace_partition.isa.program import ClusterCode, Mark
from mapper.workloads.document import InputError

INSTRUCTION_WORDS = 2
BANK_WORDS = BANK_INSTRUCTIONS * INSTRUCTION_WORDS
_LOAD_NEXT = (
    Instruction(Operation.LD, b=CODE_REGISTER, flags=Target.CODE),
    Instruction(Operation.ADDI, CODE_REGISTER, CODE_REGISTER, immediate=BANK_WORDS),
)
_ARRIVED = Instruction(Operation.WAIT, Queue.CODE)
_END = Instruction(Operation.HALT)
_NEXT_BANK = 2
"""MOVI and MOVI.H of the second bank's address, before everything else."""


@dataclass(frozen=True)
class LayerPieces:
    """The code of a layer before it is divided into banks."""

    layer: str
    pieces: Sequence[Piece]


class _Banks:
    """Places of instructions. The first bank begins with the address of the second, every bank but the last with the
    load of the next; its last instruction waits for it."""

    def __init__(self) -> None:
        self.code: list[Instruction] = [NOP] * _NEXT_BANK + list(_LOAD_NEXT)
        self.relocations: list[int] = []

    def append(self, piece: Piece, layer: str) -> None:
        size = len(piece.instructions)
        room = BANK_INSTRUCTIONS - 1 - len(self.code) % BANK_INSTRUCTIONS
        if size > room:
            if size > BANK_INSTRUCTIONS - 1 - len(_LOAD_NEXT):
                raise InputError(
                    f"layer {layer}",
                    f"a loop of {size} instructions",
                    f"is longer than a bank of {BANK_INSTRUCTIONS} instructions; choose smaller tiles",
                )
            self.code += [*_passed(room), _ARRIVED, *_LOAD_NEXT]
        if piece.address:
            self.relocations.append(len(self.code))
        self.code += piece.instructions

    def close(self) -> int:
        """Takes the load of a bank that is not there from the last one, which ends with HALT 0; the number of
        banks."""
        self.code.append(_END)
        banks = -(-len(self.code) // BANK_INSTRUCTIONS)
        start = (banks - 1) * BANK_INSTRUCTIONS + (_NEXT_BANK if banks == 1 else 0)
        self.code[start : start + len(_LOAD_NEXT)] = [NOP] * len(_LOAD_NEXT)
        self.code += [_END] * (banks * BANK_INSTRUCTIONS - len(self.code))
        return banks


def _passed(room: int) -> list[Instruction]:
    """The places up to the last of a bank, which no loop fits: a branch over them that is always taken, if that is
    shorter."""
    if room <= DELAY_SLOTS + 1:
        return [NOP] * room
    return [Instruction(Operation.BNE, CODE_REGISTER, 0, immediate=room)] + [NOP] * (room - 1)


class BankedCode:
    """The code of a cluster in banks; where it lies is still open."""

    def __init__(self, layers: Sequence[LayerPieces]) -> None:
        banks, self._marks = _Banks(), list[Mark]()
        for layer in layers:
            self._marks.append(Mark(layer.layer, len(banks.code)))
            for piece in layer.pieces:
                banks.append(piece, layer.layer)
        self._count = banks.close()
        self._code, self._relocations = banks.code, banks.relocations

    @property
    def words(self) -> int:
        """Words of memory that the code takes."""
        return self._count * BANK_WORDS

    def at(self, address: int) -> ClusterCode:
        """The code at word ``address`` of the program."""
        code = np.fromiter((_encoded(instruction) for instruction in self._code), np.uint32, len(self._code))
        relocations = self._relocations
        if self._count > 1:
            following = address + BANK_WORDS
            code[0] = encode(Instruction(Operation.MOVI, CODE_REGISTER, immediate=following % (1 << 16)))
            code[1] = encode(Instruction(Operation.MOVI, CODE_REGISTER, immediate=following >> 16, high=True))
            relocations = [0, *relocations]
        return ClusterCode(code, address, tuple(self._marks), tuple(relocations))


_encoded = lru_cache(maxsize=1 << 16)(encode)
