"""The cheapest route of an edge over places in time, in compiled code.

A place is a PE and the cycle from which its output register (and perhaps a register) holds the value. Moves lead from
places to later ones only, so that going through the places by time finds the cheapest way (PathFinder's negotiation:
cells that are in use cost more, and can be had). What the value already uses is free, which makes routes of one source
share their moves.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mapper.solver.compiled import compiled
from mapper.solver.modulo_schedule import reservation
from mapper.solver.modulo_schedule.instance import Tables
from mapper.solver.modulo_schedule.reservation import (
    LONGEST,
    OUTPUT,
    PORT,
    REGISTER,
    SLOT,
    SPAN,
    WORK,
    State,
)

MOVE, RESULT, WAIT, KEEP = 6.0, 1.0, 1.0, 0.15
"""Cost of a move's slot, of the output register it overwrites, and of a cycle in an output register or a register."""

price: Any = reservation.price
take: Any = reservation.take
give: Any = reservation.give


def _crosses(t: Tables, s: State, first: int, node: int, kept: bool, pe: int, time: int) -> bool:
    """Whether a move to (``pe``, ``time``) after a wait at ``node`` until the cycle before would collide, an II
    later or more, with the way to ``node`` itself."""
    p = node % t.pes
    start = first + node // t.pes
    read = time - 1
    if pe == p and (time - start) % t.ii == 0:
        return True
    at = node
    while s.origin[at] >= 0:
        before = s.origin[at]
        ready = first + at // t.pes
        q = before % t.pes
        begun = first + before // t.pes
        left = ready - 1
        if q == pe and (time - begun) % t.ii == 0:
            return True
        if not s.kept[at] and q == pe and (time - begun) % t.ii <= left - begun:
            return True
        both = q == p and not kept and not s.kept[at]
        if both and ((start - begun) % t.ii <= left - begun or (begun - start) % t.ii <= read - start):
            return True
        at = before
    return False


def _search(t: Tables, s: State, edge: int, limit: float) -> float:
    """Find the cheapest route below ``limit`` and write its places; its cost, or infinity, and then nothing."""
    net = t.source[edge]
    consumer = t.destination[edge]
    end = s.pe[consumer]
    until = s.time[consumer] + t.shift[edge]
    start = s.pe[net]
    first = s.time[net] + t.latency[net]
    s.hops[edge] = 0
    span = until - first
    if s.time[net] + t.delay[edge] > until or span > SPAN or t.moves[start, end] > span:
        return np.inf
    pes = t.pes
    nodes = (span + 1) * pes
    s.cost[:nodes] = np.inf
    root = start
    s.cost[root] = 0.0
    s.origin[root] = -1
    goal = limit
    goal_node = -1
    goal_kept = False
    work = 0
    long = span >= t.ii
    for node in range(nodes):
        cost = s.cost[node]
        if cost >= goal:
            continue
        p = node % pes
        time = first + node // pes
        output = cost
        register = cost + price(t, s, REGISTER, p, net, time, KEEP) if t.capacity[REGISTER] > 0 else np.inf
        # The result of the last cycle of the II is overwritten in the next.
        last = min(until, time + t.ii - 1)
        for cycle in range(time, last + 1):
            if cycle > time:
                output += price(t, s, OUTPUT, p, net, cycle, WAIT)
                if register < goal:
                    register += price(t, s, REGISTER, p, net, cycle, KEEP)
            if output >= goal and register >= goal:
                break
            if cycle == until:
                if t.moves[p, end] == 0 and output < goal:
                    goal = output
                    goal_node = node
                    goal_kept = False
                if p == end and register < goal:
                    ported = register + price(t, s, PORT, p, net, cycle, 0.0)
                    if ported < goal:
                        goal = ported
                        goal_node = node
                        goal_kept = True
                break
            for position in range(t.reader_start[p], t.reader_start[p + 1]):
                q = t.reader[position]
                if cycle + 1 + t.moves[q, end] > until:
                    continue
                work += 1
                way = output
                kept = False
                if q == p and register < output:
                    way = register
                    kept = True
                if way >= goal:
                    continue
                reached = (cycle + 1 - first) * pes + q
                if way >= s.cost[reached]:
                    continue
                way += price(t, s, SLOT, q, net, cycle, MOVE) + price(t, s, OUTPUT, q, net, cycle + 1, RESULT)
                if way + MOVE * t.moves[q, end] >= goal or way >= s.cost[reached]:
                    continue
                if long and crosses(t, s, first, node, kept, q, cycle + 1):
                    continue
                s.cost[reached] = way
                s.origin[reached] = node
                s.kept[reached] = kept
    s.counters[WORK] += work + 20
    if goal_node < 0:
        return np.inf
    length = 1
    node = goal_node
    while s.origin[node] >= 0:
        node = s.origin[node]
        length += 1
    if length > LONGEST:
        return np.inf
    s.hops[edge] = length
    node = goal_node
    kept = goal_kept
    for position in range(length - 1, -1, -1):
        s.hop_pe[edge, position] = node % pes
        s.hop_time[edge, position] = first + node // pes
        s.hop_kept[edge, position] = kept
        kept = s.kept[node]
        node = s.origin[node]
    return goal


def _mark(t: Tables, s: State, edge: int, taking: bool, limit: int) -> int:
    """Take (or give) the cells of a route, the first ``limit`` only; how many were done, -1 for all."""
    net = t.source[edge]
    consumer = t.destination[edge]
    hops = s.hops[edge]
    done = 0
    for position in range(hops):
        p = s.hop_pe[edge, position]
        time = s.hop_time[edge, position]
        last = s.time[consumer] + t.shift[edge]
        if position + 1 < hops:
            last = s.hop_time[edge, position + 1] - 1
        kept = s.hop_kept[edge, position]
        for kind in range(4):
            begin = time
            stop = time
            if kind == SLOT:
                begin = time - 1
                stop = time - 1 if position > 0 else time - 2
            elif kind == OUTPUT:
                stop = time if kept else last
            elif kind == REGISTER:
                stop = last if kept else time - 1
            else:
                begin = last
                stop = last if kept else last - 1
            for cycle in range(begin, stop + 1):
                if done == limit:
                    return done
                if taking:
                    if not take(t, s, kind, p, net, cycle):
                        return done
                else:
                    give(t, s, kind, p, net, cycle)
                done += 1
    return -1


def _route(t: Tables, s: State, edge: int, limit: float) -> float:
    """Route ``edge``, both ends of which are placed, at less than ``limit``; what it costs, infinity for no route."""
    cost: float = search(t, s, edge, limit)
    if s.hops[edge] > 0:
        done = mark(t, s, edge, True, 1 << 30)
        if done >= 0:
            mark(t, s, edge, False, done)
            s.hops[edge] = 0
            return np.inf
    return cost


def _unroute(t: Tables, s: State, edge: int) -> None:
    """Take the route of an edge away, if it has one."""
    if s.hops[edge] > 0:
        mark(t, s, edge, False, 1 << 30)
        s.hops[edge] = 0


crosses: Any = compiled(_crosses)
search: Any = compiled(_search, price=price, crosses=crosses)
mark: Any = compiled(_mark, take=take, give=give)
route: Any = compiled(_route, search=search, mark=mark)
unroute: Any = compiled(_unroute, mark=mark)
