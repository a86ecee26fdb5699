"""The systolic array cycle by cycle: registers of P1 x P2 PEs, wires along the columns, banks of the buffers.

Buffers are ``banks`` x depth; word (row, column) of a matrix lies in bank (row + column) mod banks (Eq. 7, see
``buffer``). Words are read for a whole edge of the array at once and delayed by one register more per row (or column),
so that they meet as they must; words read without that delay would lie in one bank all.

``passes``: one row per pass with the first row and column in the streamed (or NS's input) matrix, in the stationary (or
NS's weight) matrix and in the results, each followed by how many rows or columns of the array are in use.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mapper.models.compiled import compiled


def _word(memory: Any, counts: Any, per_row: int, row: int, column: int) -> Any:
    banks = memory.shape[0]
    bank = (row + column) % banks
    counts[bank] += 1
    return memory[bank, row * per_row + column // banks]


word = compiled(_word)


def _non_stationary(
    inputs: Any, input_blocks: int, weights: Any, weight_blocks: int, passes: Any, length: int, rows: int, columns: int,
    waits: Any, results: Any, widest: Any, reads: Any,
) -> int:  # fmt: skip
    """NS: PE (r, q) adds product k of pass n in cycle n * length + k + r + q. Returns the cycles until the last result
    is written; ``widest`` are the most words met on the wires of each row, ``reads`` the most of one bank a cycle.

    In one function because it is the registers of the array written out: a cycle from top to bottom."""
    steps = len(passes) * length
    banks = inputs.shape[0]
    x = np.zeros((rows, columns), np.int64)
    w = np.zeros((rows, columns), np.int64)
    time = np.full((rows, columns), -1, np.int64)
    total = np.zeros((rows, columns), np.int64)
    delayed_x = np.zeros((rows, rows), np.int64)
    delayed_w = np.zeros((columns, columns), np.int64)
    waiting = np.full((rows, columns, 2), -1, np.int64)
    waiting_value = np.zeros((rows, columns, 2), np.int64)
    wire = np.zeros((rows, columns, rows), np.int64)
    wire_row = np.zeros((rows, columns, rows), np.int64)
    wire_pass = np.zeros((rows, columns, rows), np.int64)
    count = np.zeros((rows, columns), np.int64)
    last = 0
    for cycle in range(steps + 2 * rows + columns + 2):
        # Results move up by one row, after them those that PEs completed in the last cycle.
        for q in range(columns):
            for r in range(rows):
                held = 0
                if r + 1 < rows:
                    held = count[r + 1, q]
                    for slot in range(held):
                        wire[r, q, slot] = wire[r + 1, q, slot]
                        wire_row[r, q, slot] = wire_row[r + 1, q, slot]
                        wire_pass[r, q, slot] = wire_pass[r + 1, q, slot]
                count[r, q] = held
                if waiting[r, q, 0] >= 0:
                    wire[r, q, held] = waiting_value[r, q, 0]
                    wire_row[r, q, held] = r
                    wire_pass[r, q, held] = waiting[r, q, 0]
                    count[r, q] = held + 1
                waiting[r, q, 0] = waiting[r, q, 1]
                waiting_value[r, q, 0] = waiting_value[r, q, 1]
                waiting[r, q, 1] = -1
                widest[r] = max(widest[r], count[r, q])
            for slot in range(count[0, q]):
                done = passes[wire_pass[0, q, slot]]
                if wire_row[0, q, slot] < done[6] and q < done[7]:
                    results[done[4] + wire_row[0, q, slot], done[5] + q] = wire[0, q, slot]
                last = cycle + 1
        # Both edges are read for the step that begins, and go through as many registers as they are rows away.
        if cycle < steps:
            one, k = passes[cycle // length], cycle % length
            counts = np.zeros(banks, np.int64)
            for r in range(rows):
                value = 0
                if r < one[6]:
                    value = word(inputs, counts, input_blocks, one[0] + r, one[1] + k)
                delayed_x[r, (cycle + r) % rows] = value
            reads[0] = max(reads[0], counts.max())
            counts[:] = 0
            for q in range(columns):
                value = 0
                if q < one[7]:
                    value = word(weights, counts, weight_blocks, one[2] + k, one[3] + q)
                delayed_w[q, (cycle + q) % columns] = value
            reads[1] = max(reads[1], counts.max())
        for r in range(rows):
            for q in range(columns - 1, 0, -1):
                x[r, q], time[r, q] = x[r, q - 1], time[r, q - 1]
            x[r, 0] = delayed_x[r, cycle % rows]
            time[r, 0] = cycle - r if 0 <= cycle - r < steps else -1
        for q in range(columns):
            for r in range(rows - 1, 0, -1):
                w[r, q] = w[r - 1, q]
            w[0, q] = delayed_w[q, cycle % columns]
        for r in range(rows):
            for q in range(columns):
                if time[r, q] < 0:
                    continue
                k = time[r, q] % length
                total[r, q] = x[r, q] * w[r, q] + (total[r, q] if k > 0 else 0)
                if k == length - 1:
                    waiting[r, q, waits[r]] = time[r, q] // length
                    waiting_value[r, q, waits[r]] = total[r, q]
    return last


non_stationary = compiled(_non_stationary)


def _stationary(
    stream: Any, stream_blocks: int, block: Any, block_blocks: int, passes: Any, length: int, rows: int, columns: int,
    mirrored: bool, results: Any, widest: Any, reads: Any, late: Any,
) -> int:  # fmt: skip
    """WS, and ``mirrored`` IS, in which the input's block stays and weights are streamed.

    PE (r, q) holds word (r, q) of the block of pass n and multiplies it in cycle lead + n * length + t + r + q; words
    of the next block go down the columns meanwhile, each taken by its own PE into the other of the two registers.
    ``late`` counts PEs that would begin a pass before their word has come. Rows of a pass are as for NS: streamed
    matrix, block, results, rows and columns of the array in use. In one function as NS is.
    """
    lead = min(length, rows)
    steps = len(passes) * length
    banks = stream.shape[0]
    x = np.zeros((rows, columns), np.int64)
    time = np.full((rows, columns), -1, np.int64)
    total = np.zeros((rows, columns), np.int64)
    held = np.zeros((rows, columns), np.int64)
    shadow = np.zeros((rows, columns), np.int64)
    shadow_pass = np.full((rows, columns), -1, np.int64)
    delayed_x = np.zeros((rows, rows), np.int64)
    wire = np.zeros((rows, columns, rows), np.int64)
    wire_row = np.zeros((rows, columns, rows), np.int64)
    wire_pass = np.zeros((rows, columns, rows), np.int64)
    count = np.zeros((rows, columns), np.int64)
    delayed = np.zeros((columns, columns, rows), np.int64)
    bottom = np.zeros(columns, np.int64)
    bottom_time = np.full(columns, -1, np.int64)
    last = 0
    for cycle in range(lead + steps + rows + columns + 1):
        for q in range(columns):  # accumulators below the array
            if bottom_time[q] >= 0:
                done, t = passes[bottom_time[q] // length], bottom_time[q] % length
                if q < done[7]:
                    if mirrored:
                        results[done[4] + q, done[5] + t] += bottom[q]
                    else:
                        results[done[4] + t, done[5] + q] += bottom[q]
                last = cycle + 1
        # Words of blocks go down by one row; those for rows e, e + length, ... enter in cycle e of a pass.
        for q in range(columns):
            for r in range(rows - 1, 0, -1):
                count[r, q] = 0
                for slot in range(count[r - 1, q]):
                    if wire_row[r - 1, q, slot] >= r:
                        into = count[r, q]
                        wire[r, q, into] = wire[r - 1, q, slot]
                        wire_row[r, q, into] = wire_row[r - 1, q, slot]
                        wire_pass[r, q, into] = wire_pass[r - 1, q, slot]
                        count[r, q] = into + 1
            count[0, q] = 0
        enters = cycle % length
        if cycle < steps and enters < lead:
            one = passes[cycle // length]
            counts = np.zeros(banks, np.int64)
            for r in range(enters, rows, length):
                for q in range(columns):
                    value = 0
                    if r < one[6] and q < one[7]:
                        if mirrored:
                            value = word(block, counts, block_blocks, one[2] + q, one[3] + r)
                        else:
                            value = word(block, counts, block_blocks, one[2] + r, one[3] + q)
                    delayed[q, (cycle + q) % columns, r] = value
            reads[1] = max(reads[1], counts.max())
        for q in range(columns):
            begun = cycle - q
            if 0 <= begun < steps and begun % length < lead:
                for r in range(begun % length, rows, length):
                    into = count[0, q]
                    wire[0, q, into] = delayed[q, cycle % columns, r]
                    wire_row[0, q, into] = r
                    wire_pass[0, q, into] = begun // length
                    count[0, q] = into + 1
        # The streamed matrix enters at the left, one row of the array a cycle later than the one above.
        now = cycle - lead
        if 0 <= now < steps:
            one, t = passes[now // length], now % length
            counts = np.zeros(banks, np.int64)
            for r in range(rows):
                value = 0
                if r < one[6]:
                    if mirrored:
                        value = word(stream, counts, stream_blocks, one[0] + r, one[1] + t)
                    else:
                        value = word(stream, counts, stream_blocks, one[0] + t, one[1] + r)
                delayed_x[r, (now + r) % rows] = value
            reads[0] = max(reads[0], counts.max())
        for r in range(rows):
            for q in range(columns - 1, 0, -1):
                x[r, q], time[r, q] = x[r, q - 1], time[r, q - 1]
            x[r, 0] = delayed_x[r, now % rows]
            time[r, 0] = now - r if 0 <= now - r < steps else -1
        for r in range(rows - 1, -1, -1):
            for q in range(columns):
                above = total[r - 1, q] if r > 0 else 0
                if time[r, q] >= 0:
                    if time[r, q] % length == 0:
                        late[0] += shadow_pass[r, q] != time[r, q] // length
                        held[r, q] = shadow[r, q]
                    total[r, q] = above + x[r, q] * held[r, q]
        for q in range(columns):
            bottom[q], bottom_time[q] = total[rows - 1, q], time[rows - 1, q]
        for q in range(columns):  # a word that has come is taken at the end of the cycle
            for r in range(rows):
                widest[r] = max(widest[r], count[r, q])
                for slot in range(count[r, q]):
                    if wire_row[r, q, slot] == r:
                        shadow[r, q] = wire[r, q, slot]
                        shadow_pass[r, q] = wire_pass[r, q, slot]
    return last


stationary = compiled(_stationary)
