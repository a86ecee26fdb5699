"""A layer's PEs at work on all positions: from its programs' bits to its results, and when they were there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mapper.arch.processing_element import Latency, ProcessingElement
from mapper.models.pe_allocation.configuration.program import LayerProgram
from mapper.models.pe_allocation.word.encoding import read_programs, write_programs
from mapper.models.pe_allocation.word.operation import BANKS, NAMES, Assembled, Code, Port
from mapper.models.pe_allocation.word.program import LayerWords
from mapper.models.pe_allocation.word.register_file import cycles_of
from mapper.sim.pe_allocation.data import Integers, LayerData
from mapper.sim.pe_allocation.word.machine import DONE, FAULTS, Control, Inputs, Program, State, run

SOURCES = ("weights", "pixels", "positions")
LOOPS = 4
"""Counters of an address generator."""


@dataclass(frozen=True)
class Reading:
    """What a layer reads: of each source the pixels of every position's windows, positions x taps, by their numbers,
    and the words of every pixel with the operands' maps that they are."""

    windows: Sequence[Integers]
    pixels: Sequence[tuple[Integers, Integers]]


@dataclass(frozen=True)
class Executed:
    """``results``: positions x maps. ``late``: the most cycles from the end of a position's work until its last result
    could be read. ``fault``: what went wrong on which PE, in which cycle; None if nothing did."""

    results: Integers
    late: int
    fault: tuple[str, int, int] | None


def execute(
    layer: LayerProgram,
    words: LayerWords,
    data: LayerData,
    reading: Reading,
    begun: Sequence[int],
    pe: ProcessingElement,
) -> Executed:
    """Run the programs of all PEs, read back from their bits, on positions that begin in the cycles ``begun``."""
    bits = write_programs([None if one is None else one.code for one in words.pes], pe.register_bits)
    results = np.zeros((len(begun), layer.maps), dtype=np.int64)
    late, fault = 0, None
    for number, (made, code) in enumerate(zip(words.pes, read_programs(bits, layer.name), strict=True)):
        if made is None or code is None:
            continue
        state, why, cycle = _execute(layer, made, code, data, reading, begun, pe)
        counts = [len(begun) * len(own) for own in made.maps]
        if why == DONE and state.written.tolist() != counts:
            why = len(FAULTS) - 1
        if why != DONE:
            fault = fault or (FAULTS[why], number, cycle)
            continue
        work = np.array(begun, dtype=np.int64) + layer.cycles - layer.idle
        for place, own in enumerate(made.maps):
            results[:, own] = state.outputs[place, : counts[place]].reshape(len(begun), len(own))
            last = state.times[place, len(own) - 1 : counts[place] : len(own)]
            late = max(late, int((last - work).max()))
    return Executed(results, late, fault)


def _execute(
    layer: LayerProgram,
    made: Assembled,
    code: Code,
    data: LayerData,
    reading: Reading,
    begun: Sequence[int],
    pe: ProcessingElement,
) -> tuple[State, int, int]:
    program = program_arrays(code, pe.latency, pe.register_bits)
    control = Control(
        np.array(begun, dtype=np.int64),
        np.array(made.counts, dtype=np.int64),
        np.array(made.signals, dtype=np.int64),
    )
    state = _at_rest(code, program, len(begun) * max(map(len, made.maps)))
    why, cycle = run(program, _inputs(layer, made.ports, data, reading), control, state)
    return state, int(why), int(cycle)


def program_arrays(code: Code, latency: Latency, bits: int) -> Program:
    """A program as the machine reads it."""
    rows, first = [], [0]
    takes = np.zeros((len(code.words), code.inputs), dtype=np.bool_)
    branch = np.full((len(code.words), code.signals + 1), -1, dtype=np.int64)
    for number, word in enumerate(code.words):
        for operation in word.operations:
            registers = (operation.to, operation.first, operation.second)
            row = [NAMES.index(operation.name), cycles_of(operation.name, latency)]
            rows.append(row + [part for one in registers for part in (BANKS.index(one.bank), one.number)])
            for one in registers[1:]:
                if one.bank == "ID":
                    takes[number, one.number] = True
        first.append(len(rows))
        for signal, target in word.branches:
            branch[number, signal] = target
    return Program(
        np.array(rows, dtype=np.int64).reshape(-1, 8),
        np.array(first, dtype=np.int64),
        takes,
        branch,
        np.array([*code.constants, 0], dtype=np.int64),
        np.array([*(fifo.room for fifo in code.fifos), 1], dtype=np.int64),
        np.array([*(fifo.cyclic for fifo in code.fifos), False], dtype=np.bool_),
        np.array(code.table, dtype=np.int64),
        bits,
    )


def _at_rest(code: Code, program: Program, results: int) -> State:
    longest = int(program.operations[:, 1].max(initial=1)) + 1
    most = max(len(word.operations) for word in code.words)
    fifos = np.zeros((len(program.rooms), int(program.rooms.max())), dtype=np.int64)
    held = np.zeros(len(program.rooms), dtype=np.int64)
    for number, fifo in enumerate(code.fifos):
        fifos[number, : len(fifo.content)] = fifo.content
        held[number] = len(fifo.content)
    return State(
        np.zeros(code.registers + 1, dtype=np.int64),
        fifos,
        np.zeros(len(program.rooms), dtype=np.int64),
        held,
        np.zeros(longest, dtype=np.int64),
        np.zeros((longest, longest * most, 3), dtype=np.int64),
        np.zeros((code.inputs, LOOPS), dtype=np.int64),
        np.zeros(code.inputs, dtype=np.int64),
        np.zeros((code.outputs, results), dtype=np.int64),
        np.zeros((code.outputs, results), dtype=np.int64),
        np.zeros(code.outputs, dtype=np.int64),
    )


def _inputs(layer: LayerProgram, ports: Sequence[Port], data: LayerData, reading: Reading) -> Inputs:
    counts = np.ones((len(ports), LOOPS), dtype=np.int64)
    strides = np.zeros((len(ports), LOOPS), dtype=np.int64)
    offsets = np.zeros((len(ports), max(port.addresses.counts[-1] for port in ports)), dtype=np.int64)
    for number, port in enumerate(ports):
        own = port.addresses
        offsets[number, : len(port.offsets)] = port.offsets
        counts[number, LOOPS - len(own.counts) :] = own.counts
        strides[number, LOOPS - len(own.strides) :] = own.strides
    valued = {port: row for row, port in enumerate(dict.fromkeys(one for one in ports if one.values))}
    maker, own_place = np.zeros((2, layer.channels * layer.operands), dtype=np.int64)
    for source, (_, columns) in enumerate(reading.pixels):
        maker[columns], own_place[columns] = source, np.arange(len(columns))
    words = [pixels for pixels, _ in reading.pixels]
    return Inputs(
        np.array([SOURCES.index(port.source) for port in ports], dtype=np.int64),
        counts,
        strides,
        offsets,
        np.array([valued.get(port, port.addresses.base) for port in ports], dtype=np.int64),
        np.append(data.weights.ravel(), 0).astype(np.int64),
        np.array([port.values for port in valued] or [(0,)], dtype=np.int64),
        np.stack(reading.windows).astype(np.int64),
        np.concatenate([pixels.ravel() for pixels in words]).astype(np.int64),
        np.cumsum([0, *(pixels.size for pixels in words[:-1])], dtype=np.int64),
        np.array([pixels.shape[1] for pixels in words], dtype=np.int64),
        maker,
        own_place,
        -(1 << (layer.arithmetic.bits - 1)) if layer.rule == "max" else 0,
    )
