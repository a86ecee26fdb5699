"""The external memory of all clusters and what it serves, in machine code.

A transfer's times are found when it starts, which is when no cluster can ask for anything earlier. What must not come
before (reads and results of vector instructions issued earlier) and after (those issued later) is kept with it.
"""

from __future__ import annotations

from typing import Any

from mapper.models.compiled import compiled
from mapper.sim.trace_partition.cycle.state import (
    AFTER,
    AFTER_RESULT,
    AFTER_WORD,
    BEFORE,
    BEFORE_CAUSE,
    BEFORE_PLACE,
    BEFORE_WORD,
    BLOCKED,
    BYTES,
    CODE,
    DATA_WAY,
    DENOMINATOR,
    DONE,
    DRAIN,
    END,
    ENDED,
    EXTRA,
    FIRST,
    FROM,
    H_AT,
    H_CAUSE,
    H_CLUSTER,
    H_OTHER,
    H_PLACE,
    H_READY,
    H_WORD,
    HOLDER,
    INSTRUCTION_WAY,
    ISSUED,
    LANE,
    LAST,
    LAYER,
    LOAD,
    LOAD_OVER_USE,
    MEMORY_LATENCY,
    NEEDS,
    NEEDS_WORD,
    NEVER,
    NEXT,
    NOW,
    NUMERATOR,
    OF_TURN,
    OPEN,
    READY,
    REQUEST,
    RUNNING,
    SERVED,
    STARTED,
    STATE,
    STORE,
    STORE_EARLY,
    STORE_UNDER_LOAD,
    TO_WBUF,
    TURN,
    VECTOR_LATENCY,
    WAY_BEGAN,
    WAY_CLUSTER,
    WAY_KIND,
    WAY_LEFT,
    WEIGHT_OVER_USE,
    WHEN,
)
from mapper.sim.trace_partition.cycle.tag import hazard, record

INSTRUCTION_PART = 32
"""Loads of instructions have one in so many parts of the memory's time while data are under way."""


def _retire(numbers: Any, transfers: Any, time: int) -> Any:
    """How many transfers of one kind are unfinished at ``time``."""
    while numbers[DONE] < numbers[ENDED] and transfers[numbers[DONE] % len(transfers), READY] <= time:
        numbers[DONE] += 1
    return numbers[ISSUED] - numbers[DONE]


retire = compiled(_retire)


def _begin(s: Any, which: int, c: int, kind: int) -> None:
    """The next transfer of one kind of cluster ``c`` is under way from now on."""
    row, way, core = (
        s.transfers[c, kind, s.numbers[c, kind, STARTED] % s.transfers.shape[2]],
        s.way[which],
        s.core[c],
    )
    s.numbers[c, kind, STARTED] += 1
    begin = s.machine[NOW] // s.machine[DENOMINATOR]
    way[WAY_CLUSTER], way[WAY_KIND], way[WAY_BEGAN] = c, kind, begin
    way[WAY_LEFT] = row[BYTES] * s.machine[NUMERATOR] + row[EXTRA] * s.machine[DENOMINATOR]
    after = row[AFTER]
    if row[AFTER_RESULT] > 0 and row[AFTER_RESULT] == core[OPEN]:
        after = max(after, core[END] + core[DRAIN] + s.machine[VECTOR_LATENCY])
    if after > begin:
        one = hazard(s.hazards, s.machine)
        one[H_CAUSE] = LOAD_OVER_USE
        if kind == STORE:
            one[H_CAUSE] = STORE_EARLY
        elif row[LANE] == TO_WBUF:
            one[H_CAUSE] = WEIGHT_OVER_USE
        one[H_CLUSTER], one[H_PLACE], one[H_OTHER] = c, row[FROM], -1
        one[H_WORD], one[H_AT], one[H_READY] = row[AFTER_WORD], begin, after
    if row[NEEDS] > s.numbers[c, LOAD, DONE]:
        load = s.transfers[c, LOAD, (row[NEEDS] - 1) % s.transfers.shape[2]]
        if load[READY] > begin:
            one = hazard(s.hazards, s.machine)
            one[H_CAUSE], one[H_CLUSTER], one[H_PLACE] = STORE_UNDER_LOAD, c, row[FROM]
            one[H_OTHER], one[H_WORD], one[H_AT] = load[FROM], row[NEEDS_WORD], begin
            one[H_READY] = load[READY]


begin = compiled(_begin)


def _finish(s: Any, which: int) -> None:
    """What is under way ends."""
    way = s.way[which]
    c, kind = way[WAY_CLUSTER], way[WAY_KIND]
    core, row = s.core[c], s.transfers[c, kind, s.numbers[c, kind, ENDED] % s.transfers.shape[2]]
    s.numbers[c, kind, ENDED] += 1
    way[WAY_CLUSTER] = -1
    end = (s.machine[NOW] + s.machine[DENOMINATOR] - 1) // s.machine[DENOMINATOR]
    row[READY] = end if kind == STORE else end + s.machine[MEMORY_LATENCY]
    core[LAST] = max(core[LAST], row[READY])
    record(s.timeline[c, row[LANE]], s.code[core[FIRST] + row[FROM], LAYER], way[WAY_BEGAN], end)
    if row[BEFORE] < row[READY]:
        one = hazard(s.hazards, s.machine)
        one[H_CAUSE], one[H_CLUSTER], one[H_PLACE] = row[BEFORE_CAUSE], c, row[BEFORE_PLACE]
        one[H_OTHER], one[H_WORD], one[H_AT] = row[FROM], row[BEFORE_WORD], row[BEFORE]
        one[H_READY] = row[READY]


finish = compiled(_finish)


def _waiting(s: Any, c: int) -> Any:
    """The kind of the first transfer of data that cluster ``c`` has requested and that has not begun (-1: there is
    none), when it was requested, and in which turn."""
    kind, first, turn = -1, NEVER, 0
    for which in (LOAD, STORE):
        number = s.numbers[c, which, STARTED]
        if number < s.numbers[c, which, ISSUED]:
            row = s.transfers[c, which, number % s.transfers.shape[2]]
            if row[REQUEST] < first:
                kind, first, turn = which, row[REQUEST], row[OF_TURN]
    return kind, first, turn


waiting = compiled(_waiting)


def _coming(s: Any) -> Any:
    """The cluster and kind of the transfer of data that begins next, and when it was requested (-1, NEVER: not yet).
    The memory waits for the cluster whose turn it is, until that has come to an instruction that ends the turn and
    all transfers of it have been served, or waits for other clusters, or has halted."""
    machine, clusters = s.machine, s.core.shape[0]
    for _ in range(clusters + 1):
        c = machine[HOLDER]
        core = s.core[c]
        kind, request, turn = waiting(s, c)
        if kind >= 0 and turn == core[SERVED]:
            return c, kind, request
        if core[TURN] > core[SERVED]:
            core[SERVED] += 1
        elif core[STATE] == RUNNING or core[STATE] == BLOCKED:
            break
        machine[HOLDER] = (c + 1) % clusters
    return -1, 0, NEVER


coming = compiled(_coming)


def _look(s: Any) -> None:
    """Find when something begins or ends next."""
    machine, when = s.machine, NEVER
    scale = machine[DENOMINATOR]
    instructions, data = s.way[INSTRUCTION_WAY], s.way[DATA_WAY]
    if data[WAY_CLUSTER] >= 0:
        left = data[WAY_LEFT]
        if instructions[WAY_CLUSTER] >= 0:
            left += max(0, left - 1) // (INSTRUCTION_PART - 1)
        when = machine[NOW] + left
    else:
        _, _, request = coming(s)
        if request < NEVER:
            when = max(machine[NOW], request * scale)
    if instructions[WAY_CLUSTER] >= 0:
        part = INSTRUCTION_PART if data[WAY_CLUSTER] >= 0 else 1
        when = min(when, machine[NOW] + instructions[WAY_LEFT] * part)
    else:
        for c in range(s.core.shape[0]):
            number = s.numbers[c, CODE, STARTED]
            if number < s.numbers[c, CODE, ISSUED]:
                request = s.transfers[c, CODE, number % s.transfers.shape[2], REQUEST]
                when = min(when, max(machine[NOW], request * scale))
    machine[WHEN] = when
    machine[NEXT] = NEVER if when == NEVER else when // scale


look = compiled(_look)


def _serve(s: Any) -> None:
    """The external memory goes on to where something begins or ends next: data in turns, instructions beside them in
    order of request, then of clusters."""
    machine = s.machine
    passed, part = machine[WHEN] - machine[NOW], 0
    machine[NOW] = machine[WHEN]
    if s.way[INSTRUCTION_WAY, WAY_CLUSTER] >= 0:
        part = passed // INSTRUCTION_PART if s.way[DATA_WAY, WAY_CLUSTER] >= 0 else passed
        s.way[INSTRUCTION_WAY, WAY_LEFT] -= part
    if s.way[DATA_WAY, WAY_CLUSTER] >= 0:
        s.way[DATA_WAY, WAY_LEFT] -= passed - part
    for which in range(2):
        if s.way[which, WAY_CLUSTER] >= 0 and s.way[which, WAY_LEFT] == 0:
            finish(s, which)
    if s.way[INSTRUCTION_WAY, WAY_CLUSTER] < 0:
        chosen, best = -1, machine[NOW] // machine[DENOMINATOR] + 1
        for c in range(s.core.shape[0]):
            number = s.numbers[c, CODE, STARTED]
            if number < s.numbers[c, CODE, ISSUED]:
                request = s.transfers[c, CODE, number % s.transfers.shape[2], REQUEST]
                if request < best:
                    chosen, best = c, request
        if chosen >= 0:
            begin(s, INSTRUCTION_WAY, chosen, CODE)
    if s.way[DATA_WAY, WAY_CLUSTER] < 0:
        c, kind, request = coming(s)
        if c >= 0 and request * machine[DENOMINATOR] <= machine[NOW]:
            begin(s, DATA_WAY, c, kind)
    look(s)


serve = compiled(_serve)


def _look_at(machine: Any, time: int) -> None:
    """In cycle ``time`` the memory may have something to do."""
    machine[WHEN] = min(machine[WHEN], max(machine[NOW], time * machine[DENOMINATOR]))
    machine[NEXT] = machine[WHEN] // machine[DENOMINATOR]


look_at = compiled(_look_at)
