"""Who uses which slot, output register, register and port in which cycle modulo II, in arrays for compiled code.

A *cell* is one of these on one PE in one cycle modulo II; its users are *keys*: the operation whose value it is, and
the absolute cycle (iteration 0). A key counts once however many edges need it, so that edges of one source share
moves. Cells may have more users than they hold; those too many are conflicts, and a search ends when there are none.

- ``SLOT``: what issues, one operation or move. The cycle in a move's key is the one in which its copy gets ready: a
  result of latency 0 can be moved in the cycle in which its operation issues, and both take the slot.
- ``OUTPUT``: what the output register holds, from the cycle in which it is ready to its last read. One value: another
  that gets ready in between would overwrite it.
- ``REGISTER``: values kept in registers, from being ready to the last read. Fewer than the registers can still lack
  names on a circle of cycles; the reader of the schedule finds out.
- ``PORT``: registers that the PE reads.
- ``SHARED``, ``SHARED_PORT``, ``SHARED_WRITE``: the same of the shared register file, which is there once for all
  PEs, and the results that are written to it in the cycle. A value is in one shared register at a time: of two, the
  newer serves all reads.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mapper.models.compiled import compiled
from mapper.solver.modulo_schedule.heuristic.instance import Tables

Array = np.ndarray[Any, np.dtype[Any]]

SLOT, OUTPUT, REGISTER, PORT, KINDS = 0, 1, 2, 3, 4
SHARED, SHARED_PORT, SHARED_WRITE = 4, 5, 6
CONFLICTS, WORK, STEPS, UNPLACED, ISSUES, SERIAL, COUNTERS = 0, 1, 2, 3, 4, 5, 6
USERS = 24
"""The most users of a cell that are tracked; of a large file, fewer registers than this are used."""
LONGEST = 48
"""The most places on one route."""
SPAN = 192
"""The most cycles from a result to its last read, unless distances times II are more."""
ORIGIN = 1 << 30
"""Added to cycles in keys, so that they are never negative."""
CANDIDATES = 10
"""Places and cycles for an operation that are remembered."""


class State(NamedTuple):
    """A schedule in the making. ``pe`` is -1 for operations not placed, ``hops`` 0 for edges not routed.
    ``wish``: the cycle in which an operation would like to issue.

    Cell = (kind * PEs + PE) * II + cycle, and of the shared file (4 * PEs + kind - 4) * II + cycle. ``book[cell]``:
    how many users it has, how many it holds, and then for every user its key and how often it was taken.
    ``toll[cell]``: what one more user pays beyond the base price, what the cell got dearer by in the past, and the
    price of a conflict. ``way[edge]``: the places of a route as PE, cycle from which it is there, and 1 if it is read
    from an own register, 2 if from a shared one. The last six are room for searches.
    """

    pe: Array
    time: Array
    rank: Array
    wish: Array
    ejected: Array
    book: Array
    toll: Array
    memory: Array
    hops: Array
    way: Array
    counters: Array
    cost: Array
    origin: Array
    own: Array
    candidate: Array
    estimate: Array
    neighbour: Array


def new_state(t: Tables, conflict: float) -> State:
    """Nothing placed. ``conflict``: what a user too many of a cell costs."""
    operations, edges = len(t.latency), len(t.source)
    cells = t.pes * t.ii
    users = min(USERS, max(4, int(t.capacity[REGISTER]), int(t.shared.max(initial=0)))) + 4
    all_cells = KINDS * cells + len(t.shared) * t.ii
    counters = np.zeros(COUNTERS, np.int64)
    counters[UNPLACED] = operations
    book = np.zeros((all_cells, 2 + 2 * users), np.int64)
    book[:, 1] = np.concatenate((np.repeat(t.capacity, cells), np.repeat(t.shared, t.ii)))
    toll = np.zeros((all_cells, 3), np.float64)
    toll[:, 2] = conflict
    toll[:, 0] = np.where(book[:, 1] == 0, conflict, 0.0)
    nodes = (max(SPAN, int(t.shift.max(initial=0)) + 2 * t.ii) + 2) * t.pes
    return State(
        pe=np.full(operations, -1, np.int32),
        time=np.zeros(operations, np.int32),
        rank=np.arange(operations, dtype=np.int32),
        wish=np.zeros(operations, np.int32),
        ejected=np.zeros(operations, np.int32),
        book=book,
        toll=toll,
        memory=np.zeros(t.ii, np.int32),
        hops=np.zeros(edges, np.int32),
        way=np.zeros((edges, LONGEST, 3), np.int32),
        counters=counters,
        cost=np.zeros(nodes, np.float64),
        origin=np.zeros((nodes, 2), np.int32),
        own=np.zeros((3 + len(t.shared), nodes), np.int64),
        candidate=np.zeros((CANDIDATES, 2), np.int32),
        estimate=np.zeros(CANDIDATES, np.float64),
        neighbour=np.zeros((edges, 6), np.int32),
    )


def _key(net: int, time: int) -> Any:
    """The value of ``net`` in an absolute cycle, as one number."""
    key: Any = (np.int64(net) << 32) | np.int64(time + ORIGIN)
    return key


def _take(book: Array, toll: Array, counters: Array, cell: int, key: int) -> bool:
    """Make ``key`` a user of a cell once more; False, and nothing, if its list of users is full."""
    users = book[cell, 0]
    for user in range(users):
        if book[cell, 2 + 2 * user] == key:
            book[cell, 3 + 2 * user] += 1
            return True
    if 4 + 2 * users > book.shape[1]:
        return False
    book[cell, 2 + 2 * users] = key
    book[cell, 3 + 2 * users] = 1
    book[cell, 0] = users + 1
    over = users + 1 - book[cell, 1]
    counters[CONFLICTS] += over > 0
    toll[cell, 0] = toll[cell, 1] + toll[cell, 2] * max(0, over + 1)
    return True


def _give(book: Array, toll: Array, counters: Array, cell: int, key: int) -> None:
    """Undo one `_take`."""
    last = book[cell, 0] - 1
    for user in range(last + 1):
        if book[cell, 2 + 2 * user] == key:
            book[cell, 3 + 2 * user] -= 1
            if book[cell, 3 + 2 * user] == 0:
                book[cell, 2 + 2 * user] = book[cell, 2 + 2 * last]
                book[cell, 3 + 2 * user] = book[cell, 3 + 2 * last]
                book[cell, 0] = last
                over = last + 1 - book[cell, 1]
                counters[CONFLICTS] -= over > 0
                toll[cell, 0] = toll[cell, 1] + toll[cell, 2] * max(0, over)
            return


def _put(t: Tables, s: State, operation: int, pe: int, time: int) -> bool:
    """Place an operation, without routes; False, and nothing, if a list of users is full."""
    ready = time + t.latency[operation]
    slot = (SLOT * t.pes + pe) * t.ii + time % t.ii
    if not take(s.book, s.toll, s.counters, slot, key_of(operation, time)):
        return False
    output = (OUTPUT * t.pes + pe) * t.ii + ready % t.ii
    if not take(s.book, s.toll, s.counters, output, key_of(operation, ready)):
        give(s.book, s.toll, s.counters, slot, key_of(operation, time))
        return False
    s.pe[operation] = pe
    s.time[operation] = time
    s.counters[UNPLACED] -= 1
    s.counters[ISSUES] += 1
    if t.memory_ports > 0 and t.memory[operation]:
        s.memory[time % t.ii] += 1
        s.counters[CONFLICTS] += s.memory[time % t.ii] > t.memory_ports
    return True


def _remove(t: Tables, s: State, operation: int) -> None:
    """Undo `_put`; no edge of the operation has a route."""
    pe = s.pe[operation]
    time = s.time[operation]
    ready = time + t.latency[operation]
    slot = (SLOT * t.pes + pe) * t.ii + time % t.ii
    output = (OUTPUT * t.pes + pe) * t.ii + ready % t.ii
    give(s.book, s.toll, s.counters, slot, key_of(operation, time))
    give(s.book, s.toll, s.counters, output, key_of(operation, ready))
    if t.memory_ports > 0 and t.memory[operation]:
        s.counters[CONFLICTS] -= s.memory[time % t.ii] > t.memory_ports
        s.memory[time % t.ii] -= 1
    s.pe[operation] = -1
    s.counters[UNPLACED] += 1
    s.counters[ISSUES] -= 1


key_of: Any = compiled(_key)
take: Any = compiled(_take)
give: Any = compiled(_give)
put: Any = compiled(_put)
remove: Any = compiled(_remove)
