"""A schedule in the making: windows from the operations placed so far, and placements by force."""

from __future__ import annotations

import random

import numpy as np

from mapper.solver.modulo_schedule.instance import NO_PATH, Instance
from mapper.solver.modulo_schedule.route_search import MOVE, route
from mapper.solver.modulo_schedule.routing_table import RoutingTable

TimeDistance = np.ndarray[tuple[int, int], np.dtype[np.int32]]
Candidate = tuple[float, int, int]
"""Estimated cost, PE and cycle of one way to place an operation."""
DETOUR = 3
"""Cycles beyond II in which an operation is tried after its earliest, so that values get time to travel."""


class PartialSchedule:
    """A reservation table in which every placed operation has all routes to its placed neighbours."""

    def __init__(self, instance: Instance, ii: int, distance: TimeDistance, rng: random.Random) -> None:
        self.instance, self.ii, self.rng = instance, ii, rng
        self.table = RoutingTable(instance, ii)
        self.before = [
            [(int(u), int(distance[u, v])) for u in np.flatnonzero(distance[:, v] > NO_PATH) if u != v]
            for v in range(instance.operations)
        ]
        self.after = [
            [(int(w), int(distance[v, w])) for w in np.flatnonzero(distance[v] > NO_PATH) if w != v]
            for v in range(instance.operations)
        ]
        self.depth = np.where(distance > NO_PATH, distance, 0).max(axis=0, initial=0)
        self.forced: dict[tuple[int, int, int], int] = {}

    def times(self, operation: int) -> range:
        """The cycles worth trying, the ones nearest to the placed neighbours first."""
        pe, time = self.table.pe, self.table.time
        earliest = max((time[u] + d for u, d in self.before[operation] if pe[u] >= 0), default=None)
        latest = min((time[w] - d for w, d in self.after[operation] if pe[w] >= 0), default=None)
        if earliest is None and latest is None:
            start = int(self.depth[operation])
            return range(start, start + self.ii)
        if earliest is None:
            assert latest is not None
            return range(latest, latest - self.ii - DETOUR, -1)
        last = earliest + self.ii + DETOUR
        return range(earliest, max(earliest, min(last, latest) if latest is not None else last) + 1)

    def candidates(self, operation: int) -> list[Candidate]:
        """Every PE and cycle that leaves the values the time they need, the cheapest estimate first."""
        instance, table, ii = self.instance, self.table, self.ii
        ends = []
        for edge in instance.incident[operation]:
            u, w = instance.source[edge], instance.destination[edge]
            other = w if u == operation else u
            if instance.carries[edge] and other != operation and table.pe[other] >= 0:
                shift = instance.distance[edge] * ii
                if u == operation:
                    ends.append((True, table.pe[w], table.time[w] + shift - instance.latency[operation]))
                else:
                    ends.append((False, table.pe[u], table.root(u).time - shift))
        found: list[Candidate] = []
        noise, moves = self.rng.random, instance.moves
        for preference, time in enumerate(self.times(operation)):
            for pe in instance.able[operation]:
                cost = 0.7 * preference
                for leaves, other, cycle in ends:
                    slack = cycle - time if leaves else time - cycle
                    needed = moves[pe][other] if leaves else moves[other][pe]
                    if slack < needed:
                        break
                    cost += MOVE * max(needed, slack // ii) + (0 if pe == other else 0.5 * slack)
                else:
                    found.append((cost + 2 * noise(), pe, time))
        found.sort()
        return found

    def try_place(self, operation: int, pe: int, time: int) -> bool:
        """Place ``operation`` with all its routes, or leave everything as it was."""
        if not self.table.can_issue(operation, pe, time):
            return False
        self.table.place(operation, pe, time)
        for edge in self.open_edges(operation):
            if not route(self.table, edge):
                self.table.remove(operation)
                return False
        return True

    def open_edges(self, operation: int) -> list[int]:
        """The edges of ``operation`` to itself and to placed operations."""
        instance, pe = self.instance, self.table.pe
        return [
            edge
            for edge in instance.incident[operation]
            if pe[instance.source[edge]] >= 0 and pe[instance.destination[edge]] >= 0
        ]

    def force(self, operation: int, candidates: list[Candidate]) -> set[int]:
        """Place ``operation`` where it displaces least and was not forced before; the operations displaced,
        itself among them if even that gives it no routes."""
        table, ii = self.table, self.ii
        best: Candidate | None = None
        for cost, pe, time in candidates or self._anywhere(operation):
            if isinstance(table.slot[pe][time % ii], int):
                cost += 3 * MOVE
            cost += 2 * MOVE * self.forced.get((operation, pe, time % ii), 0) + MOVE * self.rng.random()
            if best is None or cost < best[0]:
                best = cost, pe, time
        if best is None:
            return {operation}
        _, pe, time = best
        key = operation, pe, time % ii
        self.forced[key] = self.forced.get(key, 0) + 1
        displaced, loose = self._clear(operation, pe, time)
        if not table.can_issue(operation, pe, time):
            return {*displaced, operation}
        table.place(operation, pe, time)
        instance = self.instance
        for edge in [*self.open_edges(operation), *loose]:
            u, w = instance.source[edge], instance.destination[edge]
            if table.pe[u] < 0 or table.pe[w] < 0 or edge in table.routed or route(table, edge):
                continue
            ends = [end for end in {u, w} if end != operation]
            victim = self.rng.choice(sorted(ends)) if ends else operation
            table.remove(victim)
            displaced.add(victim)
        return displaced

    def _anywhere(self, operation: int) -> list[Candidate]:
        """All PEs and cycles of the window, whatever the neighbours need."""
        return [(0.0, pe, time) for time in self.times(operation) for pe in self.instance.able[operation]]

    def _clear(self, operation: int, pe: int, time: int) -> tuple[set[int], list[int]]:
        """Make room: the operations taken out and the edges that lost their routes."""
        table, instance = self.table, self.instance
        displaced: set[int] = set()

        def take(victim: int) -> None:
            if table.pe[victim] >= 0:
                table.remove(victim)
                displaced.add(victim)

        for other, least in self.before[operation]:
            if table.pe[other] >= 0 and table.time[other] + least > time:
                take(other)
        for other, least in self.after[operation]:
            if table.pe[other] >= 0 and time + least > table.time[other]:
                take(other)
        occupant = table.slot[pe][time % self.ii]
        if isinstance(occupant, int):
            take(occupant)
        result = table.result[pe][(time + instance.latency[operation]) % self.ii]
        if result is not None and result.parent is None:
            take(result.net)
        loose = list(table.clear(operation, pe, time))
        ports = instance.memory_ports
        if ports and instance.is_memory[operation] and table.memory[time % self.ii] >= ports:
            using = [
                other
                for other in range(instance.operations)
                if table.pe[other] >= 0
                and instance.is_memory[other]
                and (table.time[other] - time) % self.ii == 0
            ]
            take(self.rng.choice(using))
        return displaced, loose
