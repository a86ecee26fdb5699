"""``llvm.memcpy``, ``memmove`` and ``memset`` of a few words as loads and stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mapper.workloads.graph.opcode import wrapped
from mapper.workloads.llvm.module import Instruction, IrLoop
from mapper.workloads.llvm.type import BYTES, SCALARS
from mapper.workloads.loop.body import Value, integer, zero
from mapper.workloads.loop.kind import FLOATING, ValueType, bits_of, opcode

if TYPE_CHECKING:
    from mapper.workloads.llvm.instruction import Instructions

COPIES = ("memcpy", "memmove", "memset")
MOST_COPIED = 64
"""Words that one call copies or sets."""


def copy(
    lines: Instructions, at: Instruction, name: str, operands: list[Any], predicate: Value | None
) -> None:
    """Lowers a call of ``name``, one of ``COPIES``, word by word: all are read before one is written.

    Raises: InputError if the words are not known, or are too many.
    """
    target, source, size = operands[:3]
    pointers = [target] if name == "memset" else [target, source]
    written = next((found for one in pointers if (found := _written(lines.loop, one)) is not None), "i8")
    count, width = lines.operand(size, at).literal, BYTES[written]
    if count is None or count < 0 or count % width or count // width > MOST_COPIED:
        remedy = f"{name} of what is no known number of whole words, at most {MOST_COPIED}; write a loop"
        raise lines.loop.fault(at, remedy)
    array, index, wanted = lines.access(target, at, written)
    if name == "memset":
        words = [_byte(lines, at, lines.operand(source, at), wanted)] * (count // width)
    else:
        other, start, _ = lines.access(source, at, written)
        indices = _indices(lines, start, count // width)
        words = [lines.body.load(other, wanted.kind, one, predicate) for one in indices]
    for one, word in zip(_indices(lines, index, len(words)), words, strict=True):
        lines.body.store(array, wanted.kind, one, word, predicate)


def _written(loop: IrLoop, pointer: Any) -> str | None:
    """The type of the words that the loop reads or writes where ``pointer`` leads, if it does."""
    base = _base(loop, pointer)
    for one in loop.inside.values():
        if one.opcode == "load" and _base(loop, next(iter(one.operands))) == base:
            return str(one.type) if str(one.type) in SCALARS else None
    for block in loop.blocks:
        for one in block.instructions:
            if one.opcode == "store":
                value, place = one.operands
                if _base(loop, place) == base:
                    return str(value.type) if str(value.type) in SCALARS else None
    return None


def _base(loop: IrLoop, pointer: Any) -> str:
    name = str(pointer.name)
    while name in loop.inside and loop.inside[name].opcode == "getelementptr":
        name = str(next(iter(loop.inside[name].operands)).name)
    return name


def _indices(lines: Instructions, start: Value, count: int) -> list[Value]:
    add, kind = opcode("add", start.kind), start.kind
    return [lines.body.operation(add, (start, integer(word, kind)), kind) for word in range(count)]


def _byte(lines: Instructions, at: Instruction, value: Value, wanted: ValueType) -> Value:
    """A word of bytes that are all ``value``."""
    if wanted.narrow == 8:
        return value
    if value.literal is None or (value.literal % 256 and wanted.kind in FLOATING):
        remedy = "memset of words to what is no constant, or of floats to other than 0; write a loop"
        raise lines.loop.fault(at, remedy)
    if wanted.kind in FLOATING:
        return zero(wanted.kind)
    width = (wanted.narrow or bits_of(wanted.kind)) // 8
    number = int.from_bytes(bytes([value.literal % 256]) * width, "little")
    return integer(wrapped(number, 8 * width), wanted.kind)
