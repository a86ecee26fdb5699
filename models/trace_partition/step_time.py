"""The time of a layer's steps one after another, in machine code: the control core, the vector unit behind it, and the
queue of transfers.

Times of the queue are whole numbers of 1 / ``scale`` cycles; the core goes on at whole cycles.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Table = npt.NDArray[np.int64]

# Columns of a class of loads or stores: cycles of issue; time in the queue from the first of these cycles if nothing is
# before; time that the queue works for it; how much of it for fills; transfers.
ISSUE, ALONE, SERVICE, FILL, NUMBER = range(5)
# Columns of a class of computation: cycles until the last result, of the vector unit at work, of conflicts.
CYCLES, BUSY, CONFLICT = range(3)
# Columns of a step: class of loads, of computation, of its store, the buffer of results (0 or 1), where -1 is none; and
# its instructions in memory.
LOADS, COMPUTE, STORE, BUFFER, CODE = range(5)


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
    loads: Any, computes: Any, stores: Any, steps: Any, code: int, scale: int, latency: int
) -> tuple[int, int, int, int, int, int, int]:
    core, queue = 0, 0
    busy, conflict, load, fill, store = 0, 0, 0, 0, 0
    stored = np.zeros(2, np.int64)
    arrived, filling, service = 0, 0, 1
    count = steps.shape[0]
    for at in range(-1, count):
        now_arrived, now_filling, now_service = arrived, filling, service
        filling, service = 0, 1
        if at + 1 < count and steps[at + 1, LOADS] >= 0:
            wanted = loads[steps[at + 1, LOADS]]
            queue = max(queue + wanted[SERVICE], core * scale + wanted[ALONE])
            core += wanted[ISSUE]
            if wanted[NUMBER] > 0:
                arrived, filling, service = queue + latency * scale, wanted[FILL], wanted[SERVICE]
        if at < 0:
            continue
        core += 1
        wait = -(-now_arrived // scale) - core
        if wait > 0:
            core += wait
            filled = wait * now_filling // now_service
            fill += filled
            load += wait - filled
        buffer = steps[at, BUFFER]
        if buffer >= 0:
            core += 1
            wait = -(-stored[buffer] // scale) - core
            if wait > 0:
                core += wait
                store += wait
        done = computes[steps[at, COMPUTE]]
        core += done[CYCLES] + 1
        busy += done[BUSY]
        conflict += done[CONFLICT]
        queue = max(queue, core * scale) + steps[at, CODE] * code
        if steps[at, STORE] >= 0:
            sent = stores[steps[at, STORE]]
            queue = max(queue + sent[SERVICE], core * scale + sent[ALONE])
            core += sent[ISSUE]
            stored[buffer] = queue
    core += 1
    wait = -(-max(stored[0], stored[1]) // scale) - core
    if wait > 0:
        core += wait
        store += wait
    issue = core - busy - conflict - load - fill - store
    return core, busy, conflict, issue, load, fill, store


@cache
def _compiled() -> Any:
    import numba

    return numba.njit(_run, cache=True, nogil=True)


def step_time(
    loads: Table, computes: Table, stores: Table, steps: Table, code: int, scale: int, latency: int
) -> StepTime:
    """The time of steps one after another: the loads of step k + 1 are requested, those of step k and the buffer of
    results awaited, step k is computed and, once the vector unit is done, stored; at the end every store is awaited.

    ``loads``, ``stores``: int64 [classes][5]; ``computes``: int64 [classes][3]; ``steps``: int64 [steps][5]. Times of
    the queue, and ``code``, that of one instruction on its way to the core, in 1 / ``scale`` cycles; ``latency`` in
    cycles.
    """
    return StepTime(*(int(n) for n in _compiled()(loads, computes, stores, steps, code, scale, latency)))
