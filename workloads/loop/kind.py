"""Types of values: what registers compute, and what memory holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mapper.workloads.graph.kernel import WordKind

Kind = Literal["int", "unsigned", "long", "ulong", "float", "double"]
"""What an operation computes: integers of 32 and of 64 bits, with sign or without, and floats."""

SUFFIX: dict[Kind, str] = {
    "int": "",
    "unsigned": "",
    "long": ".i64",
    "ulong": ".i64",
    "float": "",
    "double": ".f64",
}
"""Per kind the end of its opcodes."""
SHORT: dict[Kind, str] = {
    "int": "i32",
    "unsigned": "u32",
    "long": "i64",
    "ulong": "u64",
    "float": "f32",
    "double": "f64",
}
"""Per kind its name in opcodes of conversions."""
RANK: tuple[Kind, ...] = ("int", "unsigned", "long", "ulong", "float", "double")
"""Of two operands the one that comes later gives the kind of the result."""
FLOATING = frozenset({"float", "double"})
UNSIGNED = frozenset({"unsigned", "ulong"})
WIDE = frozenset({"long", "ulong"})


@dataclass(frozen=True)
class ValueType:
    """A type of scalars: ``kind`` computes it, ``word`` holds it in memory."""

    kind: Kind
    word: WordKind

    @property
    def narrow(self) -> int | None:
        """Its bits if they are fewer than those of its kind."""
        return {"int8": 8, "uint8": 8, "int16": 16, "uint16": 16}.get(self.word)


INT = ValueType("int", "int32")
UNSIGNED_INT = ValueType("unsigned", "int32")
LONG = ValueType("long", "int64")
ULONG = ValueType("ulong", "int64")
FLOAT = ValueType("float", "float32")
DOUBLE = ValueType("double", "float64")
CHAR, UCHAR = ValueType("int", "int8"), ValueType("int", "uint8")
SHORT_INT, USHORT = ValueType("int", "int16"), ValueType("int", "uint16")


def bits_of(kind: Kind) -> int:
    """How many bits an integer of ``kind`` has."""
    return 64 if kind in WIDE else 32


def opcode(name: str, kind: Kind) -> str:
    """``name`` as an operation on ``kind``."""
    return name + SUFFIX[kind]


def conversion(source: Kind, target: Kind) -> str:
    """The opcode that makes a ``target`` of a ``source``."""
    names = {("int", "float"): "itof", ("float", "int"): "ftoi"}
    return names.get((source, target), f"{SHORT[source]}_to_{SHORT[target]}")


@dataclass(frozen=True)
class ArrayShape:
    """An array as declared: the type of its words, its sizes (the first of which may be left open), and ``aliases``:
    whether other such arrays may lie in the same memory."""

    type: ValueType
    sizes: tuple[int | None, ...]
    aliases: bool = False

    @property
    def words(self) -> int | None:
        """How many words it has, None if its first size is open."""
        total = 1
        for size in self.sizes:
            if size is None:
                return None
            total *= size
        return total


def may_overlap(first: str, second: str, aliases: frozenset[str]) -> bool:
    """Whether two arrays may lie in the same memory: two of ``aliases`` that are no members of the same structures."""
    return {first, second} <= aliases and (
        first == second or first.partition(".")[0] != second.partition(".")[0]
    )
