"""What runs a mapping on the array as values: DMA transfers, moves over the networks, and the program of every PE.

All addresses and strides are in words of the memory they belong to, from the beginning of a tensor (DRAM), of the
scratch-pad, or of an operand's part of a register file.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mapper.arch.dataflow import DataflowMachine
from mapper.codegen.tiling.address import Dim, box_of, origin_of, pitches_of, step_of, touched_of
from mapper.codegen.tiling.dma_transfer import (
    Action,
    Transfer,
    digits_of,
    dma_transfers,
    half_words,
    own_digits,
)
from mapper.codegen.tiling.tile import Tiles
from mapper.models.tiling.mapping import TilingMapping
from mapper.models.tiling.stream import streams_of
from mapper.workloads.nest.loop_nest import Operand

MOST_LINES = 50_000
"""Transfers and moves that are listed at most."""


@dataclass(frozen=True)
class Move:
    """One tile between scratch-pad and PEs in register-file pass ``rf_pass`` of every scratch-pad pass: LOAD before its
    work, STORE after it. ``spm``: its place in the operand's scratch-pad tile; ``first``: no pass before this one had
    it; ``follows``: PEs hold a part of it; ``kept``: it comes and goes with the scratch-pad tile alone."""

    rf_pass: int
    action: Action
    operand: int
    spm: int
    first: bool
    follows: bool
    kept: bool


@dataclass(frozen=True)
class Pe:
    """One PE: the PE that gathers the partial sums of its group, and where its own tiles begin within the array's."""

    number: int
    row: int
    column: int
    leader: int
    offsets: tuple[int, ...]


@dataclass(frozen=True)
class Layout:
    """How one operand lies in a register file: its words; its box and the words that iterations name, with strides in
    the scratch-pad and in the register file and where they begin in each; and by how many words a tile that follows
    lies behind the one before it, per dimension of the box."""

    rf_words: int
    box_at: tuple[int, int]
    box: tuple[Dim, ...]
    touched_at: tuple[int, int]
    touched: tuple[Dim, ...]
    shift: tuple[int, ...]


@dataclass(frozen=True)
class ArrayProgram:
    """Everything that the array does; ``loops``: count and stride in each operand's register file of every loop of a
    register-file pass; ``passes``: of the layer (scratch-pad) and of one scratch-pad pass (register file)."""

    operands: tuple[str, ...]
    written: int
    updated: bool
    operation: str
    passes: tuple[int, int]
    spm_words: int
    transfers: tuple[Transfer, ...]
    moves: tuple[Move, ...]
    pes: tuple[Pe, ...]
    layouts: tuple[Layout, ...]
    loops: tuple[tuple[int, tuple[int, ...]], ...]


def array_program(tiles: Tiles, machine: DataflowMachine, mapping: TilingMapping) -> ArrayProgram | None:
    """The program of a mapping; None if operands share a tensor, or if there is too much to list."""
    passes = [math.prod(counts.values()) for counts in (tiles.dram, tiles.spm)]
    if any(buffered.shared for buffered in tiles.buffers) or len(tiles.buffers) * max(passes) > MOST_LINES:
        return None
    result = tiles.nest.operands[tiles.written]
    turns = (1,) * len(tiles.buffers)
    if machine.streams:
        turns = streams_of(tiles.nest, machine, mapping).turns
    return ArrayProgram(
        tuple(operand.name for operand in tiles.nest.operands),
        tiles.written,
        result.is_updated,
        tiles.nest.operation,
        (passes[0], passes[1]),
        2 * half_words(tiles, machine) if machine.spm.double_buffered else half_words(tiles, machine),
        tuple(dma_transfers(tiles, machine, mapping)),
        tuple(_moves(tiles, mapping, turns)),
        _pes(tiles, machine, mapping),
        tuple(_layout(tiles, k, mapping, turns[k] > 1) for k in range(len(turns))),
        tuple(
            (count, tuple(step_of(b.operand, pitches_of(b.rf_shape), loop) for b in tiles.buffers))
            for loop, count in tiles.rf.items()
            if count > 1
        ),
    )


def _moves(tiles: Tiles, mapping: TilingMapping, turns: Sequence[int]) -> list[Move]:
    """``turns``: per operand, how many tiles follow each other, the first of which comes whole."""
    found: list[Move] = []
    passes = digits_of(mapping.spm_order, tiles.spm)
    turn = sorted(range(len(tiles.buffers)), key=lambda k: k != tiles.written)
    walks = {k: [own_digits(tiles.nest.operands[k], digits) for digits in passes] for k in turn}
    visits = dict.fromkeys(turn, 0)
    seen: set[tuple[int, ...]] = set()
    for at in range(len(passes)):
        for k in turn:
            walk = walks[k]
            if tiles.nest.operands[k].access == "write" or (at and walk[at] == walk[at - 1]):
                continue
            follows = visits[k] % turns[k] > 0
            visits[k] += 1
            first = k == tiles.written and walk[at] not in seen
            seen |= {walk[at]} if first else set()
            place = _rf_tile(tiles, k, passes[at])
            found.append(Move(at, "LOAD", k, place, first, follows, walk[0] == walk[-1] and at == 0))
        walk = walks[tiles.written]
        last = at + 1 == len(passes)
        if last or walk[at] != walk[at + 1]:
            place = _rf_tile(tiles, tiles.written, passes[at])
            found.append(Move(at, "STORE", tiles.written, place, False, False, last and walk[0] == walk[-1]))
    return found


def _rf_tile(tiles: Tiles, k: int, digits: Mapping[str, int]) -> int:
    """Where the array's tile of a pass begins in the operand's scratch-pad tile."""
    buffered = tiles.buffers[k]
    pitches = pitches_of(buffered.spm_shape)
    return sum(
        digit * tiles.array_tile[loop] * step_of(buffered.operand, pitches, loop)
        for loop, digit in digits.items()
    )


def _place(
    number: int, digits: Mapping[str, int], machine: DataflowMachine, mapping: TilingMapping, result: Operand
) -> tuple[int, int]:
    """Row and column of a PE. Where the machine tells its axes apart, every loop's digit is one along rows and one
    along columns, fastest those of loops over which results are summed, so that neighbours add; else numbers run
    through the columns of one row after another."""
    if not mapping.axes:
        return divmod(number, machine.pe_array.columns)
    row, column = 0, 0
    places = zip(mapping.loops, mapping.axes, strict=True)
    for loop, (along_rows, along_columns) in sorted(places, key=lambda place: place[0] not in result.loops):
        above, beside = divmod(digits.get(loop, 0), along_columns)
        row, column = row * along_rows + above, column * along_columns + beside
    return row, column


def _pes(tiles: Tiles, machine: DataflowMachine, mapping: TilingMapping) -> tuple[Pe, ...]:
    """PEs in the order of their digits."""
    found = []
    result = tiles.nest.operands[tiles.written]
    places = digits_of(tiles.pe_loops, tiles.pes)
    numbers = {tuple(digits.values()): number for number, digits in enumerate(places)}
    for number, digits in enumerate(places):
        gathers = [
            digit if loop in result.loops else 0 if result.is_updated else tiles.pes[loop] - 1
            for loop, digit in digits.items()
        ]
        offsets = tuple(
            sum(
                digit * tiles.rf[loop] * step_of(b.operand, pitches_of(b.spm_shape), loop)
                for loop, digit in digits.items()
            )
            for b in tiles.buffers
        )
        row, column = _place(number, digits, machine, mapping, result)
        found.append(Pe(number, row, column, numbers[tuple(gathers)], offsets))
    return tuple(found)


def _layout(tiles: Tiles, k: int, mapping: TilingMapping, slides: bool) -> Layout:
    buffered, operand = tiles.buffers[k], tiles.nest.operands[k]
    spm, rf = pitches_of(buffered.spm_shape), pitches_of(buffered.rf_shape)
    box = box_of(operand, tiles.rf, spm, rf)
    moving = [loop for loop in mapping.spm_order if slides and tiles.spm[loop] > 1 and loop in operand.loops]
    step = {loop: tiles.array_tile[loop] for loop in moving[-1:]}
    shift = tuple(
        sum(factor * step.get(loop, 0) for loop, factor in dimension.coefficients)
        for dimension in operand.index
    )
    lows = zip(buffered.rf_low, buffered.spm_low, spm, strict=True)
    return Layout(
        math.prod(buffered.rf_shape),
        (sum((least - low) * pitch for least, low, pitch in lows), 0),
        box,
        (
            origin_of(operand, buffered.spm_low, buffered.spm_shape),
            origin_of(operand, buffered.rf_low, buffered.rf_shape),
        ),
        touched_of(operand, tiles.rf, spm, rf),
        shift,
    )
