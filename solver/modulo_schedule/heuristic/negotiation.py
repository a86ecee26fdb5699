"""Negotiated modulo scheduling, in compiled code: operations are placed one after another, by their rank, and cells
may get too many users; then the users of such cells are placed or routed again, at prices that grow where the
conflicts keep occurring (PathFinder's idea, for places as well as routes), until none is left."""

from __future__ import annotations

from typing import Any

import numpy as np

from mapper.models.compiled import compiled
from mapper.solver.modulo_schedule.heuristic import placement, route_search
from mapper.solver.modulo_schedule.heuristic.instance import Tables
from mapper.solver.modulo_schedule.heuristic.reservation import (
    CONFLICTS,
    KINDS,
    ORIGIN,
    OUTPUT,
    SLOT,
    STEPS,
    UNPLACED,
    WORK,
    State,
)

DEARER = 1.5
"""What a cell costs more after a conflict on it was looked at."""
REROUTED = 0.35
"""Share of conflicts of routes that are met by new routes only."""

lift: Any = placement.lift
settle: Any = placement.settle
route: Any = route_search.route
unroute: Any = route_search.unroute
span: Any = route_search.span


def _first(s: State) -> int:
    """The operation not placed that comes first."""
    best = -1
    for operation in range(len(s.pe)):
        if s.pe[operation] < 0 and (best < 0 or s.rank[operation] < s.rank[best]):
            best = operation
    return best


def _uses(t: Tables, s: State, edge: int, kind: int, pe: int, time: int) -> bool:
    """Whether the route of an edge needs a cell in an absolute cycle; PE -1 of cells that PEs share."""
    for position in range(s.hops[edge]):
        if s.way[edge, position, 0] == pe or pe < 0:
            begin, last = span(t, s, edge, position, kind)
            if begin <= time <= last:
                return True
    return False


def _crowded(s: State) -> int:
    """A cell with too many users, drawn at random; -1 if there is none."""
    seen = 0
    chosen = -1
    for cell in range(len(s.book)):
        if s.book[cell, 0] > s.book[cell, 1]:
            seen += 1
            if np.random.randint(seen) == 0:
                chosen = cell
    return chosen


def _relieve(t: Tables, s: State) -> None:
    """Take out an operation that is in conflict, or route edges that are again."""
    cell = crowded(s)
    if cell < 0:
        seen = 0
        chosen = -1
        for operation in range(len(s.pe)):
            if (
                s.pe[operation] >= 0
                and t.memory[operation]
                and s.memory[s.time[operation] % t.ii] > t.memory_ports
            ):
                seen += 1
                if np.random.randint(seen) == 0:
                    chosen = operation
        lift(t, s, chosen)
        return
    s.toll[cell, 0] += DEARER
    s.toll[cell, 1] += DEARER
    kind = cell // (t.pes * t.ii)
    pe = cell // t.ii % t.pes
    if kind >= KINDS:
        kind = cell // t.ii - KINDS * (t.pes - 1)
        pe = -1
    key = s.book[cell, 2 + 2 * np.random.randint(s.book[cell, 0])]
    net = key >> 32
    time = (key & 0xFFFFFFFF) - ORIGIN
    own = s.pe[net] == pe and (
        (kind == SLOT and s.time[net] == time) or (kind == OUTPUT and s.time[net] + t.latency[net] == time)
    )
    if own and np.random.random() < 0.7:
        lift(t, s, net)
        return
    if kind == SLOT and not own:
        # The key of a move is the cycle after it.
        time -= 1
    seen = 0
    chosen = -1
    for position in range(t.edge_start[net], t.edge_start[net + 1]):
        edge = t.edge[position]
        if t.source[edge] == net and uses(t, s, edge, kind, pe, time):
            seen += 1
            if np.random.randint(seen) == 0:
                chosen = edge
    if chosen < 0:
        lift(t, s, net)
        return
    if not own and np.random.random() < REROUTED:
        # All of the value's routes through the cell, or it would stay the value's and be free.
        for position in range(t.edge_start[net], t.edge_start[net + 1]):
            edge = t.edge[position]
            if t.source[edge] == net and uses(t, s, edge, kind, pe, time):
                unroute(t, s, edge)
        for position in range(t.edge_start[net], t.edge_start[net + 1]):
            edge = t.edge[position]
            w = t.destination[edge]
            if (
                t.source[edge] == net
                and t.carries[edge]
                and s.pe[net] >= 0
                and s.pe[w] >= 0
                and s.hops[edge] == 0
            ):
                route(t, s, edge, np.inf)
                if s.hops[edge] == 0:
                    lift(t, s, w)
        return
    lift(t, s, net if np.random.random() < 0.5 else t.destination[chosen])


def _negotiate(t: Tables, s: State, seed: int, most_work: int, most_steps: int) -> bool:
    """Place and relieve until there is a schedule, or so much work or so many steps are done; whether there is."""
    np.random.seed(seed)
    end = s.counters[WORK] + most_work
    while s.counters[WORK] < end and s.counters[STEPS] < most_steps:
        if s.counters[UNPLACED] == 0:
            if s.counters[CONFLICTS] == 0:
                return True
            relieve(t, s)
        if s.counters[UNPLACED] > 0:
            s.counters[STEPS] += 1
            s.counters[WORK] += len(s.pe)
            settle(t, s, first(s))
    done: bool = s.counters[UNPLACED] == 0 and s.counters[CONFLICTS] == 0
    return done


first: Any = compiled(_first)
uses: Any = compiled(_uses)
crowded: Any = compiled(_crowded)
relieve: Any = compiled(_relieve)
negotiate: Any = compiled(_negotiate)
