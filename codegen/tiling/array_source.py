"""The array's program as text: tables of one line per transfer, move, PE, operand and loop, and C that runs them.

The lines are C initialisers, which `array.c` includes and the simulator reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mapper.codegen.tiling.address import Dim
from mapper.codegen.tiling.array_program import ArrayProgram
from mapper.codegen.tiling.array_text import ARRAY, HEADER, PE
from mapper.codegen.tiling.nest_source import statement
from mapper.codegen.tiling.text import Writer
from mapper.codegen.tiling.tile import Tiles


def array_files(program: ArrayProgram, tiles: Tiles) -> dict[str, str]:
    """`dma.inc`, `noc.inc`, `pe.inc`, `layout.inc`, `loop.inc`, and the C that runs them."""
    return {
        **tables(program),
        "array.h": _header(program),
        "pe.c": PE.replace("STATEMENT", _statement(tiles)),
        "array.c": _array(tiles),
    }


def tables(program: ArrayProgram) -> dict[str, str]:
    """The tables alone: what the array does, and nothing of the mapping that it comes from."""
    transfers = (
        (t.spm_pass, t.action, t.operand, t.buffer, t.dram, t.spm, t.bytes, t.bursts, _dims(t.dims))
        for t in program.transfers
    )
    moves = (
        (m.rf_pass, m.action, m.operand, m.spm, int(m.first), int(m.follows), int(m.kept))
        for m in program.moves
    )
    pes = ((p.number, p.row, p.column, p.leader, _braced(p.offsets)) for p in program.pes)
    layouts = (
        (
            o.rf_words,
            _braced(o.box_at),
            _dims(o.box),
            _braced(o.touched_at),
            _dims(o.touched),
            _braced(o.shift),
        )
        for o in program.layouts
    )
    loops = ((count, _braced(strides)) for count, strides in program.loops or ((0, (0,)),))
    strides = "{count, DRAM stride, scratch-pad stride}"
    return {
        "dma.inc": _table(
            f"pass, action, operand, half, DRAM, scratch-pad, bytes, bursts, {strides}", transfers
        ),
        "noc.inc": _table("pass, action, operand, scratch-pad, first, follows, kept", moves),
        "pe.inc": _table("number, row, column, leader, {own tiles}", pes),
        "layout.inc": _table("words, {begin}, {box}, {begin}, {words named}, {shift}", layouts),
        "loop.inc": _table("count, {stride of each operand}", loops),
    }


def _table(columns: str, lines: Iterable[Sequence[int | str]]) -> str:
    return "".join([f"/* {columns} */\n", *(f"{{{', '.join(map(str, line))}}},\n" for line in lines)])


def _braced(numbers: Sequence[int]) -> str:
    return f"{{{', '.join(map(str, numbers)) or '0'}}}"


def _dims(dims: Sequence[Dim]) -> str:
    return f"{{{', '.join(map(_braced, dims)) or '{0}'}}}"


def _header(program: ArrayProgram) -> str:
    boxes = [transfer.dims for transfer in program.transfers]
    boxes += [dims for layout in program.layouts for dims in (layout.box, layout.touched)]
    numbers = {
        "OPERANDS": len(program.operands),
        "WRITTEN": program.written,
        "UPDATED": int(program.updated),
        "PASSES": program.passes[0],
        "TURNS": program.passes[1],
        "PES": len(program.pes),
        "LOOPS": len(program.loops),
        "RANK": max(1, *(len(dims) for dims in boxes)),
        "RF_WORDS": max(layout.rf_words for layout in program.layouts),
        "SPM_WORDS": program.spm_words,
        "TRANSFERS": len(program.transfers),
        "MOVES": len(program.moves),
    }
    operands = ", ".join(f"{number} {name}" for number, name in enumerate(program.operands))
    defined = "".join(f"#define {name} {value}\n" for name, value in numbers.items())
    head = f"#ifndef ARRAY_H\n#define ARRAY_H\n\n/* Operands: {operands}. */\n{defined}"
    return f'{head}\n#include "nest.h"\n\n{HEADER}\n#endif\n'


def _statement(tiles: Tiles) -> str:
    words = [f"rf[self->number][{k}][place[{k}]]" for k in range(len(tiles.buffers))]
    operands = tiles.nest.operands
    value = statement(
        tiles, [word for word, one in zip(words, operands, strict=True) if one.access == "read"]
    )
    target = words[tiles.written]
    return f"{target} = {f'add({target}, {value})' if operands[tiles.written].is_updated else value};"


def _array(tiles: Tiles) -> str:
    writer = Writer()
    writer.line("/* The array: DMA, networks and PEs, pass by pass. */")
    writer.line('#include "array.h"')
    writer.line()
    tensors = dict.fromkeys(b.tensor.name for b in tiles.buffers)
    parameters = ", ".join(f"tensor_{tensor} *dram_{tensor}" for tensor in tensors)
    words = ", ".join(f"dram_{b.tensor.name}" for b in tiles.buffers)
    entry = Writer()
    entry.line()
    entry.open(f"void array_nest({parameters})")
    entry.line(f"void *const dram[OPERANDS] = {{{words}}};")
    entry.line("run(dram);")
    entry.close()
    return writer.text() + ARRAY + entry.text()
