"""The control cores of all clusters, advanced in order of time, in machine code (docs/snowflake-machine.md, "Time").

Control flow does not depend on data: addresses, counts and branches are exact without any map or weight.
"""

from __future__ import annotations

from typing import Any

from mapper.arch.snowflake import BANK_INSTRUCTIONS, UNITS
from mapper.models.trace_partition.instruction import ALL_UNITS, DEAL, DELAY_SLOTS
from mapper.sim.trace_partition.cycle_memory import load_code, move, retire, serve
from mapper.sim.trace_partition.cycle_state import (
    BANK,
    BANK_EARLY,
    BANK_ENTRY,
    BANK_LEFT,
    BANK_MISSING,
    BEFORE,
    BEFORE_CAUSE,
    BEFORE_PLACE,
    BEGIN,
    BLOCKED,
    BRANCH,
    BRANCH_IN_SLOT,
    CODE,
    CODE_ENDS,
    DONE,
    DRAIN,
    END,
    ENDLESS,
    EPOCH,
    FINE,
    FLAGS,
    FROM,
    GAP,
    HALTED,
    HOST_EARLY,
    IMMEDIATE,
    INSTRUCTIONS,
    ISSUED,
    LAST,
    LAYER,
    LIMIT,
    NEVER,
    NEXT,
    NOW_LAYER,
    OPEN,
    OPERATION,
    OPERATION_COUNTS,
    PLACE,
    READY,
    RUNNING,
    SLOTS,
    STALL_HALT,
    STALL_SYNC,
    STALL_TRANSFER_QUEUE,
    STALL_VECTOR_QUEUE,
    STARTED,
    STATE,
    STORE,
    SYNC_ALONE,
    SYNCED,
    TIME,
    TO_BUF,
    TO_MEMORY,
    TO_WBUF,
    TRANSFER_QUEUE,
    VECTOR_QUEUE,
    WORK,
    A,
    B,
    C,
    D,
)
from mapper.sim.trace_partition.cycle_tag import hazard
from mapper.sim.trace_partition.cycle_vector import done, drained, unfinished, vector
from mapper.solver.compiled import compiled

HALT, MOVI, ADD, ADDI, BNE, BLT, WAIT, SYNC, LD, TMOV = range(10)
MASK = 0xFFFFFFFF


def _stall(s: Any, c: int, cause: int, time: int, until: int) -> None:
    """The core stands still from ``time`` to ``until``."""
    s.counts[c, s.core[c, NOW_LAYER], cause] += until - time
    s.core[c, GAP] += max(0, until - max(time, s.core[c, END]))


stall = compiled(_stall)


def _room(s: Any, c: int, time: int) -> Any:
    """When there is room for a transfer, as far as is known: ``time``, a later time at which to look again, or NEVER:
    when the memory has started its next one."""
    queue, waiting, first = s.transfers.shape[2], 0, NEVER
    unstarted = False
    for kind in (0, 1, 3):
        waiting += retire(s, c, kind, time)
        if s.numbers[c, kind, DONE] < s.numbers[c, kind, STARTED]:
            first = min(first, s.transfers[c, kind, s.numbers[c, kind, DONE] % queue, READY])
        unstarted |= s.numbers[c, kind, STARTED] < s.numbers[c, kind, ISSUED]
    if waiting < s.parameters[TRANSFER_QUEUE]:
        return time
    return NEVER if unstarted and s.memory[NEXT] < first else first


room = compiled(_room, retire=retire)


def _transfer(s: Any, c: int, place: int, time: int, ra: int, rb: int, rc: int, rd: int) -> Any:
    """LD or TMOV; answers why it cannot be, or FINE."""
    one = s.code[s.first[c] + place]
    target, units, count, words = one[FLAGS] & 3, one[FLAGS] >> 2 & 7, rc >> 16, rc & 0xFFFF
    if one[OPERATION] == TMOV:
        return move(s, c, place, time, TO_MEMORY, False, rb, ra, count, words, rd & 0xFFFF, rd >> 16, 1, 1)
    copies = UNITS if units == ALL_UNITS else 1
    if target == 2:
        # The decoder has put the first word of the cluster's code into the immediate.
        behind = rb - one[IMMEDIATE]
        return load_code(
            s,
            c,
            place,
            time,
            behind // (2 * BANK_INSTRUCTIONS) if behind % (2 * BANK_INSTRUCTIONS) == 0 else -1,
        )
    if target == 1:
        group = 16 if units == DEAL else 4
        return move(
            s, c, place, time, TO_WBUF, False, ra, rb, count, words, rd >> 16, rd & 0xFFFF, group, copies
        )
    group = 4 if units == DEAL else 1
    fill = target == 3
    return move(s, c, place, time, TO_BUF, fill, ra, rb, count, words, rd >> 16, rd & 0xFFFF, group, copies)


transfer = compiled(_transfer, load_code=load_code, move=move)


def _follow(s: Any, c: int, place: int, time: int) -> Any:
    """The core goes on behind ``place``, at ``time``; answers why it cannot, or FINE."""
    core, behind = s.core[c], place + 1
    if core[SLOTS] > 0:
        core[SLOTS] -= 1
        if core[SLOTS] == 0:
            behind = core[BRANCH]
    core[TIME], core[PLACE] = time, behind
    if behind // BANK_INSTRUCTIONS == place // BANK_INSTRUCTIONS:
        return FINE
    if core[BANK] < 0:
        return BANK_MISSING
    core[PLACE] = core[BANK] * BANK_INSTRUCTIONS
    number = core[BANK_ENTRY]
    core[BANK] = -1
    if number > s.numbers[c, CODE, DONE]:
        row = s.transfers[c, CODE, (number - 1) % s.transfers.shape[2]]
        if number > s.numbers[c, CODE, STARTED]:
            row[BEFORE], row[BEFORE_PLACE], row[BEFORE_CAUSE] = time, core[PLACE], BANK_EARLY
        elif row[READY] > time:
            hazard(s.hazards, s.found, BANK_EARLY, c, core[PLACE], row[FROM], 0, time, row[READY])
    return FINE


follow = compiled(_follow, hazard=hazard)


def _run_core(s: Any, c: int, horizon: int) -> Any:
    """Instructions of a cluster until it waits, or another cluster or the memory has something to do before it;
    answers why it cannot go on, or FINE."""
    core, registers, queue = s.core[c], s.registers[c], s.transfers.shape[2]
    length = s.first[c + 1] - s.first[c]
    while core[TIME] <= horizon and s.memory[NEXT] > core[TIME]:
        place, time = core[PLACE], core[TIME]
        if place >= length:
            return CODE_ENDS
        one = s.code[s.first[c] + place]
        operation = one[OPERATION]
        counts = s.counts[c, one[LAYER]]
        if one[LAYER] != core[NOW_LAYER]:
            core[NOW_LAYER] = one[LAYER]
            if counts[BEGIN] < 0:
                counts[BEGIN] = time
        if operation >= LD:
            if operation > TMOV:
                if unfinished(s, c, time) >= s.parameters[VECTOR_QUEUE]:
                    core[TIME] = done(s, c, 1)
                    stall(s, c, STALL_VECTOR_QUEUE, time, core[TIME])
                    continue
            else:
                until = room(s, c, time)
                if until == NEVER:
                    core[STATE] = BLOCKED
                    return FINE
                if until > time:
                    stall(s, c, STALL_TRANSFER_QUEUE, time, until)
                    core[TIME] = until
                    continue
            ra, rb, rc, rd = registers[one[A]], registers[one[B]], registers[one[C]], registers[one[D]]
            if operation > TMOV:
                why = vector(s, c, place, time, ra, rb, rc, rd)
            else:
                why = transfer(s, c, place, time, ra, rb, rc, rd)
            if why != FINE:
                return why
        elif operation == WAIT:
            until = time
            if one[A] == 2:
                over = unfinished(s, c, time) - one[IMMEDIATE]
                if over > 0:
                    until = done(s, c, over)
            elif retire(s, c, one[A], time) > one[IMMEDIATE]:
                number = s.numbers[c, one[A], ISSUED] - one[IMMEDIATE] - 1
                if number >= s.numbers[c, one[A], STARTED]:
                    core[STATE] = BLOCKED
                    return FINE
                until = s.transfers[c, one[A], number % queue, READY]
            if until > time:
                stall(s, c, one[A], time, until)
                time = until
        elif operation in (BNE, BLT):
            if core[SLOTS] > 0:
                return BRANCH_IN_SLOT
            target, inside = place + one[IMMEDIATE], place % BANK_INSTRUCTIONS
            if inside + DELAY_SLOTS >= BANK_INSTRUCTIONS or target < 0:
                return BANK_LEFT
            if target // BANK_INSTRUCTIONS != place // BANK_INSTRUCTIONS:
                return BANK_LEFT
            first, second = registers[one[A]], registers[one[B]]
            taken = first != second if operation == BNE else first < second
            core[SLOTS] = DELAY_SLOTS + 1
            core[BRANCH] = target if taken else place + DELAY_SLOTS + 1
        elif operation == SYNC:
            core[STATE] = SYNCED
        elif operation == HALT:
            if one[IMMEDIATE] == 0:
                core[STATE] = HALTED
            elif retire(s, c, STORE, time) > 0:
                number = s.numbers[c, STORE, ISSUED]
                row = s.transfers[c, STORE, (number - 1) % queue]
                ready = row[READY] if number <= s.numbers[c, STORE, STARTED] else NEVER
                hazard(s.hazards, s.found, HOST_EARLY, c, place, row[FROM], -1, time, ready)
        else:
            value = one[IMMEDIATE] + registers[one[B]]
            if operation == MOVI:
                value = one[IMMEDIATE]
                if one[FLAGS] > 0:
                    value = value << 16 | (registers[one[A]] & 0xFFFF)
            elif operation == ADD:
                value = registers[one[B]] + registers[one[C]]
            if one[A] > 0:
                registers[one[A]] = value & MASK
        counts[INSTRUCTIONS] += 1
        counts[OPERATION_COUNTS + operation] += 1
        core[WORK] += 1
        if core[WORK] > s.parameters[LIMIT]:
            return ENDLESS
        if core[STATE] == HALTED:
            core[TIME] = time + 1
            return FINE
        if core[STATE] == SYNCED:
            return FINE
        why = follow(s, c, place, time + 1)
        if why != FINE:
            return why
    return FINE


run_core = compiled(
    _run_core, done=done, follow=follow, hazard=hazard, retire=retire, room=room, stall=stall, transfer=transfer,
    unfinished=unfinished, vector=vector,
)  # fmt: skip


def _run(s: Any) -> Any:
    """All clusters to their ends; answers why one cannot go on (``stop``: cluster and place), or FINE."""
    clusters = s.core.shape[0]
    while True:
        chosen, soonest, horizon, synced, blocked = -1, NEVER, NEVER, 0, 0
        for c in range(clusters):
            state, time = s.core[c, STATE], s.core[c, TIME]
            synced += state == SYNCED
            blocked += state == BLOCKED
            if state == RUNNING:
                if time < soonest:
                    chosen, soonest, horizon = c, time, soonest
                else:
                    horizon = min(horizon, time)
        if s.memory[NEXT] <= soonest and s.memory[NEXT] < NEVER:
            serve(s)
            for c in range(clusters):
                if s.core[c, STATE] == BLOCKED:
                    s.core[c, STATE] = RUNNING
        elif chosen >= 0:
            why = run_core(s, chosen, horizon)
            if why != FINE:
                s.stop[0], s.stop[1] = chosen, s.core[chosen, PLACE]
                return why
        elif synced == clusters:
            together = 0
            for c in range(clusters):
                together = max(together, s.core[c, TIME])
            for c in range(clusters):
                stall(s, c, STALL_SYNC, s.core[c, TIME], together)
                s.core[c, STATE] = RUNNING
                s.core[c, EPOCH] += 1
                why = follow(s, c, s.core[c, PLACE], together + 1)
                if why != FINE:
                    s.stop[0], s.stop[1] = c, s.core[c, PLACE]
                    return why
        elif synced > 0:
            for c in range(clusters):
                if s.core[c, STATE] == SYNCED:
                    s.stop[0], s.stop[1] = c, s.core[c, PLACE]
            return SYNC_ALONE
        else:
            break
    for c in range(clusters):
        core = s.core[c]
        if core[OPEN] > 0:
            drained(s, c, core[END] + core[DRAIN])
        until = max(core[LAST], core[TIME])
        stall(s, c, STALL_HALT, core[TIME], until)
        core[TIME] = until
    return FINE


run = compiled(
    _run,
    drained=drained,
    follow=follow,
    run_core=run_core,
    serve=serve,
    stall=stall,
)
