"""Registers as a cache of numbers: which register holds what, and the cheapest way to a number that none holds."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from mapper.arch.snowflake import REGISTERS
from mapper.models.trace_partition.isa.instruction import REACH, Instruction, Operation

CODE_REGISTER = REGISTERS - 1
"""Holds where the next bank of instructions lies in memory."""
FREE_REGISTERS = REGISTERS - 2
"""All but r0 and `CODE_REGISTER`."""
NOP = Instruction(Operation.ADDI)
_HALF = 1 << 16
_WORD = 1 << 32


@dataclass(frozen=True, slots=True)
class Piece:
    """Instructions that stay together: one, a loop with all that it holds, or the two that load an address
    (``address``), whose immediates move with the program."""

    instructions: tuple[Instruction, ...]
    address: bool = False


@dataclass(frozen=True, slots=True)
class Number:
    """A number of 32 bits, or an address in memory, counted from where the program lies."""

    value: int
    address: bool = False


class RegisterFile:
    """What every register holds at the present place of straight code.

    A number that some register holds is used from there; otherwise the register that was used longest ago is loaded:
    by ADDI from a register that holds a near number of the same kind, else by MOVI, and MOVI.H if it is long. Nothing
    is ever spilled. ``emit`` takes the instructions that this needs.
    """

    def __init__(self, emit: Callable[[Piece], None]) -> None:
        self._emit = emit
        self._held: dict[int, Number] = {}
        self._where: dict[Number, int] = {}
        self._age: OrderedDict[int, None] = OrderedDict.fromkeys(range(1, CODE_REGISTER))
        self._pinned: set[int] = set()

    def holding(self, number: Number) -> int:
        """A register that holds ``number`` and that nobody may change."""
        if number == Number(0):
            return 0
        register = self._where.get(number)
        if register is None:
            register = self._oldest()
            self._load(register, number)
            self._held[register] = number
            self._where[number] = register
        self._age.move_to_end(register)
        return register

    def own(self, number: Number) -> int:
        """A register with ``number`` that the caller changes, until `settle`."""
        register = self._oldest()
        self._load(register, number)
        self._age.move_to_end(register)
        self._pinned.add(register)
        return register

    def free(self, register: int) -> None:
        """An own register is free again; what it holds is unknown."""
        self._pinned.discard(register)

    def pin(self, register: int) -> None:
        """``register`` keeps its number until `release`."""
        self._pinned.add(register)

    def settle(self, register: int, number: Number) -> None:
        """An own register is free again and holds ``number``."""
        self._pinned.discard(register)
        number = Number(number.value % _WORD, number.address)
        if number not in self._where and number != Number(0):
            self._held[register] = number
            self._where[number] = register

    def release(self) -> None:
        """What was pinned may go; own registers are settled or freed before."""
        self._pinned.clear()

    def _oldest(self) -> int:
        for register in self._age:
            if register not in self._pinned:
                return register
        raise AssertionError(f"a loop asked for more than {FREE_REGISTERS} registers")

    def _load(self, register: int, number: Number) -> None:
        value = number.value
        if number.address or value >= _HALF:
            near, distance = self._nearest(number)
        else:
            near, distance = -1, 0
        self._forget(register)
        if near >= 0:
            self._emit(Piece((Instruction(Operation.ADDI, register, near, immediate=distance),)))
            return
        low = Instruction(Operation.MOVI, register, immediate=value % _HALF)
        if not number.address and value < _HALF:
            self._emit(Piece((low,)))
        else:
            high = Instruction(Operation.MOVI, register, immediate=value // _HALF, high=True)
            self._emit(Piece((low, high), number.address))

    def _nearest(self, number: Number) -> tuple[int, int]:
        """The register with the nearest number of the same kind and how far it is, or -1 if all are out of reach."""
        best, least = -1, REACH
        if not number.address and number.value < REACH:
            best, least = 0, number.value
        for register, held in self._held.items():
            if held.address == number.address and abs(number.value - held.value) < abs(least):
                best, least = register, number.value - held.value
        return best, least

    def _forget(self, register: int) -> None:
        held = self._held.pop(register, None)
        if held is not None:
            del self._where[held]
