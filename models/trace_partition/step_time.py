"""The time of a layer's steps one after another, in machine code: the control core, the vector unit behind it, and the
queue of transfers.

Times of the memory are whole numbers of 1 / ``scale`` cycles; the core goes on at whole cycles.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Table = npt.NDArray[np.int64]

# Columns of a class of loads or stores: its first row among the transfers and the one behind its last; instructions
# behind the last transfer; how long the memory works for it, and how much of that for fills.
FIRST, BEHIND, REST, SERVICE, FILL = range(5)
# Columns of a transfer: instructions before it, and how long the memory works for it.
BEFORE, WORK = range(2)
# Columns of a class of computation: cycles until the last result, until the last instruction has been issued, of the
# vector unit at work, of conflicts.
CYCLES, ISSUED, BUSY, CONFLICT = range(4)
# Columns of a step: class of loads, of computation, of its store, the buffer of results (0 or 1), where -1 is none; and
# its instructions in memory.
LOADS, COMPUTE, STORE, BUFFER, CODE = range(5)
_NO_LOG: Table = np.empty((0, 6), np.int64)


class StepTime(NamedTuple):
    """Cycles of a layer and why they passed."""

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
    code: int,
    scale: int,
    latency: int,
    waiting: int,
    log: Any,
) -> tuple[int, int, int, int, int, int, int]:
    # core: the next instruction's cycle; memory: it is free then; vector: its last result is in Buf then.
    core, memory, vector, computing = 0, 0, 0, False
    busy, conflict, load, fill, store = 0, 0, 0, 0, 0
    ring, place = np.zeros(waiting, np.int64), 0
    stored = np.zeros(2, np.int64)
    arrived, filling, service, wanted = 0, 0, 1, False
    count, logged = steps.shape[0], log.shape[0] > 0
    for at in range(-1, count):
        this_arrived, this_filling, this_service, this_wanted = arrived, filling, service, wanted
        wanted = False
        if at + 1 < count and steps[at + 1, LOADS] >= 0:
            group = loads[steps[at + 1, LOADS]]
            if computing:
                core, computing = max(core, vector) + 1, False
            for row in range(group[FIRST], group[BEHIND]):
                core = max(core + transfers[row, BEFORE], ring[place])
                if logged and row == group[FIRST]:
                    log[at + 1, 0] = max(memory // scale, core)
                memory = max(memory, core * scale) + transfers[row, WORK]
                arrived = -(-memory // scale) + latency
                ring[place] = arrived
                place = (place + 1) % waiting
                core += 1
            core += group[REST]
            if logged:
                log[at + 1, 1] = arrived
            filling, service, wanted = group[FILL], max(group[SERVICE], 1), True
        if at < 0:
            continue
        if this_wanted:
            wait = this_arrived - max(core, vector)
            if wait > 0:
                filled = wait * this_filling // this_service
                fill += filled
                load += wait - filled
            core = max(core, this_arrived) + 1
        buffer = steps[at, BUFFER]
        if buffer >= 0 and stored[buffer] > 0:
            store += max(0, stored[buffer] - max(core, vector))
            core = max(core, stored[buffer]) + 1
        done = computes[steps[at, COMPUTE]]
        if logged:
            log[at, 2] = max(core, vector)
        vector = max(core + done[CYCLES], vector + done[BUSY] + done[CONFLICT])
        core = max(core + done[ISSUED], vector - (done[CYCLES] - done[ISSUED]))
        if logged:
            log[at, 3] = vector
        computing = True
        busy += done[BUSY]
        conflict += done[CONFLICT]
        memory = max(memory, core * scale) + steps[at, CODE] * code
        if steps[at, STORE] >= 0:
            group = stores[steps[at, STORE]]
            core, computing = max(core, vector) + 1, False
            for row in range(group[FIRST], group[BEHIND]):
                core = max(core + transfers[row, BEFORE], ring[place])
                if logged and row == group[FIRST]:
                    log[at, 4] = max(memory // scale, core)
                memory = max(memory, core * scale) + transfers[row, WORK]
                stored[buffer] = -(-memory // scale)
                ring[place] = stored[buffer]
                place = (place + 1) % waiting
                core += 1
            core += group[REST]
            if logged:
                log[at, 5] = stored[buffer]
    last = max(stored[0], stored[1])
    store += max(0, last - max(core, vector))
    core = max(core, last, vector) + 1
    issue = core - busy - conflict - load - fill - store
    return core, busy, conflict, issue, load, fill, store


@cache
def _compiled() -> Any:
    import numba

    return numba.njit(_run, cache=True, nogil=True)


def step_time(
    loads: Table,
    computes: Table,
    stores: Table,
    transfers: Table,
    steps: Table,
    code: int,
    scale: int,
    latency: int,
    waiting: int,
    log: Table | None = None,
) -> StepTime:
    """The time of steps one after another: the loads of step k + 1 are requested, those of step k and the buffer of
    results awaited, step k is computed and stored; transfers are requested when the vector unit is done. At the end
    every store is awaited.

    ``loads``, ``stores``: int64 [classes][5]; ``computes``: int64 [classes][4]; ``transfers``: int64 [transfers][2];
    ``steps``: int64 [steps][5]. Times of the memory, and ``code``, that of one instruction on its way to the core, are
    in 1 / ``scale`` cycles, ``latency`` in cycles; ``waiting``: as many transfers may be unfinished. ``log``, int64
    [steps][6], receives the cycles in which the loads of each step, its computation and its store begin and end (those
    of steps without loads or without a store stay as they are).
    """
    kept = _NO_LOG if log is None else log
    found = _compiled()(loads, computes, stores, transfers, steps, code, scale, latency, waiting, kept)
    return StepTime(*(int(number) for number in found))
