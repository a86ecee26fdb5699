"""What a cluster asks of the external memory, in machine code: transfers with what they must wait for, and turns."""

from __future__ import annotations

from typing import Any, NamedTuple

from mapper.arch.snowflake import BANK_INSTRUCTIONS
from mapper.models.compiled import compiled
from mapper.sim.trace_partition.cycle.memory import look_at
from mapper.sim.trace_partition.cycle.state import (
    AFTER,
    AFTER_RESULT,
    AFTER_WORD,
    ASKED,
    BANK,
    BANK_ENTRY,
    BANK_STRANGE,
    BEFORE,
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
    DONE,
    EPOCH,
    EXTRA,
    FILL_CYCLES,
    FINE,
    FIRST,
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
    LAYER,
    LENGTH,
    LOAD,
    MEMORY_WORDS,
    NEEDS,
    NEEDS_WORD,
    NEVER,
    OF_TURN,
    OPEN,
    OPEN_AT,
    OPEN_WANTED,
    OPEN_WORDS,
    OTHER_CLUSTER,
    REQUEST,
    SHARED_FIRST,
    STORE,
    STORE_BYTES,
    TO_CODE,
    TO_MEMORY,
    TO_WBUF,
    TURN,
    UNIT_WORDS,
    VMAC_WORDS,
    WBUF_BYTES,
    WBUF_LOAD,
    WBUF_READ,
    WORK,
)
from mapper.sim.trace_partition.cycle.tag import hazard, latest, lines, note, where


def _end_turn(core: Any, machine: Any, time: int) -> None:
    """A cluster has come to an instruction that ends its turn, in cycle ``time``."""
    core[TURN] += 1
    core[ASKED] = 0
    look_at(machine, time)


end_turn = compiled(_end_turn)


def _request(core: Any, numbers: Any, transfers: Any, machine: Any, place: int, time: int) -> Any:
    """The row of a new transfer of one kind, asked for by the instruction of cycle ``time``."""
    row = transfers[numbers[ISSUED] % len(transfers)]
    numbers[ISSUED] += 1
    row[:] = 0
    row[REQUEST], row[FROM], row[BEFORE], row[OF_TURN] = time + 1, place, NEVER, core[TURN]
    look_at(machine, time + 1)
    return row


request = compiled(_request)


def _load_code(
    core: Any, numbers: Any, transfers: Any, machine: Any, place: int, time: int, offset: int
) -> Any:
    """LD.I from so many words after the first of the cluster's code; answers why it cannot be, or FINE. ``numbers``
    and ``transfers``: those of code."""
    bank = offset // (2 * BANK_INSTRUCTIONS)
    if offset < 0 or offset % (2 * BANK_INSTRUCTIONS) > 0 or bank * BANK_INSTRUCTIONS >= core[LENGTH]:
        return BANK_STRANGE
    row = request(core, numbers, transfers, machine, place, time)
    row[BYTES], row[LANE] = 4 * BANK_INSTRUCTIONS, TO_CODE
    core[BANK], core[BANK_ENTRY] = bank, numbers[ISSUED]
    return FINE


load_code = compiled(_load_code)


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


class Pieces(NamedTuple):
    """What a transfer moves: ``many`` pieces of so many ``words``, from or to a ``local`` address and one of
    ``memory``, which grow by their pitches."""

    local: int
    memory: int
    many: int
    words: int
    local_pitch: int
    memory_pitch: int


def _foreign(s: Any, c: int, place: int, time: int, moved: Pieces, stores: bool) -> None:
    """Note which words of the external memory another cluster stored since the last SYNC."""
    for piece in range(moved.many):
        first = moved.memory + piece * moved.memory_pitch - s.machine[SHARED_FIRST]
        seen, word = shared(s.written, s.core[c, EPOCH] * 8 + c, first, moved.words, stores)
        if seen >= 0:
            one = hazard(s.hazards, s.machine)
            one[H_CAUSE], one[H_CLUSTER], one[H_PLACE], one[H_OTHER] = OTHER_CLUSTER, c, place, -1
            one[H_WORD], one[H_AT], one[H_READY] = word + s.machine[SHARED_FIRST], time, seen & 7


foreign = compiled(_foreign)


def _move(
    s: Any, c: int, place: int, time: int, lane: int, fill: bool, moved: Pieces, group: int, copies: int
) -> int:
    """A load, a fill, or a store (``lane``): ``group`` pieces one after another have the same local address, and each
    goes to ``copies`` units.

    Answers why it cannot be, or FINE.
    """
    local, memory, count, words = moved.local, moved.memory, moved.many, moved.words
    local_pitch, memory_pitch = moved.local_pitch, moved.memory_pitch
    if words == 0:
        count = 0
    pieces = (count + group - 1) // group
    end = local + (pieces - 1) * local_pitch + words if count > 0 else 0
    if lane == TO_WBUF and end > s.machine[VMAC_WORDS]:
        return BEYOND_WBUF
    if lane != TO_WBUF and end > s.machine[UNIT_WORDS]:
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
        foreign(s, c, place, time, Pieces(local, memory, count, words, local_pitch, memory_pitch), stores)
    kind = STORE if stores else LOAD
    row = request(core, s.numbers[c, kind], s.transfers[c, kind], s.machine, place, time)
    core[ASKED] = 1
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


move = compiled(_move)
