"""The registers that a program takes, numbered as they are asked for, and how a result leaves the PE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mapper.arch.processing_element import Latency
from mapper.models.pe_allocation.word.operation import UNIT_OF, Fifo, Name, Operation, Port, Register

Timed = tuple[int, Operation]
"""An operation, and how many cycles after its iteration's begin it is issued."""


def cycles_of(name: Name, latency: Latency) -> int:
    """Cycles from issue to result."""
    unit = UNIT_OF[name]
    found = {
        "multiplier": latency.multiply,
        "adder": latency.add,
        "comparator": latency.compare,
        "shifter": latency.shift,
        "mover": latency.move,
        "table": latency.table,
    }
    return found[unit]


@dataclass
class RegisterFile:
    """What a program has taken so far; the place of an item is its register's number."""

    latency: Latency
    constants: list[int] = field(default_factory=list)
    fifos: list[Fifo] = field(default_factory=list)
    ports: list[Port] = field(default_factory=list)
    maps: list[tuple[int, ...]] = field(default_factory=list)
    table: tuple[int, ...] = ()
    registers: int = 0
    bits: int = 1

    def data(self) -> Register:
        self.registers += 1
        return Register("RD", self.registers - 1)

    def constant(self, value: int) -> Register:
        """A register that holds ``value``; one for all that ask for the same."""
        if value not in self.constants:
            self.constants.append(value)
            self.holds(abs(value))
        return Register("RC", self.constants.index(value))

    def fifo(self, fifo: Fifo) -> Register:
        self.fifos.append(fifo)
        return Register("FD", len(self.fifos) - 1)

    def input(self, port: Port) -> Register:
        self.ports.append(port)
        return Register("ID", len(self.ports) - 1)

    def output(self, maps: tuple[int, ...]) -> Register:
        self.maps.append(maps)
        return Register("OD", len(self.maps) - 1)

    def holds(self, largest: int) -> None:
        """Numbers of up to ``largest`` in size stand in registers."""
        self.bits = max(self.bits, largest.bit_length() + 1)

    def after(self, name: Name) -> int:
        """Cycles from the issue of such an operation to its result."""
        return cycles_of(name, self.latency)


Following = tuple[Name, Register | None]
"""An operation on the number so far, and its other operand (None: it has none)."""


class Finish:
    """From a sum to a result: operations one after another, the last of which writes ``output``.

    ``entry``: where the sum is to be written; ``cycles``: from there to the result.
    """

    def __init__(self, file: RegisterFile, steps: Sequence[Following], output: Register) -> None:
        self.file, self.output, self.steps = file, output, steps
        self.entry = file.data() if steps else output
        self.between = [file.data() for _ in steps[1:]]
        self.cycles = sum(file.after(name) for name, _ in steps)

    def operations(self, at: int, operand: Register | None = None) -> list[Timed]:
        """What is issued from cycle ``at`` on, when ``operand`` (else ``entry``) can be read."""
        value = self.entry if operand is None else operand
        if not self.steps:
            return [] if operand is None else [(at, Operation("mov", self.output, operand, operand))]
        found = []
        for (name, other), to in zip(self.steps, [*self.between, self.output], strict=True):
            found.append((at, Operation(name, to, value, other or value)))
            at, value = at + self.file.after(name), to
        return found


def divided(file: RegisterFile, divisor: int, largest: int) -> list[Following]:
    """To the whole part of x / ``divisor``, for all x from 0 to ``largest``, as a product and a shift.

    With M = ceil(2^k / d) and e = M d - 2^k, x M / 2^k is x / d + x e / (d 2^k). The remainder of x / d leaves a d-th
    to the next whole number at the least, so that it is not reached while x e < 2^k.
    """
    if divisor & (divisor - 1) == 0:
        bits = divisor.bit_length() - 1
        return [("asr", file.constant(bits))] if bits else []
    bits = 0
    while True:
        factor = -(-(1 << bits) // divisor)
        if (factor * divisor - (1 << bits)) * largest < 1 << bits:
            file.holds(factor * largest)
            return [("mul", file.constant(factor)), ("asr", file.constant(bits))]
        bits += 1
