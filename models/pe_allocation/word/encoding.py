"""Programs of PEs as bits, and back.

A program is a row of bits, the first of a byte its most significant one: a header of numbers (``HEADER``), the
constants, the table, the feedback FIFOs (room, whether cyclic, number of words, words), and the words, all of the
same length. A word has a slot for each unit, sort by sort: the operation (0: none), and its three registers as bank and
number; and then its branches, each a signal and the word that it leads to; the last of them stands again where a word
has fewer.
"""

from __future__ import annotations

from collections.abc import Sequence

from mapper.models.pe_allocation.word.operation import (
    BANKS,
    NAMES,
    UNIT_OF,
    UNITS,
    Code,
    Fifo,
    Name,
    Operation,
    Register,
    Unit,
    Word,
)
from mapper.workloads.document import InputError

MAGIC = b"TCPA-PE1"
HEADER = (
    *((unit, 16) for unit in UNITS), ("registers", 16), ("inputs", 16), ("outputs", 16), ("constants", 16),
    ("table", 24), ("fifos", 16), ("words", 24), ("branches", 16), ("number_bits", 8), ("signal_bits", 8),
    ("target_bits", 8), ("register_bits", 8),
)  # fmt: skip
"""What a program's bits begin with, and how many bits each has."""
OPERATION_BITS = BANK_BITS = 3
ROOM_BITS = 24
OPERATIONS: dict[Unit, tuple[Name, ...]] = {
    unit: tuple(name for name in NAMES if UNIT_OF[name] == unit) for unit in UNITS
}
MOST_SLOTS, MOST_BITS = 1 << 16, 62


class _Writer:
    def __init__(self) -> None:
        self.bits: list[str] = []

    def put(self, value: int, width: int) -> None:
        if not 0 <= value < 1 << width:
            raise ValueError(f"{value} does not fit {width} bits")
        if width:
            self.bits.append(f"{value:0{width}b}")

    def put_signed(self, value: int, width: int) -> None:
        if not -(1 << (width - 1)) <= value < 1 << (width - 1):
            raise ValueError(f"{value} does not fit {width} bits")
        self.put(value & ((1 << width) - 1), width)

    def to_bytes(self) -> bytes:
        text = "".join(self.bits)
        text += "0" * (-len(text) % 8)
        return int(text or "0", 2).to_bytes(len(text) // 8, "big")


class _Reader:
    def __init__(self, data: bytes, source: str) -> None:
        self.bits = "".join(f"{byte:08b}" for byte in data)
        self.at, self.source = 0, source

    def take(self, width: int) -> int:
        if self.at + width > len(self.bits):
            raise self.fault("ends within a program")
        self.at += width
        return int(self.bits[self.at - width : self.at], 2) if width else 0

    def take_signed(self, width: int) -> int:
        value = self.take(width)
        return value - (1 << width) if width and value >> (width - 1) else value

    def fault(self, said: str) -> InputError:
        return InputError(self.source, f"bit {self.at}", f"{said}; generate the file again")


def header_of(code: Code, register_bits: int) -> dict[str, int]:
    """The numbers at the head of a program's bits."""
    numbers = (code.registers, code.inputs, code.outputs, len(code.constants), len(code.fifos))
    return {
        **{str(unit): used for unit, used in code.units.items()},
        "registers": code.registers,
        "inputs": code.inputs,
        "outputs": code.outputs,
        "constants": len(code.constants),
        "table": len(code.table),
        "fifos": len(code.fifos),
        "words": len(code.words),
        "branches": max(len(word.branches) for word in code.words),
        "number_bits": max(numbers).bit_length(),
        "signal_bits": code.signals.bit_length(),
        "target_bits": (len(code.words) - 1).bit_length(),
        "register_bits": register_bits,
    }


def word_bits(head: dict[str, int]) -> int:
    """Bits of a word."""
    slots = sum(head[unit] for unit in UNITS)
    register = BANK_BITS + head["number_bits"]
    branch = head["signal_bits"] + head["target_bits"]
    return slots * (OPERATION_BITS + 3 * register) + head["branches"] * branch


def encode(code: Code, register_bits: int) -> bytes:
    """The bits of a program, filled up to whole bytes."""
    out, head = _Writer(), header_of(code, register_bits)
    for name, width in HEADER:
        out.put(head[name], width)
    for value in (*code.constants, *code.table):
        out.put_signed(value, register_bits)
    for fifo in code.fifos:
        out.put(fifo.room, ROOM_BITS)
        out.put(fifo.cyclic, 1)
        out.put(len(fifo.content), ROOM_BITS)
        for value in fifo.content:
            out.put_signed(value, register_bits)
    for word in code.words:
        _put_word(out, word, head)
    return out.to_bytes()


def _put_word(out: _Writer, word: Word, head: dict[str, int]) -> None:
    register = BANK_BITS + head["number_bits"]
    for unit in UNITS:
        own = [operation for operation in word.operations if UNIT_OF[operation.name] == unit]
        for operation in own:
            out.put(1 + OPERATIONS[unit].index(operation.name), OPERATION_BITS)
            for one in (operation.to, operation.first, operation.second):
                out.put(BANKS.index(one.bank), BANK_BITS)
                out.put(one.number, head["number_bits"])
        out.put(0, (head[unit] - len(own)) * (OPERATION_BITS + 3 * register))
    for number in range(head["branches"]):
        signal, target = word.branches[min(number, len(word.branches) - 1)]
        out.put(signal, head["signal_bits"])
        out.put(target, head["target_bits"])


def decode(data: bytes, source: str) -> Code:
    """The program that these bits are.

    Raises: InputError if they are none.
    """
    bits = _Reader(data, source)
    head = {name: bits.take(width) for name, width in HEADER}
    width = head["register_bits"]
    if not 16 <= width <= MOST_BITS or sum(head[unit] for unit in UNITS) > MOST_SLOTS or not head["words"]:
        raise bits.fault("is no program of a PE")
    constants = tuple(bits.take_signed(width) for _ in range(head["constants"]))
    table = tuple(bits.take_signed(width) for _ in range(head["table"]))
    fifos = []
    for _ in range(head["fifos"]):
        room, cyclic = bits.take(ROOM_BITS), bool(bits.take(1))
        content = tuple(bits.take_signed(width) for _ in range(bits.take(ROOM_BITS)))
        if len(content) > room:
            raise bits.fault("has a FIFO with more words than room")
        fifos.append(Fifo(room, cyclic, content))
    if head["words"] * max(1, word_bits(head)) > len(bits.bits):
        raise bits.fault("ends within a program")
    words = tuple(_take_word(bits, head) for _ in range(head["words"]))
    return Code(words, constants, tuple(fifos), head["registers"], head["inputs"], head["outputs"], table)


def _take_word(bits: _Reader, head: dict[str, int]) -> Word:
    operations = []
    for unit in UNITS:
        for _ in range(head[unit]):
            number = bits.take(OPERATION_BITS)
            to, first, second = (_take_register(bits, head, number > 0) for _ in range(3))
            if number > len(OPERATIONS[unit]):
                raise bits.fault(f"has an operation that no {unit} knows")
            if number:
                operations.append(Operation(OPERATIONS[unit][number - 1], to, first, second))
    branches = {}
    for _ in range(head["branches"]):
        signal, target = bits.take(head["signal_bits"]), bits.take(head["target_bits"])
        if target >= head["words"]:
            raise bits.fault("leads to a word that there is not")
        branches[signal] = target
    return Word(tuple(sorted(operations, key=lambda one: one.place)), tuple(sorted(branches.items())))


def _take_register(bits: _Reader, head: dict[str, int], is_used: bool) -> Register:
    bank, number = bits.take(BANK_BITS), bits.take(head["number_bits"])
    if not is_used:
        return Register("RD", 0)
    if bank >= len(BANKS):
        raise bits.fault("names a register of no bank")
    counts = dict(zip(BANKS, ("registers", "fifos", "inputs", "inputs", "constants", "outputs"), strict=True))
    if number >= head[counts[BANKS[bank]]]:
        raise bits.fault("names a register that there is not")
    return Register(BANKS[bank], number)


def write_programs(codes: Sequence[Code | None], register_bits: int) -> bytes:
    """A file of the programs of a layer's PEs; one that has nothing to do has no bits."""
    parts = [b"" if code is None else encode(code, register_bits) for code in codes]
    lengths = b"".join(len(part).to_bytes(4, "big") for part in parts)
    return MAGIC + len(parts).to_bytes(4, "big") + lengths + b"".join(parts)


def read_programs(data: bytes, source: str) -> tuple[Code | None, ...]:
    """The programs of such a file.

    Raises: InputError if it is none.
    """
    head = len(MAGIC) + 4
    count = int.from_bytes(data[len(MAGIC) : head], "big")
    if data[: len(MAGIC)] != MAGIC or len(data) < head + 4 * count:
        raise InputError(source, "bit 0", "is no file of PE programs; generate it again")
    lengths = [int.from_bytes(data[at : at + 4], "big") for at in range(head, head + 4 * count, 4)]
    at = head + 4 * count
    if at + sum(lengths) != len(data):
        raise InputError(source, f"bit {8 * at}", "has more or fewer bits than it says; generate it again")
    found: list[Code | None] = []
    for length in lengths:
        found.append(decode(data[at : at + length], source) if length else None)
        at += length
    return tuple(found)
