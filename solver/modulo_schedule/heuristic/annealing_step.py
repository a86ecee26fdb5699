"""The steps of the annealing, in compiled code: one operation goes elsewhere, perhaps in exchange for another."""

from __future__ import annotations

from typing import Any

import numpy as np

from mapper.models.compiled import compiled
from mapper.solver.modulo_schedule.heuristic import negotiation, placement, reservation, route_search
from mapper.solver.modulo_schedule.heuristic.instance import Tables
from mapper.solver.modulo_schedule.heuristic.reservation import CONFLICTS, ISSUES, STEPS, WORK, State

MISSING = 0.3
"""Energy of a cycle that an edge without a route lacks for its way; conflicts and such edges are 1 each."""
ISSUE = 0.04
"""Energy of a move; moves take slots, so that schedules with fewer are better."""
PROPOSALS = 6
"""Targets drawn for a step, of which the one with the least estimate is taken."""
NOWHERE = 1 << 29

lift: Any = placement.lift
joined: Any = placement.joined
gather: Any = placement.gather
guess: Any = placement.guess
fee: Any = placement.fee
put: Any = reservation.put
mark: Any = route_search.mark
crowded: Any = negotiation.crowded


def _lacking(t: Tables, s: State, edge: int) -> float:
    """Energy of an edge: none if it has a route, or its order is kept."""
    if s.hops[edge] > 0:
        return 0.0
    u = t.source[edge]
    w = t.destination[edge]
    slack = s.time[w] + t.shift[edge] - s.time[u] - t.delay[edge]
    if not t.carries[edge]:
        return 0.0 if slack >= 0 else 1.0 + MISSING * min(20, -slack)
    missing: int = t.moves[s.pe[u], s.pe[w]] - slack
    return 1.0 + MISSING * min(20, max(0, missing))


def _energy(t: Tables, s: State) -> float:
    total: float = s.counters[CONFLICTS] + ISSUE * s.counters[ISSUES]
    for edge in range(len(t.source)):
        total += lacking(t, s, edge)
    return total


def _chosen(t: Tables, s: State) -> int:
    """An operation, most often one in conflict or with an edge without a route; -1 if there are no such."""
    seen = 0
    edge = -1
    for other in range(len(t.source)):
        if lacking(t, s, other) > 0.0:
            seen += 1
            if np.random.randint(seen) == 0:
                edge = other
    if seen == 0 and s.counters[CONFLICTS] == 0:
        return -1
    if np.random.random() < 0.2:
        return np.random.randint(len(s.pe))
    if edge >= 0 and (s.counters[CONFLICTS] == 0 or np.random.random() < 0.5):
        end: int = t.source[edge] if np.random.random() < 0.5 else t.destination[edge]
        return end
    cell = crowded(s)
    if cell < 0:
        return np.random.randint(len(s.pe))
    net: int = s.book[cell, 2 + 2 * np.random.randint(s.book[cell, 0])] >> 32
    if np.random.random() < 0.5 and t.edge_start[net] < t.edge_start[net + 1]:
        edge = t.edge[np.random.randint(t.edge_start[net], t.edge_start[net + 1])]
        net = t.source[edge] if np.random.random() < 0.5 else t.destination[edge]
    return net


def _drawn(t: Tables, s: State, operation: int) -> tuple[int, int]:
    """A PE, near a neighbour half of the time, and a cycle that the neighbours' cycles leave, if any."""
    low = -NOWHERE
    high = NOWHERE
    near = -1
    seen = 0
    for position in range(t.edge_start[operation], t.edge_start[operation + 1]):
        edge = t.edge[position]
        u = t.source[edge]
        w = t.destination[edge]
        if u == w:
            continue
        length = t.delay[edge] - t.shift[edge]
        if w == operation:
            low = max(low, s.time[u] + length)
        else:
            high = min(high, s.time[w] - length)
        seen += 1
        if np.random.randint(seen) == 0:
            near = s.pe[u if w == operation else w]
    if low > -NOWHERE and high < NOWHERE:
        low, high = min(low, high), max(low, high)
        high = min(high, low + 2 * t.ii)
    elif low > -NOWHERE:
        high = low + t.ii + 1
    elif high < NOWHERE:
        low = high - t.ii - 1
    else:
        low = s.time[operation] - t.ii
        high = s.time[operation] + t.ii
    kind = t.kind[operation]
    pe = t.able[np.random.randint(t.able_start[kind], t.able_start[kind + 1])]
    if near >= 0 and np.random.random() < 0.6:
        close = t.reader[np.random.randint(t.reader_start[near], t.reader_start[near + 1])]
        for position in range(t.able_start[kind], t.able_start[kind + 1]):
            if t.able[position] == close:
                pe = close
    return pe, np.random.randint(low, high + 1)


def _keep(t: Tables, s: State, old: State, operation: int) -> None:
    """Note the routes of an operation's edges in ``old``."""
    for position in range(t.edge_start[operation], t.edge_start[operation + 1]):
        edge = t.edge[position]
        hops = s.hops[edge]
        if s.pe[t.source[edge]] < 0 or s.pe[t.destination[edge]] < 0:
            # The other end was noted, with this edge, before it was lifted.
            continue
        old.hops[edge] = hops
        old.way[edge, :hops] = s.way[edge, :hops]


def _restore(t: Tables, s: State, old: State, operation: int) -> None:
    """Route the edges of an operation as noted; both ends of each are where they were."""
    for position in range(t.edge_start[operation], t.edge_start[operation + 1]):
        edge = t.edge[position]
        hops = old.hops[edge]
        if s.hops[edge] == 0 and hops > 0:
            s.hops[edge] = hops
            s.way[edge, :hops] = old.way[edge, :hops]
            mark(t, s, edge, True, 1 << 30)


def _step(t: Tables, s: State, old: State, operation: int, energy: float, temperature: float) -> float:
    """Try one change, and take it back if it costs too much; the energy afterwards."""
    pe = -1
    time = 0
    least = np.inf
    gathered = gather(t, s, operation)
    for _ in range(PROPOSALS):
        to, at = drawn(t, s, operation)
        cost = guess(s.neighbour, gathered, t.near, t.ii, to, at)
        cost += fee(t, s, operation, to, at) + 3.0 * np.random.random()
        if cost < least:
            least = cost
            pe = to
            time = at
    here = s.pe[operation]
    now = s.time[operation]
    if here == pe and now == time:
        return energy
    other = -1
    for candidate in range(len(s.pe)):
        if candidate != operation and s.pe[candidate] == pe and (s.time[candidate] - time) % t.ii == 0:
            other = candidate
    able = False
    if other >= 0:
        kind = t.kind[other]
        for position in range(t.able_start[kind], t.able_start[kind + 1]):
            able = able or t.able[position] == here
    if not able:
        other = -1
    keep(t, s, old, operation)
    lift(t, s, operation)
    there = 0
    if other >= 0:
        there = s.time[other]
        keep(t, s, old, other)
        lift(t, s, other)
    fits = put(t, s, operation, pe, time)
    if fits and other >= 0:
        moved = there + (now - there) % t.ii
        if moved - there > t.ii // 2:
            moved -= t.ii
        fits = put(t, s, other, here, moved)
    if fits:
        joined(t, s, operation, np.inf)
        if other >= 0:
            joined(t, s, other, np.inf)
        changed: float = energy_of(t, s)
        if changed <= energy or np.random.random() < np.exp((energy - changed) / temperature):
            return changed
    if s.pe[operation] >= 0:
        lift(t, s, operation)
    if other >= 0 and s.pe[other] >= 0:
        lift(t, s, other)
    put(t, s, operation, here, now)
    if other >= 0:
        put(t, s, other, pe, there)
        restore(t, s, old, other)
    restore(t, s, old, operation)
    return energy


def _fill(t: Tables, s: State, seed: int) -> None:
    """Place every operation on a PE drawn at random, in the cycle it wishes for."""
    np.random.seed(seed)
    for operation in range(len(s.pe)):
        kind = t.kind[operation]
        placed = False
        while not placed:
            pe = t.able[np.random.randint(t.able_start[kind], t.able_start[kind + 1])]
            placed = put(t, s, operation, pe, s.wish[operation])
    for operation in range(len(s.pe)):
        joined(t, s, operation, np.inf)


def _anneal(
    t: Tables, s: State, old: State, seed: int, hottest: float, coldest: float, steps: int, work: int
) -> bool:
    """Steps from counter ``STEPS`` on, until ``steps``, so much work, or a schedule; whether there is one."""
    np.random.seed(seed)
    energy = energy_of(t, s)
    end = s.counters[WORK] + work
    while s.counters[STEPS] < steps and s.counters[WORK] < end:
        operation = chosen(t, s)
        if operation < 0:
            return True
        s.counters[STEPS] += 1
        s.counters[WORK] += len(t.source)
        temperature = hottest * (coldest / hottest) ** (s.counters[STEPS] / steps)
        energy = step(t, s, old, operation, energy, temperature)
    done: bool = chosen(t, s) < 0
    return done


lacking: Any = compiled(_lacking)
energy_of: Any = compiled(_energy)
chosen: Any = compiled(_chosen)
drawn: Any = compiled(_drawn)
keep: Any = compiled(_keep)
restore: Any = compiled(_restore)
step: Any = compiled(_step)
fill: Any = compiled(_fill)
anneal: Any = compiled(_anneal)
