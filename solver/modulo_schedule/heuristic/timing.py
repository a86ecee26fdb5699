"""Issue times before places: annealed so that values wait little and no cycle has more operations than PEs, in compiled
code. A value that waits is handed on by a move for about every II cycles, which takes slots; how little a schedule
can wait is decided by the times alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mapper.models.compiled import compiled
from mapper.solver.modulo_schedule.heuristic.instance import NO_PATH, Array, Tables

CHANGES = 100
"""Changes of times for every operation of the graph."""
MOST_CHANGES = 20_000
HOTTEST, COLDEST = 8.0, 0.2
MOVE, EDGE, CROWD = 6.0, 0.05, 12.0
"""Cost of a move, of a cycle in which a value waits for any reader, and of an operation for which there is no PE in its
cycle, or of a move for which there is no slot."""
WAITS = (0.4, 1.5, 4.0)
"""Cost of a cycle in which a value waits for its last reader: starts take turns. Waiting is free in a register of the
reader's own PE, and dear where the reader must be on another one."""


def _wasted(t: Tables, time: Array, issued: Array, wait_cost: float) -> float:
    """What waits and crowds at these times cost; ``issued``: room for operations per kind and cycle."""
    ii = t.ii
    operations = len(time)
    kinds = len(t.able_start) - 1
    cost = 0.0
    moves = 0
    for net in range(operations):
        longest = 0
        ready = time[net] + t.latency[net]
        for position in range(t.edge_start[net], t.edge_start[net + 1]):
            edge = t.edge[position]
            if t.source[edge] == net:
                wait = time[t.destination[edge]] + t.shift[edge] - ready
                cost += EDGE * wait
                if t.carries[edge]:
                    longest = max(longest, wait)
        moves += longest // ii
        cost += wait_cost * longest
    cost += MOVE * moves + CROWD * max(0, operations + moves - t.pes * ii)
    issued[:] = 0
    for operation in range(operations):
        issued[t.kind[operation], time[operation] % ii] += 1
        issued[kinds, time[operation] % ii] += 1
        issued[kinds + 1, time[operation] % ii] += t.memory[operation]
    for cycle in range(ii):
        for kind in range(kinds):
            cost += CROWD * max(0, issued[kind, cycle] - (t.able_start[kind + 1] - t.able_start[kind]))
        cost += CROWD * max(0, issued[kinds, cycle] - t.pes)
        if t.memory_ports > 0:
            cost += CROWD * max(0, issued[kinds + 1, cycle] - t.memory_ports)
    return cost


def _timed(t: Tables, seed: int, steps: int, wait_cost: float) -> Array:
    """Issue times that keep all latencies, after so many changes; (operations,)."""
    np.random.seed(seed)
    operations = len(t.latency)
    time = np.zeros(operations, np.int32)
    for operation in range(operations):
        time[operation] = max(0, np.max(t.distance[:, operation]))
    issued = np.zeros((len(t.able_start) + 1, t.ii), np.int32)
    changed = np.zeros(operations, np.int32)
    best = time.copy()
    cost = wasted(t, time, issued, wait_cost)
    least = cost
    for step in range(steps):
        temperature = HOTTEST * (COLDEST / HOTTEST) ** (step / steps)
        operation = np.random.randint(operations)
        by = np.random.randint(1, t.ii + 2) if np.random.random() < 0.5 else 1
        changed[:] = time
        changed[operation] += by if np.random.random() < 0.5 else -by
        at = changed[operation]
        # Whatever this leaves too little time goes along.
        for other in range(operations):
            if t.distance[operation, other] > NO_PATH:
                changed[other] = max(changed[other], at + t.distance[operation, other])
            if t.distance[other, operation] > NO_PATH:
                changed[other] = min(changed[other], at - t.distance[other, operation])
        after = wasted(t, changed, issued, wait_cost)
        if after <= cost or np.random.random() < np.exp((cost - after) / temperature):
            time[:] = changed
            cost = after
            if cost < least:
                least = cost
                best[:] = time
    return best


wasted: Any = compiled(_wasted)
timed: Any = compiled(_timed)
