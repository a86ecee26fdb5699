"""The control core of a cluster, in machine code (docs/snowflake/machine.md, "Time").

Control flow does not depend on data: addresses, counts and branches are exact without any map or weight.
"""

from __future__ import annotations

from typing import Any

from mapper.arch.snowflake import BANK_INSTRUCTIONS, UNITS
from mapper.models.compiled import compiled
from mapper.models.trace_partition.isa.instruction import ALL_UNITS, DEAL, DELAY_SLOTS
from mapper.sim.trace_partition.cycle.memory import look_at, retire
from mapper.sim.trace_partition.cycle.request import Pieces, end_turn, load_code, move
from mapper.sim.trace_partition.cycle.state import (
    ASKED,
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
    CODE_BYTES,
    CODE_ENDS,
    DONE,
    END,
    ENDED,
    ENDLESS,
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
    HALTED,
    HOST_EARLY,
    IMMEDIATE,
    IN_STEP,
    INSTRUCTIONS,
    ISSUED,
    LAYER,
    LENGTH,
    LIMIT,
    LOAD,
    MARKED,
    NEVER,
    NEXT,
    NOW_LAYER,
    OPERATION,
    OPERATION_COUNTS,
    PLACE,
    READY,
    REGISTERS,
    RING,
    SLOTS,
    STALL_TRANSFER_QUEUE,
    STALL_VECTOR_QUEUE,
    STATE,
    STORE,
    SYNCED,
    TIME,
    TO_BUF,
    TO_MEMORY,
    TO_WBUF,
    TRANSFER_QUEUE,
    VECTOR_LATENCY,
    VECTOR_QUEUE,
    WORK,
    A,
    B,
    C,
    D,
)
from mapper.sim.trace_partition.cycle.tag import hazard
from mapper.sim.trace_partition.cycle.vector import done, unfinished, vector

HALT, MOVI, ADD, ADDI, BNE, BLT, WAIT, SYNC, LD, TMOV = range(10)
WBUF_TARGET, CODE_TARGET, FILL_TARGET = 1, 2, 3
MASK = 0xFFFFFFFF


def _stall(core: Any, time: int, until: int) -> Any:
    """The core stands still from ``time`` to ``until``; answers for how long."""
    core[GAP] += max(0, until - max(time, core[END]))
    return until - time


stall = compiled(_stall)


def _room(numbers: Any, transfers: Any, machine: Any, time: int) -> Any:
    """When there is room for a transfer of a cluster, as far as is known: ``time``, a later time at which to look
    again, or NEVER: when the memory has ended its next one."""
    waiting, first, unended = 0, NEVER, False
    for kind in (LOAD, STORE, CODE):
        waiting += retire(numbers[kind], transfers[kind], time)
        if numbers[kind, DONE] < numbers[kind, ENDED]:
            first = min(first, transfers[kind, numbers[kind, DONE] % transfers.shape[1], READY])
        unended |= numbers[kind, ENDED] < numbers[kind, ISSUED]
    if waiting < machine[TRANSFER_QUEUE]:
        return time
    return NEVER if unended and machine[NEXT] < first else first


room = compiled(_room)


def _transfer(s: Any, c: int, place: int, time: int, ra: int, rb: int, rc: int, rd: int) -> Any:
    """LD or TMOV; answers why it cannot be, or FINE."""
    one = s.code[s.core[c, FIRST] + place]
    target, units, lane = one[FLAGS] & 3, one[FLAGS] >> 2 & 7, TO_BUF
    local, memory, local_pitch, memory_pitch = ra, rb, rd >> 16, rd & 0xFFFF
    group = 4 if units == DEAL else 1
    if one[OPERATION] == TMOV:
        lane, target = TO_MEMORY, 0
        local, memory, local_pitch, memory_pitch = rb, ra, rd & 0xFFFF, rd >> 16
    elif target == CODE_TARGET:
        # The decoder has put the first word of the cluster's code into the immediate.
        s.counts[c, one[LAYER], CODE_BYTES] += 4 * BANK_INSTRUCTIONS
        codes = s.transfers[c, CODE]
        offset = rb - one[IMMEDIATE]
        return load_code(s.core[c], s.numbers[c, CODE], codes, s.machine, place, time, offset)
    elif target == WBUF_TARGET:
        lane, group = TO_WBUF, 16 if units == DEAL else 4
    copies = UNITS if units == ALL_UNITS else 1
    fill = target == FILL_TARGET
    count, words = rc >> 16, rc & 0xFFFF
    moved = Pieces(local, memory, count, words, local_pitch, memory_pitch)
    return move(s, c, place, time, lane, fill, moved, group, copies)


transfer = compiled(_transfer)


def _follow(core: Any, place: int, time: int) -> Any:
    """The core goes on after ``place``, at ``time``; answers whether that is in the same bank."""
    following = place + 1
    if core[SLOTS] > 0:
        core[SLOTS] -= 1
        if core[SLOTS] == 0:
            following = core[BRANCH]
    core[TIME], core[PLACE] = time, following
    return following // BANK_INSTRUCTIONS == place // BANK_INSTRUCTIONS


follow = compiled(_follow)


def _enter_bank(core: Any, numbers: Any, transfers: Any, hazards: Any, machine: Any, c: int) -> Any:
    """The core goes on with the bank that was loaded last; answers why it cannot, or FINE. ``numbers`` and
    ``transfers``: those of code."""
    number = core[BANK_ENTRY]
    if core[BANK] < 0:
        core[PLACE] -= 1
        return BANK_MISSING
    core[PLACE] = core[BANK] * BANK_INSTRUCTIONS
    core[BANK] = -1
    if number > numbers[DONE]:
        row = transfers[(number - 1) % len(transfers)]
        if number > numbers[ENDED]:
            row[BEFORE], row[BEFORE_PLACE], row[BEFORE_CAUSE] = core[TIME], core[PLACE], BANK_EARLY
        elif row[READY] > core[TIME]:
            one = hazard(hazards, machine)
            one[H_CAUSE], one[H_CLUSTER], one[H_PLACE], one[H_OTHER] = BANK_EARLY, c, core[PLACE], row[FROM]
            one[H_WORD], one[H_AT], one[H_READY] = 0, core[TIME], row[READY]
    return FINE


enter_bank = compiled(_enter_bank)


def _branch(core: Any, place: int, distance: int, taken: bool) -> Any:
    """BNE or BLT; answers why it cannot be, or FINE."""
    if core[SLOTS] > 0:
        return BRANCH_IN_SLOT
    target, inside = place + distance, place % BANK_INSTRUCTIONS
    if inside + DELAY_SLOTS >= BANK_INSTRUCTIONS or target < 0:
        return BANK_LEFT
    if target // BANK_INSTRUCTIONS != place // BANK_INSTRUCTIONS:
        return BANK_LEFT
    core[SLOTS] = DELAY_SLOTS + 1
    core[BRANCH] = target if taken else place + DELAY_SLOTS + 1
    return FINE


branch = compiled(_branch)


def _calculate(registers: Any, one: Any) -> None:
    """MOVI, ADD or ADDI."""
    value = one[IMMEDIATE] + registers[one[B]]
    if one[OPERATION] == MOVI:
        value = one[IMMEDIATE]
        if one[FLAGS] > 0:
            value = value << 16 | (registers[one[A]] & 0xFFFF)
    elif one[OPERATION] == ADD:
        value = registers[one[B]] + registers[one[C]]
    if one[A] > 0:
        registers[one[A]] = value & MASK


calculate = compiled(_calculate)


def _ask_host(s: Any, c: int, place: int, time: int) -> None:
    """The host takes its turn: note it if a store is unfinished that it would read."""
    numbers, transfers = s.numbers[c, STORE], s.transfers[c, STORE]
    if retire(numbers, transfers, time) > 0:
        number = numbers[ISSUED]
        row = transfers[(number - 1) % len(transfers)]
        early = hazard(s.hazards, s.machine)
        early[H_CAUSE], early[H_CLUSTER], early[H_PLACE], early[H_OTHER] = HOST_EARLY, c, place, row[FROM]
        early[H_WORD], early[H_AT] = 0, time
        early[H_READY] = row[READY] if number <= numbers[ENDED] else NEVER


ask_host = compiled(_ask_host)


def _run_core(s: Any, c: int, horizon: int) -> Any:
    """Instructions of a cluster until it waits, or another cluster or the memory has something to do before it;
    answers why it cannot go on, or FINE.

    In one function because it is a branch for each class of instruction; what one takes many lines for is apart."""
    core, registers, ring = s.core[c], s.core[c, REGISTERS:RING], s.core[c, RING:]
    numbers, transfers, queue = s.numbers[c], s.transfers[c], s.transfers.shape[2]
    latency, vector_queue = s.machine[VECTOR_LATENCY], s.machine[VECTOR_QUEUE]
    machine, code = s.machine, s.code
    origin, layers = s.core[c, FIRST], s.counts[c]
    length = core[LENGTH]
    while core[TIME] <= horizon and machine[NEXT] > core[TIME]:
        place, time = core[PLACE], core[TIME]
        if place >= length:
            return CODE_ENDS
        one = code[origin + place]
        operation = one[OPERATION]
        counts = layers[one[LAYER]]
        if one[LAYER] != core[NOW_LAYER]:
            if s.machine[IN_STEP] > 0 and core[NOW_LAYER] >= 0:
                core[STATE] = MARKED
                look_at(machine, time)
                return FINE
            core[NOW_LAYER] = one[LAYER]
            if counts[BEGIN] < 0:
                counts[BEGIN] = time
        # Only the wait for the next bank does not end a turn: banks break anywhere.
        ends = operation > TMOV or operation in (SYNC, HALT) or (operation == WAIT and one[A] != CODE)
        if ends and core[ASKED] > 0:
            end_turn(core, machine, time)
        if operation >= LD:
            if operation > TMOV:
                over = unfinished(core, ring, latency, time) - vector_queue + 1
                if over > 0:
                    core[TIME] = done(core, ring, latency, over)
                    counts[STALL_VECTOR_QUEUE] += stall(core, time, core[TIME])
                    continue
            else:
                until = room(numbers, transfers, machine, time)
                if until == NEVER:
                    core[STATE] = BLOCKED
                    return FINE
                if until > time:
                    counts[STALL_TRANSFER_QUEUE] += stall(core, time, until)
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
                over = unfinished(core, ring, latency, time) - one[IMMEDIATE]
                if over > 0:
                    until = done(core, ring, latency, over)
            elif retire(numbers[one[A]], transfers[one[A]], time) > one[IMMEDIATE]:
                number = numbers[one[A], ISSUED] - one[IMMEDIATE] - 1
                if number >= numbers[one[A], ENDED]:
                    core[STATE] = BLOCKED
                    return FINE
                until = transfers[one[A], number % queue, READY]
            if until > time:
                counts[one[A]] += stall(core, time, until)
                time = until
        elif operation in (BNE, BLT):
            taken = registers[one[A]] != registers[one[B]]
            if operation == BLT:
                taken = registers[one[A]] < registers[one[B]]
            why = branch(core, place, one[IMMEDIATE], taken)
            if why != FINE:
                return why
        elif operation == SYNC:
            core[STATE] = SYNCED
            look_at(machine, time)
        elif operation == HALT:
            if one[IMMEDIATE] == 0:
                core[STATE] = HALTED
                look_at(machine, time)
            else:
                ask_host(s, c, place, time)
        else:
            calculate(registers, one)
        counts[INSTRUCTIONS] += 1
        counts[OPERATION_COUNTS + operation] += 1
        core[WORK] += 1
        if core[WORK] > s.machine[LIMIT]:
            return ENDLESS
        if core[STATE] == HALTED:
            core[TIME] = time + 1
            return FINE
        if core[STATE] == SYNCED:
            return FINE
        if not follow(core, place, time + 1):
            why = enter_bank(core, numbers[CODE], transfers[CODE], s.hazards, machine, c)
            if why != FINE:
                return why
    return FINE


run_core = compiled(_run_core)
