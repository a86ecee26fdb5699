"""Where and when one operation goes: the candidates with the least estimates are tried with all their routes.

Compiled code. An operation that is placed puts out the operations that its cycle leaves too little time, and those to
which no route is left; cells that others use can be had at the price of a conflict.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mapper.solver.compiled import compiled
from mapper.solver.modulo_schedule import reservation, route_search
from mapper.solver.modulo_schedule.instance import NO_PATH, Tables
from mapper.solver.modulo_schedule.reservation import OUTPUT, SLOT, State
from mapper.solver.modulo_schedule.route_search import MOVE

EJECT = 60.0
"""Cost of putting out an operation; it grows with how often that happened to it."""
WAITING = 0.3
"""Estimated cost of a cycle between a result and its read."""
DETOUR = 3
"""Cycles beyond II in which an operation is tried after its earliest, so that values get time to travel."""
TRIED = 10
"""Candidates for which routes are searched."""

price: Any = reservation.price
put: Any = reservation.put
remove: Any = reservation.remove
route: Any = route_search.route
unroute: Any = route_search.unroute


def _lift(t: Tables, s: State, operation: int) -> None:
    """Take an operation and the routes of its edges away."""
    for position in range(t.edge_start[operation], t.edge_start[operation + 1]):
        unroute(t, s, t.edge[position])
    remove(t, s, operation)


def _estimate(
    t: Tables, s: State, operation: int, pe: int, time: int, early: int, late: int, limit: float
) -> float:
    """About what it costs to place ``operation`` there; at least ``limit`` if it is more than that."""
    cost: float = price(t, s, SLOT, pe, operation, time, 0.0)
    cost += price(t, s, OUTPUT, pe, operation, time + t.latency[operation], 0.0)
    if t.memory_ports > 0 and t.memory[operation]:
        over = s.memory[time % t.ii] + 1 - t.memory_ports
        if over > 0:
            cost += s.weight[0] * over
    if time < early or time > late:
        # Operations further away that have too little time, direct neighbours among them.
        for other in range(len(t.latency)):
            if s.pe[other] >= 0 and (
                s.time[other] + t.distance[other, operation] > time
                or time + t.distance[operation, other] > s.time[other]
            ):
                cost += EJECT * (1.0 + 0.5 * s.ejected[other])
    for position in range(t.edge_start[operation], t.edge_start[operation + 1]):
        if cost >= limit:
            return cost
        edge = t.edge[position]
        u = t.source[edge]
        w = t.destination[edge]
        other = w if u == operation else u
        if other == operation or s.pe[other] < 0:
            continue
        if u == operation:
            until = s.time[w] + t.shift[edge]
            slack = until - time - t.latency[u]
            due = until - time - t.delay[edge]
            needed = t.moves[pe, s.pe[w]]
        else:
            until = time + t.shift[edge]
            slack = until - s.time[u] - t.latency[u]
            due = until - s.time[u] - t.delay[edge]
            needed = t.moves[s.pe[u], pe]
        if not t.carries[edge]:
            if due < 0:
                cost += EJECT * (1.0 + 0.5 * s.ejected[other])
            else:
                cost += 0.02 * due
        elif due < 0 or slack < needed:
            cost += EJECT * (1.0 + 0.5 * s.ejected[other])
        else:
            cost += MOVE * max(needed, slack // t.ii) + WAITING * slack
    return cost


def _shortlist(
    t: Tables, s: State, operation: int, early: int, late: int, begin: int, stop: int, found: int
) -> int:
    """Merge the PEs and cycles from ``begin`` to ``stop`` into the best candidates, ``found`` of which are known;
    how many there are then."""
    kind = t.kind[operation]
    for time in range(begin, stop + 1):
        for position in range(t.able_start[kind], t.able_start[kind + 1]):
            pe = t.able[position]
            limit = s.estimate[TRIED - 1] if found == TRIED else np.inf
            cost = estimate(t, s, operation, pe, time, early, late, limit) + 2.0 * np.random.random()
            if cost >= limit:
                continue
            at = min(found, TRIED - 1)
            while at > 0 and s.estimate[at - 1] > cost:
                s.estimate[at] = s.estimate[at - 1]
                s.candidate[at, 0] = s.candidate[at - 1, 0]
                s.candidate[at, 1] = s.candidate[at - 1, 1]
                at -= 1
            s.estimate[at] = cost
            s.candidate[at, 0] = pe
            s.candidate[at, 1] = time
            found = min(found + 1, TRIED)
    return found


def _candidates(t: Tables, s: State, operation: int) -> int:
    """Fill the list of candidates, the least estimates first, from the cycles near the placed neighbours."""
    early = -(1 << 29)
    late = 1 << 29
    depth = 0
    for other in range(len(t.latency)):
        if t.distance[other, operation] > depth:
            depth = t.distance[other, operation]
        if s.pe[other] < 0 or other == operation:
            continue
        if t.distance[other, operation] > NO_PATH:
            early = max(early, s.time[other] + t.distance[other, operation])
        if t.distance[operation, other] > NO_PATH:
            late = min(late, s.time[other] - t.distance[operation, other])
    wide = t.ii - 1 + DETOUR
    found: int = 0
    if early == -(1 << 29) and late == 1 << 29:
        found = shortlist(t, s, operation, early, late, depth, depth + t.ii - 1, 0)
    elif late == 1 << 29:
        found = shortlist(t, s, operation, early, late, early, early + wide, 0)
    elif early == -(1 << 29):
        found = shortlist(t, s, operation, early, late, late - wide, late, 0)
    elif early > late:
        found = shortlist(t, s, operation, early, late, early, early + t.ii - 1, 0)
        found = shortlist(t, s, operation, early, late, late - t.ii + 1, min(late, early - 1), found)
    else:
        found = shortlist(t, s, operation, early, late, early, min(late, early + wide), 0)
        found = shortlist(t, s, operation, early, late, max(late - wide, early + wide + 1), late, found)
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
            way = route(t, s, edge, np.inf)
            cost += way if s.hops[edge] > 0 else EJECT * (1.0 + 0.5 * s.ejected[other])
        if cost >= limit:
            break
    return cost


def _settle(t: Tables, s: State, operation: int) -> None:
    """Place ``operation`` at the cheapest candidate; what it leaves no time or no way is put out."""
    found = candidates(t, s, operation)
    best = -1
    least = np.inf
    for tried in range(found):
        if s.estimate[tried] >= least + MOVE:
            break
        pe = s.candidate[tried, 0]
        time = s.candidate[tried, 1]
        cost = 0.0
        cost += price(t, s, SLOT, pe, operation, time, 0.0)
        cost += price(t, s, OUTPUT, pe, operation, time + t.latency[operation], 0.0)
        if t.memory_ports > 0 and t.memory[operation]:
            cost += s.weight[0] * max(0, s.memory[time % t.ii] + 1 - t.memory_ports)
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


lift: Any = compiled(_lift, unroute=unroute, remove=remove)
estimate: Any = compiled(_estimate, price=price)
shortlist: Any = compiled(_shortlist, estimate=estimate)
candidates: Any = compiled(_candidates, shortlist=shortlist)
joined: Any = compiled(_joined, route=route)
settle: Any = compiled(
    _settle, candidates=candidates, price=price, put=put, remove=remove, joined=joined, lift=lift
)
