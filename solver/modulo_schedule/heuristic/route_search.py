"""The cheapest route of an edge over places in time, in compiled code.

A place is a PE and the cycle from which its output register (and perhaps a register, own or shared) holds the value.
Moves lead from places to later ones only, so that going through the places by time finds the cheapest route
(PathFinder's negotiation: cells that are in use cost more, and can be had). What the value already uses is free, which
makes routes of one source share their moves.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mapper.models.compiled import compiled
from mapper.solver.modulo_schedule.heuristic import reservation
from mapper.solver.modulo_schedule.heuristic.instance import Tables
from mapper.solver.modulo_schedule.heuristic.reservation import (
    ISSUES,
    KINDS,
    LONGEST,
    OUTPUT,
    PORT,
    REGISTER,
    SERIAL,
    SHARED,
    SHARED_PORT,
    SHARED_WRITE,
    SLOT,
    WORK,
    Array,
    State,
)

MOVE, WAIT, KEEP = 7.0, 1.0, 0.15
"""Cost of a move, and of a cycle in an output register or a register."""

key_of: Any = reservation.key_of
take: Any = reservation.take
give: Any = reservation.give


def _span(t: Tables, s: State, edge: int, position: int, kind: int) -> tuple[int, int]:
    """The first and last cycle for which a place of a route needs a kind of cell; last before first for none."""
    time = s.way[edge, position, 1]
    kept = s.way[edge, position, 2]
    last = s.time[t.destination[edge]] + t.shift[edge]
    if position + 1 < s.hops[edge]:
        last = s.way[edge, position + 1, 1] - 1
    if kind == SLOT:
        return (time - 1, time - 1) if position > 0 else (0, -1)
    if kind == OUTPUT:
        return (time, time) if kept > 0 else (time, last)
    if kept != (1 if kind < KINDS else 2):
        return (0, -1)
    if kind in (REGISTER, SHARED):
        return (time, last)
    return (time, time) if kind == SHARED_WRITE else (last, last)


def _stamp(t: Tables, s: State, net: int, first: int, until: int) -> None:
    """Mark the cells that the value uses already, at places in time from ``first`` to ``until``."""
    s.counters[SERIAL] += 1
    serial = s.counters[SERIAL]
    for position in range(t.edge_start[net], t.edge_start[net + 1]):
        edge = t.edge[position]
        if t.source[edge] != net:
            continue
        for hop in range(s.hops[edge]):
            p = s.way[edge, hop, 0]
            for kind in range(3):
                begin, last = span(t, s, edge, hop, kind)
                for cycle in range(max(first, begin), min(until, last) + 1):
                    s.own[kind, (cycle - first) * t.pes + p] = serial
            for kind in range(KINDS, KINDS + len(t.shared)):
                begin, last = span(t, s, edge, hop, kind)
                for cycle in range(max(first, begin), min(until, last) + 1):
                    s.own[kind - 1, (cycle - first) * t.pes] = serial


def _crosses(t: Tables, origin: Array, first: int, node: int, kept: int, pe: int, time: int) -> bool:
    """Whether a move to (``pe``, ``time``) after a wait at ``node`` until the cycle before would collide, an II
    later or more, with the way to ``node`` itself."""
    p = node % t.pes
    start = first + node // t.pes
    read = time - 1
    if pe == p and (time - start) % t.ii == 0:
        return True
    at = node
    while origin[at, 0] >= 0:
        before = origin[at, 0]
        held = origin[at, 1] == 0
        q = before % t.pes
        begun = first + before // t.pes
        left = first + at // t.pes - 1
        if q == pe and (time - begun) % t.ii <= (left - begun if held else 0):
            return True
        both = q == p and kept == 0 and held
        if both and ((start - begun) % t.ii <= left - begun or (begun - start) % t.ii <= read - start):
            return True
        at = before
    return False


def _search(t: Tables, s: State, edge: int, limit: float) -> float:
    """Find the cheapest route below ``limit`` and write its places; its cost, or infinity, and then nothing.

    In one function because the innermost loop is nearly all the time that schedulers take, and lives on some twenty
    numbers that are kept from cycle to cycle."""
    net = t.source[edge]
    end = s.pe[t.destination[edge]]
    until = s.time[t.destination[edge]] + t.shift[edge]
    start = s.pe[net]
    first = s.time[net] + t.latency[net]
    s.hops[edge] = 0
    reach = until - first
    if (
        s.time[net] + t.delay[edge] > until
        or (reach + 2) * t.pes > len(s.cost)
        or t.moves[start, end] > reach
    ):
        return np.inf
    pes = t.pes
    ii = t.ii
    moves = t.moves
    toll = s.toll
    cost = s.cost
    own = s.own
    stamp(t, s, net, first, until)
    serial = s.counters[SERIAL]
    outputs = OUTPUT * pes * ii
    registers = REGISTER * pes * ii
    commons = KINDS * pes * ii
    nodes = (reach + 1) * pes
    cost[:nodes] = np.inf
    cost[start] = 0.0
    s.origin[start, 0] = -1
    goal = limit
    goal_node = -1
    goal_kept = 0
    work = 20
    long = reach >= ii
    for node in range(nodes):
        if cost[node] >= goal:
            continue
        p = node % pes
        time = first + node // pes
        output = cost[node]
        phase = time % ii
        register = output
        if own[REGISTER, node] != serial:
            register += KEEP + toll[registers + p * ii + phase, 0]
        shares = t.shares[p]
        common = output
        reading = np.inf
        if shares:
            if own[SHARED - 1, (time - first) * pes] != serial:
                common += KEEP + toll[commons + phase, 0]
            if own[SHARED_WRITE - 1, (time - first) * pes] != serial:
                common += toll[commons + (SHARED_WRITE - KINDS) * ii + phase, 0]
        at = node
        # The result of the last cycle of the II is overwritten in the next.
        for cycle in range(time, min(until, time + ii - 1) + 1):
            if cycle > time:
                at += pes
                phase = phase + 1 if phase + 1 < ii else 0
                if own[OUTPUT, at] != serial:
                    output += WAIT + toll[outputs + p * ii + phase, 0]
                if own[REGISTER, at] != serial:
                    register += KEEP + toll[registers + p * ii + phase, 0]
            if shares:
                if cycle > time and own[SHARED - 1, (cycle - first) * pes] != serial:
                    common += KEEP + toll[commons + phase, 0]
                reading = common
                if own[SHARED_PORT - 1, (cycle - first) * pes] != serial:
                    reading += toll[commons + (SHARED_PORT - KINDS) * ii + phase, 0]
            if output >= goal and register >= goal and common >= goal:
                break
            if cycle == until:
                if t.linked[p, end] and output < goal:
                    goal = output
                    goal_node = node
                    goal_kept = 0
                if p == end:
                    register += toll[(PORT * pes + p) * ii + phase, 0]
                    if register < goal:
                        goal = register
                        goal_node = node
                        goal_kept = 1
                if t.shares[end] and reading < goal:
                    goal = reading
                    goal_node = node
                    goal_kept = 2
                break
            following = phase + 1 if phase + 1 < ii else 0
            for position in range(t.reader_start[p], t.reader_start[p + 1]):
                q = t.reader[position]
                if cycle + 1 + moves[q, end] > until:
                    continue
                work += 1
                way = output
                kept = 0
                if q == p and register < output:
                    way = register
                    kept = 1
                slot = (cycle - first) * pes + q
                reached = slot + pes
                if way >= cost[reached]:
                    continue
                if own[SLOT, slot] != serial:
                    way += MOVE + toll[q * ii + phase, 0]
                if own[OUTPUT, reached] != serial:
                    way += toll[outputs + q * ii + following, 0]
                if way >= goal or way >= cost[reached]:
                    continue
                if long and crosses(t, s.origin, first, node, kept, q, cycle + 1):
                    continue
                cost[reached] = way
                s.origin[reached, 0] = node
                s.origin[reached, 1] = kept
            if reading >= goal:
                continue
            for q in t.sharing:
                if cycle + 1 + moves[q, end] > until:
                    continue
                work += 1
                slot = (cycle - first) * pes + q
                reached = slot + pes
                way = reading
                if own[SLOT, slot] != serial:
                    way += MOVE + toll[q * ii + phase, 0]
                if own[OUTPUT, reached] != serial:
                    way += toll[outputs + q * ii + following, 0]
                if way >= goal or way >= cost[reached]:
                    continue
                if long and crosses(t, s.origin, first, node, 2, q, cycle + 1):
                    continue
                cost[reached] = way
                s.origin[reached, 0] = node
                s.origin[reached, 1] = 2
    s.counters[WORK] += work
    if goal_node < 0:
        return np.inf
    length = 1
    node = goal_node
    while s.origin[node, 0] >= 0:
        node = s.origin[node, 0]
        length += 1
    if length > LONGEST:
        return np.inf
    s.hops[edge] = length
    node = goal_node
    kept = goal_kept
    for position in range(length - 1, -1, -1):
        s.way[edge, position, 0] = node % pes
        s.way[edge, position, 1] = first + node // pes
        s.way[edge, position, 2] = kept
        kept = s.origin[node, 1]
        node = s.origin[node, 0]
    return goal


def _mark(t: Tables, s: State, edge: int, taking: bool, limit: int) -> int:
    """Take (or give) the cells of a route, the first ``limit`` only; how many were done, -1 for all."""
    net = t.source[edge]
    done = 0
    for position in range(s.hops[edge]):
        p = s.way[edge, position, 0]
        for kind in range(KINDS + len(t.shared)):
            begin, last = span(t, s, edge, position, kind)
            for cycle in range(begin, last + 1):
                if done == limit:
                    return done
                file = kind * t.pes + p if kind < KINDS else KINDS * t.pes + kind - KINDS
                cell = file * t.ii + cycle % t.ii
                key = key_of(net, cycle + 1 if kind == SLOT else cycle)
                if not taking:
                    give(s.book, s.toll, s.counters, cell, key)
                elif not take(s.book, s.toll, s.counters, cell, key):
                    return done
                done += 1
    s.counters[ISSUES] += s.hops[edge] - 1 if taking else 1 - s.hops[edge]
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


span: Any = compiled(_span)
stamp: Any = compiled(_stamp)
crosses: Any = compiled(_crosses)
search: Any = compiled(_search)
mark: Any = compiled(_mark)
route: Any = compiled(_route)
unroute: Any = compiled(_unroute)
