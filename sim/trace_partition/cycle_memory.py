"""The queue of transfers and the external memory of all clusters, in machine code.

A transfer's times are found when it starts, which is when no cluster can ask for anything earlier. What must not come
before (reads and results of vector instructions issued earlier) and after (those issued later) is kept with it.
"""

from __future__ import annotations

from typing import Any

from mapper.arch.snowflake import BANK_INSTRUCTIONS
from mapper.sim.trace_partition.cycle_state import (
    AFTER,
    AFTER_RESULT,
    AFTER_WORD,
    BANK,
    BANK_ENTRY,
    BANK_STRANGE,
    BEFORE,
    BEFORE_CAUSE,
    BEFORE_PLACE,
    BEFORE_WORD,
    BEYOND_BUF,
    BEYOND_MEMORY,
    BEYOND_WBUF,
    BUF_BYTES,
    BUF_LOAD,
    BUF_READ,
    BUF_STORE,
    BUF_WRITE,
    BUFFER_WORDS,
    BYTES,
    CODE,
    DENOMINATOR,
    DONE,
    DRAIN,
    END,
    EPOCH,
    EXTRA,
    FILL_CYCLES,
    FINE,
    FIRST,
    FRACTION,
    FREE,
    FROM,
    H_AT,
    H_CAUSE,
    H_CLUSTER,
    H_OTHER,
    H_PLACE,
    H_READY,
    H_WORD,
    ISSUED,
    LANE,
    LAST,
    LAYER,
    LENGTH,
    LOAD,
    LOAD_OVER_USE,
    MEMORY_LATENCY,
    MEMORY_WORDS,
    NEEDS,
    NEEDS_WORD,
    NEVER,
    NEXT,
    NUMERATOR,
    OPEN,
    OPEN_AT,
    OPEN_WANTED,
    OPEN_WORDS,
    OTHER_CLUSTER,
    READY,
    REQUEST,
    SHARED_FIRST,
    STARTED,
    STORE,
    STORE_BYTES,
    STORE_EARLY,
    STORE_UNDER_LOAD,
    TO_CODE,
    TO_MEMORY,
    TO_WBUF,
    UNIT_WORDS,
    VECTOR_LATENCY,
    VMAC_WORDS,
    WBUF_BYTES,
    WBUF_LOAD,
    WBUF_READ,
    WEIGHT_OVER_USE,
    WORK,
)
from mapper.sim.trace_partition.cycle_tag import hazard, latest, lines, note, record, where
from mapper.solver.compiled import compiled


def _retire(numbers: Any, transfers: Any, time: int) -> Any:
    """How many transfers of one kind are unfinished at ``time``."""
    while numbers[DONE] < numbers[STARTED] and transfers[numbers[DONE] % len(transfers), READY] <= time:
        numbers[DONE] += 1
    return numbers[ISSUED] - numbers[DONE]


retire = compiled(_retire)


def _serve(s: Any) -> None:
    """Start the next transfer: instructions before others, else in order of request, then of clusters."""
    machine, queue = s.machine, s.transfers.shape[2]
    c, kind, best = -1, 0, NEVER
    for cluster in range(s.core.shape[0]):
        if s.numbers[cluster, CODE, STARTED] < s.numbers[cluster, CODE, ISSUED]:
            request = s.transfers[cluster, CODE, s.numbers[cluster, CODE, STARTED] % queue, REQUEST]
            if request <= machine[NEXT] and request < best:
                c, kind, best = cluster, CODE, request
    if c < 0:
        for cluster in range(s.core.shape[0]):
            for which in range(2):
                if s.numbers[cluster, which, STARTED] < s.numbers[cluster, which, ISSUED]:
                    request = s.transfers[cluster, which, s.numbers[cluster, which, STARTED] % queue, REQUEST]
                    if request < best:
                        c, kind, best = cluster, which, request
    row = s.transfers[c, kind, s.numbers[c, kind, STARTED] % queue]
    s.numbers[c, kind, STARTED] += 1
    begin, fraction = machine[FREE], machine[FRACTION]
    if row[REQUEST] > begin:
        begin, fraction = row[REQUEST], 0
    units = fraction + row[BYTES] * machine[NUMERATOR]
    machine[FREE] = begin + units // machine[DENOMINATOR] + row[EXTRA]
    machine[FRACTION] = units % machine[DENOMINATOR]
    end = machine[FREE] + (1 if machine[FRACTION] > 0 else 0)
    row[READY] = end if kind == STORE else end + machine[MEMORY_LATENCY]
    core = s.core[c]
    core[LAST] = max(core[LAST], row[READY])
    layer = s.code[s.core[c, FIRST] + row[FROM], LAYER]
    record(s.timeline[c, row[LANE]], layer, begin, end)
    after = row[AFTER]
    if row[AFTER_RESULT] > 0 and row[AFTER_RESULT] == core[OPEN]:
        after = max(after, core[END] + core[DRAIN] + machine[VECTOR_LATENCY])
    if after > begin:
        one = hazard(s.hazards, s.machine)
        one[H_CAUSE] = LOAD_OVER_USE
        if kind == STORE:
            one[H_CAUSE] = STORE_EARLY
        elif row[LANE] == TO_WBUF:
            one[H_CAUSE] = WEIGHT_OVER_USE
        one[H_CLUSTER], one[H_PLACE], one[H_OTHER] = c, row[FROM], -1
        one[H_WORD], one[H_AT], one[H_READY] = row[AFTER_WORD], begin, after
    if row[BEFORE] < row[READY]:
        one = hazard(s.hazards, s.machine)
        one[H_CAUSE], one[H_CLUSTER], one[H_PLACE] = row[BEFORE_CAUSE], c, row[BEFORE_PLACE]
        one[H_OTHER], one[H_WORD], one[H_AT] = row[FROM], row[BEFORE_WORD], row[BEFORE]
        one[H_READY] = row[READY]
    if row[NEEDS] > s.numbers[c, LOAD, DONE]:
        load = s.transfers[c, LOAD, (row[NEEDS] - 1) % queue]
        if load[READY] > begin:
            one = hazard(s.hazards, s.machine)
            one[H_CAUSE], one[H_CLUSTER], one[H_PLACE] = STORE_UNDER_LOAD, c, row[FROM]
            one[H_OTHER], one[H_WORD], one[H_AT] = load[FROM], row[NEEDS_WORD], begin
            one[H_READY] = load[READY]
    earliest = NEVER
    for cluster in range(s.core.shape[0]):
        for which in (LOAD, STORE, CODE):
            if s.numbers[cluster, which, STARTED] < s.numbers[cluster, which, ISSUED]:
                number = s.numbers[cluster, which, STARTED]
                earliest = min(earliest, s.transfers[cluster, which, number % queue, REQUEST])
    machine[NEXT] = NEVER if earliest == NEVER else max(earliest, machine[FREE])


serve = compiled(_serve, hazard=hazard, record=record)


def _request(numbers: Any, transfers: Any, memory: Any, place: int, time: int) -> Any:
    """The row of a new transfer of one kind, asked for by the instruction of cycle ``time``."""
    row = transfers[numbers[ISSUED] % len(transfers)]
    numbers[ISSUED] += 1
    row[:] = 0
    row[REQUEST], row[FROM], row[BEFORE] = time + 1, place, NEVER
    memory[NEXT] = min(memory[NEXT], max(time + 1, memory[FREE]))
    return row


request = compiled(_request)


def _load_code(
    core: Any, numbers: Any, transfers: Any, machine: Any, place: int, time: int, behind: int
) -> Any:
    """LD.I from so many words behind the first of the cluster's code; answers why it cannot be, or FINE. ``numbers``
    and ``transfers``: those of code."""
    bank = behind // (2 * BANK_INSTRUCTIONS)
    if behind < 0 or behind % (2 * BANK_INSTRUCTIONS) > 0 or bank * BANK_INSTRUCTIONS >= core[LENGTH]:
        return BANK_STRANGE
    row = request(numbers, transfers, machine, place, time)
    row[BYTES], row[LANE] = 4 * BANK_INSTRUCTIONS, TO_CODE
    core[BANK], core[BANK_ENTRY] = bank, numbers[ISSUED]
    return FINE


load_code = compiled(_load_code, request=request)


def _shared(written: Any, stamp: int, first: int, words: int, stores: bool) -> Any:
    """Words of the external memory that a cluster reads or stores: note these, and answer the stamp (epoch and
    cluster) under which another cluster stored a word of them since the last SYNC, and the word; -1: none did."""
    for at in range(max(first, 0), min(first + words, len(written))):
        seen = written[at] - 1
        if seen >= 0 and seen != stamp and seen >> 3 == stamp >> 3:
            return seen, at
        if stores:
            written[at] = stamp + 1
    return -1, 0


shared = compiled(_shared)


def _move(
    s: Any,
    c: int,
    place: int,
    time: int,
    lane: int,
    fill: bool,
    local: int,
    memory: int,
    count: int,
    words: int,
    local_pitch: int,
    memory_pitch: int,
    group: int,
    copies: int,
) -> int:
    """A load, a fill, or a store (``lane``): ``group`` pieces one after another have the same local address, and each
    goes to ``copies`` units.

    Answers why it cannot be, or FINE.
    """
    if words == 0:
        count = 0
    pieces = (count + group - 1) // group
    behind = local + (pieces - 1) * local_pitch + words if count > 0 else 0
    if lane == TO_WBUF and behind > s.machine[VMAC_WORDS]:
        return BEYOND_WBUF
    if lane != TO_WBUF and behind > s.machine[UNIT_WORDS]:
        return BEYOND_BUF
    if count > 0 and not fill and memory + (count - 1) * memory_pitch + words > s.machine[MEMORY_WORDS]:
        return BEYOND_MEMORY
    counts = s.counts[c, s.code[s.core[c, FIRST] + place, LAYER]]
    core = s.core[c]
    core[WORK] += count
    counts[BUFFER_WORDS] += copies * count * words
    extra = 0
    if fill:
        for piece in range(count):
            extra += lines(local + piece * local_pitch, words)
        counts[FILL_CYCLES] += extra
    else:
        crossing = 2 * count * words
        counts[STORE_BYTES if lane == TO_MEMORY else WBUF_BYTES if lane == TO_WBUF else BUF_BYTES] += crossing
    stores = lane == TO_MEMORY
    if s.written.shape[0] > 0 and not fill:
        for piece in range(count):
            first = memory + piece * memory_pitch - s.machine[SHARED_FIRST]
            seen, word = shared(s.written, core[EPOCH] * 8 + c, first, words, stores)
            if seen >= 0:
                one = hazard(s.hazards, s.machine)
                one[H_CAUSE], one[H_CLUSTER], one[H_PLACE], one[H_OTHER] = OTHER_CLUSTER, c, place, -1
                one[H_WORD], one[H_AT], one[H_READY] = word + s.machine[SHARED_FIRST], time, seen & 7
    kind = STORE if stores else LOAD
    row = request(s.numbers[c, kind], s.transfers[c, kind], s.machine, place, time)
    row[LANE], row[BYTES], row[EXTRA] = lane, 0 if fill else 2 * count * words, extra
    number = s.numbers[c, kind, ISSUED]
    if local_pitch == words:
        words, pieces = words * pieces, min(pieces, 1)
    used = s.tags[c, WBUF_READ if lane == TO_WBUF else BUF_READ]
    results, loaded = s.tags[c, BUF_WRITE], s.tags[c, BUF_LOAD]
    mark = s.tags[c, BUF_STORE if stores else WBUF_LOAD if lane == TO_WBUF else BUF_LOAD]
    for piece in range(pieces):
        at = local + piece * local_pitch
        if not stores:
            after = latest(used, at, words)
            if after > row[AFTER]:
                row[AFTER] = after
                if after > time:
                    row[AFTER_WORD] = where(used, at, words, after)
        if lane != TO_WBUF:
            after = latest(results, at, words)
            if after > row[AFTER]:
                row[AFTER] = after
                if after > time:
                    row[AFTER_WORD] = where(results, at, words, after)
            if core[OPEN] > 0 and at < core[OPEN_AT] + core[OPEN_WORDS] and core[OPEN_AT] < at + words:
                row[AFTER_RESULT] = core[OPEN]
                row[AFTER_WORD] = max(at, core[OPEN_AT])
                core[OPEN_WANTED] = 1
        if stores:
            needs = latest(loaded, at, words)
            if needs > row[NEEDS]:
                row[NEEDS] = needs
                if needs > s.numbers[c, LOAD, DONE]:
                    row[NEEDS_WORD] = where(loaded, at, words, needs)
        note(mark, at, words, number)
    return FINE


move = compiled(
    _move, hazard=hazard, latest=latest, lines=lines, note=note, request=request, shared=shared, where=where
)
