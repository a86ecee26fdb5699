"""The cycles of compute objects one after another: control core, queue of vector instructions, vector unit and the
port of Buf, instruction by instruction as docs/snowflake/machine.md has them, in machine code.

A loop whose turns have come to repeat (same lines, same distances between core, queue and vector unit) is not run to
its end: equal turns follow from an equal state, so the turns that are left take what the last ones took. The result is
that of running every instruction.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mapper.models.compiled import compiled

COOP, INDP, LANE, MAXIMUM, TABLE = 0, 1, 2, 3, 4
"""What the vector instructions of an object are."""

# Columns of an object's row: kind, addresses, words of the moves and of the result, then per loop (blocks, rows,
# columns) the turns and the growth of the five addresses, then scalar instructions at their places, and how often the
# limits of results are set before all else.
KIND, MAPS, WEIGHTS, OUT, BIAS, INITIAL = range(6)
BIAS_WORDS, INITIAL_WORDS, OUT_WORDS = range(6, 9)
LOOPS, LOOP = 9, 6
PROLOGUE = LOOPS + 3 * LOOP
BEFORE_BIAS, BEFORE_INITIAL, AFTER_POINT, AFTER_ROW, AFTER_BLOCK = range(PROLOGUE + 1, PROLOGUE + 6)
CLIPS = AFTER_BLOCK + 1
FIELDS = CLIPS + 1

# What is found: when the last instruction has been issued and the last result is in Buf, and what happened between.
ISSUED, FINISHED, BUSY, CONFLICT = range(4)


def _run(objects: Any, first: Any, traces: Any, queue: int, latency: int, table_words: int) -> Any:
    """``objects``: int64 [objects][FIELDS]; ``traces``: int64 [traces][4], maps offset, weights offset, length, scalar
    instructions before it; those of object i are rows first[i] to first[i + 1]. Answers int64 [4].

    In one function because issue, queue and vector unit are scalars that every branch changes."""
    ring = np.zeros(queue, np.int64)
    # issue: the next instruction's; end: the vector unit's; pending: lines of the last result not yet drained.
    issue, end, pending, busy, conflict, place = 0, 0, 0, 0, 0, 0
    seen = np.zeros((3, queue + 2), np.int64)
    base = np.zeros((3, 4), np.int64)
    state = np.zeros(queue + 2, np.int64)
    turn, period, left = np.zeros(3, np.int64), np.ones(3, np.int64), np.zeros(3, np.int64)
    at_line = np.zeros(5, np.int64)
    for which in range(objects.shape[0]):
        o = objects[which]
        kind = o[KIND]
        for level in range(3):
            period[level] = 1
            for address in range(5):
                step = o[LOOPS + level * LOOP + 1 + address] % 16
                while step * period[level] % 16 != 0:
                    period[level] *= 2
            turn[level] = 0
            left[level] = -1
        issue += o[PROLOGUE]
        for _ in range(o[CLIPS]):
            issue = max(issue, ring[place])
            begin = max(end, issue + 1)
            issue += 1
            pending = max(0, pending - (begin - end))
            end = begin + 1
            busy += 1
            ring[place] = end + latency
            place = (place + 1) % queue
        level = 0
        # Loops as one walk: level 0 blocks, 1 rows, 2 columns; a body runs at level 2, then turns end inside out.
        while level >= 0:
            for address in range(5):
                value = o[MAPS + address]
                for outer in range(3):
                    value += turn[outer] * o[LOOPS + outer * LOOP + 1 + address]
                at_line[address] = value % 16
            begins_block = turn[1] == 0 and turn[2] == 0
            number = 0
            while number < 2 + first[which + 1] - first[which]:
                moves, free, writes = 0, 0, 0
                if number == 0:
                    if begins_block and o[BIAS_WORDS] > 0:
                        issue += o[BEFORE_BIAS]
                        moves = (at_line[3] + o[BIAS_WORDS] + 15) // 16
                    elif begins_block:
                        issue += o[BEFORE_BIAS]
                elif number == 1:
                    if o[INITIAL_WORDS] > 0:
                        issue += o[BEFORE_INITIAL]
                        moves = (at_line[4] + o[INITIAL_WORDS] + 15) // 16
                else:
                    trace = traces[first[which] + number - 2]
                    issue += trace[3]
                    moves = ((at_line[0] + trace[0]) % 16 + trace[2] + 15) // 16
                    if kind == 0:
                        moves = max(moves, ((at_line[1] + trace[1]) % 16 + trace[2] + 15) // 16)
                    elif kind == 1:
                        free = trace[2] - moves
                        moves = trace[2]
                    elif kind == 4:
                        moves = max(moves, (trace[2] + table_words - 1) // table_words)
                    if number == 1 + first[which + 1] - first[which]:
                        writes = (at_line[2] + o[OUT_WORDS] + 15) // 16
                number += 1
                if moves == 0:
                    continue
                issue = max(issue, ring[place])
                begin = max(end, issue + 1)
                issue += 1
                pending = max(0, pending - (begin - end) - free)
                end = begin + moves
                busy += moves
                if writes > 0:
                    end += pending
                    conflict += pending
                    pending = writes
                ring[place] = end + latency
                place = (place + 1) % queue
            issue += o[AFTER_POINT]
            level = 2
            while level >= 0:
                turn[level] += 1
                turns = o[LOOPS + level * LOOP]
                if turn[level] % period[level] == 0 and turn[level] < turns:
                    state[0] = pending
                    state[1] = max(end - issue, -16)
                    for later in range(queue):
                        state[2 + later] = max(ring[(place + later) % queue] - issue, 0)
                    same = left[level] >= 0
                    for number in range(queue + 2):
                        same = same and state[number] == seen[level, number]
                        seen[level, number] = state[number]
                    if same:
                        again = (turns - turn[level]) // period[level]
                        passed = again * (issue - base[level, 0])
                        issue, end = issue + passed, end + passed
                        for number in range(queue):
                            ring[number] += passed
                        busy += again * (busy - base[level, 2])
                        conflict += again * (conflict - base[level, 3])
                        turn[level] += again * period[level]
                    left[level] = 0
                    base[level, 0], base[level, 2], base[level, 3] = issue, busy, conflict
                if turn[level] < turns:
                    break
                turn[level] = 0
                left[level] = -1
                level -= 1
                issue += o[AFTER_ROW] if level == 1 else o[AFTER_BLOCK] if level == 0 else 0
    found = np.zeros(4, np.int64)
    found[ISSUED], found[FINISHED] = issue, end + pending + latency
    found[BUSY], found[CONFLICT] = busy, conflict
    return found


_compiled = compiled(_run)


def vector_time(
    objects: Any, first: Any, traces: Any, queue: int, latency: int, table_words: int
) -> tuple[int, int, int, int]:
    """When the core has issued the last instruction, when the last result is in Buf, cycles of the vector unit at
    work, and conflict cycles; counted from the first instruction's issue, the vector unit idle.

    ``objects``: int64 [objects][FIELDS]; ``traces``: int64 [traces][4]: maps offset, weights offset, length, scalar
    instructions before it; those of object i are rows first[i] to first[i + 1].
    """
    found = _compiled(objects, first, traces, queue, latency, table_words)
    return int(found[ISSUED]), int(found[FINISHED]), int(found[BUSY]), int(found[CONFLICT])
