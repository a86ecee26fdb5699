"""The time of a layer's steps one after another, in machine code: control cores, the vector units behind them, and the
external memory that all clusters share.

Times of the memory are whole numbers of 1 / ``scale`` cycles; cores go on at whole cycles. Clusters have the memory in
turns, one after the other: a turn is all that one requests between two computations. So the clusters are followed turn
by turn.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mapper.arch.snowflake import BANK_INSTRUCTIONS
from mapper.models.compiled import compiled

Table = npt.NDArray[np.int64]

# Columns of a class of loads or stores: its first row among the transfers and the one after its last; instructions
# after the last transfer; how long the memory works for it, and how much of that for fills.
FIRST, BEHIND, REST, SERVICE, FILL = range(5)
# Columns of a transfer: instructions before it, and how long the memory works for it.
BEFORE, WORK = range(2)
# Columns of a class of computation: cycles until the last result, until the last instruction has been issued, of the
# vector unit at work, of conflicts.
CYCLES, ISSUED, BUSY, CONFLICT = range(4)
# Columns of a step: class of loads, of computation, of its store, the buffer of results (0 or 1), where -1 is none; and
# its instructions in memory.
LOADS, COMPUTE, STORE, BUFFER, CODE = range(5)

# A cluster: what it does next, in which step and transfer; when its core goes on and its vector unit is done, and
# whether that is still to be awaited; when the loads of this step and the next arrive, with their columns FILL and
# SERVICE (0: none); when the two buffers of results are stored; why cycles passed.
PHASE, STEP, ROW, CORE, VECTOR, COMPUTING = range(6)
THIS, THIS_FILL, THIS_SERVICE, NEXT, NEXT_FILL, NEXT_SERVICE = range(6, 12)
STORED = 12
BUSY_SUM, CONFLICT_SUM, LOAD_SUM, FILL_SUM, STORE_SUM, PLACE = range(14, 20)
STATE = 20
LOADING, WORKING, STORING, DONE = range(4)
# Columns of a log of steps: the cycles in which loads, computation and store of a step begin and end.
LOG = 6
INSTRUCTION_PART = 32
"""Loads of instructions have one in so many parts of the memory's time while data are under way."""
_NO_LOG: Table = np.empty((0, LOG), np.int64)


class StepTime(NamedTuple):
    """Cycles of a cluster in a layer and why they passed."""

    cycles: int
    compute: int
    conflict: int
    issue: int
    load: int
    fill: int
    store: int


def _run(
    loads: Any,
    computes: Any,
    stores: Any,
    transfers: Any,
    steps: Any,
    begins: Any,
    code: int,
    scale: int,
    latency: int,
    waiting: int,
    log: Any,
) -> Any:
    """The states of the clusters at the end; see `step_time`.

    In one function because a cluster's turn may end at any line of it, and the memory's time, the instructions it owes
    and whose turn it is are scalars that all of them change."""
    logged = log.shape[0] > 0
    clusters = begins.shape[0] - 1
    states = np.zeros((clusters, STATE), np.int64)
    rings = np.zeros((clusters, waiting), np.int64)
    for cluster in range(clusters):
        # Loads of the step after STEP are requested first: at the beginning those of the first one.
        states[cluster, STEP] = begins[cluster] - 1
        states[cluster, ROW] = -1
    # Up to when the memory is known, and how long it still has to work for instructions: those have the time that data
    # leave, and beside data one part in so many.
    memory, owed, beside = 0, 0, INSTRUCTION_PART - 1
    ahead = clusters * BANK_INSTRUCTIONS * code
    left, cluster, asked = clusters, 0, False
    while left > 0:
        s = states[cluster]
        if s[PHASE] == DONE or (asked and s[PHASE] == WORKING):
            # It waits or computes and has had its turn, or it is done and takes none any more.
            owed -= min(owed, max(0, s[CORE] * scale - memory))
            memory = max(memory, s[CORE] * scale)
            cluster, asked = (cluster + 1) % clusters, False
            continue
        at, end = s[STEP], begins[cluster + 1]
        if s[PHASE] == WORKING:
            if s[THIS_SERVICE] > 0:
                wait = s[THIS] - max(s[CORE], s[VECTOR])
                if wait > 0:
                    filled = wait * s[THIS_FILL] // s[THIS_SERVICE]
                    s[FILL_SUM] += filled
                    s[LOAD_SUM] += wait - filled
                s[CORE] = max(s[CORE], s[THIS]) + 1
            # One bank of each core is loaded ahead: beyond that, a core comes to code that is not there and waits.
            if owed > ahead:
                owed -= min(owed, max(0, s[CORE] * scale - memory))
                memory = max(memory, s[CORE] * scale)
            excess = owed - ahead
            if excess > 0:
                memory += excess
                owed = ahead
                wait = -(-memory // scale) - max(s[CORE], s[VECTOR])
                if wait > 0:
                    s[LOAD_SUM] += wait
                s[CORE] = max(s[CORE], -(-memory // scale))
            buffer = steps[at, BUFFER]
            if buffer >= 0 and s[STORED + buffer] > 0:
                s[STORE_SUM] += max(0, s[STORED + buffer] - max(s[CORE], s[VECTOR]))
                s[CORE] = max(s[CORE], s[STORED + buffer]) + 1
            done = computes[steps[at, COMPUTE]]
            begin = s[CORE]
            if logged:
                log[at, 2] = max(begin, s[VECTOR])
            s[VECTOR] = max(begin + done[CYCLES], s[VECTOR] + done[BUSY] + done[CONFLICT])
            s[CORE] = max(begin + done[ISSUED], s[VECTOR] - (done[CYCLES] - done[ISSUED]))
            s[COMPUTING] = 1
            if logged:
                log[at, 3] = s[VECTOR]
            s[BUSY_SUM] += done[BUSY]
            s[CONFLICT_SUM] += done[CONFLICT]
            s[PHASE], s[ROW] = STORING, -1
            continue
        which, stores_now = -1, s[PHASE] == STORING
        if stores_now:
            which = steps[at, STORE]
        elif at + 1 < end:
            which = steps[at + 1, LOADS]
            if s[ROW] < 0:
                owed += steps[at + 1, CODE] * code
        if which >= 0:
            group = stores[which] if stores_now else loads[which]
            if s[ROW] < 0:
                s[ROW] = group[FIRST]
                if s[COMPUTING] > 0:
                    s[CORE], s[COMPUTING] = max(s[CORE], s[VECTOR]) + 1, 0
                    continue
            if s[ROW] < group[BEHIND]:
                one = transfers[s[ROW]]
                s[CORE] = max(s[CORE] + one[BEFORE], rings[cluster, s[PLACE]])
                row, first = (at, 4) if stores_now else (at + 1, 0)
                if logged and s[ROW] == group[FIRST]:
                    log[row, first] = max(memory // scale, s[CORE])
                owed -= min(owed, max(0, s[CORE] * scale - memory))
                also = min(owed, one[WORK] // beside)
                owed -= also
                asked, memory = True, max(memory, s[CORE] * scale) + one[WORK] + also
                ready = -(-memory // scale)
                if stores_now:
                    s[STORED + steps[at, BUFFER]] = ready
                else:
                    ready += latency
                    s[NEXT] = ready
                if logged:
                    log[row, first + 1] = ready
                rings[cluster, s[PLACE]] = ready
                s[PLACE] = (s[PLACE] + 1) % waiting
                s[CORE] += 1
                s[ROW] += 1
                if s[ROW] < group[BEHIND]:
                    continue
            s[CORE] += group[REST]
            if not stores_now:
                s[NEXT_FILL], s[NEXT_SERVICE] = group[FILL], max(group[SERVICE], 1)
        if stores_now:
            s[STEP] += 1
            s[PHASE], s[ROW] = LOADING, -1
            s[THIS], s[THIS_FILL], s[THIS_SERVICE] = s[NEXT], s[NEXT_FILL], s[NEXT_SERVICE]
            s[NEXT_SERVICE] = 0
        elif at < begins[cluster]:
            # The first loads are under way: now those of the second step.
            s[STEP] += 1
            s[ROW] = -1
            s[THIS], s[THIS_FILL], s[THIS_SERVICE] = s[NEXT], s[NEXT_FILL], s[NEXT_SERVICE]
            s[NEXT_SERVICE] = 0
        else:
            s[PHASE] = WORKING
        if s[STEP] >= end:
            last = max(s[STORED], s[STORED + 1])
            s[STORE_SUM] += max(0, last - max(s[CORE], s[VECTOR]))
            s[CORE] = max(s[CORE], last, s[VECTOR]) + 1
            s[PHASE] = DONE
            left -= 1
            if left == 0:
                # Instructions that data have left no time for.
                late = -(-(memory + owed) // scale) - s[CORE]
                s[CORE] += max(0, late)
                s[LOAD_SUM] += max(0, late)
            elif asked:
                cluster, asked = (cluster + 1) % clusters, False
    return states


_compiled = compiled(_run)


def step_time(
    loads: Table,
    computes: Table,
    stores: Table,
    transfers: Table,
    steps: Table,
    begins: Table,
    code: int,
    scale: int,
    latency: int,
    waiting: int,
    log: Table | None = None,
) -> tuple[StepTime, ...]:
    """The time of each cluster's steps one after another: the loads of step k + 1 are requested, those of step k and
    the buffer of results awaited, step k is computed and stored; transfers are requested when the vector unit is
    done. At the end every store is awaited.

    ``loads``, ``stores``: int64 [classes][5]; ``computes``: int64 [classes][4]; ``transfers``: int64 [transfers][2];
    ``steps``: int64 [steps][5], those of cluster i from row begins[i] to begins[i + 1]. Times of the memory, and
    ``code``, that of one instruction on its way to a core, are in 1 / ``scale`` cycles, ``latency`` in cycles;
    ``waiting``: as many transfers of a cluster may be unfinished. ``log``, int64 [steps][6], receives the cycles in
    which the loads of each step, its computation and its store begin and end (those of steps without loads or without
    a store stay as they are).
    """
    kept = _NO_LOG if log is None else log
    states = _compiled(loads, computes, stores, transfers, steps, begins, code, scale, latency, waiting, kept)
    found = []
    for state in states.tolist():
        busy, conflict, load, fill, store = state[BUSY_SUM : STORE_SUM + 1]
        cycles = state[CORE]
        issue = cycles - busy - conflict - load - fill - store
        found.append(StepTime(cycles, busy, conflict, issue, load, fill, store))
    return tuple(found)
