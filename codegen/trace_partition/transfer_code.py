"""Load and store objects as LD and TMOV; transfers of equal distance become a loop [Chang2018, sec. 4]."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from mapper.codegen.trace_partition.register import NOP, Number, Piece, RegisterFile
from mapper.models.trace_partition.isa.instruction import (
    ALL_UNITS,
    DEAL,
    UNITS_SHIFT,
    Instruction,
    Operation,
    Target,
)
from mapper.models.trace_partition.steps.step import Transfer
from mapper.models.trace_partition.steps.transfer_size import LEAST_LOOP, equal_distances

_TARGETS = {"buf": Target.BUF, "wbuf": Target.WBUF, "fill": Target.FILL}
_UNITS = {"all": ALL_UNITS, "deal": DEAL}


def transfer_code(
    transfers: Sequence[Transfer],
    store: bool,
    places: Mapping[str, int],
    registers: RegisterFile,
    emit: Callable[[Piece], None],
) -> None:
    """Emits ``transfers``, loads or stores, in their order; ``places``: first word of every tensor, from where the
    program lies."""
    start = 0
    while start < len(transfers):
        count = equal_distances(transfers, start)
        if count >= LEAST_LOOP:
            _loop(transfers[start], transfers[start + 1], count, store, places, registers, emit)
            start += count
        else:
            _single(transfers[start], store, places, registers, emit)
            start += 1


def _memory(transfer: Transfer, places: Mapping[str, int]) -> Number:
    """What rb of a load (ra of a store) holds: an address, or the value that fills."""
    if transfer.target == "fill":
        return Number(transfer.value % (1 << 16))
    return Number(places[transfer.tensor] + transfer.memory, address=True)


def _transfer(
    transfer: Transfer, store: bool, local: int, memory: int, registers: RegisterFile
) -> Instruction:
    size = registers.holding(Number(transfer.count << 16 | transfer.words))
    units = transfer.units if isinstance(transfer.units, int) else _UNITS[transfer.units]
    if store:
        pitch = registers.holding(Number(_pitch(transfer.memory_pitch, transfer.local_pitch, transfer)))
        return Instruction(Operation.TMOV, memory, local, size, pitch, units << UNITS_SHIFT)
    filling = transfer.target == "fill"
    pitch = registers.holding(
        Number(_pitch(transfer.local_pitch, 0 if filling else transfer.memory_pitch, transfer))
    )
    return Instruction(
        Operation.LD, local, memory, size, pitch, units << UNITS_SHIFT | _TARGETS[transfer.target]
    )


def _pitch(upper: int, lower: int, transfer: Transfer) -> int:
    """Both pitches in a word; a single piece has none."""
    return upper << 16 | lower if transfer.count > 1 else 0


def _single(
    transfer: Transfer,
    store: bool,
    places: Mapping[str, int],
    registers: RegisterFile,
    emit: Callable[[Piece], None],
) -> None:
    memory = registers.holding(_memory(transfer, places))
    local = registers.holding(Number(transfer.local))
    emit(Piece((_transfer(transfer, store, local, memory, registers),)))


def _loop(
    first: Transfer,
    second: Transfer,
    count: int,
    store: bool,
    places: Mapping[str, int],
    registers: RegisterFile,
    emit: Callable[[Piece], None],
) -> None:
    """The transfer, the branch, and in its delay slots the distances of both addresses."""
    local_step, memory_step = second.local - first.local, second.memory - first.memory
    if first.target == "fill":
        memory_step = 0
    memory, local = _memory(first, places), Number(first.local)
    memory_register = registers.own(memory) if memory_step else registers.holding(memory)
    local_register = registers.own(local) if local_step else registers.holding(local)
    turn = _transfer(first, store, local_register, memory_register, registers)
    if memory_step:
        compared, last = memory_register, Number(memory.value + (count - 1) * memory_step, memory.address)
    else:
        compared, last = local_register, Number(local.value + (count - 1) * local_step)
    branch = Instruction(Operation.BNE, compared, registers.holding(last), immediate=-1)
    emit(Piece((turn, branch, _added(memory_register, memory_step), _added(local_register, local_step))))
    if memory_step:
        registers.settle(memory_register, Number(memory.value + count * memory_step, memory.address))
    if local_step:
        registers.settle(local_register, Number(local.value + count * local_step))


def _added(register: int, amount: int) -> Instruction:
    """A delay slot."""
    return Instruction(Operation.ADDI, register, register, immediate=amount) if amount else NOP
