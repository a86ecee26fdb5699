"""All clusters of an accelerator, advanced in order of time, in machine code."""

from __future__ import annotations

from typing import Any

from mapper.models.compiled import compiled
from mapper.sim.trace_partition.cycle.core import enter_bank, follow, run_core, stall
from mapper.sim.trace_partition.cycle.memory import look_at, serve
from mapper.sim.trace_partition.cycle.state import (
    BEGIN,
    BLOCKED,
    CODE,
    CODE_ENDS,
    DRAIN,
    END,
    EPOCH,
    FINE,
    FIRST,
    HALTED,
    HOLDER,
    LAST,
    LAYER,
    MARKED,
    NEVER,
    NEXT,
    NOW_LAYER,
    OPEN,
    PLACE,
    RING,
    RUNNING,
    STALL_HALT,
    STALL_SYNC,
    STATE,
    STOP_CLUSTER,
    STOP_PLACE,
    SYNC_ALONE,
    SYNCED,
    TIME,
    VECTOR_LATENCY,
)
from mapper.sim.trace_partition.cycle.vector import drained


def _meet(cores: Any, counts: Any, state: int) -> Any:
    """The clusters in ``state`` go on together; answers when."""
    together = 0
    for c in range(len(cores)):
        if cores[c, STATE] == state:
            together = max(together, cores[c, TIME])
    for c in range(len(cores)):
        core = cores[c]
        if core[STATE] == state:
            counts[c, core[NOW_LAYER], STALL_SYNC] += stall(core, core[TIME], together)
            core[TIME] = together
            core[STATE] = RUNNING
    return together


meet = compiled(_meet)


def _go_on(s: Any) -> Any:
    """Nothing is under way: let clusters go on that have met, at a SYNC or, where they go in step, at a layer. Answers
    why they cannot (CODE_ENDS: all have halted), or FINE."""
    synced, marked, clusters = 0, 0, s.core.shape[0]
    for c in range(clusters):
        if s.core[c, STATE] == SYNCED:
            synced += 1
            s.machine[STOP_CLUSTER], s.machine[STOP_PLACE] = c, s.core[c, PLACE]
        marked += s.core[c, STATE] == MARKED
    state = SYNCED if marked == 0 else MARKED
    if synced + marked == 0:
        return CODE_ENDS
    if state == SYNCED and synced < clusters:
        return SYNC_ALONE
    together = meet(s.core, s.counts, state)
    s.machine[HOLDER] = 0
    look_at(s.machine, together)
    for c in range(clusters):
        core = s.core[c]
        if state == SYNCED:
            core[EPOCH] += 1
            if not follow(core, core[PLACE], together + 1):
                why = enter_bank(core, s.numbers[c, CODE], s.transfers[c, CODE], s.hazards, s.machine, c)
                if why != FINE:
                    s.machine[STOP_CLUSTER], s.machine[STOP_PLACE] = c, core[PLACE]
                    return why
        elif core[STATE] == RUNNING:
            core[NOW_LAYER] = s.code[s.core[c, FIRST] + core[PLACE], LAYER]
            counts = s.counts[c, core[NOW_LAYER]]
            if counts[BEGIN] < 0:
                counts[BEGIN] = together
    return FINE


go_on = compiled(_go_on)


def _run(s: Any) -> Any:
    """All clusters to their ends; answers why one cannot go on (``stop``: cluster and place), or FINE."""
    clusters = s.core.shape[0]
    why = FINE
    while why == FINE:
        chosen, soonest, horizon, meeting = -1, NEVER, NEVER, False
        for c in range(clusters):
            time, state = s.core[c, TIME], s.core[c, STATE]
            meeting |= state in (SYNCED, MARKED)
        for c in range(clusters):
            time, state = s.core[c, TIME], s.core[c, STATE]
            meeting &= state in (SYNCED, MARKED, HALTED)
            if state == RUNNING:
                if time < soonest:
                    chosen, soonest, horizon = c, time, soonest
                else:
                    horizon = min(horizon, time)
        if s.machine[NEXT] <= soonest and s.machine[NEXT] < NEVER and not meeting:
            serve(s)
            for c in range(clusters):
                if s.core[c, STATE] == BLOCKED:
                    s.core[c, STATE] = RUNNING
        elif chosen >= 0:
            why = run_core(s, chosen, horizon)
            if why != FINE:
                s.machine[STOP_CLUSTER], s.machine[STOP_PLACE] = chosen, s.core[chosen, PLACE]
                return why
        else:
            why = go_on(s)
    if why != CODE_ENDS:
        return why
    for c in range(clusters):
        core, end = s.core[c], s.core[c, END] + s.core[c, DRAIN]
        if core[OPEN] > 0:
            drained(
                core,
                s.core[c, RING:],
                s.tags[c],
                s.numbers[c],
                s.transfers[c],
                s.machine[VECTOR_LATENCY],
                end,
            )
        until = max(core[LAST], core[TIME])
        s.counts[c, core[NOW_LAYER], STALL_HALT] += until - core[TIME]
        core[TIME] = until
    return FINE


run = compiled(_run)
