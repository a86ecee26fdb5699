"""A mapped nest as a C program that checks itself against the nest as written."""

from __future__ import annotations

from mapper.arch.dataflow import DataflowMachine
from mapper.codegen.tiling.array_program import MOST_LINES, array_program
from mapper.codegen.tiling.array_source import array_files, tables
from mapper.codegen.tiling.main_source import main_source
from mapper.codegen.tiling.mapped import mapped_source
from mapper.codegen.tiling.nest_source import MAKEFILE, declarations, reference_source
from mapper.codegen.tiling.text import Writer, check_names
from mapper.codegen.tiling.tile import Tiles, tiles_of
from mapper.models.tiling.mapping import TilingMapping
from mapper.workloads.document import InputError
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.text.plain_text import ascii_comment


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

    Where the mapping pads loops, tensors are allocated as far as they then reach, with zeros beyond what the nest as
    written has of them; that part alone is filled, computed by the reference and compared.

    Raises: InputError if factors do not multiply to the bounds, a name is none in C, or tensors alias in a
    way that copies cannot follow.
    """
    check_names(nest)
    tiles = tiles_of(nest.padded(dict(mapping.padded)), mapping)
    program = array_program(tiles, machine, mapping)
    return {
        "nest.h": _header(tiles, machine, mapping),
        "mapped.c": mapped_source(tiles),
        "reference.c": reference_source(tiles, nest),
        "main.c": main_source(tiles, nest, seed, program is not None),
        "Makefile": MAKEFILE,
        **({} if program is None else array_files(program, tiles)),
    }


def generate_tables(nest: LoopNest, machine: DataflowMachine, mapping: TilingMapping) -> dict[str, str]:
    """The tables of the array's program alone, as ``generate_c`` writes them.

    Raises: InputError if there are none: operands share a tensor, or there is too much to list.
    """
    tiles = tiles_of(nest.padded(dict(mapping.padded)), mapping)
    program = array_program(tiles, machine, mapping)
    if program is None:
        remedy = f"operands share a tensor, or there are more than {MOST_LINES} transfers; leave it out"
        raise InputError("--words", nest.name, f"has no program for the array: {remedy}")
    return tables(program)


def _header(tiles: Tiles, machine: DataflowMachine, mapping: TilingMapping) -> str:
    nest, writer = tiles.nest, Writer()
    writer.line(f"/* {ascii_comment(nest.name)} on {ascii_comment(machine.name)}")
    writer.line(f" * {'loop':<12}{'bound':>10}{'dram':>10}{'spm':>8}{'rf':>8}{'spatial':>9}")
    for loop, bound in nest.bounds:
        dram, spm, rf, pes = (level[loop] for level in (tiles.dram, tiles.spm, tiles.rf, tiles.pes))
        writer.line(f" * {loop:<12}{bound:>10}{dram:>10}{spm:>8}{rf:>8}{pes:>9}")
    writer.line(f" * order at DRAM, outer to inner: {' '.join(mapping.dram_order)}")
    writer.line(f" * order at scratch-pad:          {' '.join(mapping.spm_order)}")
    for loop, bound in mapping.padded:
        writer.line(f" * {loop} runs to {bound}, over its end, on words that are zero.")
    writer.line(" * Loops that run once at a level are left out. */")
    declarations(writer, tiles, ("mapped_nest", "reference_nest", "array_nest"))
    return writer.text()
