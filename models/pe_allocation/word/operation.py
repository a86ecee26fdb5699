"""Words of a PE's program, and the program as a whole.

A word holds an operation for each unit at work, and where the program goes on: the loop controller of the array sends a
signal in every cycle, and the branch unit takes the word that the signal leads to. Words that no signal leads to an
operation in are idle cycles.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from mapper.models.pe_allocation.configuration.address import Affine

Bank = Literal["RD", "FD", "ID", "IK", "RC", "OD"]
BANKS: tuple[Bank, ...] = ("RD", "FD", "ID", "IK", "RC", "OD")
"""Registers: data, feedback FIFO, input, input whose word stays there, constant, output."""
Unit = Literal["multiplier", "adder", "comparator", "shifter", "mover", "table"]
UNITS: tuple[Unit, ...] = ("multiplier", "adder", "comparator", "shifter", "mover", "table")
Name = Literal["mul", "add", "sub", "max", "min", "asr", "asl", "mov", "tab"]
NAMES: tuple[Name, ...] = ("mul", "add", "sub", "max", "min", "asr", "asl", "mov", "tab")
UNIT_OF: dict[Name, Unit] = {
    "mul": "multiplier", "add": "adder", "sub": "adder", "max": "comparator", "min": "comparator",
    "asr": "shifter", "asl": "shifter", "mov": "mover", "tab": "table",
}  # fmt: skip


@dataclass(frozen=True, order=True)
class Register:
    """A register by its bank and number. Reading FD or ID takes the word out; a word that is read as IK stays."""

    bank: Bank
    number: int

    def __str__(self) -> str:
        return f"{'ID' if self.bank == 'IK' else self.bank}{self.number}{'!' if self.bank == 'IK' else ''}"


@dataclass(frozen=True)
class Operation:
    """``to`` becomes ``first`` NAME ``second``. ``asr`` and ``asl`` shift right and left, ``tab`` looks up the entry of
    the table that lies ``first`` behind its middle; it and ``mov`` have one operand, which stands as ``second`` too."""

    name: Name
    to: Register
    first: Register
    second: Register

    @property
    def place(self) -> tuple[int, Register, Register, Register]:
        """Where it stands in its word: by units, then by registers."""
        return NAMES.index(self.name), self.to, self.first, self.second

    def __str__(self) -> str:
        operands = f"{self.first}" if self.name in ("mov", "tab") else f"{self.first}, {self.second}"
        return f"{self.name} {self.to}, {operands}"


@dataclass(frozen=True)
class Word:
    """Operations that are issued in one cycle, and for each signal that may come next (0: none) the word after it."""

    operations: tuple[Operation, ...]
    branches: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Fifo:
    """A feedback FIFO: its room in words; ``cyclic`` ones get every word back that is read. ``content`` is written
    when the array is configured."""

    room: int
    cyclic: bool = False
    content: tuple[int, ...] = ()


@dataclass(frozen=True)
class Port:
    """What feeds an input register: an address generator at the buffer of ``source``.

    ``addresses``: those of one position's words in their order; weights lie as [m][n][k1][k2], a window's pixels as
    [k1][k2][map]. ``ahead``: cycles that a word waits in the register's FIFO before it is read. ``offsets``: what each
    turn of the innermost loop adds where that is no multiple of a stride (none given: nothing). ``values``: what each
    position of a frame reads, where the source is ``positions``.
    """

    source: Literal["weights", "pixels", "positions"]
    addresses: Affine
    ahead: int = 0
    offsets: tuple[int, ...] = ()
    values: tuple[int, ...] = ()


@dataclass(frozen=True)
class Code:
    """The program of a PE, as its bits hold it. The first word is that of a PE at rest; ``table`` has an entry for
    every word of a pixel, from the least on, or none."""

    words: tuple[Word, ...]
    constants: tuple[int, ...]
    fifos: tuple[Fifo, ...]
    registers: int
    inputs: int
    outputs: int
    table: tuple[int, ...] = ()

    @property
    def units(self) -> dict[Unit, int]:
        """Operations of every sort that a word holds at most."""
        most = dict.fromkeys(UNITS, 0)
        for word in self.words:
            for unit in UNITS:
                used = sum(UNIT_OF[operation.name] == unit for operation in word.operations)
                most[unit] = max(most[unit], used)
        return most

    @property
    def signals(self) -> int:
        """The largest number of a signal."""
        return max((signal for word in self.words for signal, _ in word.branches), default=0)


@dataclass(frozen=True)
class Assembled:
    """A PE's program with what works beside it.

    ``maps``: for each output register the maps of a position's results, in their order. ``final``: cycles from the
    issue of a position's last step until its last result can be read. ``counts``: how often the loops k1, k2, n and m
    run for a position, and ``signals`` [kind of k1, k2, n][m] what the loop controller sends (``assembler.kind_of``).
    """

    code: Code
    ports: tuple[Port, ...]
    maps: tuple[tuple[int, ...], ...]
    final: int
    counts: tuple[int, int, int, int]
    signals: tuple[tuple[int, ...], ...] = field(repr=False)
