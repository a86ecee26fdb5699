"""The vector unit of a cluster: queue, port of Buf, results that drain, in machine code."""

from __future__ import annotations

from typing import Any

from mapper.arch.snowflake import BLOCK, LANES, UNITS, VMACS
from mapper.models.trace_partition.instruction import COOP_MOVE, WIDE, WRITE
from mapper.sim.trace_partition.cycle_state import (
    AFTER,
    AFTER_RESULT,
    BEFORE,
    BEFORE_CAUSE,
    BEFORE_PLACE,
    BEFORE_WORD,
    BEYOND_BUF,
    BEYOND_WBUF,
    BUF_LOAD,
    BUF_READ,
    BUF_STORE,
    BUF_WRITE,
    BUFFER_WORDS,
    BUSY,
    COMPUTE,
    CONFLICT,
    COUNT,
    DONE,
    DRAIN,
    END,
    EXTENT,
    FINE,
    FLAGS,
    FROM,
    GAP,
    HEAD,
    ISSUE,
    ISSUED,
    LAST,
    LAYER,
    LOAD,
    LONG,
    LONG_EXTENT,
    OPEN,
    OPEN_AT,
    OPEN_WANTED,
    OPEN_WORDS,
    OPERATION,
    READ_EARLY,
    READY,
    RESULT_OVER_STORE,
    RESULT_UNDER_LOAD,
    RESULTS,
    STARTED,
    STORE,
    UNIT_WORDS,
    VECTOR_LATENCY,
    VMAC_WORDS,
    WBUF_LOAD,
    WBUF_READ,
    WEIGHT_EARLY,
)
from mapper.sim.trace_partition.cycle_tag import hazard, latest, lines, note, record, where
from mapper.solver.compiled import compiled

VMOV, MAC, MAX = 10, 11, 12
PART = 2
COOP, INDP, LANE = 0, 1, 2


def _finished(s: Any, c: int, time: int) -> None:
    """A vector instruction has its time."""
    core = s.core[c]
    s.ring[c, (core[HEAD] + core[COUNT]) % s.ring.shape[1]] = time
    core[COUNT] += 1
    core[LAST] = max(core[LAST], time)


finished = compiled(_finished)


def _unfinished(s: Any, c: int, time: int) -> Any:
    """How many vector instructions are unfinished at ``time``, if none is issued until then."""
    core = s.core[c]
    while core[COUNT] > 0 and s.ring[c, core[HEAD]] <= time:
        core[HEAD] = (core[HEAD] + 1) % s.ring.shape[1]
        core[COUNT] -= 1
    waits = core[OPEN] > 0 and core[END] + core[DRAIN] + s.parameters[VECTOR_LATENCY] > time
    return core[COUNT] + (1 if waits else 0)


unfinished = compiled(_unfinished)


def _done(s: Any, c: int, many: int) -> Any:
    """When the first ``many`` of the unfinished vector instructions are finished, if none is issued until then. The
    one whose result waits is the last."""
    core = s.core[c]
    if many <= core[COUNT]:
        return s.ring[c, (core[HEAD] + many - 1) % s.ring.shape[1]]
    return core[END] + core[DRAIN] + s.parameters[VECTOR_LATENCY]


done = compiled(_done)


def _drained(s: Any, c: int, time: int) -> None:
    """The result that waited is in Buf since ``time``, and finished the latency later."""
    core, ready = s.core[c], time + s.parameters[VECTOR_LATENCY]
    finished(s, c, ready)
    note(
        s.line[c, BUF_WRITE],
        s.top[c, BUF_WRITE],
        s.word[c, BUF_WRITE],
        core[OPEN_AT],
        core[OPEN_WORDS],
        ready,
    )
    if core[OPEN_WANTED] > 0:
        queue = s.transfers.shape[2]
        for kind in (LOAD, STORE):
            for number in range(s.numbers[c, kind, STARTED], s.numbers[c, kind, ISSUED]):
                row = s.transfers[c, kind, number % queue]
                if row[AFTER_RESULT] == core[OPEN]:
                    row[AFTER] = max(row[AFTER], ready)
        core[OPEN_WANTED] = 0
    core[OPEN] = 0


drained = compiled(_drained, finished=finished, note=note)


def _expect(
    s: Any, c: int, kind: int, tag: int, address: int, words: int, place: int, time: int, cause: int
) -> None:
    """Transfers of these words must be finished at ``time``: find the last one, or have it looked at when it
    starts."""
    number = latest(s.line[c, tag], s.top[c, tag], s.word[c, tag], address, words)
    if number <= s.numbers[c, kind, DONE]:
        return
    row = s.transfers[c, kind, (number - 1) % s.transfers.shape[2]]
    if number <= s.numbers[c, kind, STARTED]:
        if row[READY] > time:
            word = where(s.line[c, tag], s.word[c, tag], address, words, number)
            hazard(s.hazards, s.found, cause, c, place, row[FROM], word, time, row[READY])
    elif time < row[BEFORE]:
        row[BEFORE], row[BEFORE_PLACE], row[BEFORE_CAUSE] = time, place, cause
        row[BEFORE_WORD] = where(s.line[c, tag], s.word[c, tag], address, words, number)


expect = compiled(_expect, hazard=hazard, latest=latest, where=where)


def _vector(s: Any, c: int, place: int, time: int, ra: int, rb: int, rc: int, rd: int) -> int:
    """A vector instruction that is issued in cycle ``time``; answers why it cannot be, or FINE."""
    core, one, latency = s.core[c], s.code[s.first[c] + place], s.parameters[VECTOR_LATENCY]
    operation, flags = one[OPERATION], one[FLAGS]
    kind, reads, weights, writes = flags & 3, 0, 0, 0
    if operation == VMOV:
        if rc > (VMACS if flags & COOP_MOVE else BLOCK):
            return LONG
        reads = 2 * rc if kind == PART else rc
        if kind == 0:
            core[EXTENT] = rc
    elif operation == MAX:
        reads = rc
        writes = rc if flags & WRITE else 0
    else:
        reads = rd
        weights = rd if kind == COOP else 16 * rd if kind == INDP else min(rd, 16)
        if flags & WRITE:
            if kind == COOP and core[EXTENT] > VMACS:
                return LONG_EXTENT
            writes = core[EXTENT] * (2 if flags & WIDE else 1)
    if reads > BLOCK and (operation == MAX or (operation == MAC and kind == LANE)):
        return LONG
    limit = s.parameters[UNIT_WORDS]
    if (reads > 0 and rb + reads > limit) or (writes > 0 and ra + writes > limit):
        return BEYOND_BUF
    if weights > 0 and rc + weights > s.parameters[VMAC_WORDS]:
        return BEYOND_WBUF

    used = lines(rb, reads)
    cycles, free = used, 0
    if operation == MAC and kind == COOP:
        cycles = max(used, lines(rc, reads))
    elif operation == MAC and kind == INDP:
        cycles, free = reads, reads - used
    cycles = max(cycles, 1)
    counts = s.counts[c, one[LAYER]]
    start = max(time + 1, core[END])
    idle = start - core[END]
    conflict = 0
    if core[OPEN] > 0 and idle > 0:
        conflict = min(core[DRAIN], idle)
        core[DRAIN] -= conflict
        if core[DRAIN] == 0:
            drained(s, c, core[END] + conflict)
    counts[ISSUE] += max(0, idle - max(core[GAP], conflict))
    core[GAP] = 0
    end = start + cycles
    if core[OPEN] > 0 and free > 0:
        core[DRAIN] -= min(core[DRAIN], free)
        if core[DRAIN] == 0:
            drained(s, c, end)
    computed = end
    if writes > 0 and core[OPEN] > 0:
        conflict += core[DRAIN]
        end += core[DRAIN]
        drained(s, c, end)
    core[END] = end
    if writes > 0:
        core[RESULTS] += 1
        core[OPEN], core[OPEN_AT], core[OPEN_WORDS] = core[RESULTS], ra, writes
        core[DRAIN] = lines(ra, writes)
    else:
        finished(s, c, end + latency)
    fetched = LANES * VMACS if kind == INDP else VMACS if kind == COOP else 1
    counts[BUFFER_WORDS] += UNITS * (reads + writes + (reads * fetched if operation == MAC else 0))
    counts[BUSY] += cycles
    counts[CONFLICT] += conflict
    record(s.timeline[c, COMPUTE], s.entries[c, COMPUTE], one[LAYER], start, end)

    expect(s, c, LOAD, BUF_LOAD, rb, reads, place, start, READ_EARLY)
    note(s.line[c, BUF_READ], s.top[c, BUF_READ], s.word[c, BUF_READ], rb, reads, computed)
    if weights > 0:
        expect(s, c, LOAD, WBUF_LOAD, rc, weights, place, start, WEIGHT_EARLY)
        note(s.line[c, WBUF_READ], s.top[c, WBUF_READ], s.word[c, WBUF_READ], rc, weights, computed)
    if writes > 0:
        expect(s, c, LOAD, BUF_LOAD, ra, writes, place, computed, RESULT_UNDER_LOAD)
        expect(s, c, STORE, BUF_STORE, ra, writes, place, computed, RESULT_OVER_STORE)
    return FINE


vector = compiled(
    _vector, drained=drained, expect=expect, finished=finished, lines=lines, note=note, record=record
)
