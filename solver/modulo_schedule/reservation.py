"""Who uses which slot, output register, register and port in which cycle modulo II, in arrays for compiled code.

A *cell* is one of these on one PE in one cycle modulo II; its users are *keys*: the operation whose value it is, and
the absolute cycle (iteration 0). A key counts once however many edges need it, so that edges of one source share
moves. Cells may have more users than they hold; those too many are conflicts, and a search ends when there are none.

- ``SLOT``: what issues, one operation or move.
- ``OUTPUT``: what the output register holds, from the cycle in which it is ready to its last read. One value: another
  that gets ready in between would overwrite it.
- ``REGISTER``: values kept in registers, from being ready to the last read. Fewer than the registers can still lack
  names on a circle of cycles; the reader of the schedule finds out.
- ``PORT``: registers that the PE reads.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mapper.solver.compiled import compiled
from mapper.solver.modulo_schedule.instance import Tables

Array = np.ndarray[Any, np.dtype[Any]]

SLOT, OUTPUT, REGISTER, PORT, KINDS = 0, 1, 2, 3, 4
CONFLICTS, WORK, STEPS, UNPLACED, ISSUES, COUNTERS = 0, 1, 2, 3, 4, 5
USERS = 24
"""Users of a cell that are kept track of, at the most; fewer registers than this are used of a large file."""
LONGEST = 48
"""Places on one route, at the most."""
SPAN = 192
"""Cycles from a result to its last read, at the most."""
ORIGIN = 1 << 30
"""Added to cycles in keys, so that they are never negative."""


class State(NamedTuple):
    """A schedule in the making. ``pe`` is -1 for operations not placed, ``hops`` 0 for edges not routed.

    ``used``, ``history``: (cells,), ``key``, ``reference``: (cells, users); cell = (kind * PEs + PE) * II + cycle.
    ``hop_pe``, ``hop_time``, ``hop_kept``: (edges, LONGEST), the places of a route: PE, cycle from which it is
    there, and whether it is read from a register. The last five are room for searches.
    """

    pe: Array
    time: Array
    rank: Array
    ejected: Array
    used: Array
    key: Array
    reference: Array
    history: Array
    memory: Array
    hops: Array
    hop_pe: Array
    hop_time: Array
    hop_kept: Array
    counters: Array
    weight: Array
    cost: Array
    origin: Array
    kept: Array
    candidate: Array
    estimate: Array


def new_state(t: Tables) -> State:
    """Nothing placed."""
    operations, edges = len(t.latency), len(t.source)
    cells = KINDS * t.pes * t.ii
    users = min(USERS, max(4, int(t.capacity[REGISTER]))) + 4
    counters = np.zeros(COUNTERS, np.int64)
    counters[UNPLACED] = operations
    return State(
        pe=np.full(operations, -1, np.int32),
        time=np.zeros(operations, np.int32),
        rank=np.arange(operations, dtype=np.int32),
        ejected=np.zeros(operations, np.int32),
        used=np.zeros(cells, np.int32),
        key=np.zeros((cells, users), np.int64),
        reference=np.zeros((cells, users), np.int32),
        history=np.zeros(cells, np.float64),
        memory=np.zeros(t.ii, np.int32),
        hops=np.zeros(edges, np.int32),
        hop_pe=np.zeros((edges, LONGEST), np.int16),
        hop_time=np.zeros((edges, LONGEST), np.int32),
        hop_kept=np.zeros((edges, LONGEST), np.bool_),
        counters=counters,
        weight=np.zeros(1, np.float64),
        cost=np.zeros((SPAN + 1) * t.pes, np.float64),
        origin=np.zeros((SPAN + 1) * t.pes, np.int32),
        kept=np.zeros((SPAN + 1) * t.pes, np.bool_),
        candidate=np.zeros((64, 2), np.int32),
        estimate=np.zeros(64, np.float64),
    )


def _price(t: Tables, s: State, kind: int, pe: int, net: int, time: int, base: float) -> float:
    """What it costs the value of ``net`` to use a cell: nothing where it does already, ``base`` where there is
    room, and the weight of a conflict, growing with those already there, where there is not."""
    cell = (kind * t.pes + pe) * t.ii + time % t.ii
    count = s.used[cell]
    if count > 0:
        key = (net << 32) | (time + ORIGIN)
        for user in range(count):
            if s.key[cell, user] == key:
                return 0.0
    cost: float = base + s.history[cell]
    over = count - t.capacity[kind] + 1
    if over > 0:
        cost += s.weight[0] * over
    return cost


def _take(t: Tables, s: State, kind: int, pe: int, net: int, time: int) -> bool:
    """Make the value a user of a cell once more; False, and nothing, if its list of users is full."""
    cell = (kind * t.pes + pe) * t.ii + time % t.ii
    key = (net << 32) | (time + ORIGIN)
    count = s.used[cell]
    for user in range(count):
        if s.key[cell, user] == key:
            s.reference[cell, user] += 1
            return True
    if count == s.key.shape[1]:
        return False
    s.key[cell, count] = key
    s.reference[cell, count] = 1
    s.used[cell] = count + 1
    if kind == SLOT:
        s.counters[ISSUES] += 1
    if count >= t.capacity[kind]:
        s.counters[CONFLICTS] += 1
    return True


def _give(t: Tables, s: State, kind: int, pe: int, net: int, time: int) -> None:
    """Undo one `_take`."""
    cell = (kind * t.pes + pe) * t.ii + time % t.ii
    key = (net << 32) | (time + ORIGIN)
    last = s.used[cell] - 1
    for user in range(last + 1):
        if s.key[cell, user] == key:
            s.reference[cell, user] -= 1
            if s.reference[cell, user] == 0:
                s.key[cell, user] = s.key[cell, last]
                s.reference[cell, user] = s.reference[cell, last]
                s.used[cell] = last
                if kind == SLOT:
                    s.counters[ISSUES] -= 1
                if last >= t.capacity[kind]:
                    s.counters[CONFLICTS] -= 1
            return


def _put(t: Tables, s: State, operation: int, pe: int, time: int) -> bool:
    """Place an operation, without routes; False, and nothing, if a list of users is full."""
    if not take(t, s, SLOT, pe, operation, time):
        return False
    if not take(t, s, OUTPUT, pe, operation, time + t.latency[operation]):
        give(t, s, SLOT, pe, operation, time)
        return False
    s.pe[operation] = pe
    s.time[operation] = time
    s.counters[UNPLACED] -= 1
    if t.memory_ports > 0 and t.memory[operation]:
        s.memory[time % t.ii] += 1
        if s.memory[time % t.ii] > t.memory_ports:
            s.counters[CONFLICTS] += 1
    return True


def _remove(t: Tables, s: State, operation: int) -> None:
    """Undo `_put`; no edge of the operation has a route."""
    pe = s.pe[operation]
    time = s.time[operation]
    give(t, s, SLOT, pe, operation, time)
    give(t, s, OUTPUT, pe, operation, time + t.latency[operation])
    if t.memory_ports > 0 and t.memory[operation]:
        if s.memory[time % t.ii] > t.memory_ports:
            s.counters[CONFLICTS] -= 1
        s.memory[time % t.ii] -= 1
    s.pe[operation] = -1
    s.counters[UNPLACED] += 1


price: Any = compiled(_price)
take: Any = compiled(_take)
give: Any = compiled(_give)
put: Any = compiled(_put, take=take, give=give)
remove: Any = compiled(_remove, give=give)
