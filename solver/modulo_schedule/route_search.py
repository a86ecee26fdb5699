"""Cheapest routes: best-first search over places (PE and ready time) for the way of one edge.

Edges of one source start from any place their value already has, so that moves are shared. A move costs
`MOVE`, a cycle in which an output register may not be written costs 1, a register nothing.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TypeAlias

from mapper.solver.modulo_schedule.routing_table import Path, Place, RoutingTable

MOVE = 8
EXPANSIONS = 400
"""Places looked at for one edge, at the most; corridors are narrow, so more is rarely needed."""

Chain: TypeAlias = "tuple[int, int, Chain | None]"
"""A new place, and the chain before it."""
Entry: TypeAlias = "tuple[int, int, int, int, int, Place | None, Chain | None]"
"""Estimated cost, order, cost, PE, ready time, the place if it exists, and the new places up to it."""


def route(table: RoutingTable, edge: int) -> bool:
    """Route ``edge``, both ends of which are placed, the cheapest way; False if no way was found.

    An edge that only orders needs no route: True if its order is kept.
    """
    if table.is_late(edge):
        return False
    if not table.instance.carries[edge]:
        return True
    path = _Search(table, edge).path()
    return path is not None and table.commit(edge, path)


class _Search:
    """One search; the table is not changed."""

    def __init__(self, table: RoutingTable, edge: int) -> None:
        self.table = table
        self.net = table.nets[table.instance.source[edge]]
        self.end, self.until = table.reading_ends(edge)
        self.queue: list[Entry] = []
        self.order = 0

    def path(self) -> Path | None:
        """PE and ready time of every place on the cheapest way, the root first."""
        moves = self.table.instance.moves
        for known in self.net.values():
            if known.time <= self.until:
                self._push(0, known.pe, known.time, known, None)
        settled: set[tuple[int, int]] = set()
        goal: tuple[int, Place | None, Chain | None] | None = None
        for _ in range(EXPANSIONS):
            if not self.queue:
                break
            estimate, _, cost, pe, time, place, chain = heappop(self.queue)
            if goal is not None and goal[0] <= estimate:
                break
            if (pe, time) in settled:
                continue
            settled.add((pe, time))
            hold = self._hold(self.end, self.until, pe, time, place)
            if hold is not None and (goal is None or cost + hold < goal[0]):
                goal = cost + hold, place, chain
                if hold == 0:
                    break
            if moves[pe][self.end] * MOVE + cost < (goal[0] if goal else 1 << 30):
                self._expand(cost, pe, time, place, chain)
        return None if goal is None else self._whole(goal[1], goal[2])

    def _whole(self, place: Place | None, chain: Chain | None) -> Path:
        added = []
        while chain is not None:
            added.append(chain[:2])
            chain = chain[2]
        start = self.table.path(place) if place is not None else ()
        if place is None:
            first = added.pop()
            start = self.table.path(self.net[first])
        return (*start, *reversed(added))

    def _push(self, cost: int, pe: int, time: int, place: Place | None, chain: Chain | None) -> None:
        self.order += 1
        estimate = cost + MOVE * self.table.instance.moves[pe][self.end]
        heappush(self.queue, (estimate, self.order, cost, pe, time, place, chain))

    def _hold(self, pe: int, cycle: int, at: int, time: int, place: Place | None) -> int | None:
        """What it costs to read in ``cycle`` from ``pe`` the place (at, time); None if it is not held."""
        if cycle < time:
            return None
        table = self.table
        if pe == at:
            ports = table.instance.read_ports
            if ports and table.ports[pe][cycle % table.ii] >= ports:
                return None
            if cycle == time:
                return 0
            last = cycle if place is None else max(cycle, place.register_last)
            if table.free_register(at, place, time, last) >= 0:
                return 0
        if not table.instance.reads[pe][at] or cycle > table.last_output(at, time):
            return None
        new = table.arc(time + 1, cycle)
        return (new & ~place.held).bit_count() if place is not None else new.bit_count()

    def _expand(self, cost: int, at: int, time: int, place: Place | None, chain: Chain | None) -> None:
        """Add every place that one move away from here can still be in time for the consumer."""
        table, instance = self.table, self.table.instance
        ii, full = table.ii, table.full
        if place is not None:
            chain = (at, time, None)
        output_until = table.last_output(at, time)
        for pe in instance.readers[at]:
            last = self.until - 1 - instance.moves[pe][self.end]
            last = min(last, time + ii - 1 if pe == at else output_until)
            if last < time:
                continue
            busy, slots = table.ready[pe] | table.hold[pe], table.slot[pe]
            if busy == full:
                continue
            for cycle in range(time, last + 1):
                if busy >> ((cycle + 1) % ii) & 1 or slots[cycle % ii] is not None:
                    continue
                hold = self._hold(pe, cycle, at, time, place)
                if hold is None or self._crosses(chain, pe, cycle + 1):
                    continue
                self._push(cost + MOVE + hold, pe, cycle + 1, None, (pe, cycle + 1, chain))

    def _crosses(self, chain: Chain | None, pe: int, time: int) -> bool:
        """Whether a move to (pe, time) would use a slot that the chain itself takes."""
        while chain is not None:
            if chain[0] == pe and (chain[1] - time) % self.table.ii == 0:
                return True
            chain = chain[2]
        return False
