"""The assembler's mnemonics (docs/snowflake/machine.md): every operation with its flags spelt out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from mapper.models.trace_partition.isa.instruction import (
    ALL_UNITS,
    CLIP,
    COOP_MOVE,
    DEAL,
    MAX_START,
    MAX_TABLE,
    RELU,
    START_SHIFT,
    TABLE_MOVE,
    UNITS_SHIFT,
    WIDE,
    WRITE,
    Instruction,
    MacMode,
    Move,
    Operation,
    Queue,
    Start,
    Target,
)


@dataclass(frozen=True)
class Mnemonic:
    """``text`` stands for an operation with these bits; ``registers`` are the fields that it writes out, in order,
    and ``immediate`` says whether a number follows them."""

    text: str
    operation: Operation
    registers: str
    immediate: bool = False
    flags: int = 0
    queue: int = 0
    high: bool = False


_UNITS = {**{unit: str(unit) for unit in range(4)}, ALL_UNITS: "A", DEAL: "D"}
_TARGETS = {Target.BUF: "B", Target.WBUF: "W", Target.FILL: "F"}
_STARTS = {Start.CONTINUE: "CONT", Start.BIAS: "BIAS", Start.INITIAL: "INIT", Start.ZERO: "ZERO"}
_MOVES = {Move.BIAS: "BIAS", Move.ADD: "ADD", Move.PARTIAL: "PART"}


def _options(*options: tuple[str, int]) -> Iterator[tuple[str, int]]:
    """Every choice of optional letters, each standing for a flag."""
    for taken in product((False, True), repeat=len(options)):
        chosen = [option for option, there in zip(options, taken, strict=True) if there]
        yield "".join(f".{letter}" for letter, _ in chosen), sum(flag for _, flag in chosen)


def _all() -> Iterator[Mnemonic]:
    yield Mnemonic("HALT", Operation.HALT, "", immediate=True)
    yield Mnemonic("MOVI", Operation.MOVI, "a", immediate=True)
    yield Mnemonic("MOVI.H", Operation.MOVI, "a", immediate=True, high=True)
    yield Mnemonic("ADD", Operation.ADD, "abc")
    for operation in (Operation.ADDI, Operation.BNE, Operation.BLT):
        yield Mnemonic(operation.name, operation, "ab", immediate=True)
    for queue in Queue:
        yield Mnemonic(f"WAIT.{queue.name}", Operation.WAIT, "", immediate=True, queue=queue)
    yield Mnemonic("SYNC", Operation.SYNC, "")
    yield Mnemonic("LD.I", Operation.LD, "b", flags=Target.CODE)
    for (target, letter), (units, name) in product(_TARGETS.items(), _UNITS.items()):
        if target is not Target.FILL or units != DEAL:
            yield Mnemonic(f"LD.{letter}.{name}", Operation.LD, "abcd", flags=target | units << UNITS_SHIFT)
    for unit in range(4):
        yield Mnemonic(f"TMOV.{unit}", Operation.TMOV, "abcd", flags=unit << UNITS_SHIFT)
    for (move, name), (letters, flags) in product(_MOVES.items(), _options(("C", COOP_MOVE))):
        yield Mnemonic(f"VMOV.{name}{letters}", Operation.VMOV, "bc", flags=move | flags)
    yield Mnemonic("VMOV.CLIP", Operation.VMOV, "bc", flags=Move.CLIP)
    yield Mnemonic("VMOV.TABLE", Operation.VMOV, "bc", flags=TABLE_MOVE)
    for mode, (start, name), (letters, flags) in product(
        MacMode, _STARTS.items(), _options(("W", WRITE), ("X", WIDE), ("R", RELU), ("K", CLIP))
    ):
        text = f"MAC.{mode.name}.{name}{letters}"
        yield Mnemonic(text, Operation.MAC, "abcd", flags=mode | start << START_SHIFT | flags)
    for letters, flags in _options(
        ("S", MAX_START), ("T", MAX_TABLE), ("W", WRITE), ("R", RELU), ("K", CLIP)
    ):
        yield Mnemonic(f"MAX{letters}", Operation.MAX, "abc", flags=flags)


MNEMONICS = {mnemonic.text: mnemonic for mnemonic in _all()}
_BY_BITS = {(m.operation, m.flags, m.queue, m.high): m for m in MNEMONICS.values()}


def mnemonic_of(instruction: Instruction) -> Mnemonic:
    """The mnemonic of an instruction that `encode` takes."""
    queue = instruction.a if instruction.operation is Operation.WAIT else 0
    return _BY_BITS[instruction.operation, instruction.flags, queue, instruction.high]


def written(instruction: Instruction, target: str | None = None) -> str:
    """An instruction as the assembler reads it, its immediate as ``target`` where that is given."""
    mnemonic = mnemonic_of(instruction)
    operands = [f"r{getattr(instruction, field)}" for field in mnemonic.registers]
    if mnemonic.immediate:
        operands.append(str(instruction.immediate) if target is None else target)
    return f"{mnemonic.text} {', '.join(operands)}".rstrip()
