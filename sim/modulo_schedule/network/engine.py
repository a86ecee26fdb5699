"""The array in machine code: all starts of a kernel, cycle by cycle, on the words of memory.

In every cycle what becomes ready is written first; then the active words of the slot read their operands and loads the
memory; stores write it last, as in the simulator that knows violations (`mapper.sim.modulo_schedule.simulation`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mapper.models.compiled import compiled
from mapper.sim.modulo_schedule.network.encoding import (
    ARRAY,
    FIRST_OPERAND,
    MASK,
    NUMBERS,
    OFFSET,
    OPCODE,
    PREDICATE,
    RESULT,
    STAGE,
)

LOAD, STORE, MOVE, MOV, SELECT = (NUMBERS[name] for name in ("load", "store", "move", "mov", "select"))
ADD, SUB, MUL = (NUMBERS[name] for name in ("add", "sub", "mul"))
LT, LE, GT, GE, EQ, NE = (NUMBERS[name] for name in ("lt", "le", "gt", "ge", "eq", "ne"))
FADD, FSUB, FMUL, FDIV = (NUMBERS[name] for name in ("fadd", "fsub", "fmul", "fdiv"))
FMAX, FMIN = NUMBERS["fmax"], NUMBERS["fmin"]
OUTSIDE = -1
"""Answer of a run in which an access lay outside of memory."""


def _integer(opcode: int, a: int, b: int) -> int:
    """Integers of 32 bits; what goes beyond is cut off when it is written."""
    if opcode == ADD:
        return a + b
    if opcode == SUB:
        return a - b
    if opcode == MUL:
        return a * b
    if opcode == LT:
        return 1 if a < b else 0
    if opcode == LE:
        return 1 if a <= b else 0
    if opcode == GT:
        return 1 if a > b else 0
    if opcode == GE:
        return 1 if a >= b else 0
    if opcode == EQ:
        return 1 if a == b else 0
    return 1 if a != b else 0


integer = compiled(_integer)


def _float(opcode: int, a: Any, b: Any) -> Any:
    """Single precision; of two equal numbers fmax and fmin take the second, and a NaN loses."""
    if opcode == FMUL:
        return a * b
    if opcode == FADD:
        return a + b
    if opcode == FSUB:
        return a - b
    if opcode == FDIV:
        return a / b
    if opcode == FMAX:
        return a if a > b or b != b else b
    return a if a < b or b != b else b


floating = compiled(_float)


def _kernel(
    tables: Any, trips: int, memory: Any, bases: Any, values: Any, floats: Any, results: Any, result_floats: Any,
    stores: Any, done: Any,
) -> int:  # fmt: skip
    """One start: ``trips`` iterations of the words in ``tables``. ``floats`` and ``result_floats`` are ``values`` and
    ``results`` as single precision. ``done`` (4, words) counts how often each word is executed, and how often each of
    its operands is one of its first values. Cycles, or ``OUTSIDE``."""
    words, issues, landings, landed, ii, stages, warm = tables
    opcodes, stage, offsets, arrays = words[OPCODE], words[STAGE], words[OFFSET], words[ARRAY]
    result, masks, predicates = words[RESULT], words[MASK], words[PREDICATE]
    held = words[FIRST_OPERAND], words[FIRST_OPERAND + 3], words[FIRST_OPERAND + 6]
    firsts = words[FIRST_OPERAND + 1], words[FIRST_OPERAND + 4], words[FIRST_OPERAND + 7]
    counts = words[FIRST_OPERAND + 2], words[FIRST_OPERAND + 5], words[FIRST_OPERAND + 8]
    landing, since, place = landings[0], landings[1], landings[2]
    size = len(memory)
    for repetition in range(trips + stages - 1):
        # In between all words are active and read what others have made.
        edge = repetition < warm or repetition >= trips
        for slot in range(ii):
            for at in range(landed[slot], landed[slot + 1]):
                number = landing[at]
                issued = repetition - since[at]
                if edge:
                    iteration = issued - stage[number]
                    if iteration < 0 or iteration >= trips:
                        continue
                values[place[at]] = results[result[number] + (issued & masks[number])]
            stored = 0
            for number in range(issues[slot], issues[slot + 1]):
                a, b, c = held[0][number], held[1][number], held[2][number]
                if edge:
                    iteration = repetition - stage[number]
                    if iteration < 0 or iteration >= trips:
                        continue
                    if iteration < counts[0][number]:
                        a = firsts[0][number] + iteration
                        done[1, number] += 1
                    if iteration < counts[1][number]:
                        b = firsts[1][number] + iteration
                        done[2, number] += 1
                    if iteration < counts[2][number]:
                        c = firsts[2][number] + iteration
                        done[3, number] += 1
                done[0, number] += 1
                opcode = opcodes[number]
                to = result[number] + (repetition & masks[number])
                if opcode >= FADD:
                    result_floats[to] = floating(opcode, floats[a], floats[b])
                elif opcode in (LOAD, STORE):
                    results[to] = 0
                    switch = predicates[number]
                    if switch == 0 or values[b if switch == 1 else c] != 0:
                        address = bases[arrays[number]] + values[a] + offsets[number]
                        if address < 0 or address >= size:
                            return OUTSIDE
                        if opcode == LOAD:
                            results[to] = memory[address]
                        else:
                            stores[stored, 0] = address
                            stores[stored, 1] = values[b]
                            stored += 1
                elif opcode in (MOVE, MOV):
                    results[to] = values[a]
                elif opcode == SELECT:
                    results[to] = values[b] if values[a] != 0 else values[c]
                else:
                    results[to] = integer(opcode, values[a], values[b])
            for at in range(stored):
                memory[stores[at, 0]] = stores[at, 1]
    return int((trips + stages - 1) * ii)


kernel = compiled(_kernel)


def _starts(
    tables: Any, trips: int, memory: Any, loops: Any, bases: Any, given: Any, patches: Any, state: Any
) -> int:
    """Every start of a kernel. ``loops`` (n, 3) are start, stop and step, outer to inner; ``bases`` (arrays, 1 + n) and
    ``given`` (live-ins, 1 + n) the words that addresses and live-ins are for the loops' counters. ``state``: values,
    results, both as floats too, stores of a cycle, and what is counted. Cycles of all starts, or ``OUTSIDE``."""
    values, floats, results, result_floats, stores, done = state
    depth, size, total = len(loops), len(memory), 0
    counters = loops[:, 0].copy()
    addresses = np.zeros(len(bases), np.int64)
    while True:
        for at in range(len(bases)):
            word = bases[at, 0]
            for loop in range(depth):
                word += bases[at, 1 + loop] * counters[loop]
            addresses[at] = word
        for at in range(len(patches)):
            live_in = patches[at, 0]
            word = given[live_in, 0]
            for loop in range(depth):
                word += given[live_in, 1 + loop] * counters[loop]
            if word < 0 or word >= size:
                return OUTSIDE
            values[patches[at, 1]] = memory[word]
        taken = kernel(tables, trips, memory, addresses, values, floats, results, result_floats, stores, done)
        if taken < 0:
            return OUTSIDE
        total += taken
        loop = depth - 1
        while loop >= 0:
            counters[loop] += loops[loop, 2]
            if counters[loop] < loops[loop, 1]:
                break
            counters[loop] = loops[loop, 0]
            loop -= 1
        if loop < 0:
            return int(total)


starts = compiled(_starts)
