"""A mapped nest as a C program that checks itself against the nest as written."""

from __future__ import annotations

from mapper.arch.dataflow import DataflowMachine
from mapper.codegen.tiling.array_program import MOST_LINES, array_program
from mapper.codegen.tiling.array_source import array_files, tables
from mapper.codegen.tiling.mapped import mapped_source, statement
from mapper.codegen.tiling.text import Writer, check_names, counted, indexed, subscripts
from mapper.codegen.tiling.tile import Buffered, Tiles, tiles_of
from mapper.models.tiling.mapping import TilingMapping
from mapper.workloads.document import InputError
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.nest.tensor import INCREMENT, LEAST, MULTIPLIER, first_state
from mapper.workloads.text.plain_text import ascii_comment

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


def generate_c(
    nest: LoopNest, machine: DataflowMachine, mapping: TilingMapping, seed: int = 0
) -> dict[str, str]:
    """The mapped nest as C11: file names and their text.

    ``mapped.c`` holds the tiled loops of [Dave2019], Fig. 4(b), with their buffers, ``reference.c`` the nest as
    written; ``main.c`` fills the tensors with seeded integers from -8 to 7, runs both and compares them word
    by word. It prints a checksum (the sum of words times their position from 1, modulo 2^64) with ``OK`` or
    ``MISMATCH`` and returns 0 or 1. Tensors that are only read are ``int32_t``, the written one is
    ``int64_t`` modulo 2^64, so that no sum overflows.

    Beside them stands the array's own program, which ``main.c`` runs and compares too: DMA transfers (``dma.inc``),
    moves over the networks (``noc.inc``), a line for each PE (``pe.inc``) and the code that all PEs run (``pe.c``). It
    is left out where operands share a tensor, and where it would be too long.

    Raises: InputError if factors do not multiply to the bounds, a name is none in C, or tensors alias in a
    way that copies cannot follow.
    """
    check_names(nest)
    tiles = tiles_of(nest, mapping)
    program = array_program(tiles, machine, mapping)
    return {
        "nest.h": _header(tiles, machine, mapping),
        "mapped.c": mapped_source(tiles),
        "reference.c": _reference(tiles),
        "main.c": _main(tiles, seed, program is not None),
        "Makefile": MAKEFILE,
        **({} if program is None else array_files(program, tiles)),
    }


def generate_tables(nest: LoopNest, machine: DataflowMachine, mapping: TilingMapping) -> dict[str, str]:
    """The tables of the array's program alone, as ``generate_c`` writes them.

    Raises: InputError if there are none: operands share a tensor, or there is too much to list.
    """
    program = array_program(tiles_of(nest, mapping), machine, mapping)
    if program is None:
        remedy = f"operands share a tensor, or there are more than {MOST_LINES} transfers; leave it out"
        raise InputError("--words", nest.name, f"has no program for the array: {remedy}")
    return tables(program)


def _tensors(tiles: Tiles) -> dict[str, Buffered]:
    """An operand of each tensor, in the order of the tensors."""
    found: dict[str, Buffered] = {}
    for buffered in tiles.buffers:
        found.setdefault(buffered.tensor.name, buffered)
    return found


def _header(tiles: Tiles, machine: DataflowMachine, mapping: TilingMapping) -> str:
    nest, writer = tiles.nest, Writer()
    writer.line(f"/* {ascii_comment(nest.name)} on {ascii_comment(machine.name)}")
    writer.line(f" * {'loop':<12}{'bound':>10}{'dram':>10}{'spm':>8}{'rf':>8}{'spatial':>9}")
    for loop, bound in nest.bounds:
        dram, spm, rf, pes = (level[loop] for level in (tiles.dram, tiles.spm, tiles.rf, tiles.pes))
        writer.line(f" * {loop:<12}{bound:>10}{dram:>10}{spm:>8}{rf:>8}{pes:>9}")
    writer.line(f" * order at DRAM, outer to inner: {' '.join(mapping.dram_order)}")
    writer.line(f" * order at scratch-pad:          {' '.join(mapping.spm_order)}")
    writer.line(" * Loops that run once at a level are left out. */")
    writer.line("#ifndef NEST_H")
    writer.line("#define NEST_H")
    writer.line()
    writer.line("#include <stdint.h>")
    writer.line()
    writer.line("/* Tensors as they lie in memory, the last dimension contiguous. */")
    for name, buffered in _tensors(tiles).items():
        shape = map(str, buffered.tensor.shape)
        writer.line(f"typedef {buffered.word} {indexed(f'tensor_{name}', shape)};")
    writer.line()
    parameters = ", ".join(f"tensor_{name} *dram_{name}" for name in _tensors(tiles))
    writer.line(f"void mapped_nest({parameters});")
    writer.line(f"void reference_nest({parameters});")
    writer.line(f"void array_nest({parameters});")
    writer.line()
    writer.line("/* Arithmetic modulo 2^64. */")
    for function, sign in (("add", "+"), ("multiply", "*")):
        writer.open(f"static inline int64_t {function}(int64_t a, int64_t b)")
        writer.line(f"return (int64_t)((uint64_t)a {sign} (uint64_t)b);")
        writer.close()
        writer.line()
    writer.line("#endif")
    return writer.text()


def _words(tiles: Tiles) -> list[str]:
    """Each operand's word in its tensor, loops being ``i_...``."""
    digits = {loop: [(1, f"i_{loop}")] for loop in tiles.nest.loops}
    return [
        indexed(
            f"(*dram_{buffered.tensor.name})",
            subscripts(buffered.operand, digits, buffered.tensor.low),
        )
        for buffered in tiles.buffers
    ]


def _reference(tiles: Tiles) -> str:
    nest, writer = tiles.nest, Writer()
    writer.line('#include "nest.h"')
    writer.line()
    parameters = ", ".join(f"tensor_{name} *dram_{name}" for name in _tensors(tiles))
    writer.open(f"void reference_nest({parameters})")
    count = writer.nested([counted(f"i_{loop}", bound) for loop, bound in nest.bounds])
    words = _words(tiles)
    reads = [word for word, operand in zip(words, nest.operands, strict=True) if operand.access == "read"]
    value, target = statement(tiles, reads), words[tiles.written]
    updated = nest.operands[tiles.written].is_updated
    writer.line(f"{target} = {f'add({target}, {value})' if updated else value};")
    writer.close(count + 1)
    return writer.text()


def _main(tiles: Tiles, seed: int, on_array: bool) -> str:
    nest, writer = tiles.nest, Writer()
    written = tiles.buffers[tiles.written]
    result = written.tensor.name
    for header in ("<inttypes.h>", "<stdio.h>", "<stdlib.h>", "<string.h>"):
        writer.line(f"#include {header}")
    writer.line()
    writer.line('#include "nest.h"')
    writer.line()
    writer.line("static uint32_t state;")
    writer.line()
    writer.line(
        "/* Integers from a linear congruential generator: the upper four bits of each state, less 8. */"
    )
    writer.open("static int32_t drawn(void)")
    writer.line(f"state = state * {MULTIPLIER}u + {INCREMENT}u;")
    writer.line(f"return (int32_t)(state >> 28) - {-LEAST};")
    writer.close()
    writer.line()
    writer.open("int main(void)")
    for name in _tensors(tiles):
        writer.line(f"tensor_{name} *dram_{name} = malloc(sizeof(tensor_{name}));")
    copies = ["expected", "on_array"] if on_array else ["expected"]
    for copy in copies:
        writer.line(f"tensor_{result} *{copy} = malloc(sizeof(tensor_{result}));")
    missing = " || ".join([*(f"!dram_{name}" for name in _tensors(tiles)), *(f"!{copy}" for copy in copies)])
    writer.open(f"if ({missing})")
    writer.line('fputs("out of memory\\n", stderr);')
    writer.line("return 1;")
    writer.close()
    for stream, (name, buffered) in enumerate(_tensors(tiles).items()):
        writer.line(f"state = {first_state(seed, stream)}u;")
        writer.open(f"for (size_t n = 0; n < {buffered.tensor.words}; n++)")
        writer.line(f"(({buffered.word} *)dram_{name})[n] = drawn();")
        writer.close()
    if written.operand.is_updated and written.operand.zero_initialised:
        loops = [(loop, bound) for loop, bound in nest.bounds if loop in written.operand.loops]
        count = writer.nested([counted(f"i_{loop}", bound) for loop, bound in loops])
        writer.line(f"{_words(tiles)[tiles.written]} = 0;")
        writer.close(count)
    for copy in copies:
        writer.line(f"memcpy({copy}, dram_{result}, sizeof(tensor_{result}));")
    writer.line(f"mapped_nest({', '.join(f'dram_{name}' for name in _tensors(tiles))});")
    arguments = ", ".join("expected" if name == result else f"dram_{name}" for name in _tensors(tiles))
    writer.line(f"reference_nest({arguments});")
    if on_array:
        arguments = ", ".join("on_array" if name == result else f"dram_{name}" for name in _tensors(tiles))
        writer.line(f"array_nest({arguments});")
    writer.line("uint64_t checksum = 0;")
    writer.open(f"for (size_t n = 0; n < {written.tensor.words}; n++)")
    writer.line(f"checksum += (uint64_t)(n + 1) * (uint64_t)((int64_t *)dram_{result})[n];")
    writer.close()
    same = [
        f"memcmp(expected, {copy}, sizeof(tensor_{result})) == 0" for copy in (f"dram_{result}", *copies[1:])
    ]
    writer.line(f"const int equal = {' && '.join(same)};")
    writer.line('printf("checksum %016" PRIx64 " %s\\n", checksum, equal ? "OK" : "MISMATCH");')
    for name in _tensors(tiles):
        writer.line(f"free(dram_{name});")
    for copy in copies:
        writer.line(f"free({copy});")
    writer.line("return equal ? 0 : 1;")
    writer.close()
    return writer.text()
