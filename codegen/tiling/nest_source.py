"""What every program of a nest has: the tensors' types, the arithmetic, and the nest as it is written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from mapper.codegen.tiling.text import Writer, counted, indexed, subscripts
from mapper.workloads.nest.loop_nest import LoopNest, Operand
from mapper.workloads.nest.tensor import Tensor

MAKEFILE = """\
CC ?= cc
CFLAGS ?= -O2 -std=c11 -Wall -Wextra

nest: $(wildcard *.c *.h *.inc)
\t$(CC) $(CFLAGS) -o $@ $(wildcard *.c)

run: nest
\t./nest

clean:
\trm -f nest

.PHONY: run clean
"""


class Stored(Protocol):
    """An operand and its tensor, with the C type of a word."""

    @property
    def operand(self) -> Operand: ...
    @property
    def tensor(self) -> Tensor: ...
    @property
    def word(self) -> str: ...


class Program(Protocol):
    """A nest as a program stores it, and which of its operands is written."""

    @property
    def nest(self) -> LoopNest: ...
    @property
    def buffers(self) -> Sequence[Stored]: ...
    @property
    def written(self) -> int: ...


def tensors_of(tiles: Program) -> dict[str, Stored]:
    """An operand of each tensor, in the order of the tensors."""
    found: dict[str, Stored] = {}
    for buffered in tiles.buffers:
        found.setdefault(buffered.tensor.name, buffered)
    return found


def words_of(tiles: Program) -> list[str]:
    """Each operand's word in its tensor, loops being ``i_...``."""
    digits = {loop: [(1, f"i_{loop}")] for loop in tiles.nest.loops}
    return [
        indexed(
            f"(*dram_{buffered.tensor.name})",
            subscripts(buffered.operand, digits, buffered.tensor.low),
        )
        for buffered in tiles.buffers
    ]


def declarations(writer: Writer, tiles: Program, functions: Sequence[str]) -> None:
    """What ``nest.h`` says after its comment: the tensors' types, ``functions`` on them, and the arithmetic."""
    writer.line("#ifndef NEST_H")
    writer.line("#define NEST_H")
    writer.line()
    writer.line("#include <stdint.h>")
    writer.line()
    writer.line("/* Tensors as they lie in memory, the last dimension contiguous. */")
    for name, buffered in tensors_of(tiles).items():
        shape = map(str, buffered.tensor.shape)
        writer.line(f"typedef {buffered.word} {indexed(f'tensor_{name}', shape)};")
    writer.line()
    parameters = ", ".join(f"tensor_{name} *dram_{name}" for name in tensors_of(tiles))
    for function in functions:
        writer.line(f"void {function}({parameters});")
    writer.line()
    writer.line("/* Arithmetic modulo 2^64. */")
    for function, sign in (("add", "+"), ("multiply", "*")):
        writer.open(f"static inline int64_t {function}(int64_t a, int64_t b)")
        writer.line(f"return (int64_t)((uint64_t)a {sign} (uint64_t)b);")
        writer.close()
        writer.line()
    writer.line("#endif")


def statement(tiles: Program, reads: Sequence[str]) -> str:
    """The value of the statement from its read operands."""
    function, value = ("multiply", "1") if tiles.nest.operation == "multiply_add" else ("add", "0")
    for position, read in enumerate(reversed(reads)):
        value = read if position == 0 else f"{function}({read}, {value})"
    return value


def reference_source(tiles: Program, nest: LoopNest) -> str:
    """``reference.c``: ``nest`` as it is written, on the tensors of ``tiles``."""
    writer = Writer()
    writer.line('#include "nest.h"')
    writer.line()
    parameters = ", ".join(f"tensor_{name} *dram_{name}" for name in tensors_of(tiles))
    writer.open(f"void reference_nest({parameters})")
    count = writer.nested([counted(f"i_{loop}", bound) for loop, bound in nest.bounds])
    words = words_of(tiles)
    reads = [word for word, operand in zip(words, nest.operands, strict=True) if operand.access == "read"]
    value, target = statement(tiles, reads), words[tiles.written]
    updated = nest.operands[tiles.written].is_updated
    writer.line(f"{target} = {f'add({target}, {value})' if updated else value};")
    writer.close(count + 1)
    return writer.text()
