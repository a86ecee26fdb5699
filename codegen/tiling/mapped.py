"""The tiled nest in C: DRAM, scratch-pad, register-file and spatial loops, and the copies between them.

A copy stands in the innermost loop its operand depends on, so that it runs exactly when Algorithm 1 says
that the operand changes; loops further inside reuse it. Prefixes tell digits of a loop apart: ``d_`` counts
DRAM tiles, ``s_`` scratch-pad tiles, ``r_`` register-file words, ``p_`` PEs, ``t_`` words of a tile.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from mapper.codegen.tiling.nest_source import statement
from mapper.codegen.tiling.text import Writer, counted, indexed, linear, subscripts
from mapper.codegen.tiling.tile import Tiles
from mapper.workloads.nest.loop_nest import Operand
from mapper.workloads.nest.tensor import bounds_of

Digits = dict[str, list[tuple[int, str]]]


def mapped_source(tiles: Tiles) -> str:
    """``mapped.c``."""
    writer = Writer()
    writer.line('#include "nest.h"')
    writer.line()
    _declare(writer, tiles)
    writer.line()
    parameters = ", ".join(
        f"tensor_{tensor} *dram_{tensor}" for tensor in dict.fromkeys(b.tensor.name for b in tiles.buffers)
    )
    writer.open(f"void mapped_nest({parameters})")
    _passes(writer, tiles)
    writer.close()
    return writer.text()


def _declare(writer: Writer, tiles: Tiles) -> None:
    pes = math.prod(tiles.pes.values())
    buffers = {buffered.name: buffered for buffered in tiles.buffers}
    writer.line("/* Scratch-pad: one tile per operand. */")
    for name, buffered in buffers.items():
        writer.line(f"static {buffered.word} {indexed(f'spm_{name}', map(str, buffered.spm_shape))};")
    writer.line()
    writer.line(f"/* Register files of {pes} PEs: one tile per operand in each. */")
    for name, buffered in buffers.items():
        writer.line(f"static {buffered.word} {indexed(f'rf_{name}[{pes}]', map(str, buffered.rf_shape))};")


def _passes(writer: Writer, tiles: Tiles) -> None:
    outer = [(f"d_{loop}", tiles.dram[loop], loop) for loop in tiles.dram_loops]
    inner = [(f"s_{loop}", tiles.spm[loop], loop) for loop in tiles.spm_loops]
    loops = outer + inner
    order = sorted(range(len(tiles.buffers)), key=lambda k: k != tiles.written)
    depths = {k: _depths(tiles, k) for k in order}
    for depth in range(len(loops) + 1):
        if depth:
            variable, count, _ = loops[depth - 1]
            if depth == 1 and outer:
                writer.line("/* DRAM: scratch-pad passes. */")
            if depth == len(outer) + 1:
                writer.line("/* Scratch-pad: register-file passes. */")
            writer.open(counted(variable, count))
        for k in order:
            if depths[k][0] == depth:
                _to_spm(writer, tiles, k, [head for head in outer[:depth] if _idle(tiles, k, head)])
        for k in order:
            if depths[k][1] == depth:
                _to_rf(writer, tiles, k, [head for head in loops[:depth] if _idle(tiles, k, head)])
    _rf_pass(writer, tiles)
    for depth in range(len(loops), -1, -1):
        if depths[tiles.written][1] == depth:
            _from_rf(writer, tiles)
        if depths[tiles.written][0] == depth:
            _from_spm(writer, tiles)
        if depth:
            writer.close()


def _depths(tiles: Tiles, k: int) -> tuple[int, int]:
    """Number of loops around the copies of operand ``k`` to the scratch-pad and to the PEs."""
    needed = tiles.nest.operands[k].loops
    outer = max((depth for depth, loop in enumerate(tiles.dram_loops, start=1) if loop in needed), default=0)
    first = len(tiles.dram_loops) + 1
    return outer, max(
        (depth for depth, loop in enumerate(tiles.spm_loops, start=first) if loop in needed), default=outer
    )


def _idle(tiles: Tiles, k: int, head: tuple[str, int, str]) -> bool:
    return head[2] not in tiles.nest.operands[k].loops


def _dram_digits(tiles: Tiles) -> Digits:
    return {loop: [(tiles.spm_tile[loop], f"d_{loop}")] for loop in tiles.dram_loops}


def _tile_in_spm(tiles: Tiles) -> Digits:
    """Digits that say where a PE's tile begins within the scratch-pad's."""
    digits: Digits = {loop: [(tiles.array_tile[loop], f"s_{loop}")] for loop in tiles.spm_loops}
    for loop in tiles.pe_loops:
        digits.setdefault(loop, []).append((tiles.rf[loop], f"p_{loop}"))
    return digits


def _pe(writer: Writer, tiles: Tiles, last: Sequence[str] = ()) -> None:
    """Number of the PE from its digits; loops in ``last`` stand at their last value."""
    number, weight = [], 1
    constant = 0
    for loop in reversed(tiles.pe_loops):
        if loop in last:
            constant += weight * (tiles.pes[loop] - 1)
        else:
            number.append((weight, f"p_{loop}"))
        weight *= tiles.pes[loop]
    writer.line(f"const long pe = {linear(reversed(number), constant)};")


def _in_space(tiles: Tiles, loops: Sequence[str] | frozenset[str]) -> list[str]:
    return [counted(f"p_{loop}", tiles.pes[loop]) for loop in tiles.pe_loops if loop in loops]


def _box(operand: Operand, counts: Mapping[str, int]) -> tuple[list[str], list[list[tuple[int, str]]]]:
    """Loops over the words of an operand's tile, counted from its least index, and their variables."""
    heads, words = [], []
    for position, dimension in enumerate(operand.index):
        least, most = bounds_of(dimension, counts)
        words.append([(1, f"w{position}")] if most > least else [])
        heads += [counted(f"w{position}", most - least + 1)] if most > least else []
    return heads, words


def _from_least(operand: Operand, counts: Mapping[str, int], low: Sequence[int]) -> list[int]:
    """``low`` as seen from an operand's least index, so that words of its box count up from there."""
    return [
        first - bounds_of(dimension, counts)[0] + dimension.constant
        for dimension, first in zip(operand.index, low, strict=True)
    ]


def _to_spm(writer: Writer, tiles: Tiles, k: int, idle: Sequence[tuple[str, int, str]]) -> None:
    buffered = tiles.buffers[k]
    operand = buffered.operand
    if operand.access == "write":
        return
    heads, words = _box(operand, tiles.spm_tile)

    def place(array: str, digits: Digits, low: Sequence[int]) -> str:
        return indexed(array, subscripts(operand, digits, _from_least(operand, tiles.spm_tile, low), words))

    target = place(f"spm_{buffered.name}", {}, buffered.spm_low)
    source = place(f"(*dram_{buffered.tensor.name})", _dram_digits(tiles), buffered.tensor.low)
    may_clear = operand.is_updated and operand.zero_initialised and not buffered.shared
    value = _visited(writer, f"{operand.name}: next tile from DRAM", source, idle if may_clear else None)
    count = writer.nested(heads)
    writer.line(f"{target} = {value};")
    writer.close(count)


def _visited(
    writer: Writer, what: str, source: str, cleared_at: Sequence[tuple[str, int, str]] | None
) -> str:
    """What a tile begins with; ``cleared_at``: loops in whose first iterations it is zero (None: never)."""
    if cleared_at is None:
        writer.line(f"/* {what}. */")
        return source
    if not cleared_at:
        writer.line(f"/* {what}: begins at zero. */")
        return "0"
    writer.line(f"/* {what}; begins at zero on its first visit. */")
    return f"{' && '.join(f'{variable} == 0' for variable, _, _ in cleared_at)} ? 0 : {source}"


def _to_rf(writer: Writer, tiles: Tiles, k: int, idle: Sequence[tuple[str, int, str]]) -> None:
    buffered = tiles.buffers[k]
    operand = buffered.operand
    if operand.access == "write":
        return
    heads, words = _box(operand, tiles.rf)

    def place(array: str, digits: Digits, low: Sequence[int]) -> str:
        return indexed(array, subscripts(operand, digits, _from_least(operand, tiles.rf, low), words))

    target = place(f"rf_{buffered.name}[pe]", {}, buffered.rf_low)
    source = place(f"spm_{buffered.name}", _tile_in_spm(tiles), buffered.spm_low)
    cleared: Sequence[tuple[str, int, str]] | None = None
    if operand.is_updated:
        if operand.zero_initialised and not buffered.shared:
            cleared = idle
        members = [loop for loop in tiles.pe_loops if loop not in operand.loops]
        if members:
            # One PE of each group goes on from the partial sum, the others begin a part of their own.
            source = f"({' && '.join(f'p_{loop} == 0' for loop in members)} ? {source} : 0)"
    value = _visited(writer, f"{operand.name}: next tile into the register files", source, cleared)
    count = _each_pe(writer, tiles)
    inner = writer.nested(heads)
    writer.line(f"{target} = {value};")
    writer.close(inner + count)


def _each_pe(writer: Writer, tiles: Tiles) -> int:
    """Open the spatial loops; returns how many braces there are to close."""
    count = writer.nested(_in_space(tiles, tiles.pe_loops))
    if not count:
        writer.open("")
    _pe(writer, tiles)
    return max(count, 1)


def _rf_pass(writer: Writer, tiles: Tiles) -> None:
    writer.line("/* One register-file pass; the innermost loops run in space, in parallel on all PEs. */")
    count = writer.nested([counted(f"r_{loop}", tiles.rf[loop]) for loop in tiles.rf_loops])
    count += _each_pe(writer, tiles)
    digits: Digits = {loop: [(1, f"r_{loop}")] for loop in tiles.rf_loops}
    names = [indexed(f"rf_{b.name}[pe]", subscripts(b.operand, digits, b.rf_low)) for b in tiles.buffers]
    result = tiles.buffers[tiles.written].operand
    value = statement(
        tiles, [name for name, b in zip(names, tiles.buffers, strict=True) if b.operand.access == "read"]
    )
    target = names[tiles.written]
    writer.line(f"{target} = {f'add({target}, {value})' if result.is_updated else value};")
    writer.close(count)


def _from_rf(writer: Writer, tiles: Tiles) -> None:
    buffered = tiles.buffers[tiles.written]
    operand = buffered.operand
    members = [loop for loop in tiles.pe_loops if loop not in operand.loops]
    adding = operand.is_updated and bool(members)
    together = "; PEs add up their parts" if adding else ""
    writer.line(f"/* {operand.name}: the tile leaves the register files{together}. */")
    in_rf: Digits = {loop: [(1, f"r_{loop}")] for loop in tiles.rf_loops if loop in operand.loops}
    in_spm = _tile_in_spm(tiles)
    for loop in in_rf:
        in_spm.setdefault(loop, []).append((1, f"r_{loop}"))
    spm = indexed(f"spm_{buffered.name}", subscripts(operand, in_spm, buffered.spm_low))
    rf = indexed(f"rf_{buffered.name}[pe]", subscripts(operand, in_rf, buffered.rf_low))
    heads = [*_in_space(tiles, operand.loops), *(counted(f"r_{loop}", tiles.rf[loop]) for loop in in_rf)]
    count = writer.nested(heads)
    if not count:
        writer.open("")
    if adding:
        writer.line("int64_t sum = 0;")
        inner = writer.nested(_in_space(tiles, members))
        _pe(writer, tiles)
        writer.line(f"sum = add(sum, {rf});")
        writer.close(inner)
        writer.line(f"{spm} = sum;")
    else:
        _pe(writer, tiles, last=members)
        writer.line(f"{spm} = {rf};")
    writer.close(max(count, 1))


def _from_spm(writer: Writer, tiles: Tiles) -> None:
    buffered = tiles.buffers[tiles.written]
    operand = buffered.operand
    writer.line(f"/* {operand.name}: the tile goes back to DRAM. */")
    loops = [loop for loop in tiles.nest.loops if loop in operand.loops and tiles.spm_tile[loop] > 1]
    in_spm: Digits = {loop: [(1, f"t_{loop}")] for loop in loops}
    in_dram = _dram_digits(tiles)
    for loop in loops:
        in_dram.setdefault(loop, []).append((1, f"t_{loop}"))
    count = writer.nested([counted(f"t_{loop}", tiles.spm_tile[loop]) for loop in loops])
    target = indexed(
        f"(*dram_{buffered.tensor.name})",
        subscripts(operand, in_dram, buffered.tensor.low),
    )
    source = indexed(f"spm_{buffered.name}", subscripts(operand, in_spm, buffered.spm_low))
    writer.line(f"{target} = {source};")
    writer.close(count)
