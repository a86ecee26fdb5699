"""Where and when one operation goes: the candidates with the least estimates are tried with all their routes.

Compiled code. An operation that is placed displaces those that its cycle leaves too little time, and those to which no
route is left; cells that others use can be had at the price of a conflict.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mapper.models.compiled import compiled
from mapper.solver.modulo_schedule.heuristic import reservation, route_search
from mapper.solver.modulo_schedule.heuristic.instance import NO_PATH, Tables
from mapper.solver.modulo_schedule.heuristic.reservation import CANDIDATES, OUTPUT, SLOT, WORK, Array, State
from mapper.solver.modulo_schedule.heuristic.route_search import MOVE

EJECT = 60.0
"""Cost of putting out an operation; it grows with how often that happened to it."""
WAITING = 0.3
"""Estimated cost of a cycle between a result and its read."""
WISH = 2.0
"""Cost of a cycle away from the one wished for."""
DETOUR = 3
"""Cycles beyond II in which an operation is tried after its earliest, so that values get time to travel."""

put: Any = reservation.put
remove: Any = reservation.remove
route: Any = route_search.route
unroute: Any = route_search.unroute


def _lift(t: Tables, s: State, operation: int) -> None:
    """Take an operation and the routes of its edges away."""
    for position in range(t.edge_start[operation], t.edge_start[operation + 1]):
        unroute(t, s, t.edge[position])
    remove(t, s, operation)


def _gather(t: Tables, s: State, operation: int) -> int:
    """List the edges of ``operation`` to placed operations: 1 if they leave it, the other PE, the cycle up to which
    (from which) the value may take its time, how much later it can be read, 1 if there is a value, and who it is."""
    found = 0
    for position in range(t.edge_start[operation], t.edge_start[operation + 1]):
        edge = t.edge[position]
        u = t.source[edge]
        w = t.destination[edge]
        other = w if u == operation else u
        if other == operation or s.pe[other] < 0:
            continue
        leaves = u == operation
        s.neighbour[found, 0] = leaves
        s.neighbour[found, 1] = s.pe[other]
        s.neighbour[found, 2] = (s.time[w] + t.shift[edge] if leaves else s.time[u] - t.shift[edge]) + (
            -t.latency[u] if leaves else t.latency[u]
        )
        s.neighbour[found, 3] = t.delay[edge] - t.latency[u]
        s.neighbour[found, 4] = t.carries[edge]
        s.neighbour[found, 5] = s.ejected[other]
        found += 1
    return found


def _guess(neighbour: Array, count: int, moves: Array, ii: int, pe: int, time: int) -> float:
    """About what the routes of an operation cost that issues there; see `_gather`."""
    cost = 0.0
    for position in range(count):
        leaves = neighbour[position, 0] == 1
        other = neighbour[position, 1]
        slack = neighbour[position, 2] - time if leaves else time - neighbour[position, 2]
        carries = neighbour[position, 4] == 1
        needed = 0
        if carries:
            needed = moves[pe, other] if leaves else moves[other, pe]
        if slack < needed or slack < neighbour[position, 3]:
            cost += EJECT * (1.0 + 0.5 * neighbour[position, 5])
        elif carries:
            cost += MOVE * max(needed, slack // ii) + WAITING * slack
        else:
            cost += 0.02 * slack
    return cost


def _fee(t: Tables, s: State, operation: int, pe: int, time: int) -> float:
    """What the slot, the result and the memory port of an operation cost."""
    cost: float = s.toll[(SLOT * t.pes + pe) * t.ii + time % t.ii, 0]
    cost += s.toll[(OUTPUT * t.pes + pe) * t.ii + (time + t.latency[operation]) % t.ii, 0]
    if t.memory_ports > 0 and t.memory[operation]:
        cost += s.toll[0, 2] * max(0, s.memory[time % t.ii] + 1 - t.memory_ports)
    return cost


def _hurry(t: Tables, s: State, operation: int, time: int) -> float:
    """Cost of the operations, neighbours or further away, to which that cycle leaves too little time."""
    cost = 0.0
    for other in range(len(s.pe)):
        if s.pe[other] >= 0 and other != operation and (
            s.time[other] + t.distance[other, operation] > time
            or time + t.distance[operation, other] > s.time[other]
        ):  # fmt: skip
            cost += EJECT * (1.0 + 0.5 * s.ejected[other])
    return cost


def _shortlist(
    t: Tables, s: State, operation: int, gathered: int, hurried: bool, begin: int, stop: int, found: int
) -> int:
    """Merge the PEs and cycles from ``begin`` to ``stop`` into the best candidates, ``found`` of which are known;
    how many there are then."""
    kind = t.kind[operation]
    ii = t.ii
    looked = t.able_start[kind + 1] - t.able_start[kind] + (len(s.pe) if hurried else 0)
    s.counters[WORK] += max(0, stop - begin + 1) * looked
    for time in range(begin, stop + 1):
        base = hurry(t, s, operation, time) if hurried else 0.0
        base += WISH * abs(time - s.wish[operation])
        if t.memory_ports > 0 and t.memory[operation]:
            base += s.toll[0, 2] * max(0, s.memory[time % ii] + 1 - t.memory_ports)
        for position in range(t.able_start[kind], t.able_start[kind + 1]):
            pe = t.able[position]
            cost = base + 2.0 * np.random.random()
            cost += s.toll[(SLOT * t.pes + pe) * ii + time % ii, 0]
            cost += s.toll[(OUTPUT * t.pes + pe) * ii + (time + t.latency[operation]) % ii, 0]
            if found == CANDIDATES and cost >= s.estimate[found - 1]:
                continue
            cost += guess(s.neighbour, gathered, t.near, ii, pe, time)
            if found == CANDIDATES and cost >= s.estimate[found - 1]:
                continue
            at = min(found, CANDIDATES - 1)
            while at > 0 and s.estimate[at - 1] > cost:
                s.estimate[at] = s.estimate[at - 1]
                s.candidate[at, 0] = s.candidate[at - 1, 0]
                s.candidate[at, 1] = s.candidate[at - 1, 1]
                at -= 1
            s.estimate[at] = cost
            s.candidate[at, 0] = pe
            s.candidate[at, 1] = time
            found = min(found + 1, CANDIDATES)
    return found


def _candidates(t: Tables, s: State, operation: int) -> int:
    """Fill the list of candidates, the least estimates first, from the cycles near the placed neighbours."""
    early = -(1 << 29)
    late = 1 << 29
    for other in range(len(t.latency)):
        if s.pe[other] < 0 or other == operation:
            continue
        if t.distance[other, operation] > NO_PATH:
            early = max(early, s.time[other] + t.distance[other, operation])
        if t.distance[operation, other] > NO_PATH:
            late = min(late, s.time[other] - t.distance[operation, other])
    gathered = gather(t, s, operation)
    begin = s.wish[operation] - t.ii // 2
    wide = t.ii - 1 + DETOUR
    found: int = 0
    if early == -(1 << 29) and late == 1 << 29:
        found = shortlist(t, s, operation, gathered, False, begin, begin + t.ii - 1, 0)
    elif late == 1 << 29:
        found = shortlist(t, s, operation, gathered, False, early, early + wide, 0)
    elif early == -(1 << 29):
        found = shortlist(t, s, operation, gathered, False, late - wide, late, 0)
    elif early > late:
        found = shortlist(t, s, operation, gathered, True, early, early + t.ii - 1, 0)
        found = shortlist(t, s, operation, gathered, True, late - t.ii + 1, min(late, early - 1), found)
    else:
        found = shortlist(t, s, operation, gathered, False, early, min(late, early + wide), 0)
        found = shortlist(t, s, operation, gathered, False, max(late - wide, early + wide + 1), late, found)
    return found


def _joined(t: Tables, s: State, operation: int, limit: float) -> float:
    """Route the edges of a placed operation; what they cost, at least ``limit`` if it is more than that."""
    cost = 0.0
    for position in range(t.edge_start[operation], t.edge_start[operation + 1]):
        edge = t.edge[position]
        u = t.source[edge]
        w = t.destination[edge]
        if s.pe[u] < 0 or s.pe[w] < 0 or s.hops[edge] > 0:
            continue
        other = w if u == operation else u
        if not t.carries[edge]:
            slack = s.time[w] + t.shift[edge] - s.time[u] - t.delay[edge]
            cost += 0.02 * slack if slack >= 0 else EJECT * (1.0 + 0.5 * s.ejected[other])
        else:
            way = route(t, s, edge, limit - cost)
            cost += way if s.hops[edge] > 0 else EJECT * (1.0 + 0.5 * s.ejected[other])
        if cost >= limit:
            break
    return cost


def _settle(t: Tables, s: State, operation: int) -> None:
    """Place ``operation`` at the cheapest candidate; what it leaves no time or no route is displaced."""
    found = candidates(t, s, operation)
    best = -1
    least = np.inf
    for tried in range(found):
        if s.estimate[tried] >= least + MOVE:
            break
        pe = s.candidate[tried, 0]
        time = s.candidate[tried, 1]
        cost: float = fee(t, s, operation, pe, time) + WISH * abs(time - s.wish[operation])
        if cost >= least or not put(t, s, operation, pe, time):
            continue
        cost += joined(t, s, operation, least - cost)
        lift(t, s, operation)
        if cost < least:
            least = cost
            best = tried
    if best < 0:
        best = np.random.randint(found)
    if not put(t, s, operation, s.candidate[best, 0], s.candidate[best, 1]):
        return
    time = s.time[operation]
    for other in range(len(t.latency)):
        if s.pe[other] >= 0 and other != operation and (
            s.time[other] + t.distance[other, operation] > time
            or time + t.distance[operation, other] > s.time[other]
        ):  # fmt: skip
            s.ejected[other] += 1
            lift(t, s, other)
    joined(t, s, operation, np.inf)
    for position in range(t.edge_start[operation], t.edge_start[operation + 1]):
        edge = t.edge[position]
        u = t.source[edge]
        w = t.destination[edge]
        if t.carries[edge] and s.pe[u] >= 0 and s.pe[w] >= 0 and s.hops[edge] == 0:
            other = w if u == operation else u
            s.ejected[other] += 1
            lift(t, s, other)
            if other == operation:
                return


lift: Any = compiled(_lift)
gather: Any = compiled(_gather)
guess: Any = compiled(_guess)
fee: Any = compiled(_fee)
hurry: Any = compiled(_hurry)
shortlist: Any = compiled(_shortlist)
candidates: Any = compiled(_candidates)
joined: Any = compiled(_joined)
settle: Any = compiled(_settle)
