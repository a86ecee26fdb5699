"""The vector unit of a cluster: queue, port of Buf, results that drain, in machine code."""

from __future__ import annotations

from typing import Any

from mapper.arch.snowflake import BLOCK, LANES, TABLE_WORDS, UNITS, VMACS
from mapper.models.compiled import compiled
from mapper.models.trace_partition.isa.instruction import COOP_MOVE, MAX_TABLE, WIDE, WRITE
from mapper.sim.trace_partition.cycle.state import (
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
    ENDED,
    EXTENT,
    FINE,
    FIRST,
    FLAGS,
    FROM,
    GAP,
    H_AT,
    H_CAUSE,
    H_CLUSTER,
    H_OTHER,
    H_PLACE,
    H_READY,
    H_WORD,
    HEAD,
    ISSUE,
    ISSUED,
    LAST,
    LAYER,
    LOAD,
    LONG,
    LONG_EXTENT,
    MAPPED,
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
    RING,
    STARTED,
    STORE,
    UNIT_WORDS,
    VECTOR_LATENCY,
    VMAC_WORDS,
    WBUF_LOAD,
    WBUF_READ,
    WEIGHT_EARLY,
)
from mapper.sim.trace_partition.cycle.tag import hazard, latest, lines, note, record, where

VMOV, MAC, MAX = 10, 11, 12
PART, CLIP = 2, 3
COOP, INDP, LANE = 0, 1, 2


def _finished(core: Any, ring: Any, time: int) -> None:
    """A vector instruction has its time."""
    ring[(core[HEAD] + core[COUNT]) % len(ring)] = time
    core[COUNT] += 1
    core[LAST] = max(core[LAST], time)


finished = compiled(_finished)


def _unfinished(core: Any, ring: Any, latency: int, time: int) -> Any:
    """How many vector instructions are unfinished at ``time``, if none is issued until then."""
    while core[COUNT] > 0 and ring[core[HEAD]] <= time:
        core[HEAD] = (core[HEAD] + 1) % len(ring)
        core[COUNT] -= 1
    waits = core[OPEN] > 0 and core[END] + core[DRAIN] + latency > time
    return core[COUNT] + (1 if waits else 0)


unfinished = compiled(_unfinished)


def _done(core: Any, ring: Any, latency: int, many: int) -> Any:
    """When the first ``many`` of the unfinished vector instructions are finished, if none is issued until then. The
    one whose result waits is the last."""
    if many <= core[COUNT]:
        return ring[(core[HEAD] + many - 1) % len(ring)]
    return core[END] + core[DRAIN] + latency


done = compiled(_done)


def _drained(core: Any, ring: Any, tags: Any, numbers: Any, transfers: Any, latency: int, time: int) -> None:
    """The result that waited is in Buf since ``time``, and finished the latency later."""
    ready = time + latency
    finished(core, ring, ready)
    note(tags[BUF_WRITE], core[OPEN_AT], core[OPEN_WORDS], ready)
    if core[OPEN_WANTED] > 0:
        for kind in (LOAD, STORE):
            for number in range(numbers[kind, STARTED], numbers[kind, ISSUED]):
                row = transfers[kind, number % transfers.shape[1]]
                if row[AFTER_RESULT] == core[OPEN]:
                    row[AFTER] = max(row[AFTER], ready)
        core[OPEN_WANTED] = 0
    core[OPEN] = 0


drained = compiled(_drained)


def _expect(
    numbers: Any,
    transfers: Any,
    hazards: Any,
    machine: Any,
    tags: Any,
    address: int,
    words: int,
    c: int,
    place: int,
    time: int,
    cause: int,
) -> None:
    """The transfers (of one kind) of these words are not all over: the last one must be finished at ``time``. If it
    has not ended, it is looked at when it does."""
    number = latest(tags, address, words)
    row = transfers[(number - 1) % len(transfers)]
    word = where(tags, address, words, number)
    if number <= numbers[ENDED]:
        if row[READY] > time:
            one = hazard(hazards, machine)
            one[H_CAUSE], one[H_CLUSTER], one[H_PLACE], one[H_OTHER] = cause, c, place, row[FROM]
            one[H_WORD], one[H_AT], one[H_READY] = word, time, row[READY]
    elif time < row[BEFORE]:
        row[BEFORE], row[BEFORE_PLACE], row[BEFORE_CAUSE], row[BEFORE_WORD] = time, place, cause, word


expect = compiled(_expect)


def _operands(
    core: Any, machine: Any, operation: int, flags: int, ra: int, rb: int, rc: int, rd: int
) -> tuple[int, int, int, int]:
    """Why a vector instruction cannot be, or FINE, and the words of Buf and WBuf that it reads and of Buf it writes."""
    kind, reads, weights, writes = flags & 3, 0, 0, 0
    if operation == VMOV and kind == CLIP:
        if flags & COOP_MOVE:
            reads = rc
            if reads > TABLE_WORDS:
                return LONG, reads, weights, writes
    elif operation == VMOV:
        if rc > (VMACS if flags & COOP_MOVE else BLOCK):
            return LONG, reads, weights, writes
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
                return LONG_EXTENT, reads, weights, writes
            writes = core[EXTENT] * (2 if flags & WIDE else 1)
    if reads > BLOCK and (operation == MAX or (operation == MAC and kind == LANE)):
        return LONG, reads, weights, writes
    limit = machine[UNIT_WORDS]
    if (reads > 0 and rb + reads > limit) or (writes > 0 and ra + writes > limit):
        return BEYOND_BUF, reads, weights, writes
    if weights > 0 and rc + weights > machine[VMAC_WORDS]:
        return BEYOND_WBUF, reads, weights, writes
    return FINE, reads, weights, writes


operands = compiled(_operands)


def _vector(s: Any, c: int, place: int, time: int, ra: int, rb: int, rc: int, rd: int) -> Any:
    """A vector instruction that is issued in cycle ``time``; answers why it cannot be, or FINE."""
    core, one, latency = s.core[c], s.code[s.core[c, FIRST] + place], s.machine[VECTOR_LATENCY]
    ring, tags, numbers, transfers = s.core[c, RING:], s.tags[c], s.numbers[c], s.transfers[c]
    operation, flags = one[OPERATION], one[FLAGS]
    kind = flags & 3
    why, reads, weights, writes = operands(core, s.machine, operation, flags, ra, rb, rc, rd)
    if why != FINE:
        return why
    used = lines(rb, reads)
    cycles, free = used, 0
    if operation == MAC and kind == COOP:
        cycles = max(used, lines(rc, reads))
    elif operation == MAC and kind == INDP:
        cycles, free = reads, reads - used
    elif operation == MAX and flags & MAX_TABLE:
        cycles = max(used, (reads + s.machine[MAPPED] - 1) // s.machine[MAPPED])
    cycles = max(cycles, 1)
    counts = s.counts[c, one[LAYER]]
    start = max(time + 1, core[END])
    idle = start - core[END]
    conflict = 0
    if core[OPEN] > 0 and idle > 0:
        conflict = min(core[DRAIN], idle)
        core[DRAIN] -= conflict
        if core[DRAIN] == 0:
            drained(core, ring, tags, numbers, transfers, latency, core[END] + conflict)
    counts[ISSUE] += max(0, idle - max(core[GAP], conflict))
    core[GAP] = 0
    end = start + cycles
    if core[OPEN] > 0 and free > 0:
        core[DRAIN] -= min(core[DRAIN], free)
        if core[DRAIN] == 0:
            drained(core, ring, tags, numbers, transfers, latency, end)
    computed = end
    if writes > 0 and core[OPEN] > 0:
        conflict += core[DRAIN]
        end += core[DRAIN]
        drained(core, ring, tags, numbers, transfers, latency, end)
    core[END] = end
    if writes > 0:
        core[RESULTS] += 1
        core[OPEN], core[OPEN_AT], core[OPEN_WORDS] = core[RESULTS], ra, writes
        core[DRAIN] = lines(ra, writes)
    else:
        finished(core, ring, end + latency)
    fetched = LANES * VMACS if kind == INDP else VMACS if kind == COOP else 1
    counts[BUFFER_WORDS] += UNITS * (reads + writes + (reads * fetched if operation == MAC else 0))
    counts[BUSY] += cycles
    counts[CONFLICT] += conflict
    record(s.timeline[c, COMPUTE], one[LAYER], start, end)

    note(tags[BUF_READ], rb, reads, computed)
    note(tags[WBUF_READ], rc, weights, computed)
    for check in range(4):
        tag, address, words, kind, due, cause = BUF_LOAD, rb, reads, LOAD, start, READ_EARLY
        if check == 1:
            tag, address, words, cause = WBUF_LOAD, rc, weights, WEIGHT_EARLY
        elif check > 1:
            address, words, due, cause = ra, writes, computed, RESULT_UNDER_LOAD
            if check == 3:
                tag, kind, cause = BUF_STORE, STORE, RESULT_OVER_STORE
        if latest(tags[tag], address, words) > numbers[kind, DONE]:
            expect(
                numbers[kind],
                transfers[kind],
                s.hazards,
                s.machine,
                tags[tag],
                address,
                words,
                c,
                place,
                due,
                cause,
            )
    return FINE


vector = compiled(_vector)
